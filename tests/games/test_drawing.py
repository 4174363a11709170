"""Boards as pictures: every game in the registry, and what each look promises."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from randori.games import Game, load_game, text
from randori.games.drawing import as_cells, draw_board, last_cell, last_cells, legal_cells
from randori.games.layout import CELL, GAP, lay_out
from randori.games.look import PLAIN, Look, Tray
from randori.games.position import Position
from randori.games.registry import GAMES
from randori.games.stones import SHAPES

HEX = str(Path(__file__).parents[2] / "examples" / "hex.py")
SPECS = [*GAMES, "othello:size=4", "go:size=5", HEX]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(params=SPECS)
def game(request: pytest.FixtureRequest) -> Game:
    return load_game(request.param)


def some_positions(game: Game) -> Iterator[tuple[Position | None, Position]]:
    """Yield the start and a few positions of a random game, each with the one before it."""
    rng = np.random.default_rng(7)
    before, position = None, game.start()
    for ply in range(25):
        if ply % 6 == 0 or position.is_over:
            yield before, position
        if position.is_over:
            return
        before, position = position, position.play(int(rng.choice(position.actions())))


def parse(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def stones(svg: str) -> list[ElementTree.Element]:
    return [group for group in parse(svg).findall(f"{SVG}g") if "transform" in group.attrib]


def rings(svg: str) -> list[ElementTree.Element]:
    return [c for c in parse(svg).findall(f"{SVG}circle") if c.get("fill") == "none"]


def dots(svg: str, colour: str) -> list[tuple[int, int]]:
    found = [c for c in parse(svg).findall(f"{SVG}circle") if c.get("fill") == colour]
    return [(int(c.attrib["cx"]), int(c.attrib["cy"])) for c in found]


def words(element: ElementTree.Element) -> list[str | None]:
    return [found.text for found in element.iter(f"{SVG}text")]


def cells(game: Game, *names: str) -> list[int]:
    numbers = {text.cell_text(game, cell): cell for cell in range(game.board_cells)}
    return sorted(numbers[name] for name in names)


def test_every_game_can_be_drawn(game: Game) -> None:
    """Well-formed, each stone once, marked and dotted, nothing that two boards could share."""
    for before, position in some_positions(game):
        last = last_cells(game, before.state, position.state) if before else []
        svg = draw_board(game, position.state, last, show_legal=True)
        root = parse(svg)
        assert root.attrib["aria-label"] == f"{game.title}: {position.text()}"
        assert root.findtext(f"{SVG}title") == root.attrib["aria-label"]
        glyphs = text.cells(game, position.state)
        assert len(stones(svg)) == len(glyphs) - glyphs.count(text.EMPTY)
        standing = [cell for cell in last if glyphs[cell] != text.EMPTY]
        assert len(rings(svg)) == len(standing)
        centre = lay_out(game).centre
        expected = [centre(cell) for cell in legal_cells(game, position.state)]
        assert dots(svg, game.look.legal) == expected
        assert svg == draw_board(game, position.state, last, show_legal=True)
        for element in root.iter():
            assert not {"id", "class", "style", "href"} & set(element.attrib)
            assert element.tag.removeprefix(SVG) not in ("style", "script", "use", "image")


def test_everything_lies_inside_the_picture(game: Game) -> None:
    layout = lay_out(game)
    centres = [layout.centre(cell) for cell in range(game.board_cells)]
    assert len(set(centres)) == game.board_cells
    for x, y in centres:
        assert CELL // 2 < x < layout.width - CELL // 2
        assert CELL // 2 < y < layout.height - CELL // 2


def test_looks_can_be_told_apart(game: Game) -> None:
    """No mark has the colour of its stone, no dot the colour of its board."""
    look = game.look
    assert all(stone.mark != stone.fill and stone.shape in SHAPES for stone in look.stones)
    assert look.stones[0].fill != look.stones[1].fill
    assert look.legal not in (*look.board, look.hole, look.grid)


def test_columns_and_rows_are_named(game: Game) -> None:
    height, width = game.board
    rows = [str(text.row_number(game, row)) for row in range(height)]
    names = parse(game.start().svg()).find(f"{SVG}g")
    assert names is not None
    assert words(names) == [*game.columns[:width], *(rows if game.look.row_names else [])]


@pytest.mark.parametrize(("spec", "is_above"), [("othello", True), ("shobu", False)])
def test_column_names_stand_beside_row_1(spec: str, is_above: bool) -> None:
    layout = lay_out(load_game(spec))
    assert (layout.names < layout.rows[0]) is is_above
    assert (layout.names > layout.bottom) is not is_above


def test_names_are_escaped() -> None:
    odd = replace(load_game("tictactoe"), title='<A & "B">', columns="<&>")
    root = parse(odd.start().svg())
    assert root.attrib["aria-label"] == '<A & "B">: .../.../... x'
    assert words(root)[:3] == ["<", "&", ">"]


def test_a_dropped_stone_is_marked_where_it_lands() -> None:
    game = load_game("connect4")
    before = game.start().play("4")
    after = before.play("4")
    assert last_cell(game, before.state, after.state) == 4 * 7 + 3
    assert legal_cells(game, after.state) == [3 * 7 + 3, *(5 * 7 + c for c in (0, 1, 2, 4, 5, 6))]


def test_a_pass_fills_no_cell() -> None:
    game = load_game("othello")
    position = game.start()
    for move in ("f5", "f6", "d3", "g5", "h5", "h4", "g7", "h6"):
        position = position.play(move)
    assert position.legal() == ["pass"]
    after = position.play("pass")
    assert last_cells(game, position.state, after.state) == []
    assert last_cell(game, position.state, after.state) is None
    assert legal_cells(game, position.state) == []


def test_a_disc_that_was_turned_is_not_the_move() -> None:
    game = load_game("othello")
    start = game.start()
    assert last_cells(game, start.state, start.play("d3").state) == cells(game, "d3")


def test_both_stones_of_a_double_move_are_marked() -> None:
    """Also the one that took the place of a stone which it pushed."""
    game = load_game("shobu")
    before = game.position("FIG_1B")
    for move, filled in (("h3b6NW", ("g4", "a7")), ("d1f5N2", ("d3", "f7"))):
        last = last_cells(game, before.state, before.play(move).state)
        assert last == cells(game, *filled)
        assert len(rings(draw_board(game, before.play(move).state, last))) == 2


def test_last_is_a_cell_or_several_or_none() -> None:
    assert [as_cells(last) for last in (None, 0, [5, 2, 5])] == [(), (0,), (2, 5)]
    position = load_game("tictactoe").position("xo./.../... x")
    for last, count in ((None, 0), (0, 1), ([0], 1), ((1, 0), 2), (8, 0)):
        assert len(rings(draw_board(position.game, position.state, last))) == count


def test_the_ring_has_the_colour_for_its_stone() -> None:
    game = load_game("go:size=5")
    black, white = game.look.stones
    for moves, stone in (("C3", black), ("C3 D3", white)):
        position = game.start()
        for move in moves.split():
            before, position = position, position.play(move)
        last = last_cells(game, before.state, position.state)
        (ring,) = rings(draw_board(game, position.state, last))
        assert ring.attrib["stroke"] == stone.mark


def test_blocks_stand_apart() -> None:
    game = load_game("shobu")
    layout = lay_out(game)
    steps = np.diff(layout.columns)
    assert steps.tolist() == np.diff(layout.rows).tolist() == [48, 48, 48, 48 + GAP, 48, 48, 48]
    boards = parse(game.start().svg()).findall(f"{SVG}rect")
    assert [board.attrib["fill"] for board in boards] == [*game.look.board, *game.look.board]
    paths = parse(game.start().svg()).findall(f"{SVG}path")
    (rope,) = [path for path in paths if path.get("stroke") == game.look.rope]
    assert f" {layout.rows[4] - GAP // 2}H" in rope.attrib["d"]
    assert str(game.start()).splitlines() == [
        "  a b c d   e f g h",
        "8 o o o o   o o o o", "7 . . . .   . . . .", "6 . . . .   . . . .", "5 x x x x   x x x x",
        "",
        "4 o o o o   o o o o", "3 . . . .   . . . .", "2 . . . .   . . . .", "1 x x x x   x x x x",
    ]  # fmt: skip


STARS = {
    3: "",
    5: "C3",
    7: "C3 C5 D4 E3 E5",
    8: "C3 C6 F3 F6",
    9: "C3 C7 E5 G3 G7",
    13: "D4 D10 G7 K4 K10",
    19: "D4 D10 D16 K4 K10 K16 Q4 Q10 Q16",
}


@pytest.mark.parametrize("size", STARS)
def test_star_points(size: int) -> None:
    """They lie where stones would lie: on the crossings."""
    game = load_game(f"go:size={size}")
    layout = lay_out(game)
    expected = [layout.centre(cell) for cell in cells(game, *STARS[size].split())]
    assert sorted(dots(game.start().svg(), game.look.grid)) == sorted(expected)


def test_points_between_cells_lie_on_corners() -> None:
    game = load_game("othello")
    layout = lay_out(game)
    expected = [(layout.columns[c], layout.rows[r]) for r in (2, 6) for c in (2, 6)]
    assert dots(game.start().svg(), game.look.grid) == expected
    assert load_game("othello:size=4").look.points == ()


def test_a_hole_in_every_cell() -> None:
    game = load_game("connect4")
    assert len(dots(game.start().svg(), game.look.hole)) == 42


def trays(svg: str) -> list[ElementTree.Element]:
    return [group for group in parse(svg).findall(f"{SVG}g") if "font-weight" in group.attrib]


def test_hands_are_drawn_in_trays() -> None:
    look = Look(trays=lambda state: (Tray(5, "to <go>"), Tray(0)))
    game = replace(load_game("tictactoe"), look=look)
    first, second = trays(game.start().svg())
    assert (words(first), words(second)) == (["5", "to <go>"], ["0"])
    assert (len(first.findall(f"{SVG}g")), len(second.findall(f"{SVG}g"))) == (5, 0)
    plain = lay_out(replace(game, look=PLAIN))
    assert lay_out(game).height > plain.height
    assert trays(load_game("tictactoe").start().svg()) == []


def test_a_full_hand_leaves_room_for_its_note() -> None:
    look = Look(trays=lambda state: (Tray(40, "moves"), Tray(0)))
    game = replace(load_game("tictactoe"), look=look)
    first, _ = trays(game.start().svg())
    badge = first.findall(f"{SVG}rect")[1]
    last = first.findall(f"{SVG}g")[-1].attrib["transform"]
    assert int(last.removeprefix("translate(").split()[0]) < int(badge.attrib["x"])


def test_choko_shows_hands_and_initiative() -> None:
    game = load_game("choko")
    for position, hands in (
        ("start", (["12", "initiative"], ["12"])),
        ("...../...../..B../..R../R.... B 11,10 R", (["11"], ["10", "initiative"])),
        ("...../...../..B../..R../..... B 3,0 -", (["3"], ["0"])),
    ):
        svg = game.position(position).svg()
        assert tuple(words(tray) for tray in trays(svg)) == hands
        counts = [str(len(tray.findall(f"{SVG}g"))) for tray in trays(svg)]
        assert counts == [hand[0] for hand in hands]
