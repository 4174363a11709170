"""A GTP program for tests: it plays the first free point, and goes wrong as its options say.

It is run by itself and imports nothing of ours.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

COLUMNS = "ABCDEFGHJKLMNOPQRST"
KNOWN = ("protocol_version", "list_commands", "boardsize", "clear_board", "komi", "play", "genmove")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--do", default="", help="what goes wrong: hang, crash, say, die or babble")
    parser.add_argument("--on", default="genmove", help="the command at which it goes wrong")
    parser.add_argument("--after", type=int, default=0, help="how often that goes well before")
    parser.add_argument("--once", type=Path, help="a file that the first one to go wrong makes")
    parser.add_argument("--words", default="", help="what it says instead, or its last words")
    parser.add_argument("--move", default="", help="what it plays, the last again and again")
    parser.add_argument("--refuse", default="", help="how commands begin that it refuses")
    parser.add_argument("--know", default="", help="further commands")
    parser.add_argument("--slow", type=float, default=0.0, help="seconds for a move")
    parser.add_argument("--lag", type=float, default=0.0, help="seconds for every answer")
    parser.add_argument("--noise", type=int, default=0, help="bytes of errors with every answer")
    parser.add_argument("--deaf", action="store_true", help="neither quits nor ends by SIGTERM")
    parser.add_argument("--child", action="store_true", help="starts a process of its own")
    parser.add_argument("--log", type=Path, help="a file for the commands, each behind the pid")
    return parser.parse_args()


class Fake:
    """What the program remembers."""

    def __init__(self) -> None:
        self.options = options()
        self.size = 19
        self.taken: set[str] = set()
        self.met = 0
        self.moves = self.options.move.split(";")

    def log(self, words: str) -> None:
        if self.options.log:
            with self.options.log.open("a") as file:
                file.write(f"{os.getpid()} {words}\n")

    def goes_wrong(self, command: str) -> bool:
        if not self.options.do or command != self.options.on:
            return False
        self.met += 1
        if self.met <= self.options.after:
            return False
        if self.options.once is None:
            return True
        try:
            self.options.once.touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def go_wrong(self) -> None:
        """Hang, crash, say what is no answer, talk without end, or answer and then die."""
        if self.options.do == "hang":
            time.sleep(60)
        elif self.options.do == "crash":
            print(self.options.words, file=sys.stderr, flush=True)
            os._exit(3)
        elif self.options.do == "say":
            print(self.options.words, flush=True)
        elif self.options.do == "babble":
            while True:
                sys.stderr.write("x" * 1000)
        elif self.options.do == "die":
            print("= A1\n", flush=True)
            os._exit(0)

    def answer(self, command: str, arguments: list[str]) -> str:
        if command == "list_commands":
            return "\n".join([*KNOWN, *self.options.know.split()])
        if command == "boardsize":
            self.size = int(arguments[0])
        elif command == "clear_board":
            self.taken.clear()
        elif command == "play":
            self.taken.add(arguments[1])
        elif command == "genmove":
            time.sleep(self.options.slow)
            move = self.moves.pop(0) if len(self.moves) > 1 else self.moves[0]
            return move or self.first_free()
        return "2" if command == "protocol_version" else ""

    def first_free(self) -> str:
        points = [f"{c}{r + 1}" for r in range(self.size) for c in COLUMNS[: self.size]]
        free = [point for point in points if point not in self.taken]
        self.taken.update(free[:1])
        return free[0] if free else "pass"

    def run(self) -> None:
        if self.options.deaf:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if self.options.child:
            self.log(f"child {subprocess.Popen(['sleep', '60']).pid}")
        while line := sys.stdin.readline():
            command, *arguments = line.split()
            self.log(line.strip())
            if command == "quit" and not self.options.deaf:
                break
            if self.goes_wrong(command):
                self.go_wrong()
                continue
            time.sleep(self.options.lag)
            sys.stderr.write("e" * self.options.noise)
            sys.stderr.flush()
            if self.options.refuse and line.startswith(self.options.refuse):
                print("? not me\n", flush=True)
            else:
                print(f"= {self.answer(command, arguments)}\n", flush=True)
        while self.options.deaf:
            time.sleep(1)


if __name__ == "__main__":
    Fake().run()
