"""Figure 5 of paper B: ratings on 9×9 with the average liberty player fixed at 850.

The paper rated its agents on a server; here everybody plays everybody, both colours, and all games
are fitted at once. Shapes are trained by board growing and the online cascade; liberty shapes are
added to them and trained on. What was trained lies in the folder, and is not trained again.
"""

from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from randori.agents.agent import Agent
from randori.agents.registry import load_agent
from randori.agents.shapes import shipped_shapes
from randori.arena.match import MatchResult, play_match
from randori.arena.ratings import Ratings, Result, rate
from randori.errors import UserError
from randori.games.registry import load_game
from randori.learners.settings import StopConfig
from randori.learners.shapes import Shapes, ShapesConfig
from randori.runs.checkpoint import latest_checkpoint, read_checkpoint
from randori.runs.config import from_dict, to_dict
from randori.runs.folder import create_run, locked, open_run
from randori.shapes.pair import TdConfig

TRAINED_ON = "go:size={size},komi=7.5,ko=simple,suicide=no,cap={cap}"
RATED_ON = "go:size={size},komi=7.5,suicide=no"
ANCHOR = 850.0
PAPER = {"random": -170, "influence": 700, "alp": 850, "shapes": 1070, "liberties": 1140,
         "search": 1210}  # fmt: skip
"""What the paper found on its server; liberties are shapes with liberties too."""
PAPER_SIZE = 9
OPENING_PLIES = 2
"""Random plies, the same in both games of a pair: else some pairs would repeat their games."""
GAMES, MORE_GAMES = 121_000, 16_000
"""Training games of the shapes on all boards together, and of the liberty shapes after that.

A board grows after 20 000 games at the latest, so that at least 41 000 are left for 9×9.
"""


def train(
    folder: Path, size: int, minutes: float | None, *, seed: int, liberties: Path | None = None,
    tell: Callable[[Mapping[str, Any]], None],
) -> Path:  # fmt: skip
    """Train shapes in a run folder, or go on there; with `liberties` from that run's shapes on.

    It takes `GAMES` or `MORE_GAMES`, so that one seed gives one result; or `minutes`.
    """
    if folder.is_dir():
        run = open_run(folder)
        config = from_dict(ShapesConfig, run.config, str(folder / "config.json"))
    else:
        games = MORE_GAMES if liberties else GAMES
        config = ShapesConfig(
            sets="..3x3@ ..3x3+@" if liberties else "..3x3@",
            td=TdConfig(cascade=True),
            grow_from=0 if liberties or size <= 5 else 5,
            start_from=str(liberties or ""),
            iteration_games=500 if minutes or liberties else 1000,
            stop=StopConfig(minutes=minutes) if minutes else StopConfig(games=games),
        )
        game = TRAINED_ON.format(size=size, cap=4 * size * size)
        run = create_run(folder, learner="shapes", game=game, seed=seed, config=to_dict(config))
    with locked(folder):
        learner = Shapes(
            load_game(run.game), config, run.seed, folder,
            lambda status: tell(status.history[-1]) if status.history else None,
        )  # fmt: skip
        newest = latest_checkpoint(folder)
        if newest is not None:
            learner.restore(read_checkpoint(newest))
        learner.run()
    return folder


def shipped(size: int) -> tuple[str, str] | None:
    """Return the shapes and the liberty shapes that come with Randori, if there are any."""
    game = load_game(RATED_ON.format(size=size))
    try:
        both = [shipped_shapes(game, with_liberties=which) for which in (False, True)]
    except UserError:
        return None
    return str(both[0]), str(both[1])


def contenders(shapes: str, liberties: str, depth: int) -> dict[str, str]:
    """Name the players of the table, by their specs."""
    return {
        "random": "random",
        "influence": "influence",
        "alp": "alp",
        "shapes": f"shapes:{shapes}",
        "liberties": f"shapes:{liberties}",
        "search": f"shapes:{shapes},depth={depth}",
    }


def play_all(
    size: int, specs: Mapping[str, str], games: int, *, seed: int,
    tell: Callable[[MatchResult], None],
) -> list[MatchResult]:  # fmt: skip
    """Let every pair play so many games, in turn with Black."""
    game = load_game(RATED_ON.format(size=size))
    agents = {
        name: Agent(name, game, load_agent(spec, game).player) for name, spec in specs.items()
    }
    results = []
    for a, b in combinations(agents.values(), 2):
        found = play_match(game, a, b, games, seed=seed, opening_plies=OPENING_PLIES)
        results.append(found)
        tell(found)
    return results


def ratings(results: list[MatchResult]) -> Ratings:
    """Fit all games at once, ALP at 850."""
    games = [
        Result(*((match.a, match.b) if game.a_is_first else (match.b, match.a)),
               game.score if game.a_is_first else 1 - game.score)
        for match in results
        for game in match.games
    ]  # fmt: skip
    return rate(games, anchors={"alp": ANCHOR})


def figure5(results: list[MatchResult], size: int) -> list[dict[str, Any]]:
    """Return the table: our ratings beside the paper's, which are for 9×9."""
    rows = ratings(results).rows()
    known = PAPER if size == PAPER_SIZE else {}
    return [{**row, "paper": known.get(row["agent"])} for row in rows]
