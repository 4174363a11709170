"""Benchmarks: how close each part is to what this machine can do, as ratios from one run."""

from collections.abc import Callable
from typing import Any

from randori.cli.bench_arena import bench_arena
from randori.cli.bench_rules import bench_alphabeta, bench_perft, bench_solver
from randori.cli.bench_search import bench_search, bench_selfplay
from randori.cli.bench_train import bench_train
from randori.cli.bench_work import Figures, Work
from randori.cli.report import amount, beyond_bare

BENCHES: dict[str, Callable[[Work], Figures]] = {
    "search": bench_search,
    "selfplay": bench_selfplay,
    "perft": bench_perft,
    "alphabeta": bench_alphabeta,
    "solver": bench_solver,
    "train": bench_train,
    "arena": bench_arena,
}


def print_figures(name: str, figures: Figures) -> None:
    """Print the figures of one benchmark, a line each."""
    if "games" in figures:
        for row in figures["games"]:
            print_figures(name, row)
        return
    peer = figures.get("peer", {})
    heading = f"{'randori':<12}{peer['peer']}" if peer else ""
    print(f"{name + ' ' + figures['game']:<36}{heading}".rstrip())
    for key, value in figures.items():
        if key not in ("game", "peer"):
            label = LABELS.get(key, key.replace("_", " "))
            other = _figure(key, peer[key]) if key in peer else ""
            print(f"  {label:<34}{_figure(key, value):<12}{other}".rstrip())
    words = beyond_bare(figures.get("ratio", 0.0))
    if words:
        print(f"  {words}")


LABELS = {
    "ratio": "share of the bare network",
    "times_peer": "times as fast as the peer",
    "moves_times_peer": "times as many moves as the peer",
    "random_moves_per_s": "moves of random play per s",
    "microseconds_per_simulation": "microseconds a simulation",
    "in_play_microseconds": "the same in play",
    "times_fp32": "times as fast as in fp32",
    "root_look_milliseconds": "a look for wins in two, ms",
    "trees_mb": "trees, MB",
    "search_mb": "search arrays, MB",
    "peak_rss_mb": "peak memory of the process, MB",
}


def _figure(key: str, value: Any) -> str:
    if key == "ratio":
        return f"{100 * value:.1f} %"
    if isinstance(value, float):
        return f"{value:.2f}" if key.startswith("micro") else amount(value)
    return str(value)
