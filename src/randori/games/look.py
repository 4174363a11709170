"""Colours and shapes of a drawn board: facts of a game that only pictures use."""

from dataclasses import dataclass

DARK = ("#2b2f36", "#14161a", "#4a505a")
LIGHT = ("#fbf9f4", "#a99f8c", "#ffffff")
"""Fill, rim and sheen of a stone."""


@dataclass(frozen=True)
class Look:
    """How a board is drawn; the default is a plain wooden grid with dark and light stones."""

    board: str = "#ecd9b0"
    grid: str = "#cdb587"
    edge: str = "#c9ad78"
    stones: tuple[tuple[str, str, str], tuple[str, str, str]] = (DARK, LIGHT)


PLAIN = Look()
