"""The round robin: every pair of agents, both colours, t rounds; games of a pairing in one batch.

A tournament is a plan, and the store knows which of its games are over: whoever is called with the
same plan plays what is missing. Its name does not depend on the number of rounds, so more rounds
go on where fewer ended. Pairings are spread over processes that write to the store themselves.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from randori.agents.agent import Agent
from randori.agents.registry import load_agent
from randori.arena.match import PlayedGame, Progression, Setup, play_games
from randori.arena.openings import Book, Opening, draw_openings
from randori.arena.store import Store, StoredGame, stored
from randori.errors import UserError
from randori.games.registry import load_game

BATCH = 256
"""Games of a job: what a kill may cost, and enough to fill an agent's batch."""


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

    def __post_init__(self) -> None:
        twice = [name for name, count in Counter(self.agents).items() if count > 1]
        if twice:
            raise UserError(f"agent {twice[0]!r} is entered twice")
        if len(self.agents) < 2:
            raise UserError(f"a tournament needs at least 2 agents, not {len(self.agents)}")
        if self.rounds < 1:
            raise UserError(f"a tournament needs at least 1 round, not {self.rounds}")

    @classmethod
    def from_dict(cls, plan: dict[str, Any]) -> "Plan":
        """Read what `to_dict` wrote."""
        book = Book(**plan["book"] | {"lines": tuple(plan["book"]["lines"])})
        return cls(**plan | {"agents": tuple(plan["agents"]), "book": book})

    def to_dict(self) -> dict[str, Any]:
        """Return the plan for the store."""
        return asdict(self)

    @property
    def id(self) -> str:
        """The tournament's name: the same for the same arguments, whatever the rounds."""
        said = json.dumps({**self.to_dict(), "rounds": 0}, sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()[:10]

    @property
    def num_games(self) -> int:
        """Games in all."""
        return self.rounds * len(self.agents) * (len(self.agents) - 1)

    def jobs(self, over: Iterable[StoredGame]) -> list[Job]:
        """Return what is left to play, early rounds first."""
        done = {(game.round, game.first, game.second) for game in over}
        found = []
        for begin in range(0, 2 * self.rounds, BATCH):
            numbers = range(begin, min(2 * self.rounds, begin + BATCH))
            for a, b in combinations(self.agents, 2):
                keys = {n: (n // 2, a, b) if n % 2 == 0 else (n // 2, b, a) for n in numbers}
                if left := tuple(n for n in numbers if keys[n] not in done):
                    found.append(Job(a, b, left))
        return found

    def select(self, games: Iterable[StoredGame]) -> list[StoredGame]:
        """Return those games of the tournament that this plan names."""
        return [game for game in games if game.round < self.rounds]


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
