"""Go against a naive implementation, GNU Go, and positions whose answer is known."""

import shutil
import subprocess
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from randori.errors import IllegalAction, UserError
from randori.games import Position, load_game
from randori.games.captures import captures
from randori.games.check import check
from randori.games.rules import STATE_WORDS, start
from randori.games.rules import play as play_move

Board = tuple[str, ...]


class Naive:
    """Tromp-Taylor with its switches, over tuples of glyphs and a list of all boards so far."""

    def __init__(
        self, size: int, ko: str = "positional", suicide: bool = True, eyes: str = "fill"
    ) -> None:
        self.size, self.ko, self.suicide, self.eyes = size, ko, suicide, eyes
        self.board: Board = (".",) * size * size
        self.side, self.passes = "x", 0
        self.past: list[tuple[Board, str]] = []

    def around(self, point: int) -> Iterator[int]:
        row, column = divmod(point, self.size)
        for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if 0 <= r < self.size and 0 <= c < self.size:
                yield r * self.size + c

    def region(self, board: Board, point: int) -> tuple[set[int], set[str]]:
        """Return the points of one colour that hang together with `point`, and what they touch."""
        found, edge, queue = {point}, set[str](), [point]
        for here in queue:
            for there in self.around(here):
                if board[there] != board[point]:
                    edge.add(board[there])
                elif there not in found:
                    found.add(there)
                    queue.append(there)
        return found, edge

    def after(self, point: int) -> Board | None:
        """Return the board after a move, or None if it is taken or kills itself unlawfully."""
        if self.board[point] != ".":
            return None
        board = list(self.board)
        board[point] = self.side
        other = "xo"[self.side == "x"]
        for colour in (other, self.side):
            for seed in [point] if colour == self.side else [*self.around(point)]:
                if board[seed] == colour:
                    chain, edge = self.region(tuple(board), seed)
                    if "." not in edge:
                        if colour == self.side and not self.suicide:
                            return None
                        for stone in chain:
                            board[stone] = "."
        return tuple(board)

    def is_spared(self, point: int) -> bool:
        """Tell whether the mover must not fill its own eye."""
        if self.eyes == "fill" or any(self.board[p] != self.side for p in self.around(point)):
            return False
        row, column = divmod(point, self.size)
        corners = [(row + i) * self.size + column + j for i in (-1, 1) for j in (-1, 1)
                   if 0 <= row + i < self.size and 0 <= column + j < self.size]  # fmt: skip
        hostile = sum(self.board[corner] == "xo"[self.side == "x"] for corner in corners)
        return self.eyes == "spare" or hostile <= (len(corners) == 4)

    def legal(self) -> set[int]:
        other = "xo"[self.side == "x"]
        past = [*self.past, (self.board, self.side)]
        found = {self.size * self.size}
        for point in range(self.size * self.size):
            board = self.after(point)
            if board is None or board == self.board or self.is_spared(point):
                continue
            if self.ko == "positional" and board in [old for old, _ in past]:
                continue
            if self.ko == "situational" and (board, other) in past:
                continue
            if self.ko == "simple" and len(past) > 1 and board == past[-2][0]:
                continue
            found.add(point)
        return found

    def play(self, action: int) -> None:
        self.past.append((self.board, self.side))
        if action == self.size * self.size:
            self.passes += 1
        else:
            board = self.after(action)
            assert board is not None
            self.board, self.passes = board, 0
        self.side = "xo"[self.side == "x"]

    def score(self) -> int:
        total = 0
        for point, glyph in enumerate(self.board):
            edge = {glyph} if glyph != "." else self.region(self.board, point)[1]
            total += (edge == {"x"}) - (edge == {"o"})
        return total


OPTIONS = [
    (ko, suicide, eyes)
    for ko in ("positional", "situational", "simple")
    for suicide in (True, False)
    for eyes in ("fill", "spare", "spare-safe")
]


@settings(max_examples=90, deadline=None, derandomize=True)
@given(size=st.integers(2, 6), options=st.sampled_from(OPTIONS), seed=st.integers(0, 10**6))
def test_lock_step_with_naive_rules(size: int, options: tuple[str, bool, str], seed: int) -> None:
    ko, suicide, eyes = options
    spec = f"go:size={size},ko={ko},suicide={'yes' if suicide else 'no'},eyes={eyes},komi=0,cap=60"
    rng = np.random.default_rng(seed)
    position, naive = load_game(spec).start(), Naive(size, ko, suicide, eyes)
    while not position.is_over:
        actions = position.actions()
        assert set(actions) == naive.legal(), position.text()
        points = [a for a in actions if a != size * size]
        action = int(rng.choice(points)) if points and rng.random() < 0.97 else size * size
        position = position.play(action)
        naive.play(action)
        assert position.text().split()[0].replace("/", "") == "".join(naive.board)
    assert naive.passes == 2 or position.ply == 60
    sign = {"first": 1, "second": -1, "draw": 0}[position.outcome or ""]
    assert sign == np.sign(naive.score())
    margin = position.game.margin
    assert margin is not None
    assert margin(position.state) == naive.score()


