"""Self-play: every row is a position of a real game, and no slot ever waits for ever."""

import time
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pytest

from randori.errors import BrokenLaw, UserError
from randori.games.dice import seed_dice
from randori.games.game import Game
from randori.games.kernels import specialise
from randori.games.registry import load_game
from randori.learners import group as groups
from randori.learners.group import Group
from randori.learners.harvest import GAMES, NONE_MADE, ROWS
from randori.learners.selfplay import SelfPlay
from randori.learners.settings import SelfPlayConfig
from randori.learners.slots import play_on
from randori.learners.yields import Batch, FinishedGame, Rows
from randori.search.search import SearchConfig
from randori.search.tree import make_trees
from randori.search.uniform import UniformEvaluator

Build = Callable[[Game], Any]
PARTS = [part.name for part in fields(Rows)]
SPECS = ["tictactoe", "connect4", "othello:size=6"]


@cache
def game_of(spec: str) -> Game:
    return load_game(spec)


def config_of(slots: int = 4, simulations: int = 16, **options: Any) -> SelfPlayConfig:
    names = {"solve", "cache_mb", "exploration"}
    search = {name: options.pop(name) for name in names & set(options)}
    options = {"fast_simulations": 5, "full_share": 1.0, **options}
    return SelfPlayConfig(
        slots=slots, search=SearchConfig(simulations, **{"cache_mb": 0.0, **search}), **options
    )


def make_group(game: Game, evaluator: Any, config: SelfPlayConfig, seed: int = 0) -> Group:
    return Group(game, evaluator, config, seed_dice(seed, config.slots))


def batches_of(group: Group) -> Iterator[Batch]:
    """Whatever the group finishes, as soon as it does."""
    while True:
        group.step()
        if group.is_ready:
            yield group.take()


def play_games(group: Group, count: int) -> tuple[list[FinishedGame], Rows]:
    games: list[FinishedGame] = []
    parts: list[Rows] = []
    for batch in batches_of(group):
        games += batch.games
        parts.append(batch.rows)
        if len(games) >= count:
            break
    return games, join(parts)


def join(parts: list[Rows]) -> Rows:
    return Rows(*(np.concatenate([getattr(part, name) for part in parts]) for name in PARTS))


def replay(game: Game, record: FinishedGame) -> list[Any]:
    """Return the states of a game, the last one over; fail where a move is illegal."""
    line = [game.new_state()]
    for action in record.moves:
        assert action in game.legal_actions(line[-1])
        line.append(line[-1].copy())
        game.plain.play(line[-1], action)
    assert game.legal_actions(line[-1]) == []
    assert int(game.plain.outcome(line[-1])) == record.outcome
    return line


def score_for(state: Any, outcome: int) -> int:
    return (0, 1, -1, 0)[outcome] * (-1 if int(state[0]) % 2 else 1)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("solve", [True, False])
def test_with_full_searches_alone_every_choice_is_a_row(
    spec: str, solve: bool, hashed: Build
) -> None:
    game = game_of(spec)
    group = make_group(game, hashed(game), config_of(5, solve=solve, cache_mb=1.0))
    games, rows = play_games(group, 12)
    expected, results = [], []
    for record in games:
        choices = [s for s in replay(game, record) if len(game.legal_actions(s)) > 1]
        expected += choices
        results += [score_for(state, record.outcome) for state in choices]
    assert np.array_equal(rows.states, expected)
    assert rows.results.tolist() == results
    for state, counts, value in zip(rows.states, rows.counts, rows.values, strict=True):
        legal = len(game.legal_actions(state))
        assert counts[legal:].sum() == 0
        assert -1 <= value <= 1
        if not solve:
            assert counts.sum() == 16
        elif value == 1 and counts.sum() == 1:
            assert counts.max() == 1, "a proven win is the only target"
        else:
            assert 1 <= counts.sum() <= 16
    full = rows.counts.sum(axis=1) == 16
    assert full.mean() > 0.3


