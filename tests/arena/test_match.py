"""The match: fair colours, honest counting, the same games for the same seed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from randori.agents.agent import RESIGN, Agent
from randori.agents.registry import load_agent
from randori.arena.match import MatchResult, PlayedGame, elo, play_match, repeats, score_interval
from randori.errors import IllegalAction
from randori.games.game import Game
from randori.games.kernels import DRAW, FIRST, SECOND
from randori.games.registry import load_game

GAME = load_game("tictactoe")


class Scripted:
    """Plays what a function says for one state, and notes what it was asked."""

    def __init__(self, choose: Callable[[Any], int]) -> None:
        self._choose = choose
        self.batches: list[Any] = []

    def act(self, states: Any, rng: np.random.Generator) -> Any:
        self.batches.append(states.copy())
        return np.array([self._choose(state) for state in states], dtype=np.int32)


def first_legal(state: Any) -> int:
    return GAME.legal_actions(state)[0]


def last_legal(state: Any) -> int:
    return GAME.legal_actions(state)[-1]


def agent(name: str, choose: Callable[[Any], int], game: Game = GAME) -> Agent:
    return Agent(name, game, Scripted(choose))


def replay(game: Game, moves: list[int]) -> int:
    state = game.new_state()
    for action in moves:
        assert action in game.legal_actions(state)
        game.plain.play(state, action)
    return int(game.plain.outcome(state))


@pytest.mark.parametrize("games", [1, 2, 7, 20])
def test_colours_alternate_and_everything_adds_up(games: int) -> None:
    strong, weak = load_agent("uct:simulations=50", GAME), load_agent("random", GAME)
    result = play_match(GAME, strong, weak, games, seed=3)
    assert [game.a_is_first for game in result.games] == [i % 2 == 0 for i in range(games)]
    assert result.wins + result.draws + result.losses == games == len(result.games)
    assert result.score == pytest.approx((result.wins + result.draws / 2) / games)
    for game in result.games:
        assert replay(GAME, game.moves) == game.outcome
    summary = result.summary()
    for name in ("games", "wins", "draws", "losses", "score"):
        expected = games if name == "games" else getattr(result, name)
        assert summary[name] == expected
    assert (summary["a"], summary["b"]) == ("uct:simulations=50", "random")


def test_each_agent_sees_its_own_colour() -> None:
    ours, theirs = agent("first", first_legal), agent("last", last_legal)
    result = play_match(GAME, ours, theirs, 5)
    assert isinstance(ours.player, Scripted)
    first = np.concatenate(ours.player.batches)
    even = {tuple(g.moves) for g in result.games if g.a_is_first}
    odd = {tuple(g.moves) for g in result.games if not g.a_is_first}
    assert len(even) == len(odd) == 1
    assert len(first) == 3 * -(-len(next(iter(even))) // 2) + 2 * (len(next(iter(odd))) // 2)
    (game_first,), (game_second,) = even, odd
    assert game_first[:4] == (0, 8, 1, 7)
    assert game_second[:4] == (8, 0, 7, 1)


@pytest.mark.parametrize(
    ("a_is_first", "outcome", "score"),
    [(True, FIRST, 1), (True, SECOND, 0), (False, FIRST, 0), (False, SECOND, 1), (True, DRAW, 0.5),
     (False, DRAW, 0.5)],
)  # fmt: skip
def test_the_score_is_that_of_a(a_is_first: bool, outcome: int, score: float) -> None:
    assert PlayedGame(a_is_first, [], outcome).score == score


def test_opposite_matches_have_opposite_scores() -> None:
    """Deterministic agents, all games from random openings that pairs share."""
    ours, theirs = agent("first", first_legal), agent("last", last_legal)
    there = play_match(GAME, ours, theirs, 40, seed=1, opening_plies=3)
    back = play_match(GAME, theirs, ours, 40, seed=1, opening_plies=3)
    assert (there.wins, there.draws, there.losses) == (back.losses, back.draws, back.wins)
    assert there.score == pytest.approx(1 - back.score)


@pytest.mark.parametrize(("games", "plies"), [(9, 2), (10, 4), (6, 40)])
def test_pairs_share_their_opening(games: int, plies: int) -> None:
    rand = load_agent("random", GAME)
    result = play_match(GAME, rand, rand, games, seed=2, opening_plies=plies)
    openings = []
    for i in range(0, games - 1, 2):
        ours, theirs = (result.games[k].moves for k in (i, i + 1))
        shared = 0
        while shared < min(len(ours), len(theirs)) and ours[shared] == theirs[shared]:
            shared += 1
        assert shared >= min(plies, 4), "an opening stops short of the end, at the earliest at 4"
        openings.append(tuple(ours[: min(plies, 4)]))
    assert len(set(openings)) > 1
    assert all(replay(GAME, game.moves) == game.outcome for game in result.games)


def test_an_opening_never_decides_the_game() -> None:
    ours, theirs = agent("first", first_legal), agent("last", last_legal)
    play_match(GAME, ours, theirs, 30, seed=5, opening_plies=100)
    for player in (ours.player, theirs.player):
        assert isinstance(player, Scripted)
        for batch in player.batches:
            assert all(GAME.legal_actions(state) for state in batch)


@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "othello:size=6"])
def test_one_seed_one_match(spec: str) -> None:
    game = load_game(spec)
    first, again, other = (
        play_match(
            game, load_agent("uct:simulations=20", game), load_agent("random", game), 6, seed=seed
        )
        for seed in (1, 1, 2)
    )
    assert first.games == again.games != other.games


def test_repeated_games_are_counted_once() -> None:
    ours, theirs = agent("first", first_legal), agent("last", last_legal)
    assert play_match(GAME, ours, theirs, 10).distinct == 2
    assert play_match(GAME, ours, theirs, 1).distinct == 1
    rand = load_agent("random", GAME)
    assert play_match(GAME, rand, rand, 30, seed=1).distinct > 25
    assert play_match(GAME, ours, theirs, 10).summary()["distinct_games"] == 2


@pytest.mark.parametrize("wrong", [-2, 0, 9, 1000])
def test_an_illegal_move_ends_the_match(wrong: int) -> None:
    """It names the agent and the action; cell 0 is taken by then."""
    cheat = agent("cheat", lambda state: wrong)
    honest = agent("honest", first_legal)
    with pytest.raises(IllegalAction, match=f"agent 'cheat' played illegal action {wrong}"):
        play_match(GAME, honest, cheat, 2)


class Quitter(Scripted):
    """Gives up where a function says so, and says why for even rows only."""

    def __init__(self, choose: Callable[[Any], int], quits: Callable[[Any], bool]) -> None:
        super().__init__(lambda state: RESIGN if quits(state) else choose(state))
        self.last_words: dict[int, str] = {}

    def act(self, states: Any, rng: np.random.Generator) -> Any:
        actions = super().act(states, rng)
        rows = np.flatnonzero(actions == RESIGN)
        self.last_words = {int(row): f"row {row} hung" for row in rows if row % 2 == 0}
        return actions


@pytest.mark.parametrize("quits_at", [0, 1, 2, 3])
def test_who_gives_up_has_lost(quits_at: int) -> None:
    """Only games in which it is the quitter's turn at that ply are given up."""
    player = Quitter(first_legal, lambda state: int(state[0]) == quits_at)
    quitter, other = Agent("quitter", GAME, player), agent("other", last_legal)
    result = play_match(GAME, quitter, other, 8)
    reasons = []
    for game in result.games:
        if game.a_is_first == (quits_at % 2 == 0):
            assert (game.score, len(game.moves)) == (0.0, quits_at)
            assert len(game.values) == quits_at
            reasons.append(game.reason)
        else:
            assert game.reason == ""
            assert replay(GAME, game.moves) == game.outcome
    assert reasons == ["row 0 hung", "quitter gave up", "row 2 hung", "quitter gave up"]