@pytest.mark.parametrize("size", [8, 9, 11, 12, 13, 16, 19])
def test_large_boards_keep_step_too(size: int) -> None:
    """Boards of two to six words: legal moves, and captures across the ends of words."""
    rng = np.random.default_rng(size)
    game, crossings = load_game(f"go:size={size},suicide=no"), 0
    for trial in range(60 if size < 11 else 12):
        naive = Naive(size, suicide=False)
        end = 64 * (1 + trial % max(1, (size * (size + 1) - 1) // 64))  # crowd the end of a word
        rows = range(max(0, end // (size + 1) - 2), min(size, end // (size + 1) + 2))
        position = game.start()
        for _ in range(6 * size):
            points = [a for a in position.actions() if a // size in rows] or [size * size]
            action = int(rng.choice(points))
            before = naive.board
            naive.play(action)
            position = position.play(action)
            taken = [p for p in range(size * size) if before[p] != "." and naive.board[p] == "."]
            words = {(p + p // size) // 64 for p in taken}
            crossings += len(words) > 1
            if position.is_over:
                break
        assert position.text().split()[0].replace("/", "") == "".join(naive.board)
        assert set(position.actions()) == (naive.legal() if not position.is_over else set())
    assert crossings > 0 or size == 8


def replay(moves: NDArray[np.int32], states: NDArray[np.uint64]) -> None:
    """Play moves from the start; a row for each position."""
    start(states[0])
    for ply in range(len(moves)):
        for word in range(STATE_WORDS):
            states[ply + 1, word] = states[ply, word]
        play_move(states[ply + 1], moves[ply])


def test_compiled_boards_of_three_words() -> None:
    game, rng = load_game("go:size=13,cap=300"), np.random.default_rng(1)
    states = [game.new_state()]
    moves = []
    while len(moves) < 300 and game.plain.outcome(states[-1]) == 0:
        actions = game.legal_actions(states[-1])
        moves.append(int(rng.choice(actions[:-1] or actions)))
        states.append(states[-1].copy())
        game.plain.play(states[-1], moves[-1])
    rows = np.zeros((len(states), game.num_words), dtype=np.uint64)
    game.kernel(replay, play_move=game.rules.play)(np.array(moves, dtype=np.int32), rows)
    assert np.array_equal(rows, np.array(states))


def play(position: Position, moves: str) -> Position:
    for move in moves.split():
        position = position.play(move)
    return position


@pytest.mark.parametrize("ko", ["positional", "situational", "simple"])
def test_a_ko_may_not_be_taken_back_at_once(ko: str) -> None:
    game = load_game(f"go:size=5,ko={ko}")
    position = play(game.start(), "B5 C5 A4 D4 B3 C3 C4 B4")
    assert position.text() == ".xo../xo.o./.xo../...../..... b ko C4"
    assert "C4" not in position.legal()
    assert game.position(position.text()).legal() == position.legal()
    elsewhere = play(position, "E1 A1")
    assert "C4" in elsewhere.legal()
    taken = game.uncompiled(captures)(elsewhere.state, elsewhere.play("C4").state)
    assert taken == 1


def test_superko_bars_what_simple_ko_allows() -> None:
    """Random games on 3×3 meet positions in which the long memory matters."""
    rng, differ = np.random.default_rng(3), 0
    strict, lax = (load_game(f"go:size=3,ko={ko},cap=100") for ko in ("positional", "simple"))
    for _ in range(30):
        position, other = strict.start(), lax.start()
        while not position.is_over:
            assert set(position.actions()) <= set(other.actions())
            differ += len(position.actions()) < len(other.actions())
            action = int(rng.choice(position.actions()[:-1] or position.actions()))
            position, other = position.play(action), other.play(action)
    assert differ > 10


def test_no_board_comes_back_under_superko() -> None:
    rng = np.random.default_rng(4)
    for ko in ("positional", "situational"):
        game = load_game(f"go:size=3,ko={ko},cap=200")
        for _ in range(10):
            position, seen = game.start(), []
            while not position.is_over:
                board, side = position.text().split()[:2]
                seen.append((board, side if ko == "situational" else "", position.ply))
                move = str(rng.choice(position.legal()))
                before, position = position, position.play(move)
                if move != "pass":
                    board, side = position.text().split()[:2]
                    kept = side if ko == "situational" else ""
                    assert (board, kept) not in {(b, s) for b, s, _ in seen}, before.text()


def test_suicide() -> None:
    """White may kill two stones of its own at A1 and B1, but never one."""
    two = "...../...../xx.../.ox../o.x.. w"
    three = "...../...../xx.../oox../o.x.. w"
    assert "B1" in load_game("go:size=5").position(three).legal()
    assert "B1" not in load_game("go:size=5,suicide=no").position(three).legal()
    after = load_game("go:size=5").position(three).play("B1")
    assert after.text() == "...../...../xx.../..x../..x.. b"
    alone = load_game("go:size=5").position("...../...../x..../.x.../x.... w")
    assert "A2" not in alone.legal()
    assert "B1" in load_game("go:size=5").position(two).legal()


def test_own_eyes() -> None:
    text = "...../...../xx.../.xxx./x.x.x b"
    fill, spare = (load_game(f"go:size=5,eyes={eyes}").position(text) for eyes in ("fill", "spare"))
    assert set(fill.legal()) - set(spare.legal()) == {"A2", "B1", "D1"}
    at_the_edge = ".o.../xo.../.x.../x..../..... b"
    assert "A3" not in load_game("go:size=5,eyes=spare").position(at_the_edge).legal()
    assert "A3" in load_game("go:size=5,eyes=spare-safe").position(at_the_edge).legal()
    for corners, is_eye in (("o.x", True), ("o.o", False)):
        left, _, right = corners
        centre = f"...../{left}x{right}../x.x../xxx../..... b"
        found = load_game("go:size=5,eyes=spare-safe").position(centre).legal()
        assert ("B3" in found) != is_eye


def test_two_passes_score_the_area() -> None:
    game = load_game("go:size=5,komi=0.5")
    assert play(game.start(), "C3 pass pass").outcome == "first"
    assert play(game.start(), "pass pass").outcome == "second"
    assert play(load_game("go:size=5,komi=0").start(), "pass pass").outcome == "draw"
    wall = game.position(".xo../.xo../.xo../.xo../.xo.. b")
    assert wall.game.margin is not None
    assert wall.game.margin(wall.state) == 10 - 15 - 0.5
    balanced = load_game("go:size=5,komi=-5").position(wall.text())
    assert play(balanced, "pass pass").outcome == "draw"
    assert play(game.position(wall.text()), "pass").text() == wall.text()[:-1] + "w pass"


def test_the_cap_scores_the_board() -> None:
    position = play(load_game("go:size=5,cap=3").start(), "C3 pass B2")
    assert position.outcome == "first"
    assert position.legal() == []


def test_komi_goes_by_the_size() -> None:
    def margin(spec: str) -> float:
        game = load_game(spec)
        assert game.margin is not None
        return game.margin(game.new_state())

    specs = ("go:size=5", "go:size=7", "go", "go:size=19", "go:komi=6.5", "go:komi=auto")
    assert [margin(spec) for spec in specs] == [-0.5, -9, -7.5, -7.5, -6.5, -7.5]
    assert load_game("go:komi=6.5,suicide=no").spec == "go:komi=6.5,suicide=no"


WRONG = [
    ("go:size=5", "...../...../...../...../.....", "expected the side to move (b or w)"),
    ("go:size=5", "...../...../..q../...../..... b", "row 3, C3: 'q' is none of x o ."),
    ("go:size=5", "...../..../...../...../..... b", "row 4 has 4 cells instead of 5"),
    ("go:size=5", "...../...../x b", "expected 5 rows, found 3"),
    ("go:size=5", "xo.../o..../...../...../..... b", "the chain at A5 has no liberty"),
    ("go:size=5", "...../...../...../...../..... b ko", "expected pass, pass pass or ko C3,D4"),
    ("go:size=5", "...../...../...../...../..... b ko C9", "C9: there is no such point"),
    ("go:size=5", "...../...../...../...../..... b ko I3", "I3: there is no such point"),
    ("go:size=5", "x..../...../...../...../..... b ko A5", "ko A5: nobody could play there"),
    ("go:size=5", "...../...../...../...../..... b pass pass pass", "3 passes in a row"),
    ("go:size=5,ko=simple", "...../...../...../...../..... b ko A1,A2", "simple ko bars one"),
]


@pytest.mark.parametrize(("spec", "words", "message"), WRONG)
def test_wrong_positions(spec: str, words: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        load_game(spec).position(words)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("go:size=20", "size goes from 2 to 19, not 20"),
        ("go:size=1", "size goes from 2 to 19, not 1"),
        ("go:komi=0.3", "komi is a multiple of 0.5 up to 1000, not 0.3"),
        ("go:ko=super", "expected one of positional, situational, simple; found 'super'"),
        ("go:cap=0", "cap goes from 1 to 1000 plies, not 0"),
    ],
)
def test_wrong_options(spec: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        load_game(spec)


@pytest.mark.parametrize(
    "spec", ["go:size=4,ko=situational,suicide=no", "go:size=5,eyes=spare-safe,ko=simple"]
)
def test_options_keep_every_law(spec: str) -> None:
    assert check(load_game(spec), games=3, compiled=False).notes == ("compiled: left out",)


@pytest.mark.slow
def test_the_largest_board_keeps_every_law() -> None:
    assert check(load_game("go:size=19"), games=1).notes == ()


GNUGO = shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")


class GnuGo:
    """GNU Go behind GTP."""

    def __init__(self, *options: str) -> None:
        assert GNUGO is not None
        self._process = subprocess.Popen(
            [GNUGO, "--mode", "gtp", "--chinese-rules", *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def ask(self, command: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{command}\n")
        self._process.stdin.flush()
        answer = ""
        while (line := self._process.stdout.readline()) not in ("\n", ""):
            answer += line
        assert answer.startswith("="), f"{command}: {answer}"
        return answer[1:].strip()

    def close(self) -> None:
        self.ask("quit")
        self._process.wait()


RULE_SETS = [
    ("ko=positional,suicide=no", ("--positional-superko", "--forbid-suicide")),
    ("ko=situational,suicide=no", ("--situational-superko", "--forbid-suicide")),
    ("ko=simple,suicide=no", ("--simple-ko", "--forbid-suicide")),
    ("ko=simple,suicide=yes", ("--simple-ko", "--allow-suicide")),
]


@pytest.mark.skipif(GNUGO is None, reason="GNU Go is not installed")
@pytest.mark.parametrize(("rules", "options"), RULE_SETS)
def test_legal_moves_are_gnu_gos(rules: str, options: tuple[str, ...]) -> None:
    rng = np.random.default_rng(5)
    for size in (5, 7, 9):
        gnugo = GnuGo(*options)
        gnugo.ask(f"boardsize {size}")
        gnugo.ask("clear_board")
        position = load_game(f"go:size={size},{rules}").start()
        for ply in range(70):
            colour = ("black", "white")[ply % 2]
            theirs = set(gnugo.ask(f"all_legal {colour}").split()) - {"PASS"}
            assert set(position.legal()) - {"pass"} == theirs, position.text()
            move = str(rng.choice([m for m in position.legal() if m != "pass"] or ["pass"]))
            gnugo.ask(f"play {colour} {move}")
            position = position.play(move)
            if position.is_over:
                break
        gnugo.close()


@pytest.mark.skipif(GNUGO is None, reason="GNU Go is not installed")
def test_final_scores_are_gnu_gos() -> None:
    """Games that are played until only safe eyes are left hold no dead stones to argue about."""
    rng = np.random.default_rng(6)
    for size, komi in ((5, 0.5), (7, 9.5), (9, 7.5)):
        gnugo = GnuGo("--positional-superko", "--forbid-suicide", "--komi", str(komi))
        for _ in range(3):
            gnugo.ask(f"boardsize {size}")
            gnugo.ask("clear_board")
            gnugo.ask(f"komi {komi}")
            game = load_game(f"go:size={size},komi={komi},suicide=no,eyes=spare-safe,cap=600")
            position = game.start()
            while not position.is_over:
                points = [move for move in position.legal() if move != "pass"]
                move = str(rng.choice(points or ["pass"]))
                gnugo.ask(f"play {('black', 'white')[position.ply % 2]} {move}")
                position = position.play(move)
            assert game.margin is not None
            lead = game.margin(position.state)
            assert gnugo.ask("final_score") == f"{'B' if lead > 0 else 'W'}+{abs(lead):.1f}"
        gnugo.close()


def test_moves_are_written_as_vertices() -> None:
    position = load_game("go:size=19").start()
    texts = position.legal()
    assert (texts[0], texts[18], texts[8], texts[-2], texts[-1]) == (
        "A19", "T19", "J19", "T1", "pass",
    )  # fmt: skip
    assert all(len({a, b}) == 2 for a, b in pairwise(texts))
    assert position.play("q16").play("PASS").to_move == "first"


@pytest.mark.parametrize(
    ("spec", "text", "move", "reason"),
    [
        ("go:size=5", ".xo../xo.o./.xo../...../..... b ko C4", "C4", "ko"),
        ("go:size=5", "x..../...../...../...../..... w", "a5", "A5 is taken"),
        ("go:size=5", "...../...../x..../.x.../x.... w", "A2", "suicide"),
        ("go:size=5,eyes=spare", ".x.../x..../...../...../..... b", "A5", "its own eye"),
        ("choko", ".B.../..R../...../...../..... R 11,11 B", "C4-C3", "B has the initiative"),
    ],
)
def test_illegal_moves_say_why(spec: str, text: str, move: str, reason: str) -> None:
    with pytest.raises(IllegalAction, match=f"illegal move '{move}' .{reason}"):
        load_game(spec).position(text).play(move)
