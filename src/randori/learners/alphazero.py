"""AlphaZero: play yourself with search, learn what the search found, play on with what you learnt.

An iteration gathers new rows by self-play, takes as many gradient steps as `reuse` asks for, and
hands the new weights to self-play. A learner always goes on from wherever its run folder stands.
"""

import logging
import math
import os
import time
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from randori.agents.agent import Agent, Player
from randori.agents.models import model_info, signature_of
from randori.agents.network import SearchPlayer
from randori.agents.registry import load_agent
from randori.arena.match import play_match
from randori.games.game import Game
from randori.games.position import RESULTS
from randori.games.records import GameRecord, write_records
from randori.learners.losses import Losses, Targets
from randori.learners.pulse import Pulse
from randori.learners.replay import Replay, drawn_ahead
from randori.learners.rowlog import RowLog
from randori.learners.selfplay import SelfPlay
from randori.learners.settings import AlphaZeroConfig
from randori.learners.status import (
    Counters,
    Listener,
    Status,
    clock_share,
    iteration_metrics,
    progress_of,
)
from randori.learners.threads import Threads
from randori.learners.trainer import Trainer
from randori.learners.yields import Batch, FinishedGame, Rows, Tally
from randori.networks.build import build
from randori.networks.choose import make_evaluator
from randori.runs.atomic import write_text
from randori.runs.checkpoint import Checkpoint, prune, write_checkpoint
from randori.runs.metrics import append_metrics, event_writer
from randori.search.evaluator import measure_rate

logger = logging.getLogger(__name__)

SAMPLE_GAMES = 200
"""Games of self-play that a checkpoint keeps for people."""
MOST_LANES = 8
"""Lanes that the bare network is measured with, at most: a card takes its time to make one."""
GRACE = 1.03
"""How much longer than its minutes a run may take for the gradient steps that its last games call
for; what is left then waits for a resume."""
GATE_PLIES = 6
"""Plies that gate matches draw by visits, so that games differ."""


