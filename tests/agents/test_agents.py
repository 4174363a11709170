"""Every agent: its spec, legal moves for batches of any size, and what it says about a position."""

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from randori.agents.agent import Agent
from randori.agents.models import model_info, signature_of
from randori.agents.network import SINGLE_LEAVES, SearchPlayer, draw_move
from randori.agents.registry import AGENTS, load_agent
from randori.errors import UserError
from randori.games.game import Game
from randori.games.registry import load_game
from randori.networks.build import build
from randori.networks.config import NetworkConfig
from randori.runs.checkpoint import write_model
from randori.search.search import Analysis, Move, Search, SearchConfig
from randori.search.uct import plant_one, simulate
from randori.search.uniform import UniformEvaluator

TINY = NetworkConfig(blocks=1, channels=8, hidden=8, policy_channels=4, value_channels=4)


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An untrained model for each of two games."""
    found = {}
    for spec in ("tictactoe", "connect4"):
        game = load_game(spec)
        torch.manual_seed(3)
        network = build(TINY, signature_of(game))
        weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
        found[spec] = tmp_path_factory.mktemp("models") / f"{spec}.safetensors"
        write_model(found[spec], weights, model_info(game, TINY))
    return found


SPECS = {
    "random": "random",
    "greedy": "greedy",
    "minimax": "minimax:depth=2",
    "alphabeta": "alphabeta:depth=3",
    "valued": "alphabeta:value={path},depth=2,runtime=torch",
    "uct": "uct:simulations=30",
    "solver": "solver",
    "az": "az:{path},simulations=12,runtime=torch",
    "policy": "policy:{path},runtime=torch",
}


@pytest.fixture(params=SPECS)
def spec(request: pytest.FixtureRequest, models: dict[str, Path]) -> str:
    """The spec of each agent for Connect 4."""
    return SPECS[request.param].format(path=models["connect4"])


OUTSIDE = {"gtp", "human", "alp", "influence", "shapes"}
"""Agents that ask somebody else, or do not play Connect 4: they have tests of their own."""


def test_every_agent_is_tested() -> None:
    assert {spec.partition(":")[0] for spec in SPECS.values()} == set(AGENTS) - OUTSIDE


def some_states(game: Game, count: int) -> Any:
    """Positions of random games that are not over."""
    found, seed = [], 0
    while len(found) < count:
        rng = np.random.default_rng(seed)
        seed += 1
        state = game.new_state()
        for _ in range(rng.integers(0, game.longest)):
            after = state.copy()
            game.plain.play(after, int(rng.choice(game.legal_actions(state))))
            if not game.legal_actions(after):
                break
            state = after
        found.append(state)
    return np.array(found)


def test_batches_of_any_size(spec: str) -> None:
    """Regression: slots beyond those in use once kept a search from ever ending."""
    game = load_game("connect4")
    agent = load_agent(spec, game)
    states = some_states(game, 17)
    for count in (1, 2, 3, 17, 5, 1, 16):
        actions = agent.act(states[:count].copy(), np.random.default_rng(0))
        assert actions.shape == (count,)
        for state, action in zip(states, actions, strict=False):
            assert int(action) in game.legal_actions(state)


def test_states_are_left_alone(spec: str) -> None:
    game = load_game("connect4")
    states = some_states(game, 3)
    before = states.copy()
    load_agent(spec, game).act(states, np.random.default_rng(0))
    assert np.array_equal(states, before)


def test_one_seed_one_choice(spec: str) -> None:
    game = load_game("connect4")
    states = some_states(game, 12)
    picks = [
        load_agent(spec, game).act(states.copy(), np.random.default_rng(seed)).tolist()
        for seed in (4, 4, 5)
    ]
    assert picks[0] == picks[1]
    if spec != "solver":  # it draws lots between equals only
        assert (picks[0] != picks[2]) == spec.startswith(("random", "uct", "greedy"))


def test_judging_picks_what_acting_picks(spec: str) -> None:
    game = load_game("connect4")
    agent, states = load_agent(spec, game), some_states(game, 5)
    actions, values = agent.judge(states, np.random.default_rng(3))
    assert (actions == agent.act(states, np.random.default_rng(3))).all()
    assert np.isnan(values).all() if spec == "random" else (np.abs(values) <= 1).all()


def test_a_second_call_does_not_remember_the_first(spec: str) -> None:
    game = load_game("connect4")
    states = some_states(game, 6)
    agent = load_agent(spec, game)
    agent.act(some_states(game, 9)[3:], np.random.default_rng(9))
    fresh = load_agent(spec, game).act(states.copy(), np.random.default_rng(1))
    again = agent.act(states.copy(), np.random.default_rng(1))
    assert np.array_equal(fresh, again)


def test_uct_does_not_depend_on_the_number_of_threads() -> None:
    game = load_game("connect4")
    states = some_states(game, 7)
    picks = [
        load_agent(f"uct:simulations=60,threads={threads}", game)
        .act(states.copy(), np.random.default_rng(1))
        .tolist()
        for threads in (1, 2, 5)
    ]
    assert picks[0] == picks[1] == picks[2]


def test_analysis(spec: str) -> None:
    game = load_game("connect4")
    agent = load_agent(spec, game)
    position = game.start().play("4")
    assert position.action_text(position.parse(agent.choose(position))) == agent.choose(
        position
    ) or (spec.startswith(("random", "uct", "greedy", "solver")))
    if spec in ("random", "greedy"):
        assert not agent.can_analyse
        with pytest.raises(UserError, match=f"{spec!r} picks moves but cannot analyse"):
            agent.analyse(position)
        return
    assert agent.can_analyse
    analysis = agent.analyse(position)
    assert -1 <= analysis.value <= 1
    assert sorted(move.action for move in analysis.moves) == position.actions()
    assert analysis.best is analysis.moves[0]
    for move in analysis.line:
        position = position.play(move)
    assert (len(analysis.line) == 0) == spec.startswith("policy")
    assert all(-1 <= move.value <= 1 for move in analysis.moves)
    if spec.startswith(("minimax", "alphabeta", "solver")):
        assert analysis.best.value == max(move.value for move in analysis.moves)
        assert analysis.best.value == pytest.approx(analysis.value)
        return
    visits = [move.visits for move in analysis.moves]
    assert sum(visits) == {"uct": 29, "az:": 12, "pol": 0}[spec[:3]]
    assert visits[1:] == sorted(visits[1:], reverse=True)
    assert analysis.line[:1] in ([], [analysis.best.action])
    if not spec.startswith("uct"):
        assert sum(move.prior for move in analysis.moves) == pytest.approx(1, abs=1e-5)


def test_az_counts_its_evaluations(models: dict[str, Path]) -> None:
    """Those of this position, not of all positions so far."""
    game = load_game("connect4")
    agent = load_agent(f"az:{models['connect4']},simulations=40,runtime=torch", game)
    counts = [agent.analyse(game.start().play(move)).evaluations for move in "17"]
    assert all(20 <= count <= 41 for count in counts)


def test_policy_plays_the_largest_prior(models: dict[str, Path]) -> None:
    game = load_game("connect4")
    agent = load_agent(f"policy:{models['connect4']},runtime=torch", game)
    states = some_states(game, 9)
    picked = agent.act(states.copy(), np.random.default_rng(0))
    for state, action in zip(states, picked, strict=True):
        moves = agent.player.analyse(state.copy(), np.random.default_rng(0)).moves  # type: ignore[attr-defined]
        assert max(moves, key=lambda move: move.prior).action == action


def test_nothing_to_choose_when_the_game_is_over(spec: str) -> None:
    game = load_game("connect4")
    agent = load_agent(spec, game)
    over = game.start()
    for move in "4141414":
        over = over.play(move)
    for ask in (agent.choose, agent.analyse):
        with pytest.raises(UserError, match=r"the game is over \(first\)"):
            ask(over)


@pytest.mark.parametrize("simulations", [1, 3, 4, 5, 50])
def test_one_position_is_searched_with_several_leaves(
    simulations: int, models: dict[str, Path]
) -> None:
    game = load_game("tictactoe")
    spec = f"az:{models['tictactoe']},simulations={simulations},runtime=torch,solve=no"
    agent = load_agent(spec, game)
    assert sum(m.visits for m in agent.analyse(game.start()).moves) == simulations
    player = agent.player
    assert isinstance(player, SearchPlayer)
    assert player._searches.fit(1)._leaves == SINGLE_LEAVES > 1
    assert player._searches.fit(2)._leaves == 1


def test_sizes_of_searches_are_shared() -> None:
    game = load_game("tictactoe")
    pool = SearchPlayer(game, UniformEvaluator(game), SearchConfig(cache_mb=0.0))._searches
    assert pool.fit(3) is pool.fit(4)
    assert pool.fit(5) is pool.fit(8) is not pool.fit(4)
    with pytest.raises(ValueError, match="5 positions for a search of 4"):
        pool.fit(4).set_roots(np.zeros((5, 3), np.uint64))


def test_temperature_makes_openings_differ(models: dict[str, Path]) -> None:
    game = load_game("connect4")
    states = np.repeat(game.new_state()[None], 40, axis=0)
    late = np.repeat(game.start().play("4").play("4").state[None], 40, axis=0)
    spec = f"az:{models['connect4']},simulations=30,temperature_plies=2,runtime=torch"
    agent = load_agent(spec, game)
    assert len(set(agent.act(states, np.random.default_rng(0)).tolist())) > 2
    assert len(set(agent.act(late, np.random.default_rng(0)).tolist())) == 1


def move(action: int, visits: int, proven: str | None = None) -> Move:
    return Move(action, visits, 0.1, 0.0, proven)


def drawn(moves: list[Move]) -> set[int]:
    analysis = Analysis(0.0, moves, [])
    rng = np.random.default_rng(0)
    return {draw_move(analysis, rng).action for _ in range(200)}


def test_chance_does_not_overrule_a_proof() -> None:
    assert drawn([move(1, 5), move(2, 5), move(3, 0)]) == {1, 2}
    assert drawn([move(1, 2, "win"), move(2, 50)]) == {1}
    assert drawn([move(2, 5), move(3, 4, "draw"), move(1, 50, "loss")]) == {2, 3}
    assert drawn([move(2, 0), move(1, 50, "loss")]) == {2}
    assert drawn([move(1, 50, "loss"), move(2, 3, "loss")]) == {1}


def test_temperature_never_walks_into_a_proven_loss() -> None:
    """The one defence in Connect 4, played early enough for chance to have its say."""
    game = load_game("connect4")
    position = game.start()
    for text in "41414":
        position = position.play(text)
    states = np.repeat(position.state[None], 50, axis=0)
    config = SearchConfig(simulations=100, cache_mb=1.0)
    player = SearchPlayer(game, UniformEvaluator(game), config, temperature_plies=10)
    assert set(player.act(states, np.random.default_rng(0)).tolist()) == {3}


def test_new_weights_are_heard_of() -> None:
    game = load_game("tictactoe")
    evaluator = UniformEvaluator(game)
    player = SearchPlayer(game, evaluator, SearchConfig(simulations=10, cache_mb=1.0))
    search: Search = player._searches.fit(2)
    states = np.repeat(game.new_state()[None], 2, axis=0)
    player.act(states, np.random.default_rng(0))
    assert search._cache.keys.any()
    player.forget()
    assert not search._cache.keys.any()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("utc", "there is no agent 'utc'; did you mean 'uct'?"),
        ("uct:simulation=5", "'uct' has no option 'simulation'; did you mean 'simulations'?"),
        ("uct:simulations=0", "simulations must be at least 1"),
        ("uct:simulations=many", "uct:simulations: expected a whole number, found 'many'"),
        ("uct:threads=-1", "threads must not be negative"),
        ("uct:exploration=nan", "uct:exploration: expected a number, found 'nan'"),
        ("az:{tictactoe},fpu=inf", "az:fpu: expected a number, found 'inf'"),
        ("uct:simulations=１００", "expected a whole number, found '１００'"),
        ("uct:exploration=١", "uct:exploration: expected a number, found '١'"),
        ("uct:simulations=99999999999", "uct:simulations: 99999999999 is too large"),
        ("uct:simulations=-3000000000", "is too large, expected less than 2147483648"),
        (f"uct:simulations={'9' * 60}", f"uct:simulations: {'9' * 40}… is too large"),
        ("uct:simulations=1.5", "expected a whole number, found '1.5'"),
        ("alphabeta:value=", "alphabeta:value: nothing stands behind value="),
        ("uct:simulations=", "uct:simulations: nothing stands behind simulations="),
        ("alphabeta:seconds=0", "seconds must be more than 0; leave them out"),
        ("alphabeta:seconds=-1", "seconds must be more than 0"),
        ("uct:5", "uct: options are written key=value, found '5'"),
        ("random:1", "random: options are written key=value, found '1'"),
        ("az", "no model for tictactoe comes with Randori: train one"),
        ("az:nowhere", "nowhere does not exist"),
        ("az:{tictactoe},simulations=0", "simulations must be at least 1"),
        ("az:{tictactoe},runtime=tpu", "no runtime 'tpu'"),
        ("az:{tictactoe},solve=maybe", "az:solve: expected yes or no, found 'maybe'"),
        ("az:{connect4}", "holds a model for connect4, not for tictactoe"),
        ("policy:{connect4}", "holds a model for connect4, not for tictactoe"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(
    text: str, complaint: str, models: dict[str, Path]
) -> None:
    paths = {name: str(path) for name, path in models.items()}
    with pytest.raises(UserError) as caught:
        load_agent(text.format(**paths), load_game("tictactoe"))
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_model_for_another_network_is_refused(models: dict[str, Path], tmp_path: Path) -> None:
    game = load_game("tictactoe")
    weights = {"first": np.zeros(3, np.float32)}
    write_model(tmp_path / "odd.safetensors", weights, model_info(game, TINY))
    with pytest.raises(UserError, match="does not fit its own network"):
        load_agent(f"az:{tmp_path / 'odd.safetensors'}", game)


def test_agents_are_called_by_their_spec() -> None:
    agent = load_agent(" uct:simulations=7 ", load_game("tictactoe"))
    assert isinstance(agent, Agent)
    assert agent.spec == "uct:simulations=7"


def test_threads_may_ask_for_a_kernel_at_once() -> None:
    """Regression: one thread got functions that another had only half bound."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(15):
            game = load_game("tictactoe")
            gate = threading.Barrier(6)

            def ask(which: int, game: Game = game, gate: threading.Barrier = gate) -> Any:
                gate.wait()
                return game.kernel((simulate, plant_one)[which % 2])

            with ThreadPoolExecutor(6) as pool:
                kernels = list(pool.map(ask, range(6)))
            assert kernels[0] is kernels[2] is kernels[4]
            assert kernels[1] is kernels[3] is kernels[5]
    finally:
        sys.setswitchinterval(before)
