"""Options of self-play seen from outside: what they do to games and rows."""

from collections import Counter
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from randori.games.dice import seed_dice
from randori.games.game import Game
from randori.games.kernels import specialise
from randori.games.registry import load_game
from randori.learners.group import Group
from randori.learners.harvest import NONE_MADE, amends_for
from randori.learners.settings import SelfPlayConfig
from randori.learners.slots import begin, play_on
from randori.learners.yields import Batch, Rows
from randori.search.choice import best_edge, worth_of
from randori.search.search import Search, SearchConfig
from randori.search.tree import DRAWN, LOST, WON, tree_of, tried_edges

Build = Callable[[Game], Any]
GAME = load_game("tictactoe")
EVERY_OPTION = [
    {},
    {"keep_tree": False},
    {"forced": 2.0},
    {"gumbel": 4},
    {
        "surprise": 0.5,
        "archive": 0.5,
        "random_share": 0.5,
        "random_plies": 5,
        "balance": 0.5,
        "deblunder": 0.1,
    },
    {"gumbel": 16, "surprise": 1.0, "archive": 1.0, "keep_tree": False},
]


plain_amends = specialise(amends_for, GAME._bindings, compiled=False)


def make_group(hashed: Build, simulations: int = 16, **options: Any) -> Group:
    names = {"solve", "cache_mb"} & set(options)
    search = SearchConfig(simulations, **{"cache_mb": 0.0} | {n: options.pop(n) for n in names})
    options = {"slots": 3, "full_share": 0.6, "fast_simulations": 5, **options}
    config = SelfPlayConfig(search=search, **options)
    return Group(GAME, hashed(GAME), config, seed_dice(7, config.slots))


def play_games(group: Group, count: int) -> list[Batch]:
    batches: list[Batch] = []
    while sum(len(batch.games) for batch in batches) < count:
        group.step()
        if group.is_ready:
            batches.append(group.take())
    return batches


def line_of(moves: list[int]) -> list[Any]:
    """The states of a whole game; fail where a move is illegal."""
    line = [GAME.new_state()]
    for action in moves:
        assert action in GAME.legal_actions(line[-1])
        line.append(line[-1].copy())
        GAME.plain.play(line[-1], action)
    assert GAME.legal_actions(line[-1]) == []
    return line


@pytest.mark.parametrize("options", EVERY_OPTION, ids=str)
def test_compiled_as_plain(options: dict[str, Any], hashed: Build) -> None:
    """Bit by bit, with priors and noise."""
    fast, slow = (make_group(hashed, 12, cache_mb=0.01, **options) for _ in range(2))
    slow._step = specialise(play_on, GAME._bindings, compiled=False)
    with np.errstate(over="ignore"):
        for _ in range(60):
            for group in (fast, slow):
                group.step()
            ours, theirs = fast.take(), slow.take()
            assert ours.games == theirs.games
            assert ours.evaluations == theirs.evaluations
            for part in fields(Rows):
                mine, other = (getattr(batch.rows, part.name) for batch in (ours, theirs))
                assert np.array_equal(mine, other), part.name
    assert fast.evaluations > 100


@pytest.mark.parametrize("options", EVERY_OPTION, ids=str)
def test_games_are_whole_and_rows_are_theirs(options: dict[str, Any], hashed: Build) -> None:
    alone = [b for b in play_games(make_group(hashed, **options, slots=1), 20) if len(b.games) == 1]
    assert len(alone) > 5, "games that win at once may end two in a step"
    for batch in alone:
        (record,) = batch.games
        line = line_of(record.moves)
        plies = [int(state[0]) for state in batch.rows.states]
        assert plies == sorted(plies)
        if "surprise" not in options:
            assert len(set(plies)) == len(plies)
        for ply, state, reply in zip(plies, batch.rows.states, batch.rows.replies, strict=True):
            assert np.array_equal(state, line[ply])
            assert reply == (record.moves[ply + 1] if ply + 1 < len(record.moves) else 65535)


def test_without_its_tree_a_search_has_all_its_visits(hashed: Build) -> None:
    group = make_group(hashed, full_share=1.0, keep_tree=False, solve=False)
    for batch in play_games(group, 20):
        assert (batch.rows.counts.sum(axis=1) == 16).all()


def test_a_gumbel_target_is_a_policy(hashed: Build) -> None:
    group = make_group(hashed, full_share=1.0, gumbel=4, solve=False)
    sums = np.concatenate([b.rows.counts.sum(axis=1) for b in play_games(group, 20)]).astype(int)
    assert np.abs(sums - 10_000).max() <= 9


