"""The round robin: every pair of agents, both colours, t rounds; games of a pairing in one batch.

A tournament is a plan, and the store knows which of its games are over: whoever is called with the
same plan plays what is missing. Its name depends neither on the number of rounds nor on a test, so
more rounds go on where fewer ended. With a sequential test each pairing stops when its own test
has ended. Games are spread over processes that write to the store themselves.
"""

import hashlib
import json
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations, groupby
from typing import Any

import numpy as np

from randori.agents.agent import Agent
from randori.agents.registry import load_agent
from randori.arena.match import PlayedGame, Progression, Setup, expect_few_games, play_games
from randori.arena.openings import Book, Opening, draw_openings
from randori.arena.sprt import Sprt, games_to_play
from randori.arena.store import Store, StoredGame, stored
from randori.errors import UserError
from randori.games.position import RESULTS
from randori.games.registry import load_game

BATCH = 256
"""Games of a job at most: what a kill may cost, and enough to fill an agent's batch."""
SMALL_BATCH = 16
"""Games that are not cut for a short tail, only to give every process some."""
SHARES = 4
"""Jobs a process, so that none waits long for the last one."""

Pair = tuple[str, str]


@dataclass(frozen=True)
class Job:
    """Games of one pairing; number 2r is that of round r with a first, 2r + 1 with b first."""

    a: str
    b: str
    numbers: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.a} against {self.b}"


