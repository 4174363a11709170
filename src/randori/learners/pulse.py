"""The pulse of a run: what the network says of the newest rows, for every line of metrics."""

import numpy as np
from numpy.typing import NDArray

from randori.games.game import Game
from randori.learners.replay import Replay
from randori.runs.health import summary
from randori.search.evaluator import Evaluator

ROWS = 256


class Pulse:
    """Asks the network that plays about a few of the newest rows."""

    def __init__(self, game: Game, evaluator: Evaluator) -> None:
        self._factors = game.factors
        self._lane = evaluator.lane(ROWS)

    def take(self, replay: Replay, newest: int, seed: int) -> dict[str, float]:
        """Return the figures of `health.summary` for rows drawn from the `newest`."""
        if not replay.size:
            return {}
        samples = replay.sample(np.random.default_rng(seed), ROWS, newest)
        self._lane.words[:] = samples.words
        self._lane.launch(ROWS)
        self._lane.wait()
        is_legal = samples.shares >= 0
        return summary(
            visits=np.maximum(samples.shares, 0.0),
            legal=is_legal.sum(axis=1),
            policy=_policy(self._lane.logits, self._factors[samples.actions], is_legal),
            values=self._lane.values,
            results=samples.results,
        )


def _policy(
    logits: NDArray[np.float32], factors: NDArray[np.int32], is_legal: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Softmax over the legal moves [n, K]; an action's logit is the sum of its factors'."""
    sums = np.take_along_axis(logits[:, None, :], factors, axis=2).sum(axis=2, dtype=np.float64)
    sums[~is_legal] = -np.inf
    weights = np.exp(sums - sums.max(axis=1, keepdims=True))
    shares: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return shares
