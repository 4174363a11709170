"""Opening studies of games that are written down here, counted a second time by hand."""

import json
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import torch

from randori.agents.models import model_info, signature_of
from randori.agents.network import policy
from randori.cli.openings import run_openings
from randori.diagnosis.findings import tenths
from randori.diagnosis.openings import keeps_start, study
from randori.diagnosis.page import openings_page
from randori.errors import UserError
from randori.games.registry import GAMES, load_game
from randori.networks.build import build
from randori.networks.config import NetworkConfig
from randori.runs.checkpoint import write_checkpoint


def write_games(path: Path, number: int, games: list[tuple[str, str | None]], spec="connect4"):
    lines = [
        json.dumps({"game": spec, "moves": moves.split(), "result": result})
        for moves, result in games
    ]
    (path / "games" / f"{number:06d}.jsonl").write_text("\n".join(lines) + "\n")


@pytest.fixture
def played(made):
    path = made()
    write_games(path, 1, [("4 4 4 1", "first"), ("4 4 3", "second"), ("1 2 3", "draw")])
    write_games(path, 2, [("4 4 1", "draw"), ("7 6 5", "first"), ("4 4 5", "first"), ("4 4", None)])
    return path


def test_lines_are_counted_and_scored(played):
    found = study(played, plies=2, top=10)
    assert (found.games, found.others) == (7, 0)
    by_moves = {line.moves: line for line in found.lines}
    assert list(by_moves) == [("4", "4"), ("1", "2"), ("7", "6")]
    centre = by_moves["4", "4"]
    assert (centre.games, centre.share) == (5, 5 / 7)
    assert centre.shares == (2 / 3, 3 / 4)
    assert centre.score == (1 + 0 + 0.5 + 1) / 4  # the last game has no result
    assert centre.scores == (0.5, 0.75)
    assert centre.low < centre.score < centre.high
    assert by_moves["1", "2"].shares == (1 / 3, 0)
    assert by_moves["1", "2"].scores == (0.5, None)
    assert [period.games for period in found.periods] == [3, 4]
    assert centre.position == load_game("connect4").start().play("4").play("4")


def test_a_rare_line_is_not_shown_as_none_at_all(made, capsys):
    path = made()
    write_games(path, 1, [("4 4", "first")] * 2500 + [("1 2", "draw")])
    run_openings(path, plies=2, top=5, fold=False, html=None, as_json=False)
    shown = capsys.readouterr().out
    assert "100.0 %" in shown
    assert "<0.1 %" in shown
    assert "0.0 %" not in shown.replace("100.0 %", "")
    assert "&lt;0.1 %" in openings_page(study(path, plies=2))
    assert tenths(0.0) == "0.0 %"


def test_mirror_images_are_one_line_when_asked(played):
    found = study(played, plies=2, fold=True)
    corner = found.lines[1]
    assert corner.games == 2
    assert corner.moves in (("1", "2"), ("7", "6"))
    assert corner.score == 0.75
    deeper = study(played, plies=3, fold=True)
    assert [line.games for line in deeper.lines] == [2, 2, 1, 1]
    assert {"4 4 3", "4 4 5"} & {" ".join(line.moves) for line in deeper.lines}


def test_what_is_left_out_is_said(played):
    lines = [
        {"game": "connect4", "moves": ["4", "4"], "position": "444444"},
        {"game": "connect4", "moves": ["4", "9"]},
        {"game": "connect4", "moves": ["4"]},
        {"game": "connect4", "moves": ["4", "4", "4"], "begun": 2},
    ]
    text = "\n".join(map(json.dumps, lines))
    (played / "games" / "000003.jsonl").write_text(text + "\nnot a game\n")
    found = study(played, plies=2)
    assert found.games == 7
    said = " | ".join(found.notes)
    assert "1 game began elsewhere" in said
    assert "1 game could not be replayed as connect4" in said
    assert "1 game ended before ply 2" in said
    assert "1 game branched off from an earlier one" in said
    assert "000003.jsonl, line 5: not JSON" in said


