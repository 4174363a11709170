"""A game in figures on the command line."""

from time import perf_counter

from randori.arena.stats import Stats, measure, random_games
from randori.cli.gauge import mean_length, shown_progress
from randori.cli.report import amount, announced, clock, note, print_json
from randori.games.registry import load_game
from randori.words import some


def print_stats(spec: str, games: int, placed: int, seed: int, as_json: bool) -> None:
    """Measure a game by random play and print what was found."""
    game = load_game(spec)
    with announced(game.name) as compiled:
        length = mean_length(game)
        random_games(game, 1)
        start = perf_counter()
        with shown_progress(games, length, compiled) as progress:
            stats = measure(game, games, placed=placed, seed=seed, progress=progress)
    seconds = perf_counter() - start
    if as_json:
        print_json({**stats.summary(), "seconds": seconds})
        return
    print("\n".join(describe(stats)))
    rate = amount(stats.positions / max(1e-9, seconds))
    note(f"{stats.positions} random moves in {clock(seconds)}, {rate} a second; seed {seed}")


def describe(stats: Stats) -> list[str]:
    """Write figures with their 95 % intervals, a line each."""
    score = stats.first_score
    shares = f"{100 * score.mean:.1f} % [{100 * score.low:.1f}, {100 * score.high:.1f}]"
    lines = [
        f"{stats.game}: {some(stats.games, 'random game')}, 95 % intervals in brackets",
        f"  plies of a game            {stats.length}",
        f"  legal moves of a position  {stats.branching}   (each game alike: "
        f"{stats.branching_per_game})",
        f"  first player's score       {shares}   ({some(stats.first, 'win')}, "
        f"{some(stats.draws, 'draw')}, {some(stats.second, 'loss')})",
    ]
    if stats.captures.mean:
        lines.append(f"  stones taken in a game     {stats.captures}")
    if stats.cut_off:
        share = 100 * stats.cut_off / stats.games
        label = f"  games of {stats.longest} plies".ljust(29)
        lines.append(f"{label}{share:.1f} %   (none is longer)")
    if stats.placed_branching is not None:
        count = some(stats.placed, "position")
        lines.append(
            f"  legal moves of a position  {stats.placed_branching}   ({count} with stones placed "
            "at random)"
        )
    return lines
