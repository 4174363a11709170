"""What is shown of a search is what the search knows, and going on is the same as going on."""

import math
import signal
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from randori.agents.registry import load_agent
from randori.errors import UserError
from randori.explorer.engines import open_engine
from randori.explorer.studies import Study, follow
from randori.explorer.trees import PuctEngine
from randori.games.game import Game
from randori.games.registry import load_game
from randori.search.search import Search, SearchConfig
from randori.search.uniform import ArrayLane, UniformEvaluator

CONFIG = SearchConfig(simulations=100)


class MaterialLane(ArrayLane):
    """Answers that depend on the position alone, and are not all alike."""

    def launch(self, count: int) -> None:
        mixed = self.words[:count].sum(axis=1) * np.uint64(0x9E3779B97F4A7C15)
        self.values[:count] = (mixed >> np.uint64(40)).astype(np.float32) / 2**24 - 0.5
        turn = (mixed >> np.uint64(32)).astype(np.int64)[:, None] + np.arange(self.logits.shape[1])
        self.logits[:count] = turn % 7 / 3


class MixedEvaluator(UniformEvaluator):
    """Has an opinion about every position."""

    def lane(self, batch: int) -> ArrayLane:
        return MaterialLane(self._game, batch)


@pytest.fixture(scope="module")
def connect4() -> Game:
    return load_game("connect4")


def puct(game: Game) -> PuctEngine:
    return PuctEngine("mixed", game, MixedEvaluator(game), CONFIG)


def everything(study: Study, path: Sequence[int] = ()) -> list[object]:
    """List all positions that a search has visited, with all that it knows of them."""
    view = study.look(path)
    found: list[object] = [(tuple(path), view)]
    for one in view.branches:
        if one.visits:
            found += everything(study, [*path, one.action])
    return found


@pytest.mark.parametrize("parts", [(50, 50), (1, 99), (33, 33, 34), (100,)])
def test_puct_goes_on_where_it_stopped(connect4: Game, parts: tuple[int, ...]) -> None:
    whole, split = (puct(connect4).study(connect4.start()) for _ in range(2))
    whole.run(100)
    for part in parts:
        split.run(part)
    assert split.spent == whole.spent == 100
    assert everything(split) == everything(whole)


def test_all_moves_are_shown_and_looking_changes_nothing() -> None:
    """On a board where a node lists but a few of its moves."""
    game = load_game("go:size=5")
    whole, split = (puct(game).study(game.start()) for _ in range(2))
    whole.run(400)
    split.run(200)
    best = split.look([]).line[0].action
    for path in ([], [best]):
        shown = [one.action for one in split.look(path).branches]
        assert sorted(shown) == follow(game.start(), path).actions()
    split.run(200)
    assert everything(split) == everything(whole)


def test_two_studies_of_one_engine_do_not_meet(connect4: Game) -> None:
    engine, start = puct(connect4), connect4.start()
    alone = puct(connect4).study(start)
    alone.run(600)
    first, other = engine.study(start), engine.study(start.play("4"))
    for _ in range(6):
        first.run(100)  # the tree outgrows its first arrays on the way
        other.run(50)
        engine.first_sight(start.play("1"))
    assert everything(first) == everything(alone)
    assert other.spent == 300


def test_a_network_goes_on_too(connect4: Game, models: list[str]) -> None:
    whole, split = (open_engine(models[0], connect4, 0).study(connect4.start()) for _ in range(2))
    whole.run(100)
    split.run(50)
    split.run(50)
    assert everything(split) == everything(whole)


def test_uct_goes_on_where_it_stopped(connect4: Game) -> None:
    engine = open_engine("uct", connect4, 5)
    whole, split = (engine.study(connect4.start()) for _ in range(2))
    whole.run(800)
    split.run(300)
    split.run(500)
    assert everything(split) == everything(whole)
    again = open_engine("uct", connect4, 6).study(connect4.start())
    again.run(800)
    assert everything(again) != everything(whole)


