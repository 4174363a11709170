"""The conformance check: every game passes, and each law can be broken.

A broken game is Tic-tac-toe with one thing wrong. Its kernels stand here as plain functions, the
way a user would write them.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from randori.errors import BrokenLaw
from randori.games import Game, load_game, shobu, tictactoe
from randori.games.check import LAWS, check
from randori.games.kernels import DRAW, FIRST, ONGOING, SECOND, U1, Actions, State, bit, has
from randori.games.registry import GAMES
from randori.games.symmetry import Symmetries, flip, identity, symmetries, transpose
from randori.games.tictactoe import MINE, PLY, THEIRS
from randori.games.tictactoe import legal as right_legal
from randori.games.tictactoe import planes as right_planes

HEX = str(Path(__file__).parents[2] / "examples" / "hex.py")
GAME = tictactoe.game()
TABLES = GAME.symmetries


def words_of(state: State) -> str:
    return " ".join(str(int(word)) for word in state)


def row_of(words: str) -> State:
    return np.array(words.split(), dtype=np.uint64)


OWN_TEXT = replace(GAME, set_up=None, position_text=words_of, parse_position=row_of)
HIDDEN = np.zeros(1, dtype=np.int64)
PARTS_TWICE = np.array(8 * [[2, -1, -1]] + [[4, -1, 4]], dtype=np.int32)


@pytest.mark.parametrize("spec", [*GAMES, HEX, f"{HEX}:size=9"])
def test_every_game_keeps_every_law(spec: str) -> None:
    game = load_game(spec)
    report = check(game)
    untried = [] if len(game.marks) else ["marks"]
    assert [law for law, count in report.laws.items() if count == 0] == untried
    assert list(report.laws) == list(LAWS)
    assert report.notes == ()
    assert report.games > 0
    assert f"{report.plies} plies, every law holds" in str(report)


@pytest.mark.parametrize(
    "spec", ["othello:size=4", "othello:size=6", "connect4:width=9,height=4", f"{HEX}:size=2"]
)
def test_options_keep_every_law(spec: str) -> None:
    report = check(load_game(spec), games=5, seed=1, compiled=False)
    assert report.laws["compiled"] == 0
    assert report.notes == ("compiled: left out",)
    assert report.games == 5


def test_the_seed_decides() -> None:
    one, same, other = (check(GAME, seed=seed, compiled=False) for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_symmetries_that_move_the_start_need_set_up() -> None:
    """Four of Othello's eight keep its first position: the others cannot be replayed."""
    report = check(replace(load_game("othello:size=4"), set_up=None), games=4, compiled=False)
    assert len(report.notes) == 1 + 4
    assert report.notes[0].startswith("symmetry 1: it moves the start")
    assert report.laws["symmetry"] > 0


def test_a_game_that_writes_its_own_boards() -> None:
    report = check(OWN_TEXT, compiled=False)
    assert report.notes[0] == "mover: the game writes its own boards"
    assert report.laws["mover"] == 0


def index_too_far(state: State, action: int) -> None:
    tictactoe.play(state, action)
    state[int(state[PLY])] += np.uint64(0)


def no_answer(state: State) -> Any:
    tictactoe.outcome(state)


def writes(state: State) -> int:
    state[MINE] |= np.uint64(0)
    return tictactoe.outcome(state)


def only_adds(state: State, words: NDArray[np.uint64]) -> None:
    words[0] |= state[MINE]
    words[1] |= state[THEIRS]


def clears_half(state: State) -> None:
    state[:2] = 0


def remembers(state: State, action: int) -> None:
    tictactoe.play(state, action)
    HIDDEN[0] += 1
    state[THEIRS] |= bit(int(HIDDEN[0]) % 9)


def plays_nothing(state: State, action: int) -> None:
    state[0] += U1


def after_four(state: State) -> int:
    return DRAW if state[0] >= np.uint64(4) else ONGOING


def none_after_four(state: State, actions: Actions) -> int:
    actions[0] = 0
    return 0 if state[0] >= np.uint64(4) else 1


def forgets_the_ply(state: State, action: int) -> None:
    tictactoe.play(state, action)
    state[PLY] &= ~U1


def starts_late(state: State) -> None:
    state[:] = 0
    state[PLY] = 2


def goes_on(state: State, actions: Actions) -> int:
    count = 0
    for cell in range(9):
        if not has(state[MINE] | state[THEIRS], cell):
            actions[count] = cell
            count += 1
    return count


