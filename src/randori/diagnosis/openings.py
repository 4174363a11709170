"""Opening lines over the course of training: how often each is played, and how it scores.

Paper E, section 7, shows which openings rise and fall as AlphaZero learns; paper A reads strategy
off the agent's games. Here the games that a run keeps are counted by their first plies, checkpoint
by checkpoint; beside them stands what each checkpoint's network thinks of the line by itself.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from randori.arena.match import score_interval
from randori.diagnosis.opinions import ask, look
from randori.errors import UserError
from randori.games.game import Game
from randori.games.images import turn
from randori.games.position import Position, Result
from randori.games.records import GameRecord, read_records
from randori.games.registry import load_game
from randori.games.trial import View
from randori.runs.checkpoint import checkpoint_paths, read_model
from randori.runs.folder import numbered, open_run
from randori.words import some

Actions = tuple[int, ...]
POINTS: Mapping[Result, float] = {"first": 1.0, "draw": 0.5, "second": 0.0}
MOST_PERIODS = 12


@dataclass(frozen=True)
class Played:
    """The beginning of one game of the run, and how the game ended."""

    checkpoint: int
    actions: Actions
    points: float | None
    """the first player's; None where the game has no result"""


@dataclass(frozen=True)
class Period:
    """Checkpoints that are counted together."""

    first: int
    last: int
    games: int
    iteration: int | None
    """where the last one stood, if its model is there"""
    seconds: float | None


