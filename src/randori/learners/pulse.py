"""The pulse of a run: what the network says of the newest rows, for every line of metrics."""

import numpy as np

from randori.games.game import Game
from randori.learners.replay import Replay
from randori.runs.health import action_logits, softmax, summary
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
            policy=softmax(
                action_logits(self._lane.logits, self._factors[samples.actions]), is_legal
            ),
            values=self._lane.values,
            results=samples.results,
        )
