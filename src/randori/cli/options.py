"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from randori.runs.seeds import LAST_SEED

Game = Annotated[str, typer.Argument(metavar="GAME", help="othello:size=6, my_game.py …")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
At = Annotated[str | None, typer.Option("--position", metavar="P", help="A position text or name.")]
Minutes = Annotated[float | None, typer.Option(help="Minutes of training in all.")]
Iterations = Annotated[int | None, typer.Option(help="Iterations in all.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a setting; may be repeated."),
]
Plain = Annotated[bool, typer.Option("--plain", help="Lines instead of the live screen.")]
Seed = Annotated[int, typer.Option(min=0, max=LAST_SEED, help="Seed of all dice.")]
AgentSeed = Annotated[
    int | None, typer.Option(min=0, max=LAST_SEED, help="Seed of the agent's dice.")
]
OpeningPlies = Annotated[
    int | None,
    typer.Option(
        help="Random plies first, or behind those of --openings; the same in both games of a pair."
    ),
]
TwoPlies = Annotated[
    int | None,
    typer.Option(
        help="Random plies first, or behind those of --openings; 2 if no option names openings."
    ),
]
Openings = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Openings to begin with: moves or a position a line."),
]
OpeningAgent = Annotated[
    str | None,
    typer.Option(
        metavar="AGENT",
        help="Draw openings from its visits at temperature 3: 6 plies, or --opening-plies.",
    ),
]
Sprt = Annotated[
    str | None,
    typer.Option(
        metavar="E0,E1[,α,β]", help="Stop each pairing when one Elo difference is clearly right."
    ),
]
Stored = Annotated[Path, typer.Option(metavar="FILE", help="Where games are kept.")]
