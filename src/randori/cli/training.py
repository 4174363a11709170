"""Train and resume: settings into a run folder, a screen around the learner, the way on after."""

import ast
import inspect
import json
import math
import shlex
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from randori.agents.models import shipped_model
from randori.cli.report import announced, clock, note, print_json, print_table, program
from randori.cli.screen import make_screen
from randori.errors import UserError, nearest
from randori.games.compile_errors import complaint, short
from randori.games.registry import load_game
from randori.learners.settings import StopConfig
from randori.learners.status import Counters, Listener, Status
from randori.learners.table import LEARNERS, Kind, config_of, find_learner
from randori.learners.training import (
    RULES,
    change_run,
    expect_checkpoints,
    game_of,
    network_config,
    start_run,
    train,
)
from randori.runs.checkpoint import latest_checkpoint, read_checkpoint
from randori.runs.config import expected, keys, override, to_dict
from randori.runs.folder import Run, locked, open_run
from randori.spec import parse_spec
from randori.words import some

INTERRUPTED = 130
"""Exit code of a run that Ctrl-C stopped, as shells have it."""
ON_TIME = 1.05
"""How far beyond its end a run may be and still count as ended there: the last steps take time."""


def limits(minutes: float | None, iterations: int | None) -> list[str]:
    """Turn `--minutes` and `--iterations` into settings."""
    chosen = {"minutes": minutes, "iterations": iterations}
    for name, value in chosen.items():
        if value is not None and not 0 < value < math.inf:
            raise UserError(f"--{name} must be above 0, and finite, not {value}")
    return [f"stop.{name}={value}" for name, value in chosen.items() if value is not None]


def start_training(
    spec: str,
    *,
    learner: str,
    preset: str,
    settings: list[str],
    seed: int,
    path: Path | None,
    source: Path | None,
    plain: bool,
    as_json: bool,
) -> int:
    """Make a run folder and train in it; return the exit code."""
    kind, game = find_learner(learner), load_game(spec)
    config = override(kind.config(), preset_settings(preset, kind))
    if source == Path("az"):
        source = shipped_model(game)
    if source is not None and learner == "shapes":
        config, source = replace(config, start_from=str(source)), None
    if source is not None:
        config = replace(config, network=network_config(source, config.network))
    config = override(config, settings)
    run = start_run(game, config, seed=seed, path=path, learner=learner, source=source)
    return go_on(run, plain=plain, as_json=as_json)


def preset_settings(name: str, kind: Kind = LEARNERS["alphazero"]) -> tuple[str, ...]:
    """Return what a preset sets; ``auto`` asks whether torch sees a GPU, where that matters."""
    presets = kind.presets
    if name == "auto":
        name = next(iter(presets))
        if "gpu" in presets:
            import torch

            name = "gpu" if torch.cuda.is_available() else name
    if name not in presets:
        raise UserError(f"there is no preset {name!r}; {nearest(name, ['auto', *presets])}")
    return presets[name]


def resume_training(path: Path, *, settings: list[str], plain: bool, as_json: bool) -> int:
    """Go on in a run folder, with other settings where given; return the exit code."""
    run = open_run(path)
    if run.learner not in LEARNERS:
        raise UserError(f"{path} was trained by {run.learner!r}; known: {', '.join(LEARNERS)}")
    game = game_of(run)
    expect_checkpoints(path)
    counters = stored_counters(path)
    if settings and counters is not None:
        expect_same_shape(run, settings)
    stop = override(config_of(run), settings).stop
    if counters is not None and (ends := ends_reached(stop, counters)):
        report(run, stop, counters, as_json=as_json)
        for end in ends:
            note(f"note: {end}" + ("; no setting was changed" if settings else ""))
        return 0
    with locked(path):  # also without settings: who is refused hears nothing else before
        if settings:
            find_learner(run.learner).try_out(game, override(config_of(run), settings))
            run = change_run(path, settings)
    place = (
        "the start"
        if counters is None
        else (f"iteration {counters.iteration}, {clock(counters.seconds)} of training")
    )
    note(f"going on from the newest checkpoint: {place}")
    return go_on(run, plain=plain, as_json=as_json)


