"""Choko: every rule, the texts, and every move of random games beside a mailbox version of it."""

from dataclasses import dataclass, field, replace
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from randori.errors import UserError
from randori.games import Game, choko, load_game
from randori.games.captures import captures
from randori.games.check import check
from randori.games.kernels import Bindings, specialise
from randori.games.perft import perft

GAME = load_game("choko")
OPTIONAL = load_game("choko:extra_capture=optional")
START = "...../...../...../...../..... B 12,12 B"
OTHER = {"B": "R", "R": "B"}
SQUARES = [column + row for row in "12345" for column in "ABCDE"]


@dataclass
class Mailbox:
    """The rules once more, with a dictionary and words instead of bits."""

    optional: bool
    board: dict[str, str] = field(default_factory=dict)
    hands: dict[str, int] = field(default_factory=lambda: {"B": 12, "R": 12})
    owner: str = "B"
    side: str = "B"
    ply: int = 0

    def legal(self) -> list[str]:
        other = OTHER[self.side]
        if self.ply >= 100 or (other not in self.board.values() and not self.hands[other]):
            return []
        moves = [s for s in SQUARES if s not in self.board] if self.hands[self.side] else []
        if self.owner == other and self.hands[self.side]:
            return moves
        for square in [s for s in SQUARES if self.board.get(s) == self.side]:
            for x, y in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                near, far = (chr(ord(square[0]) + n * x) + str(int(square[1]) + n * y)
                             for n in (1, 2))  # fmt: skip
                if near in SQUARES and near not in self.board:
                    moves.append(f"{square}-{near}")
                if self.board.get(near) == other and far in SQUARES and far not in self.board:
                    more = [s for s in SQUARES if self.board.get(s) == other and s != near]
                    moves += [f"{square}x{far},{extra}" for extra in more]
                    moves += [f"{square}x{far}"] if self.optional or not more else []
        return moves

    def play(self, move: str) -> None:
        if len(move) == 2:
            self.board[move] = self.side
            self.hands[self.side] -= 1
            self.owner = self.side if self.owner == "-" else self.owner
        else:
            old, new = move[:2], move[3:5]
            self.board[new] = self.board.pop(old)
            if "x" in move:
                column, row = (chr((ord(old[i]) + ord(new[i])) // 2) for i in (0, 1))
                del self.board[column + row]
                self.board.pop(move[6:], None)
            self.owner = "-"
        self.side = OTHER[self.side]
        self.ply += 1

    def outcome(self) -> str | None:
        if self.legal():
            return None
        left = [s for s in "BR" if s in self.board.values() or self.hands[s]]
        return {"B": "first", "R": "second", "BR": "draw"}["".join(left)]

    def text(self) -> str:
        rows = ("".join(self.board.get(c + r, ".") for c in "ABCDE") for r in "54321")
        return f"{'/'.join(rows)} {self.side} {self.hands['B']},{self.hands['R']} {self.owner}"


@settings(max_examples=50, derandomize=True, deadline=None)
@given(seed=st.integers(0, 2**32), jumps=st.floats(0, 1), optional=st.booleans())
@example(seed=0, jumps=1.0, optional=False)
@example(seed=0, jumps=1.0, optional=True)
def test_random_games_are_those_of_the_mailbox(seed: int, jumps: float, optional: bool) -> None:
    rng, mailbox = Random(seed), Mailbox(optional)
    position = (OPTIONAL if optional else GAME).start()
    while True:
        moves = position.legal()
        assert sorted(moves) == sorted(mailbox.legal())
        assert position.outcome == mailbox.outcome()
        assert position.text() == mailbox.text()
        is_forced = mailbox.owner == OTHER[mailbox.side]
        assert mailbox.hands[mailbox.side] == mailbox.hands[OTHER[mailbox.side]] + is_forced
        if not moves:
            break
        taking = [move for move in moves if "x" in move]
        move = rng.choice(taking if taking and rng.random() < jumps else moves)
        position = position.play(move)
        mailbox.play(move)


def after(moves: str, words: str = START, game: Game = GAME) -> str:
    position = game.position(words)
    for move in moves.split():
        position = position.play(move)
    return position.text()


def jumps(words: str, game: Game = GAME) -> list[str]:
    return sorted(move for move in game.position(words).legal() if "x" in move)


@pytest.mark.parametrize(
    ("moves", "details"),
    [
        ("", "B 12,12 B"),
        ("C3", "R 11,12 B"),
        ("C3 D3", "B 11,11 B"),
        ("C3 D3 A1", "R 10,11 B"),
        ("C3 D3 C3-C2", "R 11,11 -"),
        ("C3 D3 C3xE3", "R 11,11 -"),
        ("C3 D3 C3-C2 D3-D4", "B 11,11 -"),
        ("C3 D3 C3-C2 D3-D4 A1", "R 10,11 B"),
        ("C3 D3 C3-C2 A1", "B 11,10 R"),
        ("C3 D3 C3-C2 A1 B1", "R 10,10 R"),
        ("C3 D3 C3-C2 A1 B1 A1-A2", "B 10,10 -"),
    ],
)
def test_the_initiative(moves: str, details: str) -> None:
    assert after(moves).partition(" ")[2] == details


def test_the_opponent_of_the_initiative_must_drop() -> None:
    forced = GAME.position("...../...../..RB./...../..... R 10,11 B")
    assert sorted(forced.legal()) == sorted(set(SQUARES) - {"C3", "D3"})
    for owner in "-R":
        free = GAME.position(f"...../...../..RB./...../..... R 10,11 {owner}")
        assert set(free.legal()) - set(SQUARES) == {"C3-C4", "C3-C2", "C3-B3", "C3xE3"}


def test_an_empty_hand_cannot_be_forced() -> None:
    lapsed = GAME.position("...../...../...../...../R...B R 1,0 B")
    assert lapsed.legal() == ["A1-A2", "A1-B1"]
    assert lapsed.play("A1-A2").text().endswith(" B 1,0 -")
    assert GAME.position("...../...../...../...../R...B B 0,0 B").legal() == ["E1-E2", "E1-D1"]


def test_a_jump_takes_another_stone_from_the_board() -> None:
    secure = "...../...../...../...../.RB.B R"
    assert jumps(secure) == ["B1xD1,E1"]
    assert jumps(secure, OPTIONAL) == ["B1xD1", "B1xD1,E1"]
    assert after("B1xD1,E1", secure) == "...../...../...../...../...R. B 10,11 -"
    assert after("B1xD1", secure, OPTIONAL) == "...../...../...../...../...RB B 10,11 -"


@pytest.mark.parametrize("game", [GAME, OPTIONAL])
def test_a_jump_takes_nothing_from_the_hand(game: Game) -> None:
    assert after("C3 D3 C3xE3", START, game) == "...../...../....B/...../..... R 11,11 -"
    assert jumps("...../...../..BR./...../..... B 11,11 B", game) == ["C3xE3"]


def test_the_second_capture_decides_the_skirmish() -> None:
    skirmish = "...../..BR./...../R.B../B.... R"
    assert jumps(skirmish) == ["D4xB4,A1", "D4xB4,C2"]
    assert jumps(after("D4xB4,A1", skirmish)) == []
    assert jumps(after("D4xB4,C2", skirmish)) == ["A1xA3,B4"]


def test_the_fork_of_move_22() -> None:
    fork = after("A3xC3,E3", ".B.../BR.../RB..B/....B/....R R 7,8 -")
    assert fork == ".B.../BR.../..R../....B/....R B 7,8 -"
    assert jumps(fork) == ["A4xC4,C3", "A4xC4,E1", "B5xB3,C3", "B5xB3,E1"]
    assert jumps(fork.replace(" B ", " R ")) == ["E1xE3,A4", "E1xE3,B5"]


def test_one_jump_a_turn() -> None:
    words = "....B/...../...../...../RB.B. R"
    assert after("A1xC1,E5", words) == "...../...../...../...../..RB. B 9,11 -"
    assert jumps(words) == ["A1xC1,D1", "A1xC1,E5"]


@pytest.mark.parametrize(
    "words",
    [
        "...../...../...../R..../BR... R",  # a corner
        "...../...../R..../BR.../R.... R",  # an edge, across
        "...../...../...../.RBB./..... R",  # the landing square is taken
        "...../...../...../..RR./....B R",  # own stones
        "...../...../...../...RB/B.... R",  # no way round the edge
    ],
)
def test_no_jump(words: str) -> None:
    assert jumps(words) == []


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        (START, None),
        ("...../...../...../...../..R.. B 0,0 -", "second"),
        ("...../...../...../...../..B.. B 0,0 -", "first"),
        ("...../...../...../...../..B.. R 0,0 -", "first"),
        ("...../...../...../...../..R.. B 1,0 -", None),
        ("...../...../...../...../..R.. R 1,0 -", None),
        ("...../...../...../...../..... R 1,0 -", "first"),
        ("...../...../...../...../..... R 0,0 -", "draw"),
        ("...../...../R..../R..../BRR.. B 0,0 -", "draw"),
        ("...../...../R..../R..../BRR.. R 0,0 -", None),
        ("...../...../R..../R..../BR... B 0,0 -", None),
        ("...../...../R..../R..../BRR.. B 1,0 R", None),
    ],
)
def test_the_end(words: str, outcome: str | None) -> None:
    position = GAME.position(words)
    assert position.outcome == outcome
    assert (position.legal() == []) == position.is_over


