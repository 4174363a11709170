"""What comes again counts as a draw in play, so that agents do not go round in circles."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.search.test_puct import Build, Naive, assert_same

from randori.agents.agent import Agent
from randori.agents.network import SearchPlayer
from randori.agents.registry import load_agent
from randori.arena.match import PlayedGame, play_match
from randori.cli.scaling import Stopwatch
from randori.games.game import Game
from randori.games.kernels import DRAW, ONGOING, SECOND, Actions, State
from randori.games.position import Position
from randori.games.registry import load_game
from randori.games.rules import Rules
from randori.search.past import Past, keys_of, past_of
from randori.search.search import Analysis, Search, SearchConfig
from randori.search.tree import DRAWN, NODES
from randori.search.uniform import UniformEvaluator

LONGEST = 30
THERE_AND_BACK = ["a1e1N", "a8e8S", "a2e2S", "a7e7N"]
"""Four plies of Shobu after which all stones stand where they began."""


def start(state: State) -> None:
    """Two stones on rings of four cells."""
    state[0] = 0
    state[1] = 0
    state[2] = 0


def legal(state: State, actions: Actions) -> int:
    """One step this way or that way."""
    if state[0] >= np.uint64(LONGEST):
        return 0
    actions[0] = 0
    actions[1] = 1
    return 2


def play(state: State, action: int) -> None:
    """Go, and hand the turn over."""
    mine = (state[1] + np.uint64(1 if action else 3)) & np.uint64(3)
    state[1] = state[2]
    state[2] = mine
    state[0] += np.uint64(1)


def outcome(state: State) -> int:
    """Nobody ever wins."""
    return DRAW if state[0] >= np.uint64(LONGEST) else ONGOING


def planes(state: State, words: NDArray[np.uint64]) -> None:
    """Show both stones."""
    words[0] = np.uint64(1) << state[1]
    words[1] = np.uint64(1) << state[2]


@cache
def ring() -> Game:
    rules = Rules(start, legal, play, outcome, planes)
    return Game("ring", rules, num_actions=2, num_words=3, num_planes=2, shape=(1, 4),
                longest=LONGEST)  # fmt: skip


@cache
def shobu() -> Game:
    return load_game("shobu")


def line_of(moves: list[str]) -> Position:
    position = shobu().start()
    for move in moves:
        position = position.play(move)
    return position


def fates(position: Position, analysis: Analysis) -> dict[str, str | None]:
    return {position.action_text(move.action): move.proven for move in analysis.moves}


@pytest.mark.parametrize("simulations", [20, 300])
def test_equals_the_naive_search(simulations: int, hashed: Build) -> None:
    """On the ring nearly every line comes round again."""
    game = ring()
    evaluator = hashed(game)
    search = Search(game, evaluator, SearchConfig(cache_mb=0.0))
    search.set_roots(game.new_state()[None])
    search.run(simulations, skip_forced=False)
    naive = Naive(game, evaluator.judge)
    assert_same(search.trees, 0, naive.search(naive.node(game.new_state()), simulations))
    drawn = search.trees.nodes[0, 1 : search.trees.used[0, NODES]].proven == DRAWN
    assert drawn.any()
    assert not drawn.all()


def test_what_a_game_had_twice_is_a_draw() -> None:
    """The last of four plies leads back; without what was before nobody could know."""
    once = line_of(THERE_AND_BACK[:3])
    assert [before.ply for before in once.past()] == [2, 1, 0]
    agent, last = Agent("us", shobu(), player()), THERE_AND_BACK[3]
    assert fates(once, agent.analyse(once))[last] is None, "once may have been a blunder"
    twice = line_of(THERE_AND_BACK + THERE_AND_BACK[:3])
    assert fates(twice, agent.analyse(twice))[last] == "draw"
    alone = Position(shobu(), twice.state.copy())
    assert fates(alone, agent.analyse(alone))[last] is None


def test_every_position_has_a_past_of_its_own() -> None:
    """Three games side by side, of which one has gone round; nothing is left for the next call."""
    twice, last = line_of(THERE_AND_BACK + THERE_AND_BACK[:3]), THERE_AND_BACK[3]
    states, past = np.stack([twice.state] * 3), np.zeros((3, 7), dtype=np.uint64)
    past[1] = past_of(twice)[0]
    mine = player()
    mine.heed(past)
    search = mine.search_all(states)
    found = [fates(twice, search.analysis(slot))[last] for slot in range(3)]
    assert found == [None, "draw", None]
    search = mine.search_all(states)
    assert [fates(twice, search.analysis(slot))[last] for slot in range(3)] == [None] * 3
    mine.heed(past)
    with pytest.raises(ValueError, match="2 positions with 3 pasts"):
        mine.search_all(states[:2])
    mine.search_all(states[:2])


def player() -> SearchPlayer:
    """Make one that tries every move."""
    config = SearchConfig(simulations=600, exploration=50.0)
    return SearchPlayer(shobu(), UniformEvaluator(shobu()), config)


def blunder() -> Game:
    """A game in which the second player may go back, or win."""
    return replace(ring(), name="blunder", rules=ring().rules._replace(play=go, outcome=goal))


def go(state: State, action: int) -> None:
    """From 0 to 1, and from there back, or to 3, which wins; or from 0 to 2, where all is quiet."""
    if state[1] == np.uint64(0):
        state[1] = np.uint64(2 if action else 1)
    elif state[1] == np.uint64(1):
        state[1] = np.uint64(3 if action else 0)
    state[0] += np.uint64(1)


def goal(state: State) -> int:
    """Whoever has just come to 3 wins."""
    if state[1] == np.uint64(3):
        return SECOND
    return outcome(state)


def test_a_win_that_was_missed_twice_is_still_seen() -> None:
    game = blunder()
    agent = Agent("us", game, SearchPlayer(game, UniformEvaluator(game), SearchConfig(50)))
    position = game.start()
    for move in (0, 0, 0, 0):
        position = position.play(move)
    analysis = agent.analyse(position)
    assert {move.action: move.proven for move in analysis.moves}[0] == "loss"
    assert analysis.best.action == 1


def test_who_wraps_an_agent_passes_the_past_on() -> None:
    listener = Listener()
    watched = Agent("watched", shobu(), Stopwatch(Agent("inner", shobu(), listener)))
    assert watched.heeds
    play_match(shobu(), watched, load_agent("random", shobu()), 2, seed=1)
    assert listener.heard


def test_keys_tell_sides_apart_but_not_plies() -> None:
    """The same stones with the other side to move are another position."""
    again = line_of(THERE_AND_BACK)
    keys = past_of(again.play(THERE_AND_BACK[0]))[0]
    assert len(keys) == 5
    assert keys[0] == keys[4], "the start and what came again, the last first"
    assert len(set(keys.tolist())) == 4
    turned = again.state.copy()
    turned[0] += np.uint64(1)
    assert keys_of(shobu(), turned[None])[0] not in keys


def test_games_that_cannot_repeat_are_spared() -> None:
    game = load_game("go:size=4")
    assert not game.can_repeat
    assert not keys_of(game, game.new_state()[None]).any()


class Listener:
    """Plays at random, and keeps what it hears and sees."""

    def __init__(self) -> None:
        self.heard: list[tuple[Past, NDArray[np.uint64]]] = []
        self._past: Past | None = None

    def heed(self, past: Past) -> None:
        self._past = past

    def act(self, states: NDArray[np.uint64], rng: np.random.Generator) -> NDArray[np.int32]:
        assert self._past is not None
        self.heard.append((self._past, states))
        moves = [rng.choice(shobu().legal_actions(state)) for state in states]
        return np.array(moves, dtype=np.int32)


def test_matches_tell_what_was_before() -> None:
    """Each game its own: all positions since the opening, whoever was to move."""
    ours, theirs = Listener(), Listener()
    agents = Agent("ours", shobu(), ours), Agent("theirs", shobu(), theirs)
    result = play_match(shobu(), *agents, 2, seed=1, opening_plies=2)
    asked = 0
    for past, states in ours.heard + theirs.heard:
        for row, state in zip(past, states, strict=True):
            moves = next(m for m in map(positions_of, result.games) if state.tolist() in m)
            before = np.array(moves[2 : int(state[0])], dtype=np.uint64).reshape(-1, 3)
            assert row[: int(state[0])].tolist() == [0, 0, *keys_of(shobu(), before).tolist()]
            asked += 1
    assert asked == sum(len(game.moves) - 2 for game in result.games)


def positions_of(game: PlayedGame) -> list[list[int]]:
    """List the states of a game."""
    state = shobu().new_state()
    states = [state.tolist()]
    for move in game.moves:
        shobu().plain.play(state, move)
        states.append(state.tolist())
    return states
