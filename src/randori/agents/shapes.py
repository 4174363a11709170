"""Agents of paper B: learned local shapes, and the simple players that they are measured by.

All of them leave their own one-point eyes alone and pass only if nothing else is left, whatever
the rules allow.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from randori.agents.classical import GreedyPlayer, ValuedPlayer
from randori.agents.simple import expect_no_value
from randori.errors import UserError
from randori.games.game import Game
from randori.games.kernels import State
from randori.games.registry import load_game
from randori.runs.checkpoint import Model, read_model, write_model
from randori.search.alphabeta import AlphaBetaConfig
from randori.search.search import Analysis
from randori.shapes.influence import influence_of
from randori.shapes.sensible import lives_by_liberties, sensible
from randori.shapes.sets import ShapeSet, parse_sets
from randori.shapes.tables import Tables, board_turns, build_tables
from randori.shapes.value import ShapeValue
from randori.spec import parse_spec
from randori.words import some

MODELS = Path(__file__).parents[1] / "models"
LIBERTIES = "liberties"
"""Names the shipped shapes that count liberties; a run of that name is ``shapes:./liberties``."""
CLOCK_DEPTH = 20
"""Plies at most, if a clock decides."""


def alp(game: Game, value: str | None) -> GreedyPlayer:
    """Average liberty player: mean liberties of own chains less those of the opponent's."""
    expect_no_value("alp", value)
    if not lives_by_liberties(game):
        raise UserError(f"alp counts liberties, which {game.name} has none of; try greedy")
    return GreedyPlayer(sensible(game), "liberties")


def influence(game: Game, value: str | None) -> GreedyPlayer:
    """Play for the points that own stones outweigh the opponent's at."""
    expect_no_value("influence", value)
    board_turns(game)
    judged = replace(sensible(game), evaluations={"influence": influence_of(game)})
    return GreedyPlayer(judged, "influence")


