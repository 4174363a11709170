"""The commands of the explorer: each is a word with a line of help, and prints what it finds."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from randori.errors import IllegalAction, UserError, nearest
from randori.explorer.engines import open_engine
from randori.explorer.exploration import Exploration, load_exploration, whole_number
from randori.explorer.picture import draw_tree, grow
from randori.explorer.studies import Engine
from randori.explorer.tables import beside, describe, describe_line, headline, signed
from randori.games.drawing import Cells, last_cells
from randori.games.position import Position
from randori.runs.atomic import write_text

SHOWN = 10
"""Moves that are listed if nobody says how many."""
TOP, PLIES = 3, 3
"""Moves and plies of a drawn tree if nobody says how many."""
MOST_DRAWN, DEEPEST = 2000, 40
"""Boxes and plies that a picture may have."""

HELP = {
    "run": ("run [N]", "search on from the root: N simulations, plies or seconds more"),
    "list": (
        "list [K]",
        "the moves here: the best, then what is proven, then by visits or value",
    ),
    "down": ("down MOVE…", "look at the position after a move, in the same search"),
    "up": ("up", "back towards the root"),
    "root": ("root", "back to the root"),
    "pv": ("pv", "the line of play that the search expects"),
    "net": ("net [K]", "what the network says here without search"),
    "board": ("board", "draw the board"),
    "position": ("position [P]", "print the position, or begin anew from a text or a name"),
    "play": ("play [MOVE…]", "play moves, or what was looked at; the position becomes the root"),
    "undo": ("undo [N]", "take N played moves back, or one, to the search as it was"),
    "compare": ("compare [AGENT]", "the tree here, and what another agent thinks, side by side"),
    "tree": ("tree FILE.svg [K] [D]", "draw the first K moves of every list, to depth D; also svg"),
    "save": ("save FILE", "write the exploration as text"),
    "load": ("load FILE", "go on with one that was written"),
    "help": ("help [COMMAND]", "this list"),
    "quit": ("quit", "leave; exit does so too"),
}


ALIASES = {"exit": "quit", "?": "help", "svg": "tree"}


class Commands:
    """Obeys one line at a time."""

    def __init__(
        self, exploration: Exploration, show_board: Callable[[Position, Cells], None]
    ) -> None:
        self.exploration = exploration
        self.is_left = False
        self._show_board = show_board
        self._others: dict[tuple[str, str], Engine] = {}

    def obey(self, line: str) -> None:
        """Do what a line says; a `UserError` says in one line what is wrong with it."""
        words = line.split()
        if not words:
            return
        word = ALIASES.get(words[0].lower(), words[0].lower())
        if word not in HELP:
            with suppress(IllegalAction):
                self.exploration.position.parse(words[0])
                raise UserError(f"{words[0]} is a move: down {words[0]} goes there")
            raise UserError(f"there is no command {words[0]!r}; {nearest(word, HELP)}")
        commands: dict[str, Callable[[Sequence[str]], None]] = {
            name: getattr(self, f"_{name}") for name in HELP
        }
        commands[word](words[1:])

    def complete(self, line: str) -> list[str]:
        """List what the last word of an unfinished line may become."""
        *before, last = line.lstrip().split(" ")
        if not before:
            known: Sequence[str] = [*HELP, "exit", "svg"]
        elif before[0] in ("down", "play"):
            known = self.exploration.position.legal() if len(before) == 1 else []
        elif before[0] == "position":
            known = ["start", *self.exploration.game.positions]
        elif before[0] in ("tree", "svg", "save", "load"):
            folder = Path(last).parent if "/" in last else Path()
            known = sorted(str(path) for path in folder.glob("*")) if folder.is_dir() else []
        else:
            known = []
        return [word for word in known if word.casefold().startswith(last.casefold())]

    def _run(self, words: Sequence[str]) -> None:
        (amount,) = _numbers("run", words, 0)
        at = self.exploration
        start = time.perf_counter()
        done = at.run(amount or None)
        seconds = time.perf_counter() - start
        view = at.study.look([])
        what = "searched by its own settings"
        if done:
            what = f"{at.engine.unit}: {done} more, {at.study.spent} in all"
        elif view.proven and at.engine.unit == "simulations":
            what = "proven at once"
        print(f"{what}; {seconds:.2f} s")
        print(headline(at.roots[-1].position, view))

    def _list(self, words: Sequence[str]) -> None:
        (count,) = _numbers("list", words, SHOWN)
        at = self.exploration
        view = at.view()
        print(headline(at.position, view))
        if view.branches:
            print("\n".join(describe(at.position, view, count)))
        if at.engine.usual and not at.study.spent and not view.proven and not at.position.is_over:
            print("nothing is searched yet: `run` searches")

    def _down(self, words: Sequence[str]) -> None:
        if not words:
            raise UserError("expected down MOVE")
        at = self.exploration
        before = [*at.path]
        try:
            for move in at.cut_moves(words):
                at.down(move)
        except UserError:
            at.path = before
            raise
        self._say_where()

    def _up(self, words: Sequence[str]) -> None:
        self.exploration.up()
        self._say_where()

    def _root(self, words: Sequence[str]) -> None:
        self.exploration.path = []
        self._say_where()

    def _pv(self, words: Sequence[str]) -> None:
        view = self.exploration.view()
        if not view.line:
            raise UserError("no line is known here; run first")
        print("\n".join(describe_line(self.exploration.position, view)))

    def _net(self, words: Sequence[str]) -> None:
        (count,) = _numbers("net", words, SHOWN)
        at = self.exploration
        if at.position.is_over:
            raise UserError(f"the game is over ({at.position.outcome})")
        view = at.engine.first_sight(at.position)
        print(f"network: value {signed(view.own)} for the side to move")
        print("\n".join(describe(at.position, view, count, ("prior",))))

    def _board(self, words: Sequence[str]) -> None:
        at = self.exploration
        position, before = at.position, at.before
        cells = None if before is None else last_cells(at.game, before.state, position.state)
        self._show_board(position, cells)

    def _position(self, words: Sequence[str]) -> None:
        at = self.exploration
        if words:
            at.set_up(at.game.position(" ".join(words)))
            self._board([])
        else:
            print(at.position.text())

    def _play(self, words: Sequence[str]) -> None:
        at = self.exploration
        if not words and not at.path:
            raise UserError("expected play MOVE, or down MOVE first")
        moves: Sequence[str | None] = at.cut_moves(words) or [None]
        roots, path = [*at.roots], [*at.path]
        try:
            for move in moves:
                at.play(move)
        except UserError:
            at.roots, at.path = roots, path
            raise
        print(f"played: {' '.join(at.moves())}")

    def _undo(self, words: Sequence[str]) -> None:
        (count,) = _numbers("undo", words, 1)
        played = len(self.exploration.moves())
        if count > max(1, played):
            raise UserError(f"{played} {'move was' if played == 1 else 'moves were'} played")
        taken = [self.exploration.undo() for _ in range(count)]
        left = " ".join(self.exploration.moves())
        print(f"took {' '.join(taken[::-1])} back{f'; played: {left}' if left else ''}")

    def _compare(self, words: Sequence[str]) -> None:
        at = self.exploration
        spec = " ".join(words) or at.against
        if not spec:
            raise UserError("expected compare AGENT, such as compare uct:simulations=800")
        if at.position.is_over:
            raise UserError(f"the game is over ({at.position.outcome})")
        other = self._opinion(self._other(spec))
        print("\n".join(beside(self._at_hand() or self._opinion(at.engine), other)))
        at.against = spec

    def _other(self, spec: str) -> Engine:
        key = self.exploration.game.spec, spec
        if key not in self._others:
            self._others[key] = open_engine(spec, self.exploration.game, self.exploration.seed)
        return self._others[key]

    def _at_hand(self) -> list[str] | None:
        """Describe what the search so far says here; None where it has not been."""
        at = self.exploration
        has_run = at.study.spent or not at.engine.usual  # the first look at a root is no search
        if not has_run or (view := at.view()).value is None:
            return None
        head = f"{at.engine.spec}, the search at hand"
        return [head, headline(at.position, view), *describe(at.position, view, SHOWN)]

    def _opinion(self, engine: Engine) -> list[str]:
        """Let an agent look at this position by its own settings, and describe what it found."""
        position = self.exploration.position
        study = engine.study(position)
        study.run(engine.usual)
        view = study.look([])
        head = f"{engine.spec}, searched anew"
        return [head, headline(position, view), *describe(position, view, SHOWN)]

    def _tree(self, words: Sequence[str]) -> None:
        if not words or not words[0].lower().endswith(".svg"):
            raise UserError("expected tree FILE.svg, or tree FILE.svg 4 2")
        count, depth = _numbers("tree FILE.svg", words[1:], TOP, PLIES)
        if depth > DEEPEST or sum(count**ply for ply in range(depth + 1)) > MOST_DRAWN:
            raise UserError(f"{count} moves to depth {depth} are too many to draw; ask for fewer")
        at = self.exploration
        trunk = grow(at.study, at.position, at.path, count, depth)
        moves = " ".join([*at.moves(), *at.path_texts()])
        title = f"{at.engine.spec} on {at.game.spec}{f' after {moves}' if moves else ''}"
        write_text(Path(words[0]), draw_tree(trunk, title))
        print(f"wrote {words[0]}")

    def _save(self, words: Sequence[str]) -> None:
        path = _file("save", words)
        self.exploration.save(path)
        print(f"wrote {path}")

    def _load(self, words: Sequence[str]) -> None:
        self.exploration = load_exploration(_file("load", words))
        self._board([])
        self._say_where()

    def _help(self, words: Sequence[str]) -> None:
        width = max(len(usage) for usage, _ in HELP.values())
        for name, (usage, meaning) in HELP.items():
            if not words or name in words:
                print(f"{usage:{width}}  {meaning}")

    def _quit(self, words: Sequence[str]) -> None:
        self.is_left = True

    def _say_where(self) -> None:
        at = self.exploration
        view = at.view()
        print(headline(at.position, view))
        if at.path and view.value is None and not at.position.is_over:
            print("run goes on from the root; play makes this position the root")


def _numbers(usage: str, words: Sequence[str], *usual: int) -> list[int]:
    """Read whole numbers of at least 1, or take the usual ones."""
    numbers = [whole_number(word) or 0 for word in words]
    if len(words) > len(usual) or not all(numbers):
        raise UserError(f"expected {usage} and numbers from 1 up, found {' '.join(words)!r}")
    return [*numbers, *usual[len(words) :]]


def _file(command: str, words: Sequence[str]) -> Path:
    if len(words) != 1:
        raise UserError(f"expected {command} FILE")
    return Path(words[0])
