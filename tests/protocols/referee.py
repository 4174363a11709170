"""Play two programs against each other by GTP alone; nothing of ours looks at the games.

    python tests/protocols/referee.py -n 100 "randori gtp go --agent uct:simulations=20" \
        "gnugo --mode gtp --level 0"

Any answer that is not ``=`` ends it with exit code 1: that is a protocol error of one side.
"""

import argparse
import shlex
import subprocess
import sys
from dataclasses import dataclass


class ProtocolError(Exception):
    """A refusal, or an answer that is no GTP."""


class Program:
    """A program that is asked one command after another."""

    def __init__(self, command: list[str]) -> None:
        self.name = command[0]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self._asked = 0

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def ask(self, command: str) -> str:
        """Return the answer, which must carry the number of the question and be a success."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._asked += 1
        self._process.stdin.write(f"{self._asked} {command}\n")
        lines = []
        for line in self._process.stdout:
            if not line.strip():
                break
            lines.append(line.rstrip())
        mark = f"={self._asked}"
        if not lines or lines[0].partition(" ")[0] != mark:
            raise ProtocolError(f"{self.name}: {command!r} was answered by {lines!r}")
        return "\n".join([lines[0].removeprefix(mark).lstrip(), *lines[1:]])

    def quit(self) -> int:
        """Ask it to end, and return its exit code."""
        self.ask("quit")
        return self._process.wait(20)


@dataclass
class Result:
    """One game: its moves, and who won by the referee's count, or by resignation."""

    moves: list[str]
    winner: str
    scores: tuple[str, str]


def play_game(black: Program, white: Program, size: int, komi: float, longest: int) -> Result:
    """Play until two passes, a resignation, or so many moves; White's program counts last."""
    for program in (black, white):
        for command in (f"boardsize {size}", "clear_board", f"komi {komi:g}"):
            program.ask(command)
    seats, moves = (black, white), []
    while moves[-2:] != ["pass", "pass"] and len(moves) < longest:
        turn = len(moves) % 2
        colour = "bw"[turn]
        move = seats[turn].ask(f"genmove {colour}").casefold()
        if move == "resign":
            return Result(moves, "WB"[turn], ("", ""))
        seats[1 - turn].ask(f"play {colour} {move}")
        moves.append(move)
    scores = black.ask("final_score"), white.ask("final_score")
    return Result(moves, "", scores)


def main() -> int:
    """Play a match and report it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs=2)
    parser.add_argument("-n", type=int, default=20)
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--komi", type=float, default=7.5)
    parser.add_argument("--longest", type=int, default=1000)
    options = parser.parse_args()
    commands = [shlex.split(program) for program in options.programs]
    wins = {0: [0, 0], 1: [0, 0]}
    plies, longest = 0, 0
    with Program(commands[0]) as first, Program(commands[1]) as second:
        for number in range(options.n):
            swapped = number % 2
            black, white = (second, first) if swapped else (first, second)
            try:
                game = play_game(black, white, options.size, options.komi, options.longest)
            except ProtocolError as error:
                print(f"game {number + 1}: {error}")
                return 1
            plies += len(game.moves)
            longest = max(longest, len(game.moves))
            counts = game.scores[::-1] if swapped else game.scores
            for program in range(2):
                winner = game.winner or counts[program][:1]
                wins[program][0] += winner == "BW"[swapped]
                wins[program][1] += winner == "WB"[swapped]
        codes = first.quit(), second.quit()
    print(f"{options.n} games without a protocol error, {plies} plies, the longest {longest}")
    for program in range(2):
        won, lost = wins[program]
        name = commands[program][0]
        print(f"by the count of {name}: the first program won {won}, the second {lost}")
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