@dataclass(frozen=True)
class Line:
    """One opening."""

    actions: Actions
    moves: tuple[str, ...]
    position: Position
    """after the last move"""
    games: int
    share: float
    """of all games"""
    score: float | None
    """the first player's, with its 95 % interval"""
    low: float
    high: float
    shares: tuple[float, ...]
    """by period"""
    scores: tuple[float | None, ...]
    priors: tuple[float | None, ...] = ()
    """by period: how often the network alone would play it"""

    def fields(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        return {
            "moves": list(self.moves), "games": self.games, "share": self.share,
            "score": self.score, "low": self.low, "high": self.high, "shares": self.shares,
            "scores": self.scores, "priors": self.priors, "position": self.position.text(),
        }  # fmt: skip


@dataclass(frozen=True)
class Study:
    """The openings of a run."""

    path: Path
    game: Game
    plies: int
    folded: bool
    games: int
    """games that were counted"""
    lines: tuple[Line, ...]
    """most played first"""
    others: int
    """lines that are not listed"""
    periods: tuple[Period, ...]
    notes: tuple[str, ...] = ()

    @property
    def rest(self) -> tuple[float, ...]:
        """The share of the unlisted lines, by period."""
        listed = [sum(line.shares[i] for line in self.lines) for i in range(len(self.periods))]
        return tuple(max(0.0, 1.0 - share) for share in listed)

    def summary(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        return {
            "run": str(self.path), "game": self.game.spec, "plies": self.plies,
            "folded": self.folded, "games": self.games, "other_lines": self.others,
            "periods": [vars(period) for period in self.periods],
            "lines": [line.fields() for line in self.lines], "notes": list(self.notes),
        }  # fmt: skip


def study(path: Path, *, plies: int = 4, top: int = 12, fold: bool = False) -> Study:
    """Count the openings in a run's games; `fold` takes mirror images as one."""
    run = open_run(path)
    game = load_game(run.game)
    reader = _Reader(game, plies)
    played = list(reader.read(path))
    if not played:
        why = "; ".join(reader.notes()) or "its games/ folder holds none yet"
        raise UserError(f"{path} has no games of {some(plies, 'ply')} or more to count: {why}")
    images = keeps_start(game) if fold else [0]
    tables = game.symmetries.actions
    groups: dict[Actions, list[Played]] = defaultdict(list)
    for one in played:
        groups[min(_image(tables[s], one.actions) for s in images)].append(one)
    periods = _periods(path, played)
    # A folded line is shown as the image of it that was played most.
    ranked = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    lines = [_line(game, group, len(played), periods) for _, group in ranked[:top]]
    weights, notes = _ask_networks(game, path, lines, periods, images)
    lines = [_with_priors(line, weights) for line in lines]
    return Study(path, game, plies, fold, len(played), tuple(lines), len(groups) - len(lines),
                 tuple(periods), (*reader.notes(), *notes))  # fmt: skip


def keeps_start(game: Game) -> list[int]:
    """List the symmetries that leave the first position as it is: lines may be turned by these."""
    start = game.start()
    view = look(game, start.state[None])
    first = View(tuple(start.actions()), 0, tuple(int(word) for word in view.words[0]))
    kept = []
    for symmetry in range(len(game.symmetries)):
        turned = turn(game, symmetry, first)
        if turned.words == first.words and sorted(turned.legal) == sorted(first.legal):
            kept.append(symmetry)
    return kept


@dataclass
class _Reader:
    """Reads games, each distinct beginning only once, and counts what it leaves out."""

    game: Game
    plies: int
    known: dict[tuple[str, ...], tuple[Actions, Position]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def read(self, folder: Path) -> Iterator[Played]:
        """Yield the games of a run, oldest checkpoint first."""
        self.known[()] = ((), self.game.start())
        for number, file in numbered(folder / "games", ".jsonl").items():
            try:
                for record in read_records(file):
                    one = self._begin(number, record)
                    if one is not None:
                        yield one
            except UserError as error:
                self.left_out[f"not read: {error}"] += 1

    def notes(self) -> list[str]:
        """Say what was left out."""
        return [f"{some(count, 'game')} {why}"
                if not why.startswith("not read") else why
                for why, count in sorted(self.left_out.items())]  # fmt: skip

    def _begin(self, number: int, record: GameRecord) -> Played | None:
        if record.position:
            self.left_out["began elsewhere than at the start"] += 1
            return None
        if record.extra.get("begun"):
            self.left_out["branched off from an earlier one, or began at random"] += 1
            return None
        if len(record.moves) < self.plies:
            self.left_out[f"ended before ply {self.plies}"] += 1
            return None
        try:
            actions, _ = self._replay(record.moves[: self.plies])
            result = record.result or record.replay(self.game)[-1].outcome
        except UserError:
            self.left_out[f"could not be replayed as {self.game.spec}"] += 1
            return None
        return Played(number, actions, None if result is None else POINTS[result])

    def _replay(self, moves: tuple[str, ...]) -> tuple[Actions, Position]:
        if moves not in self.known:
            actions, position = self._replay(moves[:-1])
            action = position.parse(moves[-1])
            self.known[moves] = ((*actions, action), position.play(action))
        return self.known[moves]


def _image(table: Any, actions: Actions) -> Actions:
    return tuple(int(table[action]) for action in actions)


def _periods(path: Path, played: Sequence[Played]) -> list[Period]:
    """Cut the checkpoints that have games into at most `MOST_PERIODS` stretches."""
    numbers = sorted({one.checkpoint for one in played})
    paths = checkpoint_paths(path)
    cuts = np.array_split(np.asarray(numbers), min(MOST_PERIODS, len(numbers)))
    periods = []
    for part in cuts:
        first, last = int(part[0]), int(part[-1])
        info: Mapping[str, Any] = {}
        if last in paths:
            try:
                info = read_model(paths[last]).info
            except UserError:
                info = {}
        count = sum(first <= one.checkpoint <= last for one in played)
        periods.append(Period(first, last, count, info.get("iteration"), info.get("seconds")))
    return periods


def _line(game: Game, group: Sequence[Played], total: int, periods: Sequence[Period]) -> Line:
    """Count one opening; of several images the most played one gives it its name."""
    images: dict[Actions, int] = defaultdict(int)
    for one in group:
        images[one.actions] += 1
    actions = max(sorted(images), key=lambda image: images[image])
    position, moves = game.start(), []
    for action in actions:
        moves.append(position.action_text(action))
        position = position.play(action)
    parts = [[one for one in group if p.first <= one.checkpoint <= p.last] for p in periods]
    score = _score(group)
    low, high = score_interval(score or 0.0, sum(one.points is not None for one in group))
    return Line(
        actions, tuple(moves), position, len(group), len(group) / total, score, low, high,
        tuple(len(part) / p.games for part, p in zip(parts, periods, strict=True)),
        tuple(_score(part) for part in parts),
    )  # fmt: skip


def _score(games: Iterable[Played]) -> float | None:
    points = [one.points for one in games if one.points is not None]
    return sum(points) / len(points) if points else None


Weights = list[dict[Actions, float] | None]
"""For each period how often its network would play each line, all images of it together."""


def _ask_networks(
    game: Game, path: Path, lines: Sequence[Line], periods: Sequence[Period], images: Sequence[int]
) -> tuple[Weights, list[str]]:
    """Multiply the network's priors along every line, for the last checkpoint of each period."""
    tables = game.symmetries.actions
    turned = {line.actions: {_image(tables[s], line.actions) for s in images} for line in lines}
    states: dict[Actions, Any] = {(): game.start().state}
    for image in (image for group in turned.values() for image in group):
        for ply in range(1, len(image)):
            if image[:ply] not in states:
                state = states[image[: ply - 1]].copy()
                game.plain.play(state, image[ply - 1])
                states[image[:ply]] = state
    rows = np.stack(list(states.values()))
    view = look(game, rows)
    at = {prefix: row for row, prefix in enumerate(states)}
    paths = checkpoint_paths(path)
    weights: Weights = []
    notes: list[str] = []
    for period in periods:
        try:
            policy = ask(game, read_model(paths[period.last]), rows).policy
        except (KeyError, UserError) as error:
            weights.append(None)
            if isinstance(error, UserError):
                notes.append(str(error))
            continue

        def chance(image: Actions, policy: Any = policy) -> float:
            share = 1.0
            for ply, action in enumerate(image):
                row = at[image[:ply]]
                legal = view.actions[row, : view.legal[row]]
                share *= float(policy[row, : view.legal[row]][legal == action].sum())
            return share

        weights.append({key: sum(map(chance, group)) for key, group in turned.items()})
    return weights, notes


def _with_priors(line: Line, weights: Weights) -> Line:
    priors = tuple(None if chances is None else chances[line.actions] for chances in weights)
    return Line(**{**vars(line), "priors": priors})
