"""What a network of the run thinks of rows, by itself, without search."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from randori.games.game import Game
from randori.games.rules import legal, planes
from randori.runs.health import Floats, action_logits, softmax

if TYPE_CHECKING:
    from randori.runs.checkpoint import Model

BATCH = 256


@dataclass(frozen=True)
class View:
    """What a network sees of positions, and which moves they have."""

    words: NDArray[np.uint64]
    """[n, W] packed planes"""
    actions: NDArray[np.int32]
    """[n, K] legal actions, in the order of `legal`"""
    legal: NDArray[np.int64]
    """[n] how many"""

    @property
    def is_legal(self) -> NDArray[np.bool_]:
        """[n, K] which places of `actions` hold one."""
        return np.asarray(np.arange(self.actions.shape[1]) < self.legal[:, None])


@dataclass(frozen=True)
class Opinion:
    """A network's own policy and value of positions."""

    policy: Floats
    """[n, K] in the order of `legal`"""
    blind: Floats
    """[n, K] the policy that the mean of all logits would give: what needs no look at the board"""
    values: Floats
    """[n]"""


def fill_view(
    states: NDArray[np.uint64],
    words: NDArray[np.uint64],
    actions: NDArray[np.int32],
    counts: NDArray[np.int64],
    room: NDArray[np.int32],
) -> None:
    """Write planes and legal actions of each position."""
    for b in range(len(states)):
        planes(states[b], words[b])
        counts[b] = min(legal(states[b], room), actions.shape[1])
        for k in range(counts[b]):
            actions[b, k] = room[k]


def look(game: Game, states: NDArray[np.uint64]) -> View:
    """See positions [n, S] as a network does."""
    count = len(states)
    view = View(
        np.zeros((count, game.input_words), np.uint64),
        np.zeros((count, game.most_legal), np.int32),
        np.zeros(count, np.int64),
    )
    room = np.zeros(game.num_actions, np.int32)
    rows = np.ascontiguousarray(states)
    game.kernel(fill_view)(rows, view.words, view.actions, view.legal, room)
    return view


def ask(game: Game, model: "Model", states: NDArray[np.uint64]) -> Opinion:
    """Ask a model of the run about positions [n, S]."""
    from randori.agents.models import network_of, signature_of
    from randori.networks.choose import make_evaluator

    network = network_of(game, model)
    evaluator = make_evaluator(network, signature_of(game), "torch", "fp32")
    view, lane = look(game, states), evaluator.lane(BATCH)
    outputs = np.zeros((len(states), game.num_logits), np.float64)
    values = np.zeros(len(states))
    for at in range(0, len(states), BATCH):
        count = min(BATCH, len(states) - at)
        lane.words[:count] = view.words[at : at + count]
        lane.launch(count)
        lane.wait()
        outputs[at : at + count] = lane.logits[:count]
        values[at : at + count] = lane.values[:count]
    logits = action_logits(outputs, game.factors[view.actions])
    blind = _mean_logits(game, logits, view)
    return Opinion(softmax(logits, view.is_legal), softmax(blind, view.is_legal), values)


def _mean_logits(game: Game, logits: Floats, view: View) -> Floats:
    """Give every move the mean of its logits over all positions that have it."""
    open_ = view.is_legal
    centre = (logits * open_).sum(axis=1) / np.maximum(view.legal, 1)
    sums, times = np.zeros(game.num_actions), np.zeros(game.num_actions)
    np.add.at(sums, view.actions[open_], (logits - centre[:, None])[open_])
    np.add.at(times, view.actions[open_], 1.0)
    return np.asarray((sums / np.maximum(times, 1.0))[view.actions])


def divergences(target: Floats, policy: Floats) -> Floats:
    """Return KL(target ‖ policy) of each row [n, K] in nats."""
    safe = np.where(target > 0, target, 1.0)
    return np.asarray((target * (np.log(safe) - np.log(np.maximum(policy, 1e-12)))).sum(axis=1))