def test_some_give_up_and_others_go_on() -> None:
    player = Quitter(first_legal, lambda state: int(state[0]) > 3 and int(state[1]) % 3 == 0)
    result = play_match(GAME, Agent("q", GAME, player), load_agent("random", GAME), 60, seed=4)
    given = [game for game in result.games if game.reason]
    assert 0 < len(given) < 60
    assert all(game.score == 0.0 for game in given)
    assert all(replay(GAME, g.moves) == g.outcome for g in result.games if not g.reason)


def test_games_are_told_as_they_end() -> None:
    heard: list[tuple[int, PlayedGame]] = []
    rand = load_agent("random", GAME)
    result = play_match(GAME, rand, rand, 12, seed=1, opening_plies=2, on_end=heard.extend)
    assert sorted(i for i, _ in heard) == list(range(12))
    assert all(result.games[i] == game for i, game in heard)
    lengths = [len(game.moves) for _, game in heard]
    assert lengths == sorted(lengths)
    assert {game.opening for game in result.games} == {2}


def test_long_games_have_room() -> None:
    game = load_game("shobu:cap=200")
    rand = load_agent("random", game)
    played = play_match(game, rand, rand, 4, seed=1, opening_plies=70).games
    assert max(len(one.moves) for one in played) > 128
    assert all(replay(game, one.moves) == one.outcome for one in played)