def test_the_root_is_what_the_search_itself_reports(connect4: Game) -> None:
    study = puct(connect4).study(connect4.start())
    study.run(100)
    search = Search(connect4, MixedEvaluator(connect4), CONFIG)
    search.set_roots(connect4.new_state()[None])
    search.run()
    analysis, view = search.analysis(), study.look([])
    assert view.value == pytest.approx(analysis.value)
    assert [one.action for one in view.line] == analysis.line
    known = {move.action: move for move in analysis.moves}
    for one in view.branches:
        move = known[one.action]
        value = move.value if move.visits else None  # the search's guess is no finding
        assert (one.visits, one.prior, one.q) == (move.visits, move.prior, value)


def test_every_figure_of_a_move(connect4: Game) -> None:
    study = puct(connect4).study(connect4.start())
    study.run(200)
    for path in ([], [3], [3, 3]):
        view = study.look(path)
        assert view.visits == 1 + sum(one.visits for one in view.branches)
        assert view.best == view.branches[0]
        others = [one.visits for one in view.branches[1:]]
        assert others == sorted(others, reverse=True)
        assert sum(one.prior or 0 for one in view.branches) == pytest.approx(1)
        for one in view.branches:
            assert one.prior is not None
            expected = 1.5 * one.prior * math.sqrt(view.visits) / (1 + one.visits)
            assert one.u == pytest.approx(expected)
            below = study.look([*path, one.action])
            assert one.visits == below.visits
            if one.visits:
                assert below.own is not None
                assert one.value == -below.own
                assert below.value is not None
                # The mean above still knows what moves were worth that are proven to lose by now.
                if not any(two.proven == "loss" for two in below.branches):
                    assert one.q == pytest.approx(-below.value, abs=1e-4)


def test_what_nobody_knows_is_none(connect4: Game) -> None:
    fresh = puct(connect4).study(connect4.start())
    assert fresh.look([]).own is not None
    assert {one.q for one in fresh.look([]).branches} == {None}
    below = fresh.look([3])
    assert (below.visits, below.value, below.own, list(below.line)) == (0, None, None, [])
    assert len(below.branches) == 7
    uct = open_engine("uct", connect4, 0).study(connect4.start())
    uct.run(3)
    assert {one.prior for one in uct.look([]).branches} == {None}


def test_proofs_are_shown() -> None:
    game = load_game("tictactoe")
    position = game.position("xx./oo./... x")
    study = PuctEngine("mixed", game, MixedEvaluator(game), CONFIG).study(position)
    study.run(1000)
    view = study.look([])
    assert (view.proven, view.value) == ("win", 1.0)
    assert view.best is not None
    assert position.action_text(view.best.action) == "c1"
    assert view.branches[0] == view.best, "a proof goes before visits"
    assert (view.best.proven, view.best.q) == ("win", 1.0)
    assert study.spent < 1000
    over = study.look([view.best.action])
    assert (over.proven, list(over.branches)) == ("loss", [])


def test_an_answer_that_wins_at_once_is_shown(connect4: Game) -> None:
    """The search has only seen that it is there; it is the node's one move, and ends the line."""
    study = puct(connect4).study(connect4.position("41414"))
    study.run(60)
    view = study.look([0])
    assert (view.proven, view.value) == ("win", 1.0)
    assert [one.action for one in view.branches] == [3]
    assert view.best is not None
    assert (view.best.action, view.best.proven) == (3, "win")
    assert follow(connect4.position("41414"), [0, 3]).is_over
    assert [one.action for one in study.look([]).line] != []


