"""The agents of paper B: what they choose, what they refuse, and how they are stored."""

from pathlib import Path

import numpy as np
import pytest

from randori.agents.models import export_model
from randori.agents.registry import load_agent
from randori.agents.shapes import export_shapes, load_shapes, shapes_info, shipped_shapes
from randori.arena.match import play_match
from randori.errors import UserError
from randori.explorer.analyses import AnalysisEngine
from randori.explorer.engines import open_engine
from randori.games.registry import load_game
from randori.learners.shapes import ShapesConfig
from randori.learners.training import change_run, start_run, train
from randori.runs.checkpoint import read_model, write_model
from randori.runs.config import override
from randori.runs.metrics import read_metrics
from randori.shapes.influence import influence_of
from randori.shapes.sensible import sensible
from randori.shapes.sets import parse_sets
from randori.shapes.tables import board_turns, build_tables
from randori.shapes.value import ShapeValue

GO = "go:size=5,komi=0.5"
SETS = "1x1@ 2x2"


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    game = load_game(GO)
    tables = build_tables(parse_sets(SETS), game.board, board_turns(game))
    theta = np.random.default_rng(3).normal(size=(2, tables.num_weights)).astype(np.float16)
    theta[:, 0] = 0
    path = tmp_path_factory.mktemp("models") / "some.safetensors"
    info = shapes_info(ShapeValue(game, tables, theta[0].astype(np.float32)), better=1)
    write_model(path, {"theta": theta}, info)
    return path


def test_own_eyes_and_idle_passes_are_left_out() -> None:
    game = load_game(GO)
    play = sensible(game)
    assert sensible(game) is play
    state = game.position(".x.../xx.../...oo/...o./..oo. b").state
    texts = [game.position("start").action_text(a) for a in play.legal_actions(state)]
    everything = [game.position("start").action_text(a) for a in game.legal_actions(state)]
    assert {"A5", "pass"} <= set(everything)
    assert set(everything) - set(texts) == {"A5", "pass"}
    only_eyes = game.position(".x.x./xxxxx/.x.x./xxxxx/.x.x. b").state
    assert play.legal_actions(only_eyes) == [game.pass_action]
    othello = load_game("othello")
    assert sensible(othello) is othello


def test_alp_looks_at_the_mean_of_liberties() -> None:
    """In atari, the way out that leaves most liberties on average."""
    game = load_game(GO)
    agent = load_agent("alp", game)
    position = game.position("...../.o.../oxo../...../..... b")
    assert agent.choose(position) == "B2"
    with pytest.raises(UserError, match="liberties"):
        load_agent("alp", load_game("othello"))
    with pytest.raises(UserError, match="key=value"):
        load_agent("alp:5", game)


def test_influence_counts_points_that_outweigh() -> None:
    game = load_game(GO)
    judge = game.uncompiled(influence_of(game))
    assert judge(game.position("...../...../..x../...../..... w").state) == -2500
    assert judge(game.position("x..../...../...../...../....o b").state) == 0
    assert judge(game.position("x..../...../...../...../....o w").state) == 0
    state = game.position("...../.x.../...../...o./..... b").state
    board = {(1, 1): 1, (3, 3): -1}
    expected = 0
    for cell in np.ndindex(5, 5):
        steps = {at: abs(at[0] - cell[0]) + abs(at[1] - cell[1]) for at in board}
        weight = sum(s * 2.0 ** -steps[at] for at, s in board.items() if steps[at] <= 6)
        expected += np.sign(weight)
    assert judge(state) == 100 * expected


def test_shapes_play_the_best_move_after_one_ply(stored: Path) -> None:
    game = load_game(GO)
    agent = load_agent(f"shapes:{stored}", game)
    position = game.position("...../.xo../..x../.o.../..... b")
    analysis = agent.analyse(position)
    value = load_shapes(game, stored)
    worth = {}
    for action in sensible(game).legal_actions(position.state):
        after = position.state.copy()
        game.plain.play(after, action)
        worth[action] = -float(value.values(after[None])[0])
    assert analysis.best.action == max(worth, key=worth.__getitem__)
    assert analysis.value == pytest.approx(max(worth.values()), abs=1e-6)
    actions, values = agent.judge(position.state[None], np.random.default_rng(0))
    assert worth[int(actions[0])] == pytest.approx(max(worth.values()), abs=1e-6)
    assert values[0] == pytest.approx(max(worth.values()), abs=1e-6)


def test_search_is_minimax_over_the_same_values(stored: Path) -> None:
    game = load_game("go:size=5,komi=0.5")
    play, value = sensible(game), load_shapes(game, stored)
    position = game.position("xxxoo/xo.oo/xx.../xoooo/.xoo. b")
    best = {}
    for action in play.legal_actions(position.state):
        after = position.state.copy()
        game.plain.play(after, action)
        replies = play.legal_actions(after)
        rows = np.repeat(after[None], len(replies), axis=0)
        for row, reply in zip(rows, replies, strict=True):
            game.plain.play(row, reply)
        best[action] = float(value.values(rows).min())
    agent = load_agent(f"shapes:{stored},depth=2", game)
    actions, values = agent.judge(position.state[None], np.random.default_rng(0))
    assert best[int(actions[0])] == pytest.approx(max(best.values()), abs=2e-6)
    assert values[0] == pytest.approx(max(best.values()), abs=2e-6)
    assert agent.analyse(position).best.action == int(actions[0])