def test_an_agent_answers_for_every_position() -> None:
    class Lazy:
        def act(self, states: Any, rng: np.random.Generator) -> Any:
            return np.zeros(1, dtype=np.int32)

    with pytest.raises(ValueError, match="agent 'lazy' gave 1 actions for 2"):
        play_match(GAME, Agent("lazy", GAME, Lazy()), load_agent("random", GAME), 4)


def test_progress_is_told() -> None:
    heard: list[tuple[int, int]] = []
    rand = load_agent("random", GAME)
    result = play_match(
        GAME, rand, rand, 8, progress=lambda done, plies: heard.append((done, plies))
    )
    assert heard == sorted(heard)
    assert heard[-1] == (8, sum(len(game.moves) for game in result.games))


@pytest.mark.parametrize(
    ("score", "games", "low", "high"),
    [
        (0.5, 100, 0.40383, 0.59617),
        (0.9, 10, 0.59585, 0.98212),
        (1.0, 20, 0.83887, 1.0),
        (0.0, 20, 0.0, 0.16113),
        (0.75, 40, 0.59806, 0.85813),
        (0.3, 0, 0.0, 1.0),
    ],
)
def test_wilson_intervals(score: float, games: int, low: float, high: float) -> None:
    """Values from the formula by hand, with z = 1.959964."""
    assert score_interval(score, games) == pytest.approx((low, high), abs=2e-5)


def test_elo() -> None:
    assert elo(0.5) == 0
    assert elo(10 / 11) == pytest.approx(400)
    assert elo(0.75) == pytest.approx(190.85, abs=0.01)
    for score in (0.0, 0.1, 0.35, 0.5, 0.99, 1.0):
        assert elo(score, 0.025) == pytest.approx(-elo(1 - score, 0.025))
    assert elo(1.0, 0.01) == elo(0.99) == pytest.approx(798.25, abs=0.01)
    scores = [elo(s / 100) for s in range(1, 100)]
    assert scores == sorted(scores)


@pytest.mark.parametrize(("outcome", "sign"), [(FIRST, 1), (SECOND, -1)])
def test_a_clean_sweep_is_half_a_game_short_of_it(outcome: int, sign: int) -> None:
    """And its interval is open on that side: 1600 points stand for no bound."""
    summary = MatchResult("a", "b", [PlayedGame(True, [], outcome)] * 50).summary()
    assert summary["elo"] == pytest.approx(sign * 801.73, abs=0.01)
    bounds = sorted(abs(float(str(summary[name]))) for name in ("elo_low", "elo_high"))
    assert bounds[1] == pytest.approx(1600, abs=0.1)
    assert bounds[0] < 801


def test_the_elo_interval_surrounds_the_elo() -> None:
    games = [PlayedGame(True, [i], FIRST if i % 3 else SECOND) for i in range(30)]
    summary = MatchResult("a", "b", games).summary()
    low, middle, high = (summary[name] for name in ("elo_low", "elo", "elo_high"))
    assert isinstance(low, float)
    assert isinstance(middle, float)
    assert isinstance(high, float)
    assert low < middle < high
    assert summary["score"] == pytest.approx(2 / 3)


def test_no_games_no_harm() -> None:
    result = MatchResult("a", "b", [])
    assert (result.score, result.interval, result.distinct) == (0.0, (0.0, 1.0), 0)
    assert result.summary()["games"] == 0


def test_repetitions_are_told_from_chance() -> None:
    """Agents without dice repeat a game from each opening; others may by chance."""
    assert repeats([("a", [1, 2])] * 5 + [("b", [3])] * 2) == [5] * 5 + [2] * 2
    assert repeats([("a", [1, 2])] * 5 + [("a", [3])]) == [1] * 6
    assert repeats([]) == []


def test_repetitions_widen_the_interval() -> None:
    """Three games played twice are three; one of four that was played nine times is most of it."""
    games = [PlayedGame(True, [move, 8], 1 + move % 2, opening=1) for move in range(4)]
    alone, twice = MatchResult("a", "b", games[:3]), MatchResult("a", "b", games[:3] * 2)
    assert (twice.fresh, twice.effective) == (3, 3.0)
    assert twice.interval == alone.interval
    assert twice.interval != score_interval(twice.score, 6)
    uneven = MatchResult("a", "b", [*games, *[games[0]] * 8])
    assert uneven.fresh == 4
    assert uneven.effective == pytest.approx(12**2 / (9**2 + 3))
    assert uneven.interval == score_interval(uneven.score, uneven.effective)
    assert uneven.summary()["effective_games"] == uneven.effective
