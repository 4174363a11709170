"""Openings: the same for the same number, fair in pairs, from files, chance or visits."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from randori.agents.agent import Agent
from randori.agents.registry import load_agent
from randori.arena.match import play_match
from randori.arena.openings import Book, draw_openings, read_line, read_lines
from randori.errors import UserError
from randori.games.game import Game
from randori.games.registry import load_game
from randori.search.search import Analysis, Move

GAME = load_game("connect4")


def state_after(game: Game, moves: tuple[int, ...]) -> list[int]:
    state = game.new_state()
    for action in moves:
        assert action in game.legal_actions(state)
        game.plain.play(state, action)
    return [int(word) for word in state]


@pytest.mark.parametrize("spec", ["connect4", "othello:size=6", "go:size=5"])
def test_random_plies_are_legal_and_lead_to_the_state(spec: str) -> None:
    game = load_game(spec)
    for opening in draw_openings(game, Book(plies=5), range(20), seed=1):
        assert len(opening.moves) == 5
        assert opening.position == ""
        assert state_after(game, opening.moves) == opening.state.tolist()


def test_an_opening_depends_on_its_number_alone() -> None:
    book = Book(plies=4)
    together = draw_openings(GAME, book, range(30), seed=7)
    assert draw_openings(GAME, book, [29, 3], seed=7) == [together[29], together[3]]
    assert draw_openings(GAME, book, range(30), seed=8) != together
    assert len({opening.moves for opening in together}) > 25
    assert draw_openings(GAME, book, [], seed=7) == []


def test_random_plies_are_uniform() -> None:
    moves = draw_openings(GAME, Book(plies=1), range(1400), seed=0)
    counts = Counter(opening.moves[0] for opening in moves)
    assert sorted(counts) == list(range(7))
    chi = sum((count - 200) ** 2 / 200 for count in counts.values())
    assert chi < 22.5, "chance beyond this: 0.1 %"


def test_an_opening_stops_short_of_the_end() -> None:
    game = load_game("tictactoe")
    for opening in draw_openings(game, Book(plies=50), range(40), seed=2):
        assert game.legal_actions(opening.state)


class Certain:
    """Has always visited three moves 27, 8 and 1 times."""

    def analyse(self, state: Any, rng: np.random.Generator) -> Analysis:
        visits = {3: 27, 2: 8, 5: 1}
        return Analysis(0.0, [Move(a, n, 0.1, 0.0, None) for a, n in visits.items()], [3])

    def act(self, states: Any, rng: np.random.Generator) -> Any:
        return np.full(len(states), 3, dtype=np.int32)


def test_visits_at_temperature_three(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cube roots of 27, 8 and 1 are 3, 2 and 1; at temperature 0.1 only the first is drawn."""
    monkeypatch.setattr(
        "randori.arena.openings.load_agent", lambda spec, game: Agent(spec, game, Certain())
    )
    drawn = draw_openings(GAME, Book(plies=1, agent="uct"), range(1200), seed=1)
    counts = Counter(opening.moves[0] for opening in drawn)
    assert sorted(counts) == [2, 3, 5]
    for action, share in ((3, 600), (2, 400), (5, 200)):
        assert abs(counts[action] - share) < 60
    sharp = draw_openings(GAME, Book(2, "uct", temperature=0.1), range(20), seed=1)
    assert {opening.moves for opening in sharp} == {(3, 3)}


def test_an_agent_draws_the_same_for_the_same_seed() -> None:
    book = Book(plies=4, agent="uct:simulations=30")
    drawn = draw_openings(GAME, book, range(8), seed=1)
    assert drawn[5:6] == draw_openings(GAME, book, [5], seed=1)
    assert len({opening.moves for opening in drawn}) > 5
    for opening in drawn:
        assert state_after(GAME, opening.moves) == opening.state.tolist()


def test_an_agent_without_visits_draws_nothing() -> None:
    with pytest.raises(UserError, match="'random' has no visits or priors"):
        draw_openings(GAME, Book(2, "random"), [0], seed=0)


def test_lines_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "openings.txt"
    position = GAME.start().play("4").play("4").text()
    file.write_text(f"# the centre\n4 4 3\n\n443  # without spaces\n{position}\nstart\n")
    lines = read_lines(GAME, file)
    assert lines == ("4 4 3", "443", position, "start")
    openings = draw_openings(GAME, Book(lines=lines), range(5), seed=0)
    assert openings[0] == openings[1] == openings[4]
    assert openings[0].moves == (3, 3, 2)
    assert openings[2].moves == ()
    assert openings[2].position == position
    assert openings[3].moves == ()
    assert openings[3].position == ""
    longer = draw_openings(GAME, Book(plies=2, lines=lines), [0], seed=0)[0]
    assert longer.moves[:3] == (3, 3, 2)
    assert len(longer.moves) == 5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("4 9", "line 1: move 2: illegal move '9'"),
        ("4 4\nnonsense", "line 2: expected moves from the start, or a position: connect4"),
        ("4142434", "something to play: '4 1 4 2 4 3 4' is over"),
        ("41424344", "line 1: move 8: '4' cannot be played: the game is over (first)"),
        ("# nothing", "holds no openings"),
    ],
)
def test_bad_lines_are_told(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "openings.txt"
    file.write_text(text)
    with pytest.raises(UserError) as raised:
        read_lines(GAME, file)
    assert words in str(raised.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot read openings from .*: No such file"):
        read_lines(GAME, tmp_path / "none.txt")
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe4")
    with pytest.raises(UserError, match="not UTF-8 text"):
        read_lines(GAME, tmp_path / "bad.txt")


def test_games_from_a_position() -> None:
    """Both games of a pair begin there, and who is first depends on the position alone."""
    position = GAME.start().play("4").text()
    rand = load_agent("random", GAME)
    result = play_match(GAME, rand, rand, 4, seed=3, book=Book(plies=1, lines=(position,)))
    for a, b in ((0, 1), (2, 3)):
        one, two = result.games[a], result.games[b]
        assert one.position == two.position == position
        assert one.moves[:1] == two.moves[:1]
        assert (one.opening, one.a_is_first, two.a_is_first) == (1, True, False)
    assert read_line(GAME, position).state.tolist() == state_after(GAME, (3,))
