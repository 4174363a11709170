"""The board between the client and our rules, against Go in forty lines of plain Python."""

import numpy as np
import pytest

from randori.games.registry import load_game
from randori.protocols.gtp_table import GtpError, Table


class PlainGo:
    """Anyone may move at any time; only simple ko and suicide are forbidden."""

    def __init__(self, size: int, suicide: bool) -> None:
        self.size, self.suicide = size, suicide
        self.board = "." * size * size
        self.before, self.last = "", 0

    def near(self, cell: int) -> list[int]:
        row, column = divmod(cell, self.size)
        steps = [(row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)]
        return [r * self.size + c for r, c in steps if 0 <= r < self.size and 0 <= c < self.size]

    def captured(self, board: str, cell: int) -> set[int]:
        chain, left = set(), [cell]
        while left:
            here = left.pop()
            chain.add(here)
            for near in self.near(here):
                if board[near] == ".":
                    return set()
                if board[near] == board[cell] and near not in chain:
                    left.append(near)
        return chain

    def play(self, side: int, cell: int) -> bool:
        if self.board[cell] != ".":
            return False
        mine, theirs = "xo"[side], "ox"[side]
        after = self.board[:cell] + mine + self.board[cell + 1 :]
        taken = {c for n in self.near(cell) if after[n] == theirs for c in self.captured(after, n)}
        after = "".join("." if c in taken else g for c, g in enumerate(after))
        lost = self.captured(after, cell)
        if lost and (len(lost) == 1 or not self.suicide):
            return False
        after = "".join("." if c in lost else g for c, g in enumerate(after))
        if after == self.before and self.last != side:
            return False
        self.board, self.before, self.last = after, self.board, side
        return True


@pytest.mark.parametrize("size", [3, 5])
@pytest.mark.parametrize("options", ["", ",suicide=no", ",ko=simple", ",eyes=spare"])
def test_any_order_of_moves_gives_the_right_board(size: int, options: str) -> None:
    rng = np.random.default_rng(size)
    names = "ABCDE"
    is_free = "suicide" not in options
    for _ in range(3):
        table = Table(load_game(f"go:size={size}{options}"), suicide=is_free)
        plain = PlainGo(size, is_free)
        for step in range(100):
            # Mostly in turn, so that there are kos; sometimes not, and sometimes a pass.
            side = step % 2 if rng.random() < 0.8 else int(rng.integers(2))
            if rng.random() < 0.1:
                table.play(side, "pass")
                plain.before = plain.board
                continue
            cell = int(rng.integers(size * size))
            vertex = f"{names[cell % size]}{size - cell // size}"
            if plain.play(side, cell):
                table.play(side, vertex)
            else:
                with pytest.raises(GtpError, match="illegal move"):
                    table.play(side, vertex)
            assert table.board == plain.board


def test_our_own_moves_never_bring_a_board_back() -> None:
    """Even where the position was set up anew, so that its own past is gone."""
    table = Table(load_game("go:size=5"), suicide=True)
    for vertex in ["C4", "C3", "B3", "B4", "C2", "B2", "D3", "A3"]:
        table.play(len(table.turns) % 2, vertex)
    # Black has taken C3 with D3, and White takes back: B3 is gone, and C3 would take again.
    board = table.board
    assert board[table.cell("C3")] == "."
    table.play(0, "E1")
    table.play(1, "C3")
    assert table.board[table.cell("B3")] == "."
    forgetful = table.game.position(table.position.text().partition(" ko")[0])
    retake = table.cell("B3")
    assert retake in forgetful.actions()
    repeated = forgetful.play(retake).text().split()[0].replace("/", "")
    assert repeated in table.boards
    assert not table.is_acceptable(forgetful, retake)
    assert table.is_acceptable(forgetful, table.cell("E5"))
    with pytest.raises(GtpError, match="illegal move: ko"):
        table.play(0, "B3")


def test_long_games_go_on_with_their_ko() -> None:
    table = Table(load_game("go:size=5,cap=13"), suicide=True)
    for vertex in ["C4", "C3", "B3", "B4", "C2", "B2", "D3", "A3", "E1", "E5", "A1"]:
        table.play(len(table.turns) % 2, vertex)
    table.play(1, "C3")
    table.play(0, "pass")
    assert table.position.is_over  # by our rules alone
    table.play(0, "A5")
    table.play(0, "A4")
    assert table.position.ply < 13
    assert table.board[table.cell("B3")] == "."