def stored_counters(path: Path) -> Counters | None:
    """Return where the run's newest checkpoint stands, or None if there is none yet."""
    newest = latest_checkpoint(path)
    if newest is None:
        return None
    counters = read_checkpoint(newest).state.get("counters") or {}
    try:
        return Counters(**counters)
    except TypeError:
        raise UserError(f"{newest} is damaged: expected the counters of a learner") from None


def expect_same_shape(run: Run, settings: list[str]) -> None:
    """Refuse settings that the stored weights or games could not be read with."""
    old, kind = config_of(run), find_learner(run.learner)
    before, after = to_dict(old), to_dict(override(old, settings))
    for key in keys(kind.config):
        if key.startswith(kind.fixed) and _at(before, key) != _at(after, key):
            raise UserError(
                f"--set: {key} cannot change from {_at(before, key)} in a run that has begun; "
                "start a new run"
            )


@dataclass(frozen=True)
class End:
    """An end that a run has reached."""

    option: str
    """sets it, with a number behind"""
    unit: str
    limit: float
    done: float

    @property
    def further(self) -> str:
        """The option with as much again: of the whole run, so on top of what is done."""
        done = self.limit if self.done < ON_TIME * self.limit else math.ceil(10 * self.done) / 10
        return f"{self.option}{self.limit + done:.10g}"

    def __str__(self) -> str:
        done = round(self.done, 1)
        return (
            f"{self.option}{self.limit:.10g} is of the whole run, which has had "
            f"{some(done, self.unit, f'{done:.10g}')} already; go on with {self.further}"
        )


def ends_reached(stop: StopConfig, counters: Counters) -> list[End]:
    """Return the ends that a run has reached."""
    ends = (
        End("--minutes ", "minute", stop.minutes or 0, counters.seconds / 60),
        End("--iterations ", "iteration", stop.iterations or 0, counters.iteration),
        End("--set stop.games=", "game", stop.games or 0, counters.games),
    )
    return [end for end in ends if end.limit and end.done >= end.limit]


def go_on(run: Run, *, plain: bool, as_json: bool) -> int:
    """Train in a run folder behind a screen, and say how to go on; return the exit code."""
    note(f"training {run.game} in {run.path}; Ctrl-C saves and stops")
    screen = make_screen(run, plain)
    try:
        with _author_named(run), screen, announced(game_of(run).name, screen.compiling):
            learner = train(run, _warned(screen.listen))
    except KeyboardInterrupt:
        note(f"interrupted; go on with: {program()} resume {quoted(run.path)}")
        return INTERRUPTED
    stop = config_of(run).stop
    report(run, stop, learner.counters, as_json=as_json, scores=learner.status.scores)
    if run.learner == "alphazero" and not learner.counters.steps:
        note(f"note: {why_nothing_is_learnt(learner.counters, config_of(run).warm_up_rows)}")
    return 0 if ends_reached(stop, learner.counters) else INTERRUPTED


def _warned(listen: Listener) -> Listener:
    """Tell people the first warning; the stages of a run repeat it."""
    is_told = False

    def hear(status: Status) -> None:
        nonlocal is_told
        if status.warning and not is_told:
            is_told = True
            note(status.warning)
        listen(status)

    return hear


@contextmanager
def _author_named(run: Run) -> Iterator[None]:
    """Say whose copy it is that a user's own game is trained by, where its kernels fail."""
    try:
        yield
    except Exception as error:
        copy = run.path / RULES
        words = complaint(error, copy) if copy.is_file() else ""
        if not words:
            raise
        name = str(short(copy))
        whose = f"{name} (a copy of {parse_spec(run.game).name})"
        raise UserError(words.replace(name, whose, 1)) from error


def why_nothing_is_learnt(counters: Counters, warm_up: int) -> str:
    """Explain a run without a gradient step: too few games, or no time left after them."""
    if counters.rows >= warm_up:
        return (
            "the network has not learnt yet: the run ended with its first games; train for longer"
        )
    return (
        f"the network has not learnt yet, with {counters.rows} of "
        f"{some(warm_up, 'warm-up row')}; train for longer, or --set warm_up_rows to less"
    )


