"""`randori scaling`: strength as a function of thinking time, as a table and as a curve (paper E).

One agent plays with one budget after the other against the same opponent, from the same openings.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from randori.agents.agent import Agent
from randori.agents.human import Departure
from randori.agents.registry import AGENTS, agent_factory, load_agent
from randori.arena.match import Progression, expect_few_games, play_match
from randori.arena.openings import Book
from randori.cli.chart import Point, draw_chart
from randori.cli.gauge import mean_length, shown_progress
from randori.cli.match import (
    OpeningWish,
    book_fields,
    note_cut_openings,
    note_forfeits,
)
from randori.cli.report import announced, expect_new_file, note, print_json, print_table
from randori.errors import Stopped, UserError, nearest
from randori.games.game import Game
from randori.games.registry import load_game
from randori.runs import atomic
from randori.search.past import Past
from randori.spec import options_of, parse_spec
from randori.words import are, some

USUAL = {"simulations": "25,50,100,200,400", "depth": "1,2,3,4", "seconds": "0.01,0.03,0.1,0.3"}
"""Budgets if nothing is said: those of the first of these options that the agent has."""
OPENING_PLIES = 2
"""Random plies if nothing is said: agents without dice repeat themselves."""


@dataclass(frozen=True)
class Step:
    """What one budget was worth."""

    budget: float
    agent: str
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    score_low: float
    score_high: float
    elo: float
    elo_low: float
    elo_high: float
    distinct_games: int
    seconds_per_move: float
    """of the agent's own time, games side by side"""
    fresh_games: int
    """games that are no repetitions"""
    effective_games: float
    """games without repetitions that would make intervals as wide"""


@dataclass(frozen=True)
class Output:
    """Where the result goes, besides the screen."""

    plot: Path | None
    csv: Path | None
    as_json: bool


class Stopwatch:
    """An agent whose thinking is timed."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.seconds, self.moves = 0.0, 0

    def heed(self, past: Past) -> None:
        """Pass on what the games have had."""
        self._agent.heed(past)

    def act(self, states: NDArray[np.uint64], rng: np.random.Generator) -> NDArray[np.int32]:
        """Pick moves."""
        return self.judge(states, rng)[0]

    def judge(
        self, states: NDArray[np.uint64], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Pick moves and say what the positions are worth."""
        start = perf_counter()
        found = self._agent.judge(states, rng)
        self.seconds += perf_counter() - start
        self.moves += len(states)
        return found

    @property
    def last_words(self) -> Mapping[int, str]:
        """Why the agent gave up."""
        return self._agent.last_words


def run_scaling(
    spec: str,
    agent: str,
    against: str,
    budgets: Mapping[str, str | None],
    games: int,
    *,
    seed: int,
    openings: OpeningWish,
    output: Output,
) -> None:
    """Play a match for each budget and report the curve."""
    expect_few_games(games)
    for file, endings in ((output.plot, (".svg",)), (output.csv, (".csv",))):
        if file is not None:
            expect_new_file(file)
            if file.suffix.lower() not in endings:
                raise UserError(f"{file}: expected a name that ends in {endings[0]}")
    game = load_game(spec)
    book = openings.book(game, OPENING_PLIES)
    option, specs = make_specs(agent, budgets)
    opponent = load_agent(against, game)
    players = {budget: load_agent(text, game) for budget, text in specs.items()}
    steps: list[Step] = []
    about = {"seed": seed, **book_fields(book)}
    try:
        with announced(game.name) as compiled:
            length = mean_length(game)
            for player in players.values():  # what must be compiled or read is not thinking
                player.act(game.new_state()[None], np.random.default_rng(seed))
            for budget, player in players.items():
                meeting = f"{player.spec} against {opponent.spec}, {some(games, 'game')}"
                note(f"{len(steps) + 1}/{len(players)}: {meeting}")
                with shown_progress(games, length, compiled) as tell:
                    rest: dict[str, Any] = {"seed": seed, "book": book, "progress": tell}
                    steps.append(measure(budget, player, opponent, games, **rest))
                note(f"  score {100 * steps[-1].score:.1f} %, {_elo(steps[-1])}")
    except (KeyboardInterrupt, Departure) as stop:
        why = f"{stop}: " if isinstance(stop, Departure) else ""
        finished = f"{some(len(players), 'budget')} {are(len(players))} finished"
        note(f"stopped: {why}{len(steps)} of {finished}")
        if steps:
            report(game, option, opponent.spec, steps, about, output)
        raise Stopped from None
    report(game, option, opponent.spec, steps, about, output)