def gives_up(state: State, actions: Actions) -> int:
    return tictactoe.legal(state, actions) if state[PLY] < np.uint64(4) else 0


def fifth_outcome(state: State) -> int:
    return 4 if tictactoe.outcome(state) != ONGOING else ONGOING


def from_one(state: State, actions: Actions) -> int:
    count = tictactoe.legal(state, actions)
    for i in range(count):
        actions[i] += 1
    return count


def minus_one(state: State, actions: Actions) -> int:
    return tictactoe.legal(state, actions) or -1


def from_the_buffer(state: State, actions: Actions) -> int:
    last = actions[8]
    count = tictactoe.legal(state, actions)
    if last == -2 and count > 1:
        actions[0], actions[1] = actions[1], actions[0]
    return count


def twice(state: State, actions: Actions) -> int:
    count = tictactoe.legal(state, actions)
    actions[0] = actions[max(count - 1, 0)]
    return count


def scribbles(state: State, actions: Actions) -> int:
    actions[9] = 0
    return tictactoe.legal(state, actions)


def overlapping(state: State, words: NDArray[np.uint64]) -> None:
    words[0] = state[MINE]
    words[1] = state[THEIRS] | state[MINE]


def off_the_board(state: State, words: NDArray[np.uint64]) -> None:
    words[0] = state[MINE]
    words[1] = state[THEIRS] | bit(9)


def crosses_first(state: State, words: NDArray[np.uint64]) -> None:
    side = int(state[PLY] & U1)
    words[0] = state[MINE + side]
    words[1] = state[THEIRS - side]


def opponent_first(state: State, words: NDArray[np.uint64]) -> None:
    words[0] = state[THEIRS]
    words[1] = state[MINE]


def takes_what_it_gets(cells: str, side: int) -> State:
    """Read reachable boards right, and leave the colours of all others as they stand."""
    if cells.count("x") - cells.count("o") == side:
        return tictactoe.set_up(cells, side)
    state = tictactoe.set_up(cells.translate(str.maketrans("xo", "ox")), 1 - side)
    state[PLY] += U1
    state[MINE], state[THEIRS] = state[THEIRS], state[MINE]
    return state


def forgets_the_side(cells: str, side: int) -> State:
    state = tictactoe.set_up(cells, side)
    state[PLY] &= ~U1
    return state


def loses_a_stone(cells: str, side: int) -> State:
    state = tictactoe.set_up(cells, side)
    state[MINE] &= ~bit(4)
    return state


def lenient(cells: str, side: int) -> State:
    """Read boards with three in line too."""
    if cells.count("x") - cells.count("o") != side:
        raise ValueError("not reachable")
    stones = [sum(1 << i for i, glyph in enumerate(cells) if glyph == g) for g in "xo"]
    return np.array([9 - cells.count("."), stones[side], stones[1 - side]], dtype=np.uint64)


def swapped_planes(state: State, words: NDArray[np.uint64]) -> None:
    shobu.planes(state, words)
    for board in range(4):
        words[board], words[board + 4] = words[board + 4], words[board]


def sides_swapped() -> Game:
    game = unmarked(load_game("shobu"))
    return replace(game, rules=game.rules._replace(planes=swapped_planes))


def unmarked(game: Game) -> Game:
    return replace(game, marks=np.zeros(0, dtype=np.int32), most_marked=())


def refuses(cells: str, side: int) -> State:
    raise ValueError("no such board")


def refusing_othello() -> Game:
    """Half of its symmetries move the start, so that they need `set_up`."""
    return replace(load_game("othello:size=4"), set_up=refuses)


def never_ends(state: State) -> bool:
    return False


def asks_a_dict(state: State) -> bool:
    return {"0": True}.get(str(state[PLY]), True)


def from_the_sixth_on(state: State) -> bool:
    """A game may end with the fifth move."""
    return bool(state[PLY] >= np.uint64(5))


def thinks_alike(state: State, actions: Actions, logits: Any, odds: Any) -> int:
    return GAME.plain.legal(state, actions)


def counts_one_more(state: State, actions: Actions) -> int:
    return tictactoe.legal(state, actions) + 1


def same_text(state: State, action: int) -> str:
    return "move"


def text_with_a_tail(state: State, action: int) -> str:
    return f"{action} "


def broken_text(state: State, action: int) -> str:
    return "abcdefgh"[action]