def test_a_win_on_the_last_ply_counts() -> None:
    words = "...../...../...../...../BR... B 0,0 -"
    for cap, outcome in ((1, "first"), (2, "first"), (100, "first")):
        game = load_game(f"choko:cap={cap}")
        assert game.position(words).play("A1xC1").outcome == outcome
        assert game.longest == cap
    assert load_game("choko:cap=1").start().play("C3").outcome == "draw"


def test_the_other_choice_of_lost_boards() -> None:
    """Were an empty board lost at once, a known number of games would end at ply 3."""
    constants = {**GAME.constants, "LOST_HAND": np.uint64(11)}
    assert perft(replace(GAME, constants=constants), 4) == 351_752


def test_action_ids() -> None:
    ids = {"A1": 0, "C3": 12, "E5": 24, "A1-A2": 25, "A1-B1": 26, "E5-E4": 123, "E5-D5": 124,
           "B1xD1,E1": 125 + 25 * (4 * 1 + 1) + 4, "B1xD1": 125 + 25 * (4 * 1 + 1) + 2,
           "E5xC5,E4": 2625 - 25 + 19, "C3xC5,A1": 125 + 25 * 48}  # fmt: skip
    assert {choko.action_text(GAME.new_state(), action): action for action in ids.values()} == ids
    assert GAME.num_actions == 2625