def test_forced_visits_are_not_learnt(hashed: Build) -> None:
    """Some targets have fewer visits than the search; none has more, and none is empty."""
    group = make_group(hashed, full_share=1.0, forced=4.0, solve=False, keep_tree=False)
    sums = np.concatenate([b.rows.counts.sum(axis=1) for b in play_games(group, 30)])
    assert sums.max() <= 16
    assert sums.min() >= 1
    assert (sums < 16).mean() > 0.2


def test_slips_are_amended(hashed: Build) -> None:
    """Those that give away more than is allowed, and none where nothing is asked for."""
    amended = []
    for allowed in (0.0, 0.05, 0.5, 2.0):
        group = make_group(hashed, full_share=1.0, deblunder=allowed)
        rows = [batch.rows.amends for batch in play_games(group, 60)]
        amended.append(float((np.concatenate(rows) != NONE_MADE).mean()))
    assert amended[0] == amended[3] == 0.0
    assert 0.0 < amended[2] < amended[1] < 1.0


def test_amends_by_hand(hashed: Build) -> None:
    """The best move's worth where another was made; nothing for itself, or where all is proven."""
    search = Search(GAME, hashed(GAME), SearchConfig(80, solve=False), slots=1)
    search.set_roots(GAME.new_state()[None])
    search.run()
    tree = tree_of(search.trees, 0)
    best = best_edge(tree, 0)
    worth = float(tree.edges[best].q)
    for edge in tried_edges(tree, 0):
        lost = worth - float(tree.edges[edge].q)
        found = plain_amends(tree, edge, 0.1)
        assert found == (worth if lost > 0.1 else NONE_MADE)
        assert plain_amends(tree, edge, 0.0) == NONE_MADE
    assert any(worth - tree.edges[edge].q > 0.1 for edge in tried_edges(tree, 0))
    tree.nodes[0].proven = LOST
    assert all(plain_amends(tree, edge, 0.1) == NONE_MADE for edge in tried_edges(tree, 0))


def test_what_is_proven_is_worth_that(hashed: Build) -> None:
    """And not the mean of what was thought of it before."""
    search = Search(GAME, hashed(GAME), SearchConfig(80, solve=False), slots=1)
    search.set_roots(GAME.new_state()[None])
    search.run()
    tree = tree_of(search.trees, 0)
    one, other = tried_edges(tree, 0)[:2]
    for proven, worth in ((WON, -1.0), (DRAWN, 0.0), (LOST, 1.0)):
        tree.nodes[tree.edges[one].child].proven = proven
        assert worth_of(tree, one) == worth
        tree.nodes[tree.edges[other].child].proven = LOST
        expected = 1.0 if worth < 1.0 else NONE_MADE
        assert plain_amends(tree, one, 0.1) == expected
    assert worth_of(tree, tried_edges(tree, 0)[2]) == tree.edges[tried_edges(tree, 0)[2]].q


def test_surprise_moves_rows_and_keeps_their_number(hashed: Build) -> None:
    """About as many as there were searches; some twice, some not at all."""
    group = make_group(hashed, full_share=1.0, surprise=0.5, solve=False, slots=1)
    batches = play_games(group, 150)
    searches = sum(
        len(GAME.legal_actions(state)) > 1
        for batch in batches
        for state in line_of(batch.games[0].moves)
    )
    rows = sum(len(batch.rows) for batch in batches)
    distinct = sum(len(np.unique(batch.rows.states[:, 0])) for batch in batches)
    assert distinct < rows
    assert distinct < 0.95 * searches
    assert rows == pytest.approx(searches, rel=0.1)


def test_games_branch_off_from_earlier_ones(hashed: Build) -> None:
    """Their rows begin where the beginning ends; the first game of all is a whole one."""
    group = make_group(hashed, full_share=1.0, archive=1.0, slots=1, solve=False)
    batches = play_games(group, 60)
    begun = [int(batch.rows.states[0, 0]) for batch in batches if len(batch.rows)]
    assert begun[0] == 0
    assert np.mean(np.array(begun[1:]) > 0) > 0.5
    for batch in batches:
        line = line_of(batch.games[0].moves)
        choices = [int(s[0]) for s in line if len(GAME.legal_actions(s)) > 1]
        plies = [int(state[0]) for state in batch.rows.states]
        assert plies == choices[len(choices) - len(plies) :]
        assert batch.games[0].begun <= (plies[0] if plies else len(line))
        assert plies == [ply for ply in choices if ply >= batch.games[0].begun]