def rows_only(state: State) -> int:
    for row in (0o007, 0o070, 0o700):
        if int(state[THEIRS]) & row == row:
            return FIRST if state[PLY] & U1 else SECOND
    return DRAW if state[PLY] == np.uint64(9) else ONGOING


def rows_only_legal(state: State, actions: Actions) -> int:
    count = 0
    if rows_only(state) == ONGOING:
        for cell in range(9):
            if not has(state[MINE] | state[THEIRS], cell):
                actions[count] = cell
                count += 1
    return count


def wraps_round(state: State, words: NDArray[np.uint64]) -> None:
    """3**70 ends in 9, but not in 64 bits."""
    right_planes(state, words)
    large = 1
    for _ in range(70):
        large *= 3
    if large % 10 != 9:
        words[0] = words[1]


def counts_less_in_64_bits(state: State, actions: Actions) -> int:
    """9 - 1 of 9 actions would be what a slice to -1 leaves."""
    large = 1
    for _ in range(70):
        large *= 3
    return right_legal(state, actions) - int(large % 10 != 9)


def allocates(state: State, words: NDArray[np.uint64]) -> None:
    words[:] = np.concatenate((state[MINE:], state[:0]))


def taking_from_around(word: int) -> Callable[[State], None]:
    def start(state: State) -> None:
        state[:] = word

    return start


def with_rules(**rules: Any) -> Game:
    return replace(GAME, rules=GAME.rules._replace(**rules))


def with_tables(inputs: NDArray[np.int32], actions: NDArray[np.int32]) -> Game:
    return replace(GAME, symmetries=Symmetries(inputs, actions))


def changed(table: NDArray[np.int32], row: int, value: int) -> NDArray[np.int32]:
    table = table.copy()
    table[row, 0] = value
    return table


def marked(marks: list[int], *most: int) -> Game:
    """Tic-tac-toe whose logits matter where these cells are taken."""
    return replace(GAME, marks=np.array(marks, dtype=np.int32), most_marked=most)


def upside_down() -> Game:
    game = load_game("connect4")
    tables = symmetries((identity, flip), game.shape, 2, 7, lambda cells: cells[:0])
    return replace(game, symmetries=tables)


def transposed(inputs: bool, actions: bool) -> Symmetries:
    plain = symmetries((identity, identity), (3, 3), 2, 9, lambda cells: cells)
    turned = symmetries((identity, transpose), (3, 3), 2, 9, lambda cells: cells)
    return Symmetries(
        turned.inputs if inputs else plain.inputs, turned.actions if actions else plain.actions
    )


