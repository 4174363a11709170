"""Train, resume, and what becomes of the agent; damaged and foreign folders."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from randori.agents.models import SHIPPED
from randori.cli.training import End, why_nothing_is_learnt
from randori.errors import UserError
from randori.learners.status import Counters
from randori.learners.training import expect_checkpoints, train
from randori.runs.folder import open_run
from randori.runs.metrics import append_metrics

HEX = Path(__file__).parents[2] / "examples" / "hex.py"


@pytest.fixture
def run(trained, tmp_path):
    """Return a copy of the trained run that a test may spoil."""
    return Path(shutil.copytree(trained, tmp_path / "run"))


def newest(run):
    return max((run / "checkpoints").iterdir())


def files(folder):
    """Return what a run holds; an empty lock file says nothing."""
    paths = [p for p in sorted(folder.rglob("*")) if p.is_file() and p.name != "lock"]
    return {path: path.read_bytes() for path in paths}


def test_training_says_how_to_go_on(randori, tiny):
    answer = randori("train", "tictactoe", "--iterations=1", "--name=mine", *tiny)
    assert answer.code == 0
    assert "training tictactoe in runs/mine" in answer.err
    assert "runs/mine is complete: 1 iteration, " in answer.out
    assert "randori resume runs/mine --iterations 2" in answer.out
    assert "randori play tictactoe --against az:runs/mine" in answer.out


def test_resume_goes_on(randori, run):
    answer = randori("resume", run, "--iterations=3", "--plain", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["run"] == str(run)
    assert answer.json["iterations"] == 3
    assert answer.json["complete"] is True
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert [record["iteration"] for record in records] == [1, 2, 3]


def test_resume_of_a_complete_run_says_how_to_extend_it(randori, run):
    before = files(run)
    answer = randori("resume", run)
    assert answer.code == 0
    assert "is complete: 2 iterations" in answer.out
    assert f"randori resume {run} --iterations 4" in answer.out
    assert randori("resume", run, "--json").json["complete"] is True
    assert files(run) == before


@pytest.mark.parametrize("is_there", [True, False])
def test_resume_without_the_checkpoints_that_were_changes_nothing(randori, run, is_there):
    shutil.rmtree(run / "checkpoints")
    if is_there:
        (run / "checkpoints").mkdir()
    before = files(run)
    complaint = randori("resume", run, "--iterations=3").complaint
    assert f"{run}/checkpoints is {'empty' if is_there else 'gone'}, though" in complaint
    assert "nothing was changed" in complaint
    with pytest.raises(UserError, match="nothing was changed"):
        train(open_run(run), lambda status: None)
    assert files(run) == before


@pytest.mark.parametrize("kept", ["games", "replay", "metrics.jsonl"])
def test_each_trace_of_a_checkpoint_tells_of_it(run, kept):
    (run / "replay/000001.npz").rename(run / "replay/000002.npz")
    append_metrics(run, {"iteration": 3, "checkpoint": 1})
    for name in {"games", "replay", "metrics.jsonl", "checkpoints"} - {kept}:
        path = run / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(UserError, match="had checkpoints"):
        expect_checkpoints(run)


def test_a_run_killed_before_its_first_checkpoint_begins_anew(randori, run):
    """It leaves its first shard at most, and metrics that know of no checkpoint."""
    shutil.rmtree(run / "checkpoints")
    for file in (run / "games").iterdir():
        file.unlink()
    assert [path.name for path in (run / "replay").iterdir()] == ["000001.npz"]
    answer = randori("resume", run, "--plain", "--json")
    assert answer.code == 0, answer.err
    assert "going on from the newest checkpoint: the start" in answer.err
    assert answer.json["iterations"] == 2


@pytest.mark.parametrize("is_there", [True, False])
def test_resume_tells_of_rows_that_are_missing(randori, run, is_there):
    if is_there:
        (run / "replay/000001.npz").write_bytes(b"?")
    else:
        shutil.rmtree(run / "replay")
    answer = randori("resume", run, "--iterations=3", "--plain", "--json")
    assert answer.code == 0, answer.err
    (line,) = [line for line in answer.err.splitlines() if line.startswith("note: ")]
    found = re.fullmatch(r"note: (\d+) of (\d+) replay rows are .*; training goes on with fewer .*",
                         line)  # fmt: skip
    assert found is not None
    assert found[1] == found[2]
    assert "replay rows are missing" in (run / "log").read_text()


def test_resume_with_less_than_was_trained_says_how_long_that_was(randori, run):
    state = newest(run) / "state.json"
    stored = json.loads(state.read_text())
    stored["state"]["counters"]["seconds"] = 90.0
    state.write_text(json.dumps(stored))
    before = files(run)
    settings = ["--set=stop.iterations=null", "--plain"]
    answer = randori("resume", run, "--minutes=1", *settings)
    assert answer.code == 0
    assert "--minutes 1 is of the whole run, which has had 1.5 minutes already" in answer.err
    assert "no setting was changed" in answer.err
    assert f"randori resume {run} --minutes 2.5" in answer.out
    assert files(run) == before, "a slip of the hand shall not shorten the run"


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (End("--minutes ", "minute", 10, 10.06), "--minutes 20"),
        (End("--minutes ", "minute", 1, 5.01), "--minutes 6.1"),
        (End("--minutes ", "minute", 0.05, 1.58), "--minutes 1.65"),
        (End("--set stop.games=", "game", 2_000_000, 2_000_000), "--set stop.games=4000000"),
    ],
)
def test_the_way_on_is_further_than_the_run_is(end, words):
    assert end.further == words


def test_an_end_counts_in_words():
    once, more = (End("--iterations ", "iteration", 1, done) for done in (1, 2))
    assert "which has had 1 iteration already" in str(once)
    assert "which has had 2 iterations already" in str(more)
    assert "which has had 1 minute already" in str(End("--minutes ", "minute", 1, 1.01))


def test_a_run_that_learnt_nothing_says_why():
    few, late = (why_nothing_is_learnt(Counters(rows=rows), 1000) for rows in (999, 1001))
    assert "with 999 of 1000 warm-up rows" in few
    assert "with 0 of 1 warm-up row; train for longer" in why_nothing_is_learnt(Counters(), 1)
    assert "the run ended with its first games" in late


def test_the_agent_plays(randori, trained):
    agent = f"az:{trained},simulations=10,runtime=torch"
    result = randori("match", "tictactoe", agent, "random", "-n", "6", "--json").json
    assert result["games"] == 6
    answer = randori(
        "play", "tictactoe", "--against", agent, "--seed=1", stdin="hint\nb2\nundo\nquit\n"
    )
    assert answer.code == 0
    assert "prior" in answer.out
    assert "o plays" in answer.out


@pytest.mark.slow
def test_your_own_game_is_trained(randori, tiny):
    answer = randori("train", f"{HEX}:size=3", "--iterations=1", "--run=own", *tiny)
    assert answer.code == 0, answer.err
    assert f"randori play {HEX}:size=3 --against az:own" in answer.out


def test_the_author_is_told_whose_copy_numba_refuses(randori, tiny):
    source = HEX.read_text().replace("    return count\n", "    return sorted([count])[0]\n")
    Path("bad.py").write_text(source)
    line = 1 + source.splitlines().index("    return sorted([count])[0]")
    complaint = randori("train", "bad.py:size=3", "--run=own", *tiny).complaint
    assert complaint.startswith(f"own/game.py (a copy of bad.py), line {line}, in legal: Numba")


def test_settings_are_listed(randori):
    answer = randori("train", "--list-settings")
    assert answer.code == 0
    lines = {line.split()[0]: line for line in answer.out.splitlines() if line}
    assert "rows a gradient step" in lines["train.batch"]
    assert "residual blocks" in lines["network.blocks"]
    assert lines["stop.minutes"].split()[1] == "null"
    assert "network.kind=cnn" in lines["paper-othello"]
    assert "scalar | wdl; " in lines["network.value"]


@pytest.mark.parametrize("line", ["tictactoe --list-settings --json", "--json --list-settings"])
def test_settings_are_listed_as_json(randori, line):
    settings = randori("train", *line.split()).json
    batch = settings["train.batch"]
    assert batch == {"value": 256, "meaning": "rows a gradient step", "type": "a whole number"}
    assert settings["network.value"]["words"] == ["scalar", "wdl"]
    assert settings["stop.minutes"]["value"] is None
    assert settings["stop.minutes"]["type"] == "a finite number or none"
    shapes = randori("train", *line.split(), "--learner", "shapes").json
    assert shapes["td.epsilon"]["value"] == 0.1
    assert "train.batch" not in shapes


@pytest.mark.parametrize("learner", ["alphazero", "shapes"])
def test_every_setting_says_what_it_is(learner):
    from randori.cli.training import documented
    from randori.learners.table import LEARNERS

    assert [key for key, meaning in documented(LEARNERS[learner].config) if not meaning] == []


def test_a_runtime_that_is_not_there_leaves_no_folder(randori, monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    complaint = randori("train", "tictactoe", "--runtime=cuda", "--run=none").complaint
    assert complaint.startswith("runtime 'cuda' needs an NVIDIA GPU")
    assert not Path("none").exists()
    stages = 'stages=[[0.5,"runtime=cuda"]]'
    answer = randori("train", "tictactoe", "--run=none", "--minutes=1", "--set", stages)
    assert answer.complaint == complaint
    assert not Path("none").exists()


def test_a_runtime_that_is_not_there_does_not_spoil_a_run(randori, tiny, monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert randori("train", "tictactoe", "--run=own", *tiny, "--iterations=2").code == 0
    before = Path("own/config.json").read_text()
    answer = randori("resume", "own", "--set=runtime=cuda", "--set=stop.iterations=99")
    assert answer.complaint.startswith("runtime 'cuda' needs")
    assert Path("own/config.json").read_text() == before


def test_automatic_preset_exists():
    from randori.cli.training import preset_settings

    assert isinstance(preset_settings("auto"), tuple)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("tictacto", "there is no game 'tictacto'; did you mean 'tictactoe'?"),
        ("tictactoe --preset lapto", "there is no preset 'lapto'; did you mean 'laptop'?"),
        ("tictactoe --learner alphazer", "did you mean 'alphazero'?"),
        ("tictactoe --set trian.batch=3", "unknown key 'trian.batch'; did you mean 'train.batch'?"),
        ("tictactoe --set train.batch=many", "train.batch: expected a whole number, got 'many'"),
        ("tictactoe --set train.batch", "expected KEY=VALUE"),
        ("tictactoe --minutes 0", "--minutes must be above 0"),
        ("tictactoe --minutes nan", "--minutes must be above 0, and finite, not nan"),
        ("tictactoe --minutes inf", "--minutes must be above 0, and finite, not inf"),
        ("tictactoe --set train.learning_rate=-1", "train: learning_rate must be above 0, not -1"),
        (f"tictactoe --seed {2**63}", f"less than or equal to {2**63 - 1}"),
        ("tictactoe --name ../../x", "runs/, not '../../x'; use --run PATH to train in another"),
        ("tictactoe --name /tmp/x", "runs/, not '/tmp/x'; use --run PATH"),
        ("tictactoe --name a/b", "runs/, not 'a/b'; use --run PATH"),
        ("tictactoe --name a/", "runs/, not 'a/'; use --run PATH"),
        ("tictactoe --name .", "runs/, not '.'; use --run PATH"),
        ("tictactoe --name ..", "runs/, not '..'; use --run PATH"),
        ("tictactoe --name=", "runs/, not ''; use --run PATH"),
        ("--minutes 1", "Missing argument 'GAME'"),
        ("tictactoe --name a --run b", "give one of them"),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_folder(randori, line, words):
    assert words in randori("train", *line.split()).complaint
    assert list(Path().iterdir()) == []


def test_a_run_is_never_overwritten(randori, run):
    before = files(run)
    complaint = randori("train", "tictactoe", "--run", run).complaint
    assert f"use `randori resume {run}` or choose another name" in complaint
    assert files(run) == before


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--set network.blocks=2", "network.blocks cannot change from 1"),
        ("--set bogus=1", "unknown key 'bogus'"),
        ("--iterations 0", "--iterations must be above 0"),
    ],
)
def test_resume_with_bad_settings_changes_nothing(randori, run, line, words):
    before = files(run)
    assert words in randori("resume", run, *line.split()).complaint
    assert files(run) == before


def test_resume_of_what_is_no_run(randori):
    assert "runs/none does not exist" in randori("resume", "runs/none").complaint
    Path("folder").mkdir()
    assert "not a run folder" in randori("resume", "folder").complaint
    assert list(Path("folder").iterdir()) == []


def test_run_of_another_version(randori, run):
    config = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**config, "format": 99, "randori": "7.0"}))
    before = files(run)
    complaint = randori("resume", run).complaint
    assert "has format 99" in complaint
    assert "7.0" in complaint
    assert files(run) == before


def test_run_of_another_learner(randori, run):
    config = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**config, "learner": "td"}))
    assert "was trained by 'td'" in randori("resume", run).complaint


def test_truncated_checkpoints(randori, run):
    for path in (run / "checkpoints").iterdir():
        for file in path.iterdir():
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    before = files(run)
    assert "no complete checkpoint" in randori("resume", run, "--iterations=3").complaint
    assert files(run) == before
    complaint = randori("match", "tictactoe", f"az:{run}", "random", "-n", "2").complaint
    assert "damaged" in complaint


def test_foreign_models(randori, trained):
    model = newest(trained) / "model.safetensors"
    Path("foreign.safetensors").write_bytes(b"not a model")
    complaint = randori("play", "tictactoe", "--against", "az:foreign.safetensors").complaint
    assert "foreign.safetensors" in complaint
    complaint = randori("match", "connect4", f"az:{model}", "random", "-n", "2").complaint
    assert "holds a model for tictactoe, not for connect4" in complaint


def test_an_export_replaces_nothing_unless_it_is_told_to(randori):
    source, mine = SHIPPED / "othello-size6.safetensors", Path("mine.safetensors")
    answer = randori("export", source, mine, "--json")
    assert answer.json == {"file": "mine.safetensors", "bytes": mine.stat().st_size}
    mine.write_bytes(b"dear")
    refused = randori("export", source, mine)
    assert refused.complaint == (
        "mine.safetensors exists already; choose another name or add --force"
    )
    assert mine.read_bytes() == b"dear"
    assert randori("export", "runs/none", mine, "--force").code == 2
    assert mine.read_bytes() == b"dear"
    forced = randori("export", source, mine, "--force")
    assert (forced.code, mine.stat().st_size) == (0, answer.json["bytes"])
    assert "use it as az:mine.safetensors" in forced.out


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("mine.pt", "mine.pt should end in .safetensors"),
        ("no/mine.safetensors", "there is no folder 'no' for mine.safetensors"),
        ("mine.safetensors", "runs/none"),
    ],
)
def test_an_export_that_cannot_be_leaves_no_file(randori, target, words):
    assert words in randori("export", "runs/none", target, "--force").complaint
    assert list(Path().iterdir()) == []


def test_two_trainers_do_not_meet(randori, run):
    from randori.learners.training import change_run
    from randori.runs.folder import locked

    change_run(run, ["stop.iterations=8"])
    with locked(run):
        before = files(run)
        for settings in ((), ("--iterations=9",)):
            answer = randori("resume", run, *settings)
            assert "is already being trained" in answer.complaint
            assert answer.err.count("\n") == 1, "nothing is said to go on before"
            assert files(run) == before


def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path, tiny):
    line = "import sys; from randori.cli import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", line, "train", "tictactoe", "--run", "run", *tiny],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    metrics = tmp_path / "run" / "metrics.jsonl"
    while process.poll() is None and not (metrics.exists() and metrics.stat().st_size):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "run has stopped" in out
    assert "randori resume run\n" in out
    assert "Traceback" not in err
    assert list((tmp_path / "run" / "checkpoints").iterdir())