def test_symmetries_turn_moves() -> None:
    words = {
        choko.action_text(GAME.new_state(), int(GAME.symmetries.actions[turn, 254]))
        for turn in range(8)
    }
    assert words == {"B1xD1,E1", "D1xB1,A1", "B5xD5,E5", "D5xB5,A5",
                     "A2xA4,A5", "A4xA2,A1", "E2xE4,E5", "E4xE2,E1"}  # fmt: skip


def test_planes() -> None:
    state = GAME.position("B..../...../...../...../...R. R 5,10 B").state
    words = np.zeros(GAME.input_words, dtype=np.uint64)
    GAME.plain.planes(state, words)
    full = (1 << 25) - 1
    assert words.tolist() == [1 << 23, 1, 0, full, 0, full, 0, full, full, 0, full, 0]
    GAME.plain.planes(GAME.new_state(), words)
    assert words.tolist() == [0, 0, full, 0, 0, 0, full, full, 0, 0, full, full]


def test_captures() -> None:
    holes = {"planes": choko.planes, "INPUT_WORDS": GAME.input_words, "STONE_WORDS": 1}
    bindings = Bindings("choko", vars(choko), GAME.constants, holes)
    plain, compiled = specialise(captures, bindings, compiled=False), GAME.kernel(captures)
    before = GAME.position("...../...../...../..RB./.RB.B R")
    alone = GAME.position("...../...../...../..RB./..... R")
    for position, move, taken in (
        (before, "A5", 0), (before, "B1-B2", 0), (before, "B1xD1,E1", 2), (alone, "C2xE2", 1),
    ):  # fmt: skip
        after = position.play(move)
        assert plain(position.state, after.state) == taken
        assert compiled(position.state, after.state) == taken


NO_HANDS = "expected the hands behind the side to move, as 12,12; found "
NO_INITIATIVE = "expected the initiative (B, R or -) behind the hands, found "
WRONG = [
    ("...../...../...../...../..... B 12 B", NO_HANDS + "'12'"),
    ("...../...../...../...../..... B 12,x B", NO_HANDS + "'12,x'"),
    ("...../...../...../...../..... B 12,-1 B", NO_HANDS + "'12,-1'"),
    ("...../...../...../...../..... B 12,² B", NO_HANDS + "'12,²'"),
    ("...../...../...../...../..... B 1,2,3 B", NO_HANDS + "'1,2,3'"),
    ("...../...../...../...../..... B R", NO_HANDS + "'R'"),
    ("...../...../...../...../..... B 12,12", NO_INITIATIVE + "nothing"),
    ("...../...../...../...../..... B 12,12 X", NO_INITIATIVE + "'X'"),
    ("...../...../...../...../..... B 12,12 B B", NO_INITIATIVE + "'B B'"),
    ("...../...../...../...../..... B 13,12 B", "B: 13 in hand are over 12"),
    ("...../...../...../...../..... B 12,99 B", "R: 99 in hand are over 12"),
    ("...../...../...../...../.B.R. B 11,12 B", "R: 1 on the board and 12 in hand are over 12"),
    ("BBBBB/BBBBB/BBB../...../..... B", "B: 13 on the board and 0 in hand are over 12"),
    ("...../...../...../...../..... W 12,12 B",
     "expected the side to move (B or R) behind the rows, found 'W'"),
    ("...../...../..X../...../..... B 12,12 B", "row 3, C3: 'X' is none of B R ."),
]  # fmt: skip