class AlphaZero:
    """A learner over one run folder."""

    def __init__(
        self, game: Game, config: AlphaZeroConfig, seed: int, folder: Path, listen: Listener
    ) -> None:
        torch.manual_seed(seed)
        self._game, self._config, self._folder, self._listen = game, config, folder, listen
        self._rng = np.random.default_rng(seed)
        on_card = torch.cuda.is_available() and not config.deterministic
        self._device = torch.device("cuda" if on_card else "cpu")
        network = build(config.network, signature_of(game))
        chooses = None if config.deterministic else Threads()
        self._trainer = Trainer(game, network, config.train, self._device, chooses)
        self._evaluator = make_evaluator(
            network, signature_of(game), config.runtime, config.precision
        )
        threads = config.selfplay.threads
        if threads < 0:  # as many as there are cores, but for the learner and the driver
            threads = max(1, (os.cpu_count() or 1) - 2) if torch.cuda.is_available() else 0
        selfplay = replace(config.selfplay, threads=threads)
        self._selfplay = SelfPlay(game, self._evaluator, selfplay, seed)
        self._replay = Replay(game, config.window)
        search = replace(config.selfplay.search, simulations=config.evaluation.simulations)
        self._player = SearchPlayer(game, self._evaluator, search)
        self._best = self._trainer.player_weights() if config.gate.threshold else {}
        self._pulse = Pulse(game, self._evaluator)
        self._log = RowLog(folder, config.window)
        self._sample: list[FinishedGame] = []
        self._stopping = False
        self._until = 1.0
        self._write_events: Callable[[int, Mapping[str, Any]], None] = lambda step, record: None
        self._started = time.monotonic()
        self._last_play: tuple[float, float] | None = None  # when, and how long threads had paused
        self.counters = Counters()
        self.status = Status(counters=self.counters)

    def begin_with(self, weights: dict[str, NDArray[Any]]) -> None:
        """Start from the weights of another run."""
        self._trainer.take_over(weights)
        if self._best:
            self._best = self._trainer.player_weights()
        self._hand_over()

    def restore(self, checkpoint: Checkpoint, rows: dict[str, NDArray[Any]]) -> None:
        """Go on from a checkpoint and the replay rows that belong to it."""
        state, arrays = checkpoint.state, checkpoint.arrays
        self.counters = self.status.counters = Counters(**state["counters"])
        self._rng.bit_generator.state = state["rng"]
        self._log.shards = [(int(number), int(count)) for number, count in state["shards"]]
        weights = _part(arrays, "learning.") or checkpoint.model.weights
        has_grown = self._trainer.take_over(weights, _part(arrays, "mean."))
        self._trainer.steps = self.counters.steps
        if self._config.gate.threshold:
            grown = self._trainer.player_weights() if has_grown else None
            self._best = grown or checkpoint.model.weights
        self._hand_over()
        # Torch's dice too, so nothing may be built after it.
        self._trainer.restore(arrays, with_optimizer=not has_grown)
        self._restore_games(arrays)
        if rows:
            self._replay.add(Rows(**rows))
        self._started = time.monotonic() - self.counters.seconds
        config, counters = self._config, self.counters
        # An interval in minutes may have become one in iterations, or the other way round.
        now = self._clock(config.checkpoint_iterations)
        counters.saved_at = min(counters.saved_at, now)
        now = self._clock(config.evaluation.every_iterations)
        counters.evaluated_at = min(counters.evaluated_at, now)

    def _restore_games(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on with the games in progress, unless this machine plays so many others."""
        stored = [_part(arrays, f"selfplay.{i}.") for i in range(len(self._selfplay.groups))]
        fits = all(
            group.fits(part) for group, part in zip(self._selfplay.groups, stored, strict=True)
        )
        if not fits or f"selfplay.{len(stored)}.roots" in arrays:
            logger.warning("other slots or threads than before: games in progress begin anew")
            return
        for group, part in zip(self._selfplay.groups, stored, strict=True):
            group.restore(part)

    @property
    def is_stopping(self) -> bool:
        """Whether `stop` was called."""
        return self._stopping

    def run(self, until: float = 1.0) -> None:
        """Iterate until that share of the run is done or `stop` is called, then save."""
        self._until = until
        if self._config.tensorboard:
            self._write_events = event_writer(self._folder, self.counters.iteration + 1)
        self._compile()
        groups = len(self._selfplay.groups)
        selfplay = self._config.selfplay
        self.status.bare_rate = measure_rate(
            self._evaluator, selfplay.slots, min(MOST_LANES, groups),
            is_compact=selfplay.byte_logits and selfplay.turns == "none",
        )  # fmt: skip
        try:
            while not self._stopping and self._progress() < until:
                self.iterate()
        finally:
            left = self._selfplay.close()
        for batch in left:
            self._keep(batch, Tally())
        if self._log.is_fresh and not (self._stopping and self._config.deterministic):
            self.save()

    def stop(self) -> None:
        """End `run` at the next chance; a deterministic run goes back to its last checkpoint."""
        self._stopping = True

    def iterate(self) -> None:
        """Play, learn, hand the weights over, and measure and save when it is time."""
        counters = self.counters
        self._play()
        if self._stopping:
            return
        losses = self._learn()
        if self._stopping and self._config.deterministic:
            return  # perhaps in the middle of learning: nothing of this iteration may be saved
        counters.iteration += 1
        if not self._config.gate.threshold:
            self._hand_over()
        elif counters.iteration % self._config.gate.every == 0:
            self._gate()
        evaluation = self._config.evaluation
        scores = {}
        if not self._stopping and self._is_due(
            counters.evaluated_at, evaluation.every_iterations, evaluation.every_minutes
        ):
            scores = self._evaluate()
            counters.evaluated_at = self._clock(evaluation.every_iterations)
        self._record(losses, scores)
        config = self._config
        if self._is_due(counters.saved_at, config.checkpoint_iterations, config.checkpoint_minutes):
            self.save()

    def save(self) -> None:
        """Write the new rows and a checkpoint; a kill from now on loses nothing before it."""
        config, counters = self._config, self.counters
        if config.deterministic:
            for group in self._selfplay.groups:
                group.forget_trees()
        games, finished = self._selfplay.save()
        for batch in finished:
            self._keep(batch, Tally())
        counters.checkpoint += 1
        counters.seconds = self._seconds()
        counters.saved_at = self._clock(config.checkpoint_iterations)
        self._log.write(counters.checkpoint)
        arrays = self._trainer.save()
        if self._best or self._trainer.has_mean:
            newest = self._trainer.weights()
            arrays |= {f"learning.{name}": array for name, array in newest.items()}
        arrays |= {f"selfplay.{name}": array for name, array in games.items()}
        info = model_info(
            self._game, config.network, iteration=counters.iteration, rows=counters.rows,
            games=counters.games, steps=counters.steps, seconds=round(counters.seconds, 1),
        )  # fmt: skip
        state = {
            "counters": asdict(counters),
            "rng": self._rng.bit_generator.state,
            "shards": self._log.shards,
        }
        number = counters.checkpoint
        model = self._best or self._trainer.player_weights()
        write_checkpoint(self._folder, number, model, info, arrays, state)
        write_games(self._folder / "games" / f"{number:06d}.jsonl", self._game, self._sample)
        self._sample = []
        prune(self._folder)
        self._log.prune()
        logger.info(
            "checkpoint %d: iteration %d, %d rows", number, counters.iteration, counters.rows
        )

    def _compile(self) -> None:
        """Call every kernel once, so that no figure includes the time to compile it."""
        self._begin("compiling")
        self._selfplay.groups[0].step()
        starts = np.repeat(self._game.new_state()[None], 2, axis=0)
        players: list[Player] = [self._player]
        players += [load_agent(spec, self._game) for spec in self._config.evaluation.opponents]
        for player in players:
            player.act(starts, np.random.default_rng(0))
        self._started = time.monotonic() - self.counters.seconds

    def _play(self) -> None:
        """Gather the rows of one iteration."""
        is_warm = self.counters.rows >= self._config.warm_up_rows
        tally = self._begin("self-play" if is_warm else "warming up").tally = Tally()
        start, paused = time.monotonic(), self._selfplay.paused
        if self._last_play and self._selfplay.has_threads:  # games went on since the last time
            start, paused = self._last_play
        for batch in self._selfplay.collect(self._config.iteration_rows):
            self._keep(batch, tally)
            self._last_play = time.monotonic(), self._selfplay.paused
            tally.seconds, tally.paused = self._last_play[0] - start, self._last_play[1] - paused
            self._tell()
            if self._stopping or (
                not self._config.deterministic and self._progress() >= self._until
            ):
                break

    def _keep(self, batch: Batch, tally: Tally) -> None:
        """Take in what self-play finished, and count it."""
        self._replay.add(batch.rows)
        self._log.add(batch.rows)
        self._sample = (self._sample + batch.games)[-SAMPLE_GAMES:]
        tally.add(batch)
        counters, train = self.counters, self._config.train
        counters.rows += len(batch.rows)
        counters.games += len(batch.games)
        counters.plies += sum(len(game.moves) for game in batch.games)
        counters.evaluations += batch.evaluations
        counters.owed += len(batch.rows) * train.reuse / train.batch

    def _learn(self) -> Losses | None:
        """Take the gradient steps that the new rows call for; return the mean losses."""
        config, counters = self._config.train, self.counters
        if counters.rows < self._config.warm_up_rows:
            return None
        status = self._begin("learning")
        status.rate_share = self._rate_share()
        newest = self._config.newest(counters.rows)

        def draw() -> Targets:
            samples = self._replay.sample(self._rng, config.batch, newest)
            return self._trainer.targets_of(samples)

        for targets in drawn_ahead(draw, int(counters.owed)):
            if self._stopping or self._is_late():
                break  # what is still owed is taken when the run goes on
            self._trainer.step(targets, status.rate_share)
            counters.owed -= 1.0
            counters.steps += 1
            self._tell()
        losses = self._trainer.take_losses()
        status.losses = losses or status.losses
        return losses

    def _is_late(self) -> bool:
        """Tell whether it is time to end a step too late; deterministic runs ask no clock."""
        self.counters.seconds = self._seconds()
        share = clock_share(self._config.stop, self.counters)
        return not self._config.deterministic and share >= GRACE * self._until

    def _rate_share(self) -> float:
        """Return the share of the learning rate that is due by now."""
        config = self._config.train
        if config.schedule == "constant":
            return 1.0
        progress = self._progress(steady=self._config.deterministic)
        cosine = 0.5 + 0.5 * math.cos(math.pi * min(1.0, progress))
        return config.final_share + (1 - config.final_share) * cosine

    def _hand_over(self) -> None:
        """Let self-play go on with the best weights: the newest or their mean, or a gate's."""
        network = self._trainer.player
        if self._best:
            network = deepcopy(network)
            network.load_state_dict({name: torch.tensor(a) for name, a in self._best.items()})
        self._evaluator.load(network)
        for group in self._selfplay.groups:
            group.forget_evaluations()
        self._player.forget()

    def _gate(self) -> None:
        """Let the candidate play the best network; it takes over if it scores enough."""
        gate = self._config.gate
        status = self._begin("gate")
        candidate = make_evaluator(
            self._trainer.player, signature_of(self._game),
            self._config.runtime, self._config.precision,
        )  # fmt: skip
        search = replace(self._config.selfplay.search, simulations=gate.simulations)
        challenger = SearchPlayer(self._game, candidate, search, temperature_plies=GATE_PLIES)
        holder = SearchPlayer(self._game, self._evaluator, search, temperature_plies=GATE_PLIES)
        result = play_match(
            self._game, Agent("candidate", self._game, challenger),
            Agent("best", self._game, holder), gate.games, seed=self.counters.iteration,
        )  # fmt: skip
        status.gate = (result.score, result.score >= gate.threshold)
        if result.score >= gate.threshold:
            self._best = self._trainer.player_weights()
            self._hand_over()
        elif gate.restore:
            self._trainer.load_weights(self._best)

    def _evaluate(self) -> dict[str, float]:
        """Play the fixed opponents."""
        config = self._config.evaluation
        status = self._begin("evaluating")
        learner = Agent("learner", self._game, self._player)
        effective: dict[str, float] = {}
        for spec in config.opponents:
            opponent = load_agent(spec, self._game)
            result = play_match(
                self._game, learner, opponent, config.games, seed=self.counters.iteration,
                progress=lambda done, plies: self._tell(),
            )  # fmt: skip
            status.scores[spec] = (result.score, config.games)
            effective[spec] = result.effective
        status.evaluated, status.effective = self.counters.iteration, effective
        return {spec: score for spec, (score, _) in status.scores.items()}

    def _record(self, losses: Losses | None, scores: dict[str, float]) -> None:
        """Append one line of metrics."""
        status = self.status
        self.counters.seconds = self._seconds()
        rate = self._config.train.learning_rate * status.rate_share
        counters = self.counters
        pulse = self._pulse.take(self._replay, max(1, status.tally.rows), counters.iteration)
        record = {**pulse, **iteration_metrics(status, losses, rate), "scores": scores}
        if status.gate is not None:
            record["gate_score"], record["gate_passed"] = status.gate
            status.gate = None
        status.history.append(record)
        append_metrics(self._folder, record)
        self._write_events(self.counters.iteration, record)

    def _seconds(self) -> float:
        return time.monotonic() - self._started

    def _clock(self, iterations: int) -> float:
        """Return what intervals are measured by: iterations where they are given, else seconds."""
        return float(self.counters.iteration) if iterations else self._seconds()

    def _is_due(self, since: float, iterations: int, minutes: float) -> bool:
        passed = self._clock(iterations) - since
        return passed >= (iterations or 60 * minutes)

    def _progress(self, *, steady: bool = False) -> float:
        """Return the share of the run that is done; `steady` leaves the clock out."""
        self.counters.seconds = self._seconds()
        return progress_of(self._config.stop, self.counters, steady=steady)

    def _begin(self, phase: str) -> Status:
        self.status.phase = phase
        self._tell()
        return self.status

    def _tell(self) -> None:
        self.counters.seconds = self._seconds()
        self.status.progress = self._progress()
        self._listen(self.status)


def _part(arrays: dict[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """Return the arrays under `prefix`, without it."""
    return {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}


def write_games(path: Path, game: Game, games: list[FinishedGame]) -> None:
    """Keep a few games of self-play, a JSON line each; `begun` tells where its own moves begin."""
    kept = (
        GameRecord.from_actions(
            game, one.moves, RESULTS[one.outcome], extra={"begun": one.begun} if one.begun else {}
        )
        for one in games
    )
    write_text(path, write_records(kept))
