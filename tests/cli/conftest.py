"""The command line called in this process, and one tiny trained run for all tests."""

import contextlib
import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from randori.agents.agent import Agent
from randori.agents.simple import RandomPlayer
from randori.cli import main
from randori.games.game import Game

TINY = [
    "--runtime=torch",
    "--plain",
    "--set=network.blocks=1",
    "--set=network.channels=8",
    "--set=network.policy_channels=4",
    "--set=network.value_channels=4",
    "--set=network.hidden=8",
    "--set=selfplay.slots=16",
    "--set=selfplay.search.simulations=8",
    "--set=selfplay.fast_simulations=4",
    "--set=train.batch=16",
    "--set=iteration_rows=40",
    "--set=warm_up_rows=40",
    "--set=window=1000",
    "--set=evaluation.every_iterations=2",
    "--set=evaluation.games=4",
    '--set=evaluation.opponents=["random"]',
    "--set=evaluation.simulations=4",
]


@dataclass(frozen=True)
class Answer:
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def complaint(self) -> str:
        """The one line of a user's mistake."""
        assert self.code == 2
        assert self.out == ""
        lines = [line for line in self.err.splitlines() if line.startswith("randori: ")]
        assert len(lines) == 1
        assert self.err.endswith(f"{lines[0]}\n")
        assert "Traceback" not in self.err
        return lines[0].removeprefix("randori: ")


class Leaver:
    """Plays at random, and presses Ctrl-C when it has been asked so often."""

    def __init__(self, game: Game, patience: int) -> None:
        self._player, self._left = RandomPlayer(game), patience

    def act(self, states: NDArray[np.uint64], rng: np.random.Generator) -> NDArray[np.int32]:
        self._left -= 1
        if self._left < 0:
            raise KeyboardInterrupt
        return self._player.act(states, rng)


Command = Callable[..., Answer]


def call(*arguments: str | Path, stdin: str = "") -> Answer:
    """Run one command with its streams caught."""
    out, err = io.StringIO(), io.StringIO()
    saved = sys.argv, sys.stdin
    sys.argv, sys.stdin = ["randori", *map(str, arguments)], io.StringIO(stdin)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main()
    finally:
        sys.argv, sys.stdin = saved
    return Answer(code, out.getvalue(), err.getvalue())


@pytest.fixture
def randori(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return call


@pytest.fixture
def leaver() -> Callable[[str, Game, int], Agent]:
    """Return what makes an agent that leaves by Ctrl-C."""
    return lambda text, game, patience: Agent(text, game, Leaver(game, patience))


@pytest.fixture(scope="session")
def tiny() -> list[str]:
    """Return options that make training a matter of seconds."""
    return TINY


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a complete run of two iterations; tests copy it before they change it."""
    path = tmp_path_factory.mktemp("trained") / "tiny"
    answer = call("train", "tictactoe", "--iterations", "2", "--run", path, "--seed", "5", *TINY)
    assert answer.code == 0, answer.err
    return path