@pytest.mark.parametrize("spec", SPECS)
def test_rows_belong_to_their_game(spec: str, hashed: Build) -> None:
    """One slot, so that a batch is one game; a part of its positions, in order."""
    game = game_of(spec)
    group = make_group(game, hashed(game), config_of(1, full_share=0.4))
    rows_seen = 0
    for batch in islice(batches_of(group), 15):
        (record,) = batch.games
        line = replay(game, record)
        plies = [int(state[0]) for state in batch.rows.states]
        assert plies == sorted(set(plies))
        assert np.array_equal(batch.rows.states, np.array(line)[plies].reshape(-1, game.num_words))
        scores = [score_for(state, record.outcome) for state in batch.rows.states]
        assert batch.rows.results.tolist() == scores
        assert all(a == (-1) ** (p - q) * b for p, q, a, b in pairs(plies, scores))
        rows_seen += len(plies)
    assert rows_seen > 10


def pairs(plies: list[int], scores: list[int]) -> Iterator[tuple[int, int, int, int]]:
    return zip(plies, plies[1:], scores, scores[1:], strict=False)


def test_what_is_proven_is_what_is_learnt(hashed: Build) -> None:
    """With ample searches of Tic-tac-toe, rows with a value of ±1 are truly won and lost."""
    game = game_of("tictactoe")
    group = make_group(game, hashed(game), config_of(8, 200, cache_mb=1.0))
    _, rows = play_games(group, 60)
    known: dict[bytes, int] = {}

    def solve(state: Any) -> int:
        if state.tobytes() not in known:
            outcome = int(game.plain.outcome(state))
            values = [-solve(below) for below in after(game, state)]
            known[state.tobytes()] = max(values) if values else score_for(state, outcome)
        return known[state.tobytes()]

    won = [i for i, counts in enumerate(rows.counts) if counts.sum() == 1]
    for i in won:
        best = after(game, rows.states[i])[int(rows.counts[i].argmax())]
        assert solve(best) == -1
        assert rows.values[i] == 1.0
    lost = np.flatnonzero(rows.values == -1.0)
    assert all(solve(rows.states[i]) == -1 for i in lost)
    assert len(won) > 10
    assert len(lost) > 2
    drawn = [i for i in range(len(rows)) if int(rows.states[i][0]) == 7]
    for i in drawn:  # two empty cells: always proven, and a draw is worth exactly nothing
        assert rows.values[i] == solve(rows.states[i])


def after(game: Game, state: Any) -> list[Any]:
    below = []
    for action in game.legal_actions(state):
        below.append(state.copy())
        game.plain.play(below[-1], action)
    return below


def test_full_searches_are_as_frequent_as_asked_for(hashed: Build) -> None:
    game = game_of("connect4")
    group = make_group(game, UniformEvaluator(game), config_of(16, 4, full_share=0.3, solve=False))
    games, rows = play_games(group, 150)
    choices = sum(
        len(game.legal_actions(state)) > 1 for record in games for state in replay(game, record)
    )
    assert choices > 2000
    assert len(rows) / choices == pytest.approx(0.3, abs=4 * (0.3 * 0.7 / choices) ** 0.5)
    assert (rows.counts.sum(axis=1) == 4).all()


def test_a_search_has_its_own_budget(hashed: Build) -> None:
    """Fast ones stop early, and none goes on past its budget."""
    game = game_of("connect4")
    config = config_of(8, 20, full_share=0.5, solve=False, fast_simulations=6)
    group = make_group(game, hashed(game), config)
    seen = set()
    for _ in range(600):
        group.step()
        group.take()
        slots, roots = group._slots, group._trees.nodes[:, 0]
        opened = slots.budget > 0
        assert (slots.budget[opened] == np.where(slots.is_full[opened], 20, 6)).all()
        assert (roots.visits <= np.maximum(slots.budget, 0) + 1)[opened].all()
        seen |= set(slots.budget.tolist())
    assert seen == {0, 6, 20} or seen == {6, 20}


def test_fast_searches_are_no_larger_than_full_ones() -> None:
    game = game_of("connect4")
    config = config_of(2, 3, full_share=0.5, fast_simulations=100)
    assert make_group(game, UniformEvaluator(game), config)._habits.fast_simulations == 3


def test_one_seed_one_series_of_games(hashed: Build) -> None:
    game = game_of("connect4")
    config = config_of(4, full_share=0.5)
    first, again, other = (
        play_games(make_group(game, hashed(game), config, seed), 10) for seed in (1, 1, 2)
    )
    assert first[0] == again[0] != other[0]
    for name in PARTS:
        assert np.array_equal(getattr(first[1], name), getattr(again[1], name))
    assert len({tuple(record.moves) for record in first[0]}) > 5, "noise and temperature do work"


