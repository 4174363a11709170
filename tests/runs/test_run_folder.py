"""Run folders are made once, opened with clear errors, and say where they come from."""

import json
import subprocess
from datetime import datetime, tzinfo
from pathlib import Path

import pytest

from randori import __version__
from randori.errors import UserError
from randori.runs import folder
from randori.runs.folder import Run, create_run, open_run, save_run, source_commit


def make(path: Path | None, game: str = "othello", root: Path = Path("runs")) -> Run:
    config = {"search": {"simulations": 100}}
    return create_run(path, learner="alphazero", game=game, seed=3, config=config, root=root)


def test_round_trip(tmp_path: Path) -> None:
    run = make(tmp_path / "a" / "run")
    assert open_run(run.path) == run
    assert (run.learner, run.game, run.seed) == ("alphazero", "othello", 3)
    assert run.config == {"search": {"simulations": 100}}
    names = {"config.json", "checkpoints", "replay", "games"}
    assert {entry.name for entry in run.path.iterdir()} == names
    document = json.loads((run.path / "config.json").read_text())
    assert document["format"] == 1
    assert document["randori"] == __version__
    assert document["commit"] == source_commit()


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_out_of_range_is_refused(seed: int, tmp_path: Path) -> None:
    run = make(tmp_path / "run")
    header = json.loads((run.path / "config.json").read_text())
    (run.path / "config.json").write_text(json.dumps({**header, "seed": seed}))
    with pytest.raises(UserError, match=f"seed must be from 0 to {2**63 - 1}, not {seed}"):
        open_run(run.path)


def test_saved_again_with_other_settings(tmp_path: Path) -> None:
    run = make(tmp_path / "run")
    other = Run(**{**vars(run), "config": {"minutes": 5}})
    save_run(other)
    assert open_run(run.path) == other


def test_auto_names_count_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> "Clock":
            return cls(2026, 11, 15, 10, 45)

    monkeypatch.setattr(folder, "datetime", Clock)
    games = ["othello", "othello", "othello", "go:size=9,komi=7", "my games/My Game.py", "::"]
    names = [make(None, game, root=tmp_path / "runs").path.name for game in games]
    stamp = "20261115-104500"
    assert names == [
        f"othello-{stamp}",
        f"othello-{stamp}-2",
        f"othello-{stamp}-3",
        f"go-{stamp}",
        f"my-game-{stamp}",
        f"run-{stamp}",
    ]


def test_an_existing_run_is_not_overwritten(tmp_path: Path) -> None:
    path = make(tmp_path / "my run").path
    before = (path / "config.json").read_bytes()
    with pytest.raises(UserError, match=r"not empty; use `randori resume '.*my run'` or choose"):
        make(path)
    assert (path / "config.json").read_bytes() == before


def test_a_foreign_folder_or_file_is_not_a_new_run(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="exists and is not empty; choose another name"):
        make(tmp_path)
    with pytest.raises(UserError, match=r"notes\.txt is a file; choose another name"):
        make(tmp_path / "notes.txt")


def test_an_empty_folder_can_become_a_run(tmp_path: Path) -> None:
    (tmp_path / ".tmp-config.json-1234").write_text("left by a kill")
    assert open_run(make(tmp_path).path).seed == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is damaged: expected JSON"),
        ('{"format": 1, "see', "is damaged: expected JSON"),
        ("\udcff", "is damaged: expected JSON"),
        ("[" * 100_000, "is damaged: expected JSON"),
        ("[]", "is damaged: expected a JSON object, got a list"),
        ("{}", r"has format None, but Randori .* reads format 1"),
        (
            '{"format": 2, "randori": "9.9"}',
            r"has format 2, but Randori .* reads format 1; use the version that wrote it \(9\.9\)",
        ),
        ('{"format": 1}', "randori: missing; expected text"),
    ],
)
def test_a_damaged_config(text: str, message: str, tmp_path: Path) -> None:
    path = make(tmp_path / "run").path
    (path / "config.json").write_text(text, errors="surrogateescape")
    with pytest.raises(UserError, match=rf"run/config\.json:? {message}") as caught:
        open_run(path)
    assert "\n" not in str(caught.value)


def test_a_header_of_other_types(tmp_path: Path) -> None:
    path = make(tmp_path / "run").path
    document = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(json.dumps({**document, "seed": "three"}))
    with pytest.raises(UserError, match="seed: expected a whole number, got 'three'"):
        open_run(path)


def test_not_a_run(tmp_path: Path) -> None:
    run = make(tmp_path / "othello-1").path
    with pytest.raises(UserError, match="is a file; expected a run folder"):
        open_run(run / "config.json")
    with pytest.raises(UserError, match=r"does not exist; .* did you mean '.*/othello-1'"):
        open_run(tmp_path / "othelo-1")
    with pytest.raises(UserError, match=r"is not a run folder: it has no config\.json"):
        open_run(tmp_path)


def test_the_commit_is_that_of_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b")
        command = ["git", "-C", str(tmp_path), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    source = tmp_path / "folder.py"
    source.write_text("1")
    monkeypatch.setattr(folder, "__file__", str(source))
    assert source_commit() is None, "not in a repository"
    git("init")
    git("commit", "--allow-empty", "-m", "first")
    assert source_commit() is None, "in a repository that is not Randori's"
    git("add", "folder.py")
    git("commit", "-m", "second")
    assert source_commit() == git("rev-parse", "HEAD")
    source.write_text("2")
    assert source_commit() == git("rev-parse", "HEAD") + "-dirty"
    monkeypatch.setenv("PATH", "")
    assert source_commit() is None, "without git"
