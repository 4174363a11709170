"""Makers of the shipped suites: every answer comes from our own exact searches.

A maker draws positions of random or simple games, keeps those where the choice of a move matters,
and stops when each class has as many as were asked for. The same count and seed make the same file.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count as count_up
from itertools import islice

import numpy as np

from randori.agents.registry import load_agent
from randori.arena.match import play_match
from randori.arena.mates import MateFinder
from randori.arena.openings import Book, Opening, draw_openings, read_line
from randori.arena.suites import Question, Suite
from randori.games import text
from randori.games.connect4_solver import Solver as Connect4Solver
from randori.games.game import Game
from randori.games.kernels import State
from randori.games.othello_solver import Solver as OthelloSolver
from randori.games.position import Position
from randori.games.registry import load_game

Tell = Callable[[int, int], None]
"""Hears how many questions there are and how many are wanted."""

CHUNK = 16
"""Positions that are drawn together."""
TRIES = 1000
"""Positions that are looked at for each one wanted, at most."""
MATES, MATE_PLIES = {1: "mate in 1", 3: "mate in 2", 5: "mate in 3"}, (60, 120)
"""Classes by plies, called by the winner's own moves; and how many random plies come before."""
MOST_BEST = 8
"""Best moves that a question may have."""
STAGES = {"early": (12, 15), "middle": (16, 25), "late": (26, 35)}
"""Stones on the board of Connect 4, from and to; a position with 10 takes seconds to solve."""
CLOSE, CLEAR = 2, 4
"""The best score leads the next one by at most, or at least, so many points."""
EMPTIES = (8, 9, 10, 11, 12)
PLAYERS = (("random", "random"), ("greedy", "random"), ("greedy:evaluation=positional", "greedy"))
"""Whose games Othello endgames come from."""


@dataclass(frozen=True)
class Maker:
    """How one suite is made."""

    game: str
    about: tuple[str, ...]
    """What it holds, and how its classes are told apart."""
    count: int
    """Questions of a class, if nobody says how many."""
    make: Callable[[Game, int, int, Tell], list[Question]]


class Quota:
    """Collects different positions until every class is full."""

    def __init__(self, kinds: Sequence[str], count: int, tell: Tell) -> None:
        self._found: dict[str, list[Question]] = {kind: [] for kind in kinds}
        self._count = count
        self._tell = tell
        self._seen: set[Position] = set()

    @property
    def is_full(self) -> bool:
        """Whether no class wants more."""
        return not any(self.wants(kind) for kind in self._found)

    def wants(self, kind: str) -> bool:
        """Tell whether a class wants more."""
        return len(self._found[kind]) < self._count

    def add(self, question: Question) -> None:
        """Take a question, unless it is there already or its class is full."""
        if self.wants(question.kind) and question.position not in self._seen:
            self._seen.add(question.position)
            self._found[question.kind].append(question)
            self._tell(len(self._seen), self._count * len(self._found))

    def questions(self) -> list[Question]:
        """List what was found, class by class."""
        return [question for found in self._found.values() for question in found]


def wander(game: Game, low: int, high: int, seed: int) -> Iterator[Opening]:
    """Yield positions after `low` to `high` random plies, or just before an earlier end."""
    rng = np.random.default_rng(seed)
    for chunk in count_up():
        plies = int(rng.integers(low, high + 1))
        yield from draw_openings(game, Book(plies), range(chunk * CHUNK, (chunk + 1) * CHUNK), seed)


def is_at_stake(scores: Mapping[int, int]) -> bool:
    """Tell whether some move gives the outcome away."""
    signs = {(score > 0) - (score < 0) for score in scores.values()}
    return len(signs) > 1


def make_mates(game: Game, count: int, seed: int, tell: Tell) -> list[Question]:
    """Find positions of random games with a forced win, and all moves that keep the shortest."""
    quota = Quota(list(MATES.values()), count, tell)
    finder = MateFinder(game, max(MATES))
    for opening in islice(wander(game, *MATE_PLIES, seed), count * TRIES):
        wanted = [plies for plies, kind in MATES.items() if quota.wants(kind)]
        if not wanted:
            break
        position = game.position(text.position_text(game, opening.state))
        plies = finder.shortest(position.state, max(wanted))
        if plies in wanted:
            best = finder.winning_moves(position.state, plies)
            if len(best) <= MOST_BEST:
                quota.add(Question(position, tuple(best), MATES[plies]))
    return quota.questions()


PAPER = {
    "BLACK_MATE_IN_1": ("b2f6NE2", "mate in 1"),
    "MATERIAL_ADVANTAGE": ("b2e5NE2", "mate in 2"),
    "PUSH_OPTIONS": ("a1f1E2", "wins a stone"),
}
"""The only winning moves of the first two, and the move that alone is a stone ahead in the last.

FIG_1B is missing: it shows how stones move, and nobody knows its best move.
"""
PAPER_LINES = {"start": "first move", "26": "after 2 and 6"}
"""Where paper E compares the policies of AlphaZero and of plain tree search, and the start."""