def test_ctrl_c_ends_a_search_between_two_simulations(connect4: Game) -> None:
    class Interrupted(MaterialLane):
        left = 200

        def launch(self, count: int) -> None:
            super().launch(count)
            self.left -= 1
            if self.left == 0:
                signal.raise_signal(signal.SIGINT)

    class Evaluator(MixedEvaluator):
        def lane(self, batch: int) -> ArrayLane:
            return Interrupted(self._game, batch)

    before = signal.getsignal(signal.SIGINT)
    study = PuctEngine("mixed", connect4, Evaluator(connect4), CONFIG).study(connect4.start())
    study.run(5000)
    assert 100 < study.spent < 1000
    assert signal.getsignal(signal.SIGINT) is before
    whole = puct(connect4).study(connect4.start())
    whole.run(study.spent + 100)
    study.run(100)
    assert everything(study) == everything(whole)


def test_alphabeta_runs_deeper(connect4: Game) -> None:
    study = open_engine("alphabeta:depth=2", connect4, 0).study(connect4.start())
    shallow = study.look([])
    study.run(3)
    found = load_agent("alphabeta:depth=5", connect4).analyse(connect4.start())
    assert study.spent == 3
    assert study.look([]).value == found.value
    assert [one.action for one in study.look([]).line] == found.line
    assert study.look([]).visits > shallow.visits
    after = load_agent("alphabeta:depth=5", connect4).analyse(connect4.start().play("4"))
    assert study.look([3]).value == after.value


def test_a_search_that_cannot_deepen_stays_as_it_was(connect4: Game) -> None:
    study = open_engine("alphabeta:depth=2", connect4, 0).study(connect4.start())
    before = study.look([])
    with pytest.raises(UserError, match="depth goes from 1"):
        study.run(5000)
    assert (study.spent, study.look([])) == (0, before)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("random", "cannot analyse"),
        ("utc", "did you mean 'uct'"),
        ("uct:simulations=0", "at least 1"),
        ("uct:simulation=5", "did you mean 'simulations'"),
        ("az:nowhere", "nowhere"),
        ("az:x,simulations=0", "at least 1"),
    ],
)
def test_wrong_agents(connect4: Game, spec: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        open_engine(spec, connect4, 0)


def test_every_agent_that_analyses_can_be_studied(connect4: Game, models: list[str]) -> None:
    specs = [*models, models[0].replace("az:", "policy:").replace("simulations=40,", "")]
    for spec in [*specs, "uct:simulations=20", "alphabeta:depth=2", "minimax:depth=2"]:
        engine = open_engine(spec, connect4, 0)
        study = engine.study(connect4.start())
        study.run(engine.usual)
        view = study.look([])
        assert len(view.branches) == 7
        assert view.best in view.branches, spec
        assert replace(view) == study.look([])


def test_a_network_is_studied_as_its_turns_say(connect4: Game, models: list[str]) -> None:
    """What the explorer shows of ``turns=all`` is the mean over mirror images, as in matches; that
    is what a network does by itself in a game of two symmetries."""

    def priors(spec: str) -> list[float]:
        view = open_engine(spec, connect4, 0).first_sight(connect4.start())
        return [one.prior or 0.0 for one in sorted(view.branches, key=lambda one: one.action)]

    plain, turned = (priors(f"{models[0]},turns={turns}") for turns in ("none", "all"))
    assert turned == pytest.approx(turned[::-1], abs=1e-6)
    assert plain != pytest.approx(plain[::-1], abs=1e-3)
    assert priors(models[0]) == turned


def test_all_answers_that_win_at_once_are_shown_as_wins(connect4: Game) -> None:
    """After 4 4 5 5 3 the mover wins on both sides, so whatever is tried elsewhere has two."""
    position = connect4.start()
    for move in ["4", "4", "5", "5", "3"]:
        position = position.play(move)
    study = PuctEngine("mixed", connect4, MixedEvaluator(connect4), CONFIG).study(position)
    study.run(20)
    answers = study.look([0]).branches
    assert [str(one.action + 1) for one in answers if one.proven == "win"] == ["2", "6"]
    assert all(one.q == 1.0 and one.prior is None for one in answers if one.proven == "win")