def test_only_the_top_is_listed(played):
    found = study(played, plies=2, top=1)
    assert (len(found.lines), found.others) == (1, 2)
    assert found.rest == pytest.approx((1 / 3, 1 / 4))


def test_many_checkpoints_are_joined(made):
    path = made()
    for number in range(1, 31):
        write_games(path, number, [("4 4" if number > 15 else "1 1", "first")] * 2)
    found = study(path, plies=1)
    assert len(found.periods) == 12
    assert sum(period.games for period in found.periods) == found.games == 60
    centre = next(line for line in found.lines if line.moves == ("4",))
    assert centre.shares[0] == 0
    assert centre.shares[-1] == 1


def test_no_games_yet(made):
    path = made()
    with pytest.raises(UserError, match="has no games of 4 plies or more"):
        study(path)
    write_games(path, 1, [("4 4", "first")])
    with pytest.raises(UserError, match="1 game ended before ply 4"):
        study(path)


def test_a_missing_result_comes_from_the_moves(made):
    path = made()
    write_games(path, 1, [("1 2 1 2 1 2 1", None), ("1 2 1 2", None)])
    line = study(path, plies=1).lines[0]
    assert (line.games, line.score) == (2, 1.0)


@pytest.mark.parametrize("folded", [False, True])
def test_the_network_alone(played, folded):
    """The chance of a line is the product of the priors that the `policy` agent shows."""
    game = load_game("connect4")
    config = NetworkConfig(kind="mlp", blocks=1, hidden=16)
    torch.manual_seed(3)
    network = build(config, signature_of(game))
    weights = {name: 3 * t.detach().numpy() for name, t in network.state_dict().items()}
    info = model_info(game, config, iteration=7, seconds=12.5)
    write_checkpoint(played, 2, weights, info, {"a": np.zeros(1)}, {})
    found = study(played, plies=3, fold=folded)
    assert found.periods[1].iteration == 7
    assert found.periods[1].seconds == 12.5
    agent = policy(game, str(played), runtime="torch")

    def chance(moves):
        position, share = game.start(), 1.0
        for move in moves:
            action = position.parse(move)
            seen = agent.analyse(position.state, np.random.default_rng(0))
            share *= next(one.prior for one in seen.moves if one.action == action)
            position = position.play(action)
        return share

    for line in found.lines:
        images = {line.moves}
        if folded:
            images.add(tuple(str(8 - int(move)) for move in line.moves))
        assert line.priors[0] is None
        assert line.priors[1] == pytest.approx(sum(map(chance, images)), rel=1e-4)


@pytest.mark.parametrize("spec", GAMES)
def test_every_game_can_be_studied(made, spec):
    """Moves in the game's own notation, from record to picture."""
    game = load_game(spec)
    path = made(spec, iterations=0)
    rng = np.random.default_rng(0)
    games = []
    for _ in range(3):
        position, moves = game.start(), []
        for _ in range(3):
            moves.append(position.action_text(int(rng.choice(position.actions()))))
            position = position.play(moves[-1])
        games.append((" ".join(moves), "draw"))
    write_games(path, 1, games, spec)
    found = study(path, plies=2, fold=True)
    assert sum(line.games for line in found.lines) == 3
    page = openings_page(found)
    assert page.count('class="card line"') == len(found.lines)
    assert_stands_alone(page)


def test_symmetries_that_move_the_start_do_not_fold_lines():
    """Half of the turns of an Othello board swap the colours of the four first stones."""
    assert len(keeps_start(load_game("othello"))) == 4
    assert len(keeps_start(load_game("tictactoe"))) == 8
    assert len(keeps_start(load_game("connect4"))) == 2


class Page(HTMLParser):
    """Checks that tags close in order, and collects what would be fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "br", "link", "img"):
            self.open.append(tag)
        self.fetched += [value for name, value in attrs if name in ("src", "href")]

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def assert_stands_alone(page: str) -> None:
    parser = Page()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    assert parser.fetched == []
    assert "url(" not in page
    assert "@import" not in page
