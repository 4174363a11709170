"""All learners: their settings, their presets, and how each goes on in a run folder."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from randori.errors import UserError, nearest
from randori.games.game import Game
from randori.learners import curriculum, presets, shapes
from randori.learners.curriculum import Stoppable
from randori.learners.settings import FIXED, AlphaZeroConfig
from randori.learners.status import Counters, Listener, Status
from randori.networks.config import brought_up_to_date
from randori.runs.config import from_dict
from randori.runs.folder import Run


class Learner(Protocol):
    """What learns in a run folder."""

    counters: Counters
    status: Status


@dataclass(frozen=True)
class Kind:
    """One kind of learner."""

    config: type[Any]
    go_on: Callable[[Game, Any, Run, Listener, Stoppable], Learner]
    """Trains from wherever the folder stands, until the run is complete or stopped."""
    try_out: Callable[[Game, Any], None]
    """Complains about what cannot be trained, before there is a run folder."""
    presets: Mapping[str, tuple[str, ...]]
    agent: str
    """The agent that plays what was learnt, as in ``az:RUN``."""
    fixed: tuple[str, ...] = ()
    """Settings that cannot change once a run has begun, by how they start."""


LEARNERS: dict[str, Kind] = {
    "alphazero": Kind(
        AlphaZeroConfig,
        curriculum.go_on,
        curriculum.try_out,
        presets.PRESETS,
        "az",
        ("network.", *FIXED),
    ),
    "shapes": Kind(
        shapes.ShapesConfig,
        shapes.go_on,
        shapes.try_out,
        {"paper": ()},
        "shapes",
        ("sets", "grow_from"),
    ),
}


def find_learner(name: str) -> Kind:
    """Return a learner by its name."""
    if name not in LEARNERS:
        raise UserError(f"there is no learner {name!r}; {nearest(name, LEARNERS)}")
    return LEARNERS[name]


def config_of(run: Run) -> Any:
    """Return the settings of a run."""
    kind, stored = find_learner(run.learner), run.config
    if "network" in stored:
        stored = {**stored, "network": brought_up_to_date(stored["network"])}
    return from_dict(kind.config, stored, str(run.path / "config.json"))