def test_games_begin_at_random(hashed: Build) -> None:
    """Every number of random moves is as likely, as long as the game goes on."""
    group = make_group(hashed, full_share=1.0, random_share=1.0, random_plies=9, slots=1)
    games = [batch.games[0] for batch in play_games(group, 300)]
    begun = Counter(game.begun for game in games)
    assert set(begun) == set(range(9)), "the ninth move would end it"
    assert min(begun[plies] for plies in range(4)) > 15
    assert len({tuple(game.moves[: game.begun]) for game in games if game.begun == 4}) > 20
    assert all(game.begun < len(game.moves) for game in games)


def test_some_games_begin_at_random_and_some_branch_off(hashed: Build) -> None:
    group = make_group(hashed, archive=0.3, random_share=0.3, random_plies=1, slots=1)
    begun = [batch.games[0].begun for batch in play_games(group, 300)]
    assert 0.04 < np.mean([plies > 1 for plies in begun]) < 0.3
    assert 0.15 < np.mean([plies == 1 for plies in begun]) < 0.45


def test_balance_leaves_the_shares_as_they_are(hashed: Build) -> None:
    """Another game of the same origin is begun instead."""
    begun = []
    for balance in (0.0, 0.95):
        group = make_group(hashed, archive=0.3, random_share=0.4, balance=balance, solve=False)
        batches = play_games(group, 1500)
        begun.append([game.begun == 0 for batch in batches for game in batch.games])
    assert np.mean(begun[0]) == pytest.approx(np.mean(begun[1]), abs=0.05)
    assert np.mean(begun[0]) < 0.5


def test_a_game_that_is_played_is_not_questioned_again(hashed: Build) -> None:
    """Neither by a restart nor by a new tree."""
    options = {"random_share": 1.0, "balance": 0.95, "slots": 64, "solve": False}
    group = make_group(hashed, **options)
    for _ in range(9):
        group.step()
    slots = group._slots
    played = (slots.begun > 0) & (slots.plies == slots.begun) & (slots.budget > 0)
    played &= slots.plies <= 6  # there is more than one move, so the search takes its time
    assert played.sum() > 3
    group.take()
    arrays, _ = group.save()
    again = make_group(hashed, **options)
    again.restore(arrays)
    again.step()
    assert np.array_equal(again._trees.states[played, 0], arrays["roots"][played])
    again.step()
    assert np.array_equal(again._trees.states[played, 0], arrays["roots"][played])


def test_games_that_are_decided_are_begun_more_rarely(hashed: Build) -> None:
    """By the evaluator's opinion of where they begin; those from the first position all are."""

    def values_of(**options: Any) -> list[float]:
        group = make_group(
            hashed, random_share=1.0, random_plies=4, slots=1, solve=False, **options
        )
        games = [batch.games[0] for batch in play_games(group, 400)]
        states = np.array([line_of(game.moves)[game.begun] for game in games if game.begun])
        assert 0.1 < np.mean([game.begun == 0 for game in games]) < 0.6
        search = Search(GAME, hashed(GAME), SearchConfig(solve=False), slots=len(states))
        search.set_roots(states)
        search.run(0)
        return [search.analysis(i).value ** 2 for i in range(len(states))]

    usual, balanced = values_of(), values_of(balance=0.95)
    kept = np.array([1 - 0.95 * v for v in usual])
    assert np.mean(balanced) == pytest.approx(np.average(usual, weights=kept), abs=0.05)
    assert np.mean(usual) > 1.2 * np.mean(balanced)


@pytest.mark.parametrize("options", EVERY_OPTION[-2:], ids=str)
def test_one_seed_one_series_of_games(options: dict[str, Any], hashed: Build) -> None:
    one, two = (play_games(make_group(hashed, **options), 10) for _ in range(2))
    assert [batch.games for batch in one] == [batch.games for batch in two]
    assert all(np.array_equal(a.rows.counts, b.rows.counts) for a, b in zip(one, two, strict=True))


def test_a_beginning_is_planted_in_every_slot(hashed: Build) -> None:
    """`begin` with an empty archive starts all games from the first position."""
    group = make_group(hashed, archive=1.0)
    GAME.kernel(begin)(group._trees, group._slots, group._archive, group._habits)
    assert (group._trees.states[:, 0] == GAME.new_state()).all()