def test_whole_games_are_played(stored: Path) -> None:
    game = load_game(GO)
    result = play_match(game, load_agent(f"shapes:{stored}", game), load_agent("alp", game), 4)
    assert len(result.games) == 4


def test_weights_for_something_else_are_refused(stored: Path, tmp_path: Path) -> None:
    for spec in ("go:size=6", "othello:size=6", "connect4"):
        with pytest.raises(UserError, match="holds shapes for go:size=5"):
            load_agent(f"shapes:{stored}", load_game(spec))
    with pytest.raises(UserError, match="no 2"):
        load_agent(f"shapes:{stored},which=2", load_game(GO))
    with pytest.raises(UserError, match="depth"):
        load_agent(f"shapes:{stored},depth=0", load_game(GO))
    with pytest.raises(UserError, match="no shapes are shipped"):
        load_agent("shapes", load_game("othello"))
    with pytest.raises(UserError, match=r"does not exist|missing|expected"):
        load_agent(f"shapes:{tmp_path / 'nothing'}", load_game(GO))
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(stored.read_bytes()[:-8])
    with pytest.raises(UserError, match="damaged"):
        load_agent(f"shapes:{broken}", load_game(GO))
    other = tmp_path / "other.safetensors"
    write_model(other, {"theta": np.zeros((2, 5), np.float32)}, {
        "game": GO, "name": "go", "board": [5, 5], "sets": ["1x1"], "bins": 1})  # fmt: skip
    with pytest.raises(UserError, match="expected 4 weights"):
        load_agent(f"shapes:{other}", load_game(GO))
    write_model(other, {"w": np.zeros((2, 5), np.float32)}, {"game": GO})
    with pytest.raises(UserError, match="no shape weights"):
        load_agent(f"shapes:{other}", load_game(GO))


def test_an_exported_model_has_one_agent_and_no_zeros(stored: Path, tmp_path: Path) -> None:
    game, model = load_game(GO), read_model(stored)
    model.weights["theta"][:, 5:30] = 0
    small, again = tmp_path / "small.safetensors", tmp_path / "again.safetensors"
    export_shapes(model, small)
    assert read_model(small).weights["theta"].shape == (1, model.weights["theta"].shape[1] - 26)
    assert (load_shapes(game, small).theta == model.weights["theta"][1]).all()
    export_model(small, again)
    first, second = read_model(small), read_model(again)
    assert second.info == first.info
    assert all((second.weights[name] == first.weights[name]).all() for name in first.weights)
    with pytest.raises(UserError, match="no 1"):
        load_shapes(game, small, which=1)
    for index in (np.array([1, 99999], np.uint32), np.array([1], np.uint32),
                  np.array([0.5, 1.5], np.float32)):  # fmt: skip
        write_model(small, {"theta": np.ones((1, 2), np.float16), "index": index}, model.info)
        with pytest.raises(UserError, match="damaged: expected"):
            load_shapes(game, small)


def test_shipped_shapes_are_small_and_play() -> None:
    game = load_game("go:size=9,komi=7.5,suicide=no")
    for spec, weights in (("shapes", 137_551), ("shapes:liberties", 1_137_551)):
        agent = load_agent(spec, game)
        assert agent.choose(game.start()) is not None
        path = shipped_shapes(game, with_liberties=spec != "shapes")
        assert path.stat().st_size < 2_000_000
        assert len(load_shapes(game, path).theta) == weights
    with pytest.raises(UserError, match="no shapes are shipped"):
        load_agent("shapes:liberties", load_game(GO))


def test_analysis_scores_moves_as_deep_as_the_player_looks(stored: Path) -> None:
    game = load_game(GO)
    position = game.position("...../.xo../..x../.o.../..... b")
    agent = load_agent(f"shapes:{stored},depth=2", game)
    analysis = agent.analyse(position)
    assert analysis.value == pytest.approx(analysis.best.value)
    assert analysis.best.value == max(move.value for move in analysis.moves)
    lost = game.position(".x.x./xxxxx/.xxx./xxxxx/.x.x. b").play("pass")
    (last,) = load_agent(f"shapes:{stored}", game).analyse(lost).moves
    assert (last.value, last.proven) == (-1.0, "loss"), "a second pass ends the game"


def test_the_explorer_looks_one_ply_deeper_at_a_time(stored: Path) -> None:
    game = load_game(GO)
    engine = open_engine(f"shapes:{stored}", game, 0)
    assert isinstance(engine, AnalysisEngine)
    assert engine.agent(0).spec == f"shapes:{stored}"
    assert engine.agent(1).spec == f"shapes:{stored},depth=2"


def test_shapes_are_trained_and_resumed_like_any_learner(tmp_path: Path) -> None:
    run = start_run(
        load_game("go:size=5,komi=7.5,ko=simple,suicide=no"),
        override(ShapesConfig(), ["sets=2x2", "iteration_games=100", "test_games=10",
                                  "stop.iterations=2"]),
        seed=1, path=tmp_path / "run", learner="shapes",
    )  # fmt: skip
    train(run, lambda status: None)
    train(change_run(run.path, ["stop.iterations=3"]), lambda status: None)
    records = read_metrics(run.path)
    assert [record["iteration"] for record in records] == [1, 2, 3]
    assert records[-1]["games"] == 300
    agent = load_agent(f"shapes:{run.path}", load_game(run.game))
    assert agent.choose(load_game(run.game).start()) is not None
