"""What pays: training runs that differ in one option, at equal compute, side by side.

    python benchmarks/ablation.py connect4 --minutes 5 --out DIR
    python benchmarks/ablation.py othello:size=6 --minutes 5 --out DIR --only 'plain; Gumbel root'

All variants train at the same time, each in a process of its own with one thread of self-play, so
that they share the machine evenly. Connect 4 is measured by its exam (errors among positions solved
exactly), other games by a match of every variant against the plain one. A few runs of `plain` with
other seeds show how much is luck.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from randori.learners import presets

COMMON = [
    "network.blocks=5", "selfplay.slots=1024", "selfplay.threads=1", "train.batch=1024",
    "train.reuse=8", "iteration_rows=10000", "warm_up_rows=10000", "window=1000000",
    "selfplay.search.simulations=200", "selfplay.fast_simulations=40", "selfplay.full_share=0.25",
    "selfplay.keep_tree=false", "selfplay.forced=0", "selfplay.surprise=0", "selfplay.archive=0",
    "selfplay.random_share=0", "train.average=0",
    "network.value=scalar", "network.reply=false", "network.ownership=false", "first_window=0",
    "evaluation.every_minutes=1000", "checkpoint_minutes=1000",
]  # fmt: skip
TOGETHER = [
    "selfplay.keep_tree=true", "network.value=wdl", "network.reply=true", "selfplay.archive=0.2",
    "selfplay.random_share=0.5", "train.average=200", "first_window=50000",
]  # fmt: skip
BALANCED = [*TOGETHER, "selfplay.balance=0.9"]
MUON = ["train.optimizer=muon", "train.l2=0.05"]
HOT = "selfplay.temperature=[[0,1.2],[30,0.7]]"
VARIANTS: dict[str, list[str]] = {
    "plain": [],
    "plain, seed 1": [],
    "plain, seed 2": [],
    "kept subtree": ["selfplay.keep_tree=true"],
    "Gumbel root": ["selfplay.gumbel=16"],
    "forced playouts": ["selfplay.forced=2"],
    "surprise": ["selfplay.surprise=0.5"],
    "archive": ["selfplay.archive=0.25"],
    "archive, mostly": ["selfplay.archive=0.75"],
    "random beginnings": ["selfplay.random_share=0.5"],
    "balanced beginnings": ["selfplay.random_share=0.5", "selfplay.balance=0.9"],
    "win/draw/loss": ["network.value=wdl"],
    "reply head": ["network.reply=true"],
    "ownership head": ["network.ownership=true"],
    "result only": ["train.search_share=0"],
    "search's value only": ["train.search_share=1"],
    "mean weights": ["train.average=200"],
    "growing window": ["first_window=50000"],
    "progressive": [
        'stages=[[0,"selfplay.search.simulations=60"],[0.2,"selfplay.search.simulations=120"],'
        '[0.4,"selfplay.search.simulations=200"],[0.7,"selfplay.search.simulations=300"]]'
    ],
    "random turns": ["selfplay.turns=random"],
    "constant rate": ["train.schedule=constant"],
    "squeeze": ["network.pooling=squeeze"],
    "global pooling": ["network.pooling=global"],
    "together": TOGETHER,
    "together, balanced": BALANCED,
    "together, balanced, seed 1": BALANCED,
    "deblundered": [*BALANCED, "selfplay.deblunder=0.1"],
    "hot, deblundered": [*BALANCED, "selfplay.deblunder=0.1", HOT],
    "decay": [*BALANCED, "train.l2=0.05"],
    "Muon": [*BALANCED, "train.optimizer=muon", "train.l2=0.01"],
    "Muon, decay": [*BALANCED, *MUON],
    "Muon, faster": [*BALANCED, *MUON, "train.learning_rate=0.005"],
    "Muon, as in the presets": [*BALANCED, *presets.MUON],
    "Muon, deblundered": [*BALANCED, *MUON, "selfplay.deblunder=0.1"],
    "Muon, hot, deblundered": [*BALANCED, *MUON, "selfplay.deblunder=0.1", HOT],
}


def randori(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "randori", *arguments]


def train(game: str, name: str, minutes: float, folder: Path) -> subprocess.Popen[bytes]:
    """Start one variant."""
    seed = name.rpartition("seed ")[2] if "seed " in name else "0"
    settings = [part for one in [*COMMON, *VARIANTS[name]] for part in ("--set", one)]
    command = randori(
        "train", game, "--plain", "--minutes", f"{minutes:g}", "--seed", seed,
        "--run", str(folder), *settings,
    )  # fmt: skip
    with (folder.parent / f"{folder.name}.log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)


def measured(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--simulations", type=int, default=0)
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="; ".join(VARIANTS))
    given = parser.parse_args()
    names = [name.strip() for name in given.only.split(";")]
    if unknown := [name for name in names if name not in VARIANTS]:
        parser.error(f"no such variant: {unknown[0]!r}; there are {'; '.join(VARIANTS)}")
    if given.game != "connect4" and "plain" not in names:
        names.insert(0, "plain")  # the others play against it
    given.out.mkdir(parents=True, exist_ok=True)
    folders = {name: given.out / name.translate(str.maketrans(" /", "--", ",'"))
               for name in names}  # fmt: skip
    start = time.monotonic()
    runs = [train(given.game, name, given.minutes, folders[name]) for name in names]
    for run in runs:
        run.wait()
    print(f"trained in {time.monotonic() - start:.0f} s", file=sys.stderr)
    jobs = {}
    for name, folder in folders.items():
        if given.game == "connect4":
            agent = f"az:{folder},simulations={given.simulations or 600},turns=none"
            jobs[name] = measured(
                randori("exam", "connect4", "connect4", "--agent", agent, "--json")
            )
        else:
            ours, theirs = (f"az:{one},simulations={given.simulations or 100}"
                            for one in (folder, folders["plain"]))  # fmt: skip
            jobs[name] = measured(randori(
                "match", given.game, ours, theirs, "-n", str(given.games), "--opening-plies", "4",
                "--json",
            ))  # fmt: skip
    for name, job in jobs.items():
        text, _ = job.communicate()
        last = json.loads((folders[name] / "metrics.jsonl").read_text().splitlines()[-1])
        effort = {key: last[key] for key in ("evaluations", "rows", "steps", "policy_loss")}
        found = json.loads(text) if text.strip() else {"failed": True}
        found.pop("failures", None)
        print(
            json.dumps({"variant": name, "game": given.game, **effort, "result": found}), flush=True
        )


if __name__ == "__main__":
    main()