def report(
    run: Run,
    stop: StopConfig,
    counters: Counters,
    *,
    as_json: bool,
    scores: Mapping[str, tuple[float, int]] = MappingProxyType({}),
) -> None:
    """Say how far a run came, and what can be done with it now."""
    reached = ends_reached(stop, counters)
    if as_json:
        print_json({
            "run": str(run.path),
            "game": run.game,
            "complete": bool(reached),
            "iterations": counters.iteration,
            "games": counters.games,
            "rows": counters.rows,
            "evaluations": counters.evaluations,
            "steps": counters.steps,
            "seconds": counters.seconds,
            "scores": {opponent: score for opponent, (score, _) in scores.items()},
        })  # fmt: skip
        return
    print(
        f"{run.path} {'is complete' if reached else 'has stopped'}: "
        f"{some(counters.iteration, 'iteration')}, {some(counters.games, 'game')}, "
        + (f"{some(counters.steps, 'gradient step')} " if counters.steps else "")
        + f"in {clock(counters.seconds)}"
    )
    print(
        "  go on    ",
        " ".join([f"{program()} resume", quoted(run.path), *(end.further for end in reached)]),
    )
    if counters.checkpoint:
        print_commands(run)


def print_commands(run: Run) -> None:
    """Say what can be done with a trained agent."""
    agent = shlex.quote(f"{find_learner(run.learner).agent}:{run.path}")
    game = shlex.quote(run.game)
    print(f"  play      {program()} play {game} --against {agent}")
    print(f"  measure   {program()} match {game} {agent} uct:simulations=100 -n 100")


def quoted(path: Path) -> str:
    """Write a path as a shell takes it."""
    return shlex.quote(str(path))


def settings_of(kind: Kind) -> dict[str, dict[str, Any]]:
    """Return every setting of a learner: its default, its meaning, and what it may hold."""
    defaults, meanings = to_dict(kind.config()), dict(documented(kind.config))
    return {
        key: {
            "value": _at(defaults, key),
            "meaning": meanings.get(key, ""),
            "type" if isinstance(kinds, str) else "words": kinds,
        }
        for key, kinds in expected(kind.config)
    }


def print_settings(learner: str, as_json: bool) -> None:
    """Print every setting with its default and meaning: as JSON those of one learner.

    The table has all learners, and the presets.
    """
    if as_json:
        print_json(settings_of(find_learner(learner)))
        return
    for name, kind in LEARNERS.items():
        print(f"--learner {name}\n")
        rows = [
            (key, json.dumps(setting["value"]), setting["meaning"])
            for key, setting in settings_of(kind).items()
        ]
        print_table(rows, ("setting", "default", "meaning"))
        print()
        presets = ((name, " ".join(sets) or "the defaults") for name, sets in kind.presets.items())
        print_table(list(presets), ("preset", "what it sets"))
        print()


def documented(cls: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield (dotted key, meaning): the docstring under a field, or the comment behind it.

    Where a few words are all it may be, they come first.
    """
    source = textwrap.dedent(inspect.getsource(cls))
    lines = source.splitlines()
    parsed = ast.parse(source).body[0]
    assert isinstance(parsed, ast.ClassDef)
    hints = get_type_hints(cls)
    for node, after in zip(parsed.body, [*parsed.body[1:], None], strict=True):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        name = node.target.id
        if inspect.isclass(hints[name]) and hasattr(hints[name], "__dataclass_fields__"):
            yield from documented(hints[name], f"{prefix}{name}.")
            continue
        comment = lines[node.lineno - 1].partition("  # ")[2]
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            comment = " ".join(str(after.value.value).split())
        choices = get_args(hints[name]) if get_origin(hints[name]) is Literal else ()
        yield f"{prefix}{name}", "; ".join(filter(None, (" | ".join(map(str, choices)), comment)))


def _at(settings: dict[str, Any], key: str) -> Any:
    """Return the value of a dotted key."""
    value: Any = settings
    for name in key.split("."):
        value = value[name]
    return value
