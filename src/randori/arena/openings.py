"""Openings that make games differ and stay fair: each is played twice, with colours swapped.

They are lines of a file, random legal plies, or plies drawn from an agent's visits (paper A draws
the first three full moves of a match at temperature 3). Opening k depends on the seed and on k
alone, so that a tournament finds the openings of its later rounds without drawing the others.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from randori.agents.agent import Agent
from randori.agents.registry import agent_factory, load_agent
from randori.errors import IllegalAction, UserError
from randori.games.game import Game
from randori.games.kernels import ONGOING, State
from randori.games.position import Position
from randori.games.rules import STATE_WORDS, legal, outcome, play
from randori.spec import options_of, parse_spec

TEMPERATURE = 3.0
AGENT_PLIES = 6
"""Paper A: three full moves at temperature 3."""
DICE = 0x0BE9
"""Keeps the dice of openings apart from those that the agents roll with the same seed."""


@dataclass(frozen=True)
class Opening:
    """How a game begins."""

    moves: tuple[int, ...]
    state: State = field(compare=False, repr=False)
    """The position after the moves."""
    position: str = ""
    """Where the moves begin; empty stands for the start."""


@dataclass(frozen=True)
class Book:
    """Where openings come from: lines in their order, then drawn plies."""

    plies: int = 0
    agent: str = ""
    """Whose visits the plies are drawn from; empty stands for random legal plies."""
    temperature: float = TEMPERATURE
    lines: tuple[str, ...] = ()
    """Moves from the start, or position texts; none stands for the start."""
    file: str = field(default="", compare=False)
    """Where the lines come from, for people."""


def draw_plies(
    states: NDArray[np.uint64],
    draws: NDArray[np.float64],
    moves: NDArray[np.int32],
    lengths: NDArray[np.int32],
    actions: NDArray[np.int32],
    after: NDArray[np.uint64],
) -> None:
    """Play the legal moves that the draws [B, plies] point at, stopping short of the end."""
    for b in range(len(states)):
        for k in range(draws.shape[1]):
            action = actions[int(draws[b, k] * legal(states[b], actions))]
            for word in range(STATE_WORDS):
                after[word] = states[b, word]
            play(after, action)
            if outcome(after) != ONGOING:
                break
            for word in range(STATE_WORDS):
                states[b, word] = after[word]
            moves[b, k] = action
            lengths[b] = k + 1


def draw_openings(game: Game, book: Book, numbers: Sequence[int], seed: int) -> list[Opening]:
    """Return the openings with these numbers."""
    if not numbers:
        return []
    lines = [read_line(game, line) for line in book.lines] or [read_line(game, "start")]
    begun = [lines[number % len(lines)] for number in numbers]
    dice = [np.random.default_rng([DICE, seed, number]) for number in numbers if book.plies]
    if book.agent and book.plies:
        agent = expect_policy(load_agent(book.agent, game))
        return [_ask(agent, opening, book, rng) for opening, rng in zip(begun, dice, strict=True)]
    return _roll(game, begun, book.plies, dice) if book.plies else begun


def read_line(game: Game, line: str) -> Opening:
    """Read moves from the start, or a position; moves begin with a word that can be played."""
    start = game.start()
    words = list(_split(game, line))
    with suppress(IllegalAction):
        start.parse(words[0])
        return _play_line(start, words)
    try:
        position = game.position(line)
    except UserError as error:
        raise UserError(f"expected moves from the start, or a position: {error}") from None
    if position.is_over:
        raise UserError(f"an opening must leave something to play: {line!r} is over")
    at_start = position == start
    return Opening((), position.state, "" if at_start else position.text())


def read_lines(game: Game, path: Path) -> tuple[str, ...]:
    """Read a file of openings, one a line; ``#`` begins a comment."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise UserError(f"cannot read openings from {path}: {reason}") from None
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if words := line.partition("#")[0].strip():
            try:
                read_line(game, words)
            except UserError as error:
                raise UserError(f"{path}, line {number}: {error}") from None
            found.append(words)
    if not found:
        raise UserError(f"{path} holds no openings; expected moves or a position on each line")
    return tuple(found)


def _split(game: Game, line: str) -> Iterator[str]:
    for word in line.split():
        try:
            yield from [word] if game.split_moves is None else game.split_moves(word)
        except ValueError:
            yield word


def _play_line(position: Position, words: Sequence[str]) -> Opening:
    actions = []
    for number, word in enumerate(words, start=1):
        try:
            actions.append(position.parse(word))
        except IllegalAction as error:
            raise UserError(f"move {number}: {error}") from None
        position = position.play(actions[-1])
    if position.is_over:
        raise UserError(f"an opening must leave something to play: {' '.join(words)!r} is over")
    return Opening(tuple(actions), position.state)


def _roll(
    game: Game, begun: Sequence[Opening], plies: int, dice: Sequence[np.random.Generator]
) -> list[Opening]:
    """Add random legal plies."""
    states = np.array([opening.state for opening in begun], dtype=np.uint64)
    draws = np.array([rng.random(plies) for rng in dice])
    moves = np.zeros((len(states), plies), dtype=np.int32)
    lengths = np.zeros(len(states), dtype=np.int32)
    actions = np.zeros(game.num_actions, dtype=np.int32)
    game.kernel(draw_plies)(states, draws, moves, lengths, actions, states[0].copy())
    return [
        replace(opening, moves=(*opening.moves, *moves[i, : lengths[i]].tolist()), state=states[i])
        for i, opening in enumerate(begun)
    ]


def expect_policy(agent: Agent) -> Agent:
    """Return an agent whose visits or priors say how likely it plays each move; refuse others.

    Alpha-beta counts nodes, of which a bad move may have many, and a solver knows only scores.
    """
    options = options_of(agent_factory(parse_spec(agent.spec).name))
    if not agent.can_analyse or ("depth" in options and "simulations" not in options):
        raise UserError(f"agent {agent.spec!r} has no visits or priors to draw openings from; "
                        "uct, az and policy have")  # fmt: skip
    return agent


def _ask(agent: Agent, opening: Opening, book: Book, rng: np.random.Generator) -> Opening:
    """Add plies by an agent's visits, or its priors if it does not search, to the power 1/τ."""
    player: Any = agent.player
    rules, state, moves = agent.game.plain, opening.state.copy(), list(opening.moves)
    for _ in range(book.plies):
        seen = player.analyse(state.copy(), rng).moves
        weights = np.array([move.visits for move in seen], dtype=np.float64)
        if not weights.any():
            weights = np.array([move.prior for move in seen], dtype=np.float64)
        if not weights.any():
            raise UserError(f"agent {agent.spec!r} prefers no move, so it cannot draw openings")
        weights = (weights / weights.max()) ** (1 / book.temperature)
        action = int(seen[rng.choice(len(seen), p=weights / weights.sum())].action)
        after = state.copy()
        rules.play(after, action)
        if int(rules.outcome(after)) != ONGOING:
            break
        state = after
        moves.append(action)
    return replace(opening, moves=tuple(moves), state=state)
