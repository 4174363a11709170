"""What the rule of `search/choice.py` is worth against playing what has most visits.

    python benchmarks/choice.py othello --simulations 200 --games 120 --opening-plies 6
    python benchmarks/choice.py connect4 --simulations 600 --suite connect4 --classes "early close"

A match of a model that comes with Randori against itself, or an exam that is marked by both rules.
"""

import argparse
import json
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from randori.agents.agent import Agent
from randori.agents.network import SearchPlayer, load_evaluator
from randori.arena.exam import take_exam
from randori.arena.match import play_match
from randori.arena.suites import Suite, read_suite
from randori.games.registry import load_game
from randori.search.search import Move, SearchConfig
from randori.search.symmetric import Turns


class ByVisits(SearchPlayer):
    """Plays a proven win, else what has most visits and is not proven to lose."""

    def judge(
        self, states: NDArray[np.uint64], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Search every position."""
        search = self.search_all(states)
        found = [search.analysis(slot) for slot in range(len(states))]
        picked = [max(one.moves, key=_by_visits).action for one in found]
        return np.array(picked, np.int32), np.array([one.value for one in found], np.float32)


def _by_visits(move: Move) -> tuple[bool, bool, int, float, float]:
    value = move.value if move.visits else 0.0
    return (move.proven == "win", move.proven != "loss", move.visits, value, move.prior)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game")
    parser.add_argument("--model")
    parser.add_argument("--turns", default="auto", choices=get_args(Turns))
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--exploration", type=float, default=1.5)
    parser.add_argument("--fpu", type=float, default=0.1)
    parser.add_argument("--games", type=int, default=120)
    parser.add_argument("--opening-plies", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--suite")
    parser.add_argument("--classes", default="", help="with commas; all of them if empty")
    given = parser.parse_args()
    game = load_game(given.game)
    evaluator = load_evaluator(game, given.model, "auto", given.turns)
    config = SearchConfig(given.simulations, given.exploration, given.fpu)
    agents = [
        Agent(name, game, kind(game, evaluator, config))
        for name, kind in (("surely worth most", SearchPlayer), ("most visits", ByVisits))
    ]
    if given.suite is None:
        plies = given.opening_plies
        match = play_match(game, *agents, given.games, seed=given.seed, opening_plies=plies)
        print(json.dumps(match.summary()))
        return
    suite, wanted = read_suite(game, given.suite), [c.strip() for c in given.classes.split(",")]
    asked = [one for one in suite.questions if not given.classes or one.kind in wanted]
    for agent in agents:
        print(json.dumps(take_exam(agent, Suite(game, tuple(asked))).summary()))


if __name__ == "__main__":
    main()