def make_paper(game: Game, count: int, seed: int, tell: Tell) -> list[Question]:
    """Ask for the best moves in the named positions of paper A, one a class and no more."""
    found = []
    for name, (move, kind) in PAPER.items():
        position = game.position(name)
        found.append(Question(position, (position.parse(move),), kind, words=name))
    return found


def make_connect4_paper(game: Game, count: int, seed: int, tell: Tell) -> list[Question]:
    """Solve the positions that paper E speaks of, one a class and no more."""
    solver = Connect4Solver(game)
    found = []
    for words, kind in PAPER_LINES.items():
        position = Position(game, read_line(game, words).state)
        scores = solver.scores(position.state)
        found.append(Question.scored(position, scores, kind, words=words))
    return found


def make_connect4(game: Game, count: int, seed: int, tell: Tell) -> list[Question]:
    """Solve random positions in which nobody wins at once and the outcome is at stake."""
    quota = Quota([f"{s} {c}" for s in STAGES for c in ("clear", "close")], count, tell)
    solver = Connect4Solver(game, book=False)  # which ends before these stages begin
    for stage, (low, high) in STAGES.items():
        for opening in islice(wander(game, low, high, seed), count * TRIES):
            if not any(quota.wants(f"{stage} {choice}") for choice in ("clear", "close")):
                break
            position = Position(game, opening.state.copy())
            if position.ply < low or any(position.play(a).is_over for a in position.actions()):
                continue
            scores = solver.scores(position.state)
            if not is_at_stake(scores):
                continue
            order = sorted(set(scores.values()), reverse=True)
            gap = order[0] - order[1]
            if gap <= CLOSE or gap >= CLEAR:
                kind = f"{stage} {'close' if gap <= CLOSE else 'clear'}"
                words = "".join(str(action + 1) for action in opening.moves)
                quota.add(Question.scored(position, scores, kind, words=words))
    return quota.questions()


def make_othello(game: Game, count: int, seed: int, tell: Tell) -> list[Question]:
    """Solve endgames of simple players in which the outcome is at stake."""
    quota = Quota([f"{empties} empties" for empties in EMPTIES], count, tell)
    solver = OthelloSolver(game)
    for position, empties in islice(endgames(game, seed), count * TRIES):
        if quota.is_full:
            break
        kind = f"{empties} empties"
        if quota.wants(kind):
            scores = solver.scores(position.state)
            if is_at_stake(scores):
                quota.add(Question.scored(position, scores, kind))
    return quota.questions()


def endgames(game: Game, seed: int) -> Iterator[tuple[Position, int]]:
    """Yield one position a game, with a number of empty cells that goes round."""
    for chunk in count_up():
        a, b = (load_agent(spec, game) for spec in PLAYERS[chunk % len(PLAYERS)])
        played = play_match(game, a, b, CHUNK, seed=seed + chunk, opening_plies=10)
        for number, one in enumerate(played.games, start=chunk):
            empties = EMPTIES[number % len(EMPTIES)]
            state = game.new_state()
            for ply, action in enumerate(one.moves):
                if ply >= game.board_cells - 4 - empties and num_empty(game, state) == empties:
                    break
                game.plain.play(state, action)
            position = game.position(text.position_text(game, state))
            if num_empty(game, state) == empties and not position.is_over:
                yield position, empties


def num_empty(game: Game, state: State) -> int:
    """Count the empty cells."""
    return text.cells(game, state).count(text.EMPTY)


CONNECT4 = (
    "Connect 4: random positions with all scores (1: a win with one's last stone).",
    *(f"{stage}: {low} to {high} stones" for stage, (low, high) in STAGES.items()),
    f"clear: the best score leads the next by {CLEAR} or more; close: by {CLOSE} or less",
    "Some move gives the outcome away, and none wins at once.",
)
CONNECT4_PAPER = (
    "Connect 4: the positions that paper E speaks of, with all scores.",
    "After 2 and 6 its AlphaZero prefers column 1, which is the worst; 2, 4 and 5 win.",
)
OTHELLO = (
    "Othello: endgames of simple players with all final differences in discs.",
    "Some move gives the outcome away.",
)
SHOBU = (
    "Shobu: forced wins in 1, 2 and 3 moves of the winner (1, 3 and 5 plies), from random games.",
    f"The best moves are all that win as soon as can be, {MOST_BEST} of them at most.",
)
MAKERS: Mapping[str, Maker] = {
    "connect4": Maker("connect4", CONNECT4, 1000, make_connect4),
    "connect4-paper": Maker("connect4", CONNECT4_PAPER, 1, make_connect4_paper),
    "othello-endgames": Maker("othello", OTHELLO, 100, make_othello),
    "shobu-mates": Maker("shobu", SHOBU, 200, make_mates),
    "shobu-paper": Maker("shobu", ("Shobu: named positions of paper A.",), 1, make_paper),
}


def make_suite(name: str, count: int | None, seed: int, tell: Tell) -> Suite:
    """Make the suite of this name, with `count` questions of each class."""
    maker = MAKERS[name]
    game = load_game(maker.game)
    wanted = maker.count if count is None else count
    made = f"randori make-suite {name} --count {wanted} --seed {seed}"
    questions = maker.make(game, wanted, seed, tell)
    return Suite(game, tuple(questions), (*maker.about, f"Made by `{made}`."))