def measure(
    budget: float,
    player: Agent,
    opponent: Agent,
    games: int,
    *,
    seed: int,
    book: Book,
    progress: Progression,
) -> Step:
    """Play the match of one budget."""
    watch = Stopwatch(player)
    timed = Agent(player.spec, player.game, watch)
    result = play_match(
        player.game, timed, opponent, games, seed=seed, book=book, progress=progress
    )
    note_forfeits([one.reason for one in result.games])
    note_cut_openings(book, result.games)
    figures: dict[str, Any] = result.summary()
    del figures["a"], figures["b"]
    figures["seconds_per_move"] = watch.seconds / max(1, watch.moves)
    return Step(budget, player.spec, fresh_games=result.fresh, **figures)


def make_specs(agent: str, budgets: Mapping[str, str | None]) -> tuple[str, dict[float, str]]:
    """Return the option that is varied, and the agent's spec with each of its values."""
    spec = parse_spec(agent)
    if spec.name not in AGENTS:
        raise UserError(f"there is no agent {spec.name!r}; {nearest(spec.name, AGENTS)}")
    options = options_of(agent_factory(spec.name))
    given = {key: text for key, text in budgets.items() if text is not None}
    if len(given) > 1:
        raise UserError(f"--{' and --'.join(given)} are both budgets; give one of them")
    if not given:
        known = [key for key in USUAL if key in options]
        if not known:
            raise UserError(f"agent {spec.name!r} has no budget ({', '.join(USUAL)}) to vary")
        given = {known[0]: USUAL[known[0]]}
    ((option, text),) = given.items()
    if option not in options:
        raise UserError(f"agent {spec.name!r} has no option {option!r}; {nearest(option, options)}")
    specs = {}
    for value, word in sorted((_number(word, option), word.strip()) for word in text.split(",")):
        if value in specs:
            raise UserError(f"--{option}: {word} is there twice")
        specs[value] = str(replace(spec, options={**spec.options, option: word}))
    return option, specs


def _number(word: str, option: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise UserError(f"--{option}: expected numbers above 0, such as {USUAL[option]}; "
                        f"found {word.strip()!r}")  # fmt: skip
    return value


def report(
    game: Game,
    option: str,
    against: str,
    steps: Sequence[Step],
    about: Mapping[str, Any],
    output: Output,
) -> None:
    """Print the table, then write the files: a full disk must not take the result along."""
    if output.as_json:
        head = {"game": game.spec, "against": against, "option": option, **about}
        print_json({**head, "rows": [asdict(step) for step in steps]})
    else:
        print_steps(game, option, against, steps)
    if output.csv is not None:
        atomic.write_text(output.csv, steps_csv(steps))
    if output.plot is not None:
        points = [Point(s.budget, s.score, s.score_low, s.score_high) for s in steps]
        spec = parse_spec(steps[0].agent)
        same = replace(spec, options={k: v for k, v in spec.options.items() if k != option})
        title = f"{game.spec}: {same} against {against}"
        label = {"seconds": "seconds a move"}.get(option, option)
        footnote = f"{some(steps[0].games, 'game')} a point, 95 % intervals"
        chart = draw_chart(points, title, label, footnote)
        atomic.write_text(output.plot, chart)


def print_steps(game: Game, option: str, against: str, steps: Sequence[Step]) -> None:
    """Print the table: a row a budget."""
    print(f"{game.spec}: {option} against {against}, {some(steps[0].games, 'game')} each")
    rows = [
        (f"{s.budget:g}", f"{100 * s.score:.1f} %",
         f"[{100 * s.score_low:.1f}, {100 * s.score_high:.1f}]",
         *_elo(s).removeprefix("Elo ").split(" ", 1), f"{s.seconds_per_move:.3g}")
        for s in steps
    ]  # fmt: skip
    heads = (option, "score", "95 % interval", "Elo", "95 % interval", "s/move")
    print_table(rows, heads, numbers=(0, 1, 2, 3, 4, 5))
    repeated = [s for s in steps if s.fresh_games < s.games]
    if repeated:
        note(f"note: at {option} {repeated[0].budget:g} only {repeated[0].fresh_games} of "
             f"{some(repeated[0].games, 'game')} differ, and its intervals are as wide "
             f"as of {repeated[0].effective_games:.0f}; "
             "longer openings (--opening-plies) help")  # fmt: skip


def _elo(step: Step) -> str:
    return f"Elo {round(step.elo):+d} [{round(step.elo_low):+d}, {round(step.elo_high):+d}]"


def steps_csv(steps: Sequence[Step]) -> str:
    """Write the steps as a table with a header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(asdict(steps[0])), lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(step) for step in steps)
    return text.getvalue()
