"""`make demo`: Connect 4 from zero in about five minutes, and what came of it.

python -m randori.cli.demo [--minutes M] [--games N]
"""

import argparse
import sys

from randori.agents.registry import load_agent
from randori.arena.match import MatchResult, PlayedGame, play_match
from randori.cli.app import guarded
from randori.cli.gauge import shown_progress
from randori.cli.report import note, print_table
from randori.cli.training import go_on, preset_settings, print_commands
from randori.games.game import Game
from randori.games.position import RESULTS
from randori.games.records import GameRecord
from randori.games.registry import load_game
from randori.learners.settings import AlphaZeroConfig
from randori.learners.training import start_run
from randori.runs.config import override
from randori.words import some

GAME = "connect4"
OPPONENTS = ("random", "uct:simulations=100")
SIMULATIONS = 200


def demo(minutes: float, games: int) -> int:
    """Train, measure, show a game and say how to play; return the exit code."""
    note(f"Randori learns {GAME} from zero for {minutes:g} minutes; all it knows are the rules.")
    game = load_game(GAME)
    settings = [*preset_settings("demo"), f"stop.minutes={minutes}"]
    run = start_run(
        game, override(AlphaZeroConfig(), settings), seed=1, path=None, learner="alphazero"
    )
    code = go_on(run, plain=False, as_json=False)
    if code:
        return code
    agent = load_agent(f"az:{run.path},simulations={SIMULATIONS}", game)
    results, played = [], some(games, "game")
    for spec in OPPONENTS:
        note(f"playing {played} against {spec}, colours alternated …")
        with shown_progress(games, length=25.0) as progress:
            opponent = load_agent(spec, game)
            results.append(play_match(game, agent, opponent, games, seed=1, progress=progress))
    print(f"\nThe new agent with {SIMULATIONS} simulations a move, {played} a match:\n")
    print_results(results)
    print(f"\nA game against {OPPONENTS[-1]}:\n")
    print_game(game, sample_game(results[-1]))
    print("\nThe new agent plays on whenever you like:\n")
    print_commands(run)
    return 0


def print_results(results: list[MatchResult]) -> None:
    """Print a table with a row a match."""
    rows = []
    for result in results:
        low, high = result.interval
        counts = [str(count) for count in (result.wins, result.draws, result.losses)]
        share = f"{100 * result.score:.1f} %"
        rows.append((result.b, *counts, share, f"[{100 * low:.1f}, {100 * high:.1f}]"))
    heads = ("opponent", "wins", "draws", "losses", "score", "95 % interval")
    print_table(rows, heads, numbers=(1, 2, 3, 4))


def sample_game(result: MatchResult) -> PlayedGame:
    """Return the first game that the agent won, or else the first."""
    won = [game for game in result.games if game.score == 1.0]
    return (won or result.games)[0]


def print_game(game: Game, played: PlayedGame) -> None:
    """Print the moves and the last position of a game."""
    record = GameRecord.from_actions(game, played.moves, RESULTS[played.outcome])
    winner = {"first": "x wins", "second": "o wins", "draw": "a draw"}[str(record.result)]
    side = "x" if played.a_is_first else "o"
    print(f"  columns {' '.join(record.moves)}: {winner} (the agent plays {side})\n")
    print(record.replay()[-1])


def main() -> int:
    """Read the arguments and run the demo."""
    parser = argparse.ArgumentParser(description="Learn Connect 4 from zero, then show it.")
    parser.add_argument("--minutes", type=float, default=5.0, help="minutes of training")
    parser.add_argument("--games", type=int, default=100, help="games a match")
    given = parser.parse_args()
    return guarded(lambda: demo(given.minutes, given.games))


if __name__ == "__main__":
    sys.exit(main())