class ShapesPlayer:
    """Plays by the sum of shape weights: after one ply, or by alpha-beta over it."""

    def __init__(self, value: ShapeValue, depth: int = 1, seconds: float = 0.0) -> None:
        self.depth = depth
        self._value = value
        config = AlphaBetaConfig(depth, seconds) if depth > 1 else AlphaBetaConfig(1, table_mb=0)
        self._search = ValuedPlayer(value.sensible_game, value, config)

    def act(self, states: NDArray[np.uint64], rng: np.random.Generator) -> NDArray[np.int32]:
        """Pick the best moves; after one ply equals by lot."""
        return self.judge(states, rng)[0]

    def judge(
        self, states: NDArray[np.uint64], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Do the same, and return what the best moves are worth."""
        if self.depth == 1:
            return self._value.pick(states, rng)
        return self._search.judge(states, rng)

    def analyse(self, state: State, rng: np.random.Generator) -> Analysis:
        """Score every move that the player considers, as deep as it looks, the best one first."""
        return self._search.analyse(state, rng)


def shapes(
    game: Game,
    value: str | None,
    *,
    depth: int | None = None,
    seconds: float | None = None,
    which: int | None = None,
) -> ShapesPlayer:
    """Play by learned shapes: ``shapes:RUN``, ``shapes:FILE.safetensors`` or the shipped ones.

    ``shapes`` alone plays the shipped shapes, ``shapes:liberties`` those with liberty shapes too.
    `depth` 2 and more search by alpha-beta; `which` of the pair of agents plays is 0 or 1.
    """
    if value is None or value == LIBERTIES:
        path = shipped_shapes(game, with_liberties=value == LIBERTIES)
    else:
        path = Path(value)
    if depth is None:
        depth = CLOCK_DEPTH if seconds else 1
    if depth < 1:
        raise ValueError(f"depth must be at least 1, not {depth}")
    if seconds is not None and seconds <= 0:
        raise ValueError("seconds must be more than 0; leave them out to search to a depth")
    return ShapesPlayer(load_shapes(game, path, which), depth, seconds or 0.0)


def shapes_info(value: ShapeValue, **counters: Any) -> dict[str, Any]:
    """Describe shape weights, so that their file alone is enough to use them."""
    tables = value.tables
    hashed = [fact.weights for fact in tables.facts if fact.set.is_hashed]
    return {
        "game": value.game.identity,
        "name": value.game.name,
        "board": list(tables.board),
        "sets": [str(one) for one in tables.sets],
        "bins": hashed[0] if hashed else 1,
        **counters,
    }


def load_shapes(
    game: Game, path: Path, which: int | None = None, *, any_board: bool = False
) -> ShapeValue:
    """Read shape weights; they must be for this game and board, whatever its other options.

    With `any_board` those of another size are read too, onto a game that only has its tables.
    """
    model = read_model(path)
    board = model.info.get("board")
    if any_board and board != list(game.board) and model.info.get("name") == game.name:
        spec = parse_spec(game.spec)
        options = {**spec.options, "size": str(board[0] if board else 0)}
        game = load_game(str(replace(spec, options=options)))
    return shapes_of(game, model, which)


def shapes_of(game: Game, model: Model, which: int | None = None) -> ShapeValue:
    """Build the value function of stored weights: `which` of the pair, or the better one."""
    info = model.info
    if "sets" not in info or "theta" not in model.weights:
        raise UserError(f"{model.path} holds no shape weights; is it a network? Then use az:")
    if info.get("name") != game.name or info.get("board") != list(game.board):
        here = f"{game.name} on {game.board[0]}x{game.board[1]}"
        raise UserError(f"{model.path} holds shapes for {info.get('game')}, not for {here}")
    sets, bins = _sets(model.path, info), _whole(model, "bins", 1)
    tables = _tables(game, sets, bins)
    theta = _dense(model, tables.num_weights)
    which = _whole(model, "better", 0) if which is None else which
    if not 0 <= which < len(theta):
        held = some(len(theta), "agent")
        raise UserError(f"{model.path} has {held}, from 0 on; there is no {which}")
    chosen = np.ascontiguousarray(theta[which], dtype=np.float32)
    if not np.isfinite(chosen).all():
        raise UserError(f"{model.path} is damaged: some of its weights are no numbers")
    return ShapeValue(game, tables, chosen)


def export_shapes(model: Model, target: Path) -> None:
    """Write the better agent alone, for play: 16 bits a weight, and no weight that is zero."""
    better = _whole(model, "better", 0)
    info = {**model.info, "better": 0}
    theta = model.weights["theta"][better].astype(np.float16)
    index = model.weights.get("index", np.arange(len(theta), dtype=np.uint32))
    kept = theta != 0
    write_model(target, {"theta": theta[kept][None], "index": index[kept]}, info)


def _dense(model: Model, num_weights: int) -> NDArray[Any]:
    """Return all weights [agents, weights] of a file, which may hold only those in `index`."""
    theta, index = model.weights["theta"], model.weights.get("index")
    if theta.ndim == 2 and index is not None and index.shape == theta.shape[1:]:
        if index.dtype == np.uint32 and (len(index) == 0 or int(index.max()) < num_weights):
            dense = np.zeros((len(theta), num_weights), dtype=theta.dtype)
            dense[:, index] = theta
            return dense
    elif index is None and theta.shape[1:] == (num_weights,):
        return theta
    raise UserError(f"{model.path} is damaged: expected {num_weights} weights")


@lru_cache(maxsize=8)
def _tables(game: Game, sets: tuple[ShapeSet, ...], bins: int) -> Tables:
    """Lay out the sets once: who plays by a clock loads its agent anew for every move."""
    return build_tables(sets, game.board, board_turns(game), bins)


def _whole(model: Model, name: str, least: int) -> int:
    """Return a whole number that a file tells about itself; `least` if it does not."""
    value = model.info.get(name, least)
    if not isinstance(value, int) or value < least:
        raise UserError(f"{model.path} is damaged: {name} is {value!r}")
    return value


def _sets(path: Path, info: Mapping[str, Any]) -> tuple[ShapeSet, ...]:
    try:
        return parse_sets(" ".join(info["sets"]))
    except (TypeError, UserError) as error:
        raise UserError(f"{path} is damaged: {error}") from None


def shipped_shapes(game: Game, *, with_liberties: bool = False) -> Path:
    """Return the file of the shapes that come with Randori for this board."""
    here = f"{game.name}-{game.board[0]}x{game.board[1]}"
    path = MODELS / f"shapes-{here}{'-liberties' if with_liberties else ''}.safetensors"
    if not path.is_file():
        here = f"{game.name} on {game.board[0]}x{game.board[1]}"
        raise UserError(f"no shapes are shipped for {here}; name a run, as in shapes:runs/NAME")
    return path