BROKEN: list[tuple[str, Game, str]] = [
    ("facts", replace(GAME, num_words=0), "expected num_words >= 1, found 0"),
    ("facts", replace(GAME, longest=-1), "expected longest >= 1, found -1"),
    ("facts", replace(GAME, num_planes=1), "expected 2 planes or more, found 1"),
    ("facts", replace(GAME, shape=(0, 9)), "found (0, 9)"),
    ("facts", replace(GAME, most_legal=10), "expected most_legal in 1..9, found 10"),
    ("facts", replace(GAME, glyphs="x."), "expected two glyphs, found 'x.'"),
    ("facts", replace(GAME, glyphs="xx"), "expected two glyphs, found 'xx'"),
    ("facts", replace(GAME, sides="b;"), "expected two sides, found 'b;'"),
    ("facts", replace(GAME, seen=GAME.seen[:, 1:]), "expected seen of (2, 9), found (2, 8)"),
    ("facts", replace(GAME, seen=GAME.seen + 1), "seen[0] to be different bits below 9"),
    ("facts", replace(GAME, board=(6, 3)), "expected 4 planes or more, found 2"),
    ("facts", replace(GAME, columns="ab"), "expected 3 column names, found 'ab'"),
    ("facts", with_tables(TABLES.inputs[:, 1:], TABLES.actions), "symmetries.inputs of (8, 18)"),
    ("facts", with_tables(TABLES.inputs[1:], TABLES.actions), "symmetries.inputs of (8, 18)"),
    ("facts", with_tables(TABLES.inputs[::-1], TABLES.actions[::-1]), "the identity first"),
    ("facts", with_tables(changed(TABLES.inputs, 2, 5), TABLES.actions),
     "symmetries.inputs[2] to be a permutation"),
    ("facts", with_tables(TABLES.inputs, changed(TABLES.actions, 7, 8)),
     "symmetries.actions[7] to be a permutation"),
    ("facts", replace(GAME, factors=GAME.factors[1:]), "expected factors of (9, 1), found (8, 1)"),
    ("facts", replace(GAME, factors=GAME.factors + 1), "expected factor 0 in 0..8, found 1..9"),
    ("facts", replace(GAME, factors=np.tile(GAME.factors, 2), factor_sizes=(9, 9)),
     "expected factor 1 in 9..17, found 0..8"),
    ("facts", replace(GAME, spots=np.arange(8, dtype=np.int32)), "spots of (9,), found (8,)"),
    ("facts", replace(GAME, spots=np.zeros(9, dtype=np.int32)), "a spot of its own"),
    ("facts", replace(GAME, spots=np.arange(-1, 8, dtype=np.int32)),
     "expected spots in 0..36863, 4096 planes, found -1..7"),
    ("facts", replace(GAME, spots=np.arange(36856, 36865, dtype=np.int32)),
     "expected spots in 0..36863, 4096 planes, found 36856..36864"),
    ("facts", replace(GAME, subheads=(3, 3)), "expected parts of (9, 1), found (0, 1)"),
    ("facts", replace(GAME, subheads=(3, 3), parts=np.full((9, 2), 6, dtype=np.int32)),
     "expected parts in -1..5, found 6..6"),
    ("facts", replace(GAME, subheads=(3, 3), parts=PARTS_TWICE),
     "expected every part of a logit once, found [[4, 4]]"),
    ("facts", marked(8 * [0], 9), "expected marks of (9,), found (8,)"),
    ("facts", marked(8 * [0] + [18], 9), "expected marks in 0..17, found 0..18"),
    ("facts", marked(8 * [1] + [0], 9), "expected marks to ascend in a factor"),
    ("facts", marked(9 * [0], 10), "expected most_marked of 1 number from 1 to their"),
    ("facts", marked(9 * [0]), "expected most_marked of 1 number from 1 to their"),
    ("facts", replace(GAME, most_marked=(9,)), "expected most_marked of 0 numbers"),
    ("marks", marked(9 * [0], 9), "expected marks at all logits of what is legal, found [0, 1"),
    ("marks", replace(load_game("shobu"), most_marked=(88, 120)), "at most (88, 120) logits with"),
    ("facts", with_rules(play=plays_nothing, outcome=after_four, legal=none_after_four),
     "expected no position twice, as can_repeat=False says"),
    ("kernels", with_rules(play=index_too_far),
     "raised IndexError: index 3 is out of bounds for axis 0 with size 3"),
    ("kernels", with_rules(outcome=no_answer), "a whole number from outcome, found None"),
    ("kernels", with_rules(start=taking_from_around(0)), "takes nothing from around it"),
    ("kernels", with_rules(start=len), "start to be a plain function"),
    ("read-only", with_rules(outcome=writes), "outcome writes to it"),
    ("repeatable", with_rules(planes=only_adds), "planes to answer (0, 0)"),
    ("repeatable", with_rules(legal=from_the_buffer), "legal to answer (0, 1, 2,"),
    ("repeatable", with_rules(start=clears_half), "start to write [0 0 0]"),
    ("repeatable", with_rules(play=remembers), "the second time"),
    ("plies", with_rules(play=forgets_the_ply), "expected 1, found 0"),
    ("plies", with_rules(start=starts_late), "at the start: expected 0, found 2"),
    ("ending", with_rules(legal=goes_on), "expected no legal action with outcome"),
    ("ending", with_rules(legal=gives_up), "expected a legal action with outcome 0, found 0"),
    ("ending", with_rules(outcome=fifth_outcome), "an outcome from 0 to 3, found 4"),
    ("actions", with_rules(legal=from_one), "expected ids from 0 to 8, found [9]"),
    ("actions", with_rules(legal=minus_one), "expected a count of actions, found -1"),
    ("actions", with_rules(legal=twice), "expected distinct ids, found (8, 1, 2,"),
    ("most_legal", replace(GAME, most_legal=8), "expected at most 8, found 9"),
    ("most_legal", with_rules(legal=scribbles), "expected at most 9, found 10"),
    ("longest", replace(GAME, longest=6), "expected the game to be over"),
    ("planes", with_rules(planes=overlapping), "expected the two sides apart, found stones"),
    ("planes", with_rules(planes=off_the_board), "expected bits of 9 cells"),
    ("mover", with_rules(planes=crosses_first), "expected the mover to give o no stone"),
    ("mover", with_rules(planes=opponent_first), "expected the mover to give o no stone"),
    ("mover", replace(GAME, set_up=takes_what_it_gets), "expected the board '"),
    ("action text", replace(GAME, action_text=same_text), "expected distinct texts"),
    ("action text", replace(GAME, action_text=text_with_a_tail), "illegal move '0 '"),
    ("action text", replace(GAME, action_text=broken_text), "IndexError: string index"),
    ("position text", replace(GAME, set_up=forgets_the_side), "expected "),
    ("position text", replace(GAME, set_up=loses_a_stone), "expected "),
    ("position text", replace(GAME, position_text=lambda state: "x"), "reads rows and names"),
    ("position text", replace(GAME, position_text=lambda state: "start"), "expected side 1"),
    ("position text", replace(GAME, positions={"bad": "x"}), "'bad' stands for 'x'"),
    ("symmetry", replace(GAME, symmetries=transposed(True, False)), "symmetry 1 to have planes"),
    ("symmetry", replace(GAME, symmetries=transposed(False, True)), "symmetry 1 to have planes"),
    ("symmetry", replace(GAME, symmetries=transposed(True, False), set_up=None),
     "symmetry 1 to have planes"),
    ("symmetry", replace(with_rules(outcome=rows_only, legal=rows_only_legal), set_up=lenient),
     "to have "),
    ("mover", replace(sides_swapped(), set_up=None, positions={}), "and no "),
    ("symmetry", upside_down(), "symmetry 1 to have planes"),
    ("symmetry", replace(refusing_othello(), position_text=words_of, parse_position=row_of),
     ": no such board"),
    ("num_legal", with_rules(num_legal=counts_one_more), "from num_legal, found"),
    ("may_end", with_rules(may_end=never_ends), "expected true from may_end, since "),
    ("weigh", with_rules(weigh=thinks_alike), "from weigh, found [(0, nan), (1, nan),"),
    ("compiled", with_rules(planes=wraps_round), "compiled kernels to have planes"),
    ("compiled", with_rules(num_legal=counts_less_in_64_bits), "count and list different numbers"),
    ("compiled", with_rules(may_end=asks_a_dict), "scalar code that allocates nothing"),
    ("may_end", with_rules(may_end=from_the_sixth_on), "ends the game, found False"),
    ("compiled", with_rules(planes=allocates), "scalar code that allocates nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("law", "game", "message"), BROKEN)
def test_a_broken_law_is_named(law: str, game: Game, message: str) -> None:
    HIDDEN[0] = 0
    with pytest.raises(BrokenLaw) as caught:
        check(game, compiled=law in ("compiled", "may_end"))
    said = str(caught.value)
    assert said.startswith(f"{game.name}: law {law!r} ({LAWS[law]}) broken")
    assert message in said
    assert "\n" not in said


def test_what_is_no_compile_error_is_named_by_its_type(monkeypatch: pytest.MonkeyPatch) -> None:
    def unwritable(*arguments: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied", "__pycache__")

    monkeypatch.setattr(Game, "kernel", unwritable)
    with pytest.raises(BrokenLaw, match=r"start: PermissionError: .*__pycache__'$") as caught:
        check(GAME)
    assert "Numba" not in str(caught.value)


def test_each_law_is_broken_once() -> None:
    assert {law for law, _, _ in BROKEN} == set(LAWS)


def test_the_message_shows_the_position() -> None:
    with pytest.raises(BrokenLaw, match=r"broken at position '[xo./]{11} [xo]': expected no legal"):
        check(with_rules(legal=goes_on), compiled=False)


def test_the_message_shows_the_moves_where_there_is_no_text() -> None:
    """The error is in the planes, from which texts are made."""
    with pytest.raises(BrokenLaw, match=r"at the position after actions \d: planes raised KeyErr"):
        check(with_rules(planes=fails_after_one), compiled=False)


def fails_after_one(state: State, words: NDArray[np.uint64]) -> None:
    right_planes(state, words)
    if state[PLY] == U1:
        raise KeyError("planes")


@pytest.mark.parametrize("missing", range(8))
def test_a_missing_line_is_found(missing: int) -> None:
    """Tic-tac-toe without one of its eight lines is no longer symmetric."""
    lines = np.delete(tictactoe.LINES, missing)
    broken = replace(GAME, constants={"LINES": lines}, set_up=lenient)
    found = 0
    for seed in range(6):
        with suppress(BrokenLaw):
            check(broken, seed=seed, compiled=False)
            continue
        found += 1
    assert found >= 5
