"""Dead stones by random games: textbook positions."""

from randori.protocols.dead_stones import chains, status_of_chains

TWO_EYES = """
    .xo.o.o
    xxooooo
    ooo....
    .......
    .xxxxxx
    xxx.x.x
    o.xxxxx"""
"""Black's corner stones above have one eye at most, White's stone below none."""


def read(drawing: str) -> tuple[int, str]:
    rows = drawing.split()
    return len(rows), "".join(rows)


def test_chains_cover_the_stones() -> None:
    size, board = read(TWO_EYES)
    found = list(chains(board, size))
    cells = [cell for chain in found for cell in chain]
    assert sorted(cells) == [c for c, glyph in enumerate(board) if glyph != "."]
    assert all(len({board[c] for c in chain}) == 1 for chain in found)


def test_a_corner_without_eyes_dies_and_two_eyes_live() -> None:
    size, board = read(TWO_EYES)
    status = {min(chain): word for chain, word in status_of_chains(size, board).items()}
    assert status[board.index("x")] == "dead"
    assert status[board.index(".xxxxxx") + 1] == "alive"
    assert status[board.index("o")] == "alive"
    assert status[board.rindex("o")] == "dead"