def test_without_noise_and_temperature_slots_play_alike(hashed: Build) -> None:
    game = game_of("connect4")
    config = config_of(4, noise_share=0.0, temperature=((0, 0.0),))
    games, _ = play_games(make_group(game, hashed(game), config), 12)
    assert len({tuple(record.moves) for record in games}) == 1


@pytest.mark.parametrize("spec", ["tictactoe", "othello:size=6"])
def test_growing_trees_do_not_change_the_games(
    spec: str, hashed: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = game_of(spec)
    config = config_of(1, 40, full_share=0.5)
    roomy = play_games(make_group(game, hashed(game), config), 5)

    def cramped(slots: int, nodes: int, edges: int, game: Game, kept: Any) -> Any:
        return make_trees(slots, 2, game.most_legal, game, kept)

    monkeypatch.setattr(groups, "make_trees", cramped)
    group = make_group(game, hashed(game), config)
    tight = play_games(group, 5)
    assert group._trees.nodes.shape[1] > 2
    assert roomy[0] == tight[0]
    assert np.array_equal(roomy[1].states, tight[1].states)
    assert np.array_equal(roomy[1].counts, tight[1].counts)


@pytest.mark.parametrize("full_share", [1e-9, 1.0])
def test_a_full_harvest_waits_and_goes_on(full_share: float, hashed: Build) -> None:
    """Nobody takes the games away for a while, and games may end without any row."""
    game = game_of("tictactoe")
    config = config_of(3, 4, full_share=full_share, fast_simulations=2, cache_mb=1.0)
    group = make_group(game, hashed(game), config)
    total = 0
    for _ in range(5):
        for _ in range(300):
            group.step()
        harvest = group._harvest
        assert harvest.used[GAMES] <= len(harvest.plies)
        assert harvest.used[ROWS] <= len(harvest.results)
        assert harvest.used[GAMES] == len(harvest.plies) or harvest.used[ROWS] > 9
        batch = group.take()
        for record in batch.games:
            replay(game, record)
        total += len(batch.games)
        assert len(batch.rows) == 0 or full_share == 1.0
    assert total > 10


def test_games_without_rows_do_not_stop_the_rest(hashed: Build) -> None:
    """Regression: `collect` hung when the harvest was full of games that had no rows."""
    game = game_of("tictactoe")
    config = config_of(2, 4, full_share=0.01, fast_simulations=2)
    play = SelfPlay(game, hashed(game), config, seed=0)
    batches = list(play.collect(3))
    rows = sum(len(batch.rows) for batch in batches)
    games = sum(len(batch.games) for batch in batches)
    assert rows >= 3
    assert games > 20


def test_a_game_that_is_wholly_remembered_goes_on(hashed: Build) -> None:
    """After a while no position is new, so that no step has a question."""
    game = game_of("tictactoe")
    evaluator = hashed(game)
    group = make_group(game, evaluator, config_of(8, 8, cache_mb=16.0))
    play_games(group, 1500)
    evaluator.batches.clear()
    games, rows = play_games(group, 500)
    assert len(rows) > 2000
    assert sum(evaluator.batches) < 500
    for record in games[:50]:
        replay(game, record)


def test_new_weights_empty_the_cache_at_the_next_step(hashed: Build) -> None:
    game = game_of("tictactoe")
    evaluator = hashed(game)
    group = make_group(game, evaluator, config_of(4, 8, cache_mb=16.0))
    play_games(group, 800)
    evaluator.batches.clear()
    play_games(group, 5)
    known = sum(evaluator.batches)
    group.forget_evaluations()
    evaluator.batches.clear()
    play_games(group, 5)
    assert sum(evaluator.batches) > known + 50


def test_answers_in_flight_when_the_weights_change_are_not_remembered(hashed: Build) -> None:
    game = game_of("connect4")
    evaluator = hashed(game)
    group = make_group(game, evaluator, config_of(8, cache_mb=1.0), 1)
    for _ in range(20):
        group.step()
    old = set(group._cache.keys.tolist())
    in_flight = set(group._asked.keys.ravel().tolist())
    group.forget_evaluations()
    group.step()
    asked_since = set(group._asked.keys.ravel().tolist())
    group.step()
    assert len(old) > 1
    assert in_flight - asked_since, "some of them nobody has asked about again"
    assert (old | in_flight) & set(group._cache.keys.tolist()) <= asked_since | {0}


@pytest.mark.parametrize("spec", SPECS)
def test_a_saved_group_plays_on(spec: str, hashed: Build) -> None:
    """As the one does that saved it, once its searches start anew."""
    game = game_of(spec)
    config = config_of(4, full_share=0.5, cache_mb=0.01, deblunder=0.1)
    original = make_group(game, hashed(game), config, 1)
    play_games(original, 3)
    for _ in range(37):
        original.step()
    original.take()
    saved, _ = original.save()
    begun = [moves.tolist() for moves in np.split(saved["moves"], np.cumsum(saved["plies"])[:-1])]
    assert any(begun)
    restored = make_group(game, hashed(game), config, 99)
    restored.step()
    restored.restore(saved)
    original.forget_trees()
    theirs, ours = (play_games(group, 12) for group in (original, restored))
    assert theirs[0] == ours[0]
    for name in PARTS:
        assert np.array_equal(getattr(theirs[1], name), getattr(ours[1], name)), name
    moves = [record.moves for record in ours[0]]
    for prefix in begun:
        assert any(line[: len(prefix)] == prefix for line in moves), "no game was lost"
    for record in ours[0]:
        replay(game, record)


def test_a_saved_group_whose_trees_grew_plays_on(
    hashed: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slot without room sits out a step, so both must have as much of it."""
    monkeypatch.setattr(groups, "SPARE", 1)
    game = game_of("go:size=6")
    config = config_of(6, 5, full_share=0.5, cache_mb=0.01)
    original = make_group(game, hashed(game), config, 1)
    room = original._trees.edges.shape
    play_games(original, 2)
    assert original._trees.edges.shape > room
    original.take()
    saved, _ = original.save()
    restored = make_group(game, hashed(game), config, 99)
    restored.restore(saved)
    original.forget_trees()
    theirs, ours = (play_games(group, 40) for group in (original, restored))
    assert theirs[0] == ours[0], "the same games in the same order"
    assert np.array_equal(theirs[1].states, ours[1].states)


def test_a_group_of_another_size_is_refused(hashed: Build) -> None:
    game = game_of("connect4")
    saved, _ = make_group(game, hashed(game), config_of(4)).save()
    other = make_group(game, hashed(game), config_of(5))
    assert not other.fits(saved)
    with pytest.raises(UserError, match="the games in progress do not fit"):
        other.restore(saved)


def test_a_game_longer_than_it_says_is_refused(hashed: Build) -> None:
    """Its moves would be written past the end of the arrays."""
    game = replace(game_of("tictactoe"), longest=6)
    group = make_group(game, hashed(game), config_of(2))
    with pytest.raises(BrokenLaw, match="tictactoe: law 'longest' broken"):
        play_games(group, 50)


def test_play_on_compiled_as_plain(hashed: Build) -> None:
    """Uniform priors and no noise: what else there is agrees bit by bit."""
    game = game_of("tictactoe")
    config = config_of(3, 12, full_share=0.6, noise_share=0.0, cache_mb=0.01)
    evaluators = [hashed(game), hashed(game)]
    for evaluator in evaluators:
        judge = evaluator.judge
        evaluator.judge = lambda words, judge=judge: (0 * judge(words)[0], judge(words)[1])
    fast, slow = (make_group(game, evaluator, config) for evaluator in evaluators)
    slow._step = specialise(play_on, game._bindings, compiled=False)
    with np.errstate(over="ignore"):
        for _ in range(120):
            for group in (fast, slow):
                group.step()
            ours, theirs = fast.take(), slow.take()
            assert ours.games == theirs.games
            assert ours.evaluations == theirs.evaluations
            for name in PARTS:
                assert np.array_equal(getattr(ours.rows, name), getattr(theirs.rows, name))
            for name, part in fast._slots._asdict().items():
                assert np.array_equal(part, getattr(slow._slots, name))
    assert fast.evaluations > 300


SEEN: list[int] = []


def stay(tree: Any, budget: int, knobs: Any) -> None:
    """Leave every descent to its turn."""


def watched(tree: Any, node: int) -> None:
    """Note how deep a descent has got that set out early; nothing is asked of memory here."""
    parent = int(tree.nodes[node].parent)
    SEEN.append(1 if parent == 0 else 2)


def twins_of(game: Game, evaluator: Any, config: SelfPlayConfig) -> tuple[Group, Group]:
    """Two groups on plain kernels: descents of the first set out early, of the second do not."""
    early, late = (make_group(game, evaluator, config) for _ in range(2))
    for group, holes in ((early, {"look_around": watched}), (late, {"set_out": stay})):
        bindings = game._bindings.filled({"MANY": 1, **holes})
        group._step = specialise(play_on, bindings, compiled=False)
    return early, late


def expect_the_same_trees(early: Group, late: Group, steps: int) -> int:
    """Compare them after every step; return for how many nodes they ever had room."""
    SEEN.clear()
    room = 0
    with np.errstate(over="ignore"):
        for step in range(steps):
            early.step()
            late.step()
            for name in ("nodes", "moves", "edges", "used", "states", "paths"):
                ours, theirs = getattr(early._trees, name), getattr(late._trees, name)
                assert np.array_equal(ours, theirs), name
            assert early.take().games == late.take().games
            room = max(room, early._trees.nodes.shape[1])
            if step % 29 == 28:  # as when a run is saved
                early.forget_trees()
                late.forget_trees()
    return room


@pytest.mark.parametrize(
    "changes",
    [{}, {"forced": 2.0}, {"gumbel": 4}, {"keep_tree": False}, {"solve": False}],
    ids=str,
)
@pytest.mark.parametrize("spec", ["connect4", "tictactoe"])
def test_descents_that_set_out_early_are_those_of_their_turn(
    spec: str, changes: dict[str, Any], hashed: Build
) -> None:
    game = game_of(spec)
    early, late = twins_of(game, hashed(game), config_of(slots=9, simulations=12, **changes))
    expect_the_same_trees(early, late, 80)
    assert min(SEEN.count(depth) for depth in (1, 2)) > 80, "they set out, and went on"


@pytest.mark.parametrize("slots", [1, 2, 8])
@pytest.mark.parametrize("solve", [True, False])
@pytest.mark.parametrize("lists", [3, 30])
def test_so_are_those_in_trees_without_room(
    lists: int, slots: int, solve: bool, hashed: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of lists, or of nodes."""

    def cramped(slots: int, nodes: int, edges: int, game: Game, kept: Any) -> Any:
        return make_trees(slots, 7, lists * game.most_legal, game, kept)

    monkeypatch.setattr(groups, "make_trees", cramped)
    game = game_of("tictactoe")
    config = config_of(slots=slots, simulations=40, solve=solve, keep_tree=solve)
    early, late = twins_of(game, hashed(game), config)
    assert expect_the_same_trees(early, late, 120) > 7
    assert max(SEEN) == 2


def test_few_slots_set_out_at_their_turn(hashed: Build) -> None:
    game = game_of("tictactoe")
    group = make_group(game, hashed(game), config_of(slots=9))
    bindings = game._bindings.filled({"look_around": watched})
    group._step = specialise(play_on, bindings, compiled=False)
    SEEN.clear()
    with np.errstate(over="ignore"):
        for _ in range(20):
            group.step()
    assert SEEN == []


def test_threads_play_the_same_games(hashed: Build) -> None:
    """Two groups a thread; what each plays depends on its dice alone."""
    game = game_of("tictactoe")
    config = replace(config_of(3, 8), threads=2)
    threaded = SelfPlay(game, hashed(game), config, seed=5)
    rows = 0
    games: list[FinishedGame] = []
    for batch in threaded.collect(200):
        rows += len(batch.rows)
        games += batch.games
    for batch in threaded.close():
        rows += len(batch.rows)
        games += batch.games
    assert rows >= 200
    assert not any(group.is_ready for group in threaded.groups), "nothing finished is left behind"
    for record in games:
        replay(game, record)
    dice = seed_dice(5, 4 * 3).reshape(4, 3, 1)
    alone = {
        tuple(record.moves)
        for part in dice
        for record in play_games(Group(game, hashed(game), config, part), 20)[0]
    }
    early = [tuple(record.moves) for record in games[:20]]
    assert set(early) <= alone


def test_games_are_handed_over_when_many_wait_or_long(
    hashed: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = Group(
        game_of("tictactoe"), hashed(game_of("tictactoe")), config_of(8, 8), seed_dice(0, 8)
    )
    monkeypatch.setattr("randori.learners.group.HAND_OVER_SECONDS", 3600.0)
    assert not group.is_ripe
    while not group.is_ready:
        group.step()
    assert not group.is_ripe, "one game is soon there, and may wait"
    monkeypatch.setattr("randori.learners.group.HAND_OVER_SECONDS", 0.0)
    assert group.is_ripe
    monkeypatch.setattr("randori.learners.group.HAND_OVER_SECONDS", 3600.0)
    for _ in range(1000):
        group.step()
        if group.is_ripe:
            break
    assert group.is_ripe, "now many wait"
    assert len(group.take().games) > 1
    assert not group.is_ripe


def test_a_save_takes_in_all_that_is_finished(hashed: Build) -> None:
    """From the queue and from the groups: no game is lost, and none comes twice."""
    game = game_of("tictactoe")
    config = replace(config_of(3, 8), threads=2)
    play = SelfPlay(game, hashed(game), config, seed=5)
    batches = list(play.collect(50))
    for _ in range(3):
        time.sleep(0.05)
        arrays, finished = play.save()
        batches += finished
        assert {name.split(".")[0] for name in arrays} == {"0", "1", "2", "3"}
    assert any(batch.games for batch in batches[-12:])
    batches += play.close()
    alone: list[FinishedGame] = []
    for played, dice in zip(play.groups, seed_dice(5, 4 * 3).reshape(4, 3, 1), strict=True):
        group = Group(game, hashed(game), config, dice)
        while group.evaluations < played.evaluations:
            group.step()
            alone += group.take().games
    found = [one for batch in batches for one in batch.games]
    assert sorted(one.moves for one in found) == sorted(one.moves for one in alone)


def test_threads_pause_while_nobody_collects(hashed: Build) -> None:
    game = game_of("tictactoe")
    play = SelfPlay(game, hashed(game), replace(config_of(3, 8), threads=2), seed=5)
    assert play.has_threads
    assert play.paused == 0.0
    for _ in range(50):
        list(play.collect(50))
        time.sleep(0.3)  # they fill the queue and wait; who waited says so when it goes on
        if play.paused > 0.2:
            break
    assert play.paused > 0.2
    play.close()
    assert not SelfPlay(game, hashed(game), config_of(3, 8), seed=5).has_threads


def test_an_error_in_a_thread_reaches_the_learner(hashed: Build) -> None:
    game = game_of("tictactoe")
    evaluator = hashed(game)
    broken = iter(range(40))

    def judge(words: Any) -> Any:
        if next(broken, None) is None:
            raise ValueError("the device is gone")
        return np.zeros(9, np.float32), np.float32(0)

    evaluator.judge = judge
    play = SelfPlay(game, evaluator, replace(config_of(2), threads=1), seed=0)
    with pytest.raises(ValueError, match="the device is gone"):
        list(play.collect(10_000))
    play.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"full_share": 0.0}, {"full_share": 1.5}, {"slots": 0}, {"threads": -2},
        {"fast_simulations": 0}, {"temperature": ()}, {"temperature": ((0, -1.0),)},
        {"noise_share": 1.5}, {"noise_share": -0.1}, {"noise_alpha": -1.0},
    ],
    ids=str,
)  # fmt: skip
def test_settings_that_cannot_work_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SelfPlayConfig(**wrong)


def test_a_group_of_an_older_version_plays_on(hashed: Build) -> None:
    """Without what its checkpoints did not have yet: no slips are known, all games are begun."""
    game = game_of("connect4")
    config = config_of(4, deblunder=0.1)
    original = make_group(game, hashed(game), config, 1)
    for _ in range(60):
        original.step()
    saved, _ = original.save()
    for name in ("amends", "begun", "origin"):
        del saved[name]
    restored = make_group(game, hashed(game), config, 99)
    restored.restore(saved)
    assert (restored._slots.amends == NONE_MADE).all()
    assert restored._slots.plies.max() > 0
    games, _ = play_games(restored, 8)
    assert len(games) >= 8