@pytest.mark.parametrize(("words", "message"), WRONG)
def test_wrong_positions(words: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        GAME.position(words)
    assert str(caught.value) == f"choko position {words!r}: {message}"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("start", START),
        ("...../...../...../...../..... b 12,12 b", START),
        ("...../...../...../...../.B.R. R", "...../...../...../...../.B.R. R 11,11 -"),
        ("...../...../...../...../.B.R. r  0,7   R ; so", "...../...../...../...../.B.R. R 0,7 R"),
        ("B...R.................... B 1,2 R", "B...R/...../...../...../..... B 1,2 R"),
    ],
)
def test_right_positions(words: str, text: str) -> None:
    position = GAME.position(words)
    assert position.text() == text
    assert GAME.position(text) == position
    assert position.ply == (position.to_move == "second")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("choko:cap=0", "choko:cap=0: cap goes from 1 to 10000, not 0"),
        ("choko:cap=10001", "choko:cap=10001: cap goes from 1 to 10000, not 10001"),
        ("choko:extra_capture=never", "choko:extra_capture: expected one of mandatory, optional;"),
    ],
)
def test_wrong_options(spec: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        load_game(spec)
    assert str(caught.value).startswith(message)


def test_options_keep_every_law() -> None:
    for spec in ("choko:extra_capture=optional", "choko:cap=7"):
        report = check(load_game(spec), games=4, seed=1, compiled=False)
        assert report.notes == ("compiled: left out",)


EMPTY, MINE, THEIRS = range(3)
NEVER = -1000


def gain(new: int, cell: int, extras: int) -> NDArray[np.int16]:
    """Actions that cell number `cell` adds, by what the ten cells before it hold."""
    row, column = divmod(cell, 5)
    above2, above, left2, left = np.indices((3, 3, 3, 3))

    def ends(other: NDArray[np.int64]) -> NDArray[np.bool_]:
        """One of mine and an empty square: for a step side by side, for a jump two apart."""
        return (other + new == EMPTY + MINE) & (other != new)

    added = np.full((3, 3, 3, 3), int(new == EMPTY))
    added += (column >= 1) * ends(left) + (row >= 1) * ends(above)
    added += extras * (column >= 2) * (ends(left2) & (left == THEIRS))
    added += extras * (row >= 2) * (ends(above2) & (above == THEIRS))
    return added.astype(np.int16).reshape(3, 1, 1, 1, 1, 3, 1, 1, 3, 3)


def most_actions(stones: int, extras: int) -> int:
    """Most drops, steps and jumps of any board with so many of their stones, cell after cell.

    ``best[t, a, ..., j]`` belongs to boards up to some cell that hold t of them and end with a…j.
    """
    best = np.full((stones + 1, *[3] * 10), NEVER, dtype=np.int16)
    best[0] = 0
    for cell in range(25):
        grown = [(best + gain(new, cell, extras)).max(axis=1) for new in (EMPTY, MINE, THEIRS)]
        grown[THEIRS] = np.roll(grown[THEIRS], 1, axis=0)
        grown[THEIRS][0] = NEVER
        best = np.stack(grown, axis=-1)
    return int(best[stones].max())


@pytest.mark.parametrize(("game", "spared"), [(GAME, 1), (OPTIONAL, 0)])
def test_no_board_has_more_legal_actions(game: Game, spared: int) -> None:
    most = [most_actions(stones, max(1, stones - spared)) for stones in range(13)]
    assert max(most) == most[12] == game.most_legal
    richest = game.position(".BRB./B.BRB/RB.BR/BRB.B/.BRB. R 0,6 -")
    assert len(richest.actions()) == game.most_legal