@dataclass(frozen=True)
class Plan:
    """What a tournament plays."""

    game: str
    agents: tuple[str, ...]
    rounds: int
    seed: int = 0
    book: Book = field(default_factory=Book)
    sprt: Sprt | None = None
    """Stops each pairing; the first of two agents is the one whose Elo is meant."""
    models: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Digests of the model files of agents, to notice that a run has been trained on."""

    def __post_init__(self) -> None:
        twice = [name for name, count in Counter(self.agents).items() if count > 1]
        if twice:
            raise UserError(f"agent {twice[0]!r} is entered twice")
        if len(self.agents) < 2:
            raise UserError(f"a tournament needs at least 2 agents, not {len(self.agents)}")
        if self.rounds < 1:
            raise UserError(f"a tournament needs at least 1 round, not {self.rounds}")
        expect_few_games(self.num_games, "a tournament")

    @classmethod
    def from_dict(cls, plan: dict[str, Any]) -> "Plan":
        """Read what `to_dict` wrote."""
        book = Book(**plan["book"] | {"lines": tuple(plan["book"]["lines"])})
        sprt = None if plan.get("sprt") is None else Sprt(**plan["sprt"])
        return cls(**plan | {"agents": tuple(plan["agents"]), "book": book, "sprt": sprt})

    def to_dict(self) -> dict[str, Any]:
        """Return the plan for the store."""
        return asdict(self)

    @property
    def id(self) -> str:
        """The tournament's name: the same for the same games, however many are played."""
        plan = {**self.to_dict(), "rounds": 0}
        del plan["sprt"], plan["models"], plan["book"]["file"]
        said = json.dumps(plan, sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()[:10]

    @property
    def num_games(self) -> int:
        """Games in all, at most."""
        return self.rounds * len(self.agents) * (len(self.agents) - 1)

    @property
    def pairs(self) -> list[Pair]:
        """All pairings."""
        return list(combinations(self.agents, 2))

    def jobs(
        self, over: Iterable[StoredGame], processes: int = 1, pairs: Sequence[Pair] | None = None
    ) -> list[Job]:
        """Return what is to be played next, early rounds first, cut so that no process is idle."""
        chosen = self.pairs if pairs is None else pairs
        left = {pair: self._left(games) for pair, games in self.by_pair(over).items()
                if pair in chosen}  # fmt: skip
        size = batch_size(sum(map(len, left.values())), processes)
        parts = [
            (place, Job(*pair, tuple(part)))
            for pair, numbers in left.items()
            for place, part in groupby(numbers, key=lambda number: number // size)
        ]
        return [job for _, job in sorted(parts, key=lambda part: part[0])]

    def by_pair(self, games: Iterable[StoredGame]) -> dict[Pair, dict[int, PlayedGame]]:
        """Sort the tournament's games by pairing and by number, seen from the first agent."""
        places = {name: place for place, name in enumerate(self.agents)}
        found: dict[Pair, dict[int, PlayedGame]] = {pair: {} for pair in self.pairs}
        for game in self.select(games):
            a_is_first = places[game.first] < places[game.second]
            pair = (game.first, game.second) if a_is_first else (game.second, game.first)
            found[pair][2 * game.round + (not a_is_first)] = PlayedGame(
                a_is_first, game.actions, RESULTS.index(game.result), reason=game.reason,
                opening=game.opening, position=game.position,
            )  # fmt: skip
        return found

    def _left(self, over: dict[int, PlayedGame]) -> list[int]:
        if self.sprt is not None:
            return games_to_play(self.sprt, over, 2 * self.rounds)
        return [number for number in range(2 * self.rounds) if number not in over]

    def select(self, games: Iterable[StoredGame]) -> list[StoredGame]:
        """Return those games of the tournament that this plan names."""
        return [game for game in games if game.round < self.rounds]


def batch_size(games: int, processes: int) -> int:
    """Return how many games a job should have; an even number, for the pairs."""
    if processes == 1:
        return BATCH
    share = max(-(-games // (SHARES * processes)), min(SMALL_BATCH, -(-games // processes)))
    return min(BATCH, max(2, share + share % 2))


class Schedule:
    """Hands out jobs; with a test, those of a pairing's next look when the last one's are over."""

    def __init__(self, plan: Plan, store: Store, processes: int = 1) -> None:
        self._plan, self._store, self._processes = plan, store, processes
        self._waiting: deque[Job] = deque()
        self._open: Counter[Pair] = Counter()
        self._add(plan.pairs, processes)

    def take(self) -> Job | None:
        """Return a job to be played, if there is one now."""
        return self._waiting.popleft() if self._waiting else None

    def finish(self, job: Job) -> None:
        """Hear that a job was played, or given up."""
        pair = job.a, job.b
        self._open[pair] -= 1
        if self._plan.sprt is not None and not self._open[pair]:
            others = sum(count > 0 for count in self._open.values())
            self._add([pair], max(1, self._processes // (others + 1)))

    def give_up(self, job: Job) -> None:
        """Hear that a job cannot be played: its pairing does not go on."""
        self._open[job.a, job.b] = -(2**31)

    def _add(self, pairs: Sequence[Pair], processes: int) -> None:
        over = self._store.games(tournament=self._plan.id)
        jobs = self._plan.jobs(over, processes, pairs)
        self._waiting.extend(jobs)
        self._open.update((job.a, job.b) for job in jobs)


class Hall:
    """Where jobs are played: the game, its agents and openings, loaded when first needed."""

    def __init__(self, plan: Plan, store: Store) -> None:
        self._plan = plan
        self._store = store
        self._game = load_game(plan.game)
        self._agents: dict[str, Agent] = {}
        self._openings: dict[int, Opening] = {}

    def play(self, job: Job, progress: Progression) -> None:
        """Play the games of a job; each is in the store as soon as it is over."""
        plan, game = self._plan, self._game
        for name in (job.a, job.b):
            if name not in self._agents:
                self._agents[name] = load_agent(name, game)
        fresh = sorted({number // 2 for number in job.numbers} - self._openings.keys())
        drawn = draw_openings(game, plan.book, fresh, plan.seed)
        self._openings.update(zip(fresh, drawn, strict=True))
        setups = [Setup(self._openings[n // 2], n % 2 == 0) for n in job.numbers]
        places = plan.agents.index(job.a), plan.agents.index(job.b)
        # A pairing that goes on must not roll again what its first part has rolled.
        rng = np.random.default_rng([plan.seed, *places, job.numbers[0], len(job.numbers)])

        def save(ended: Iterable[tuple[int, PlayedGame]]) -> None:
            self._store.add(
                stored(game, (job.a, job.b), played, seed=plan.seed,
                       round=job.numbers[i] // 2, tournament=plan.id)
                for i, played in ended
            )  # fmt: skip

        agents = self._agents[job.a], self._agents[job.b]
        play_games(game, *agents, setups, rng, progress=progress, on_end=save)

    def close(self) -> None:
        """Let agents that hold something, such as an engine, let it go."""
        for agent in self._agents.values():
            close = getattr(agent.player, "close", None)
            if close is not None:
                close()


class Scoreboard:
    """Adds up the progress of jobs."""

    def __init__(self, progress: Progression | None) -> None:
        self._progress = progress
        self._seen: list[tuple[int, int]] = []

    def listener(self) -> Progression:
        """Return what hears the progress of one more job."""
        place = len(self._seen)
        self._seen.append((0, 0))

        def listen(over: int, plies: int) -> None:
            self._seen[place] = (over, plies)
            if self._progress is not None:
                overs, all_plies = zip(*self._seen, strict=True)
                self._progress(sum(overs), sum(all_plies))

        return listen
