"""An exploration: an agent, the positions played through, and where in its tree one stands.

Every position on the way keeps its own search, so taking a move back finds it as it was. As text:

    randori exploration 1
    game tictactoe
    agent uct:simulations=100
    seed 0
    position .../.../... x
    run 100
    play b2
    run 50
    down a1

The lines after `position` are commands: `run`, `play` and `down` bring the searches and the place
back, number for number where an agent keeps its tree. Lines that begin with `#` are comments.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from randori.errors import UserError, nearest
from randori.explorer.engines import open_engine
from randori.explorer.studies import Engine, Study, follow
from randori.explorer.view import View
from randori.games.game import Game
from randori.games.position import Position
from randori.games.registry import load_game
from randori.runs.atomic import write_text
from randori.spec import parse_spec

FIRST_LINE = "randori exploration 1"
HEAD = ("game", "agent", "against", "seed", "position")
MOST = 10_000_000
"""What one `run` may add; more would not fit into memory."""
DIGITS = 18


@dataclass
class Root:
    """A position on the way, the move that led to it, and its search once there is one."""

    position: Position
    move: str | None = None
    study: Study | None = None


class Exploration:
    """Roots from the first position to the last, and a path below the last one."""

    def __init__(
        self, engine: Engine, start: Position, seed: int = 0, against: str | None = None
    ) -> None:
        self.engine = engine
        self.seed = seed
        self.against = against
        self.roots = [Root(start)]
        self.path: list[int] = []

    @property
    def game(self) -> Game:
        """The game of it all."""
        return self.roots[0].position.game

    @property
    def position(self) -> Position:
        """Where one stands."""
        return follow(self.roots[-1].position, self.path)

    @property
    def before(self) -> Position | None:
        """The position one step back, if there is one."""
        if self.path:
            return follow(self.roots[-1].position, self.path[:-1])
        return self.roots[-2].position if len(self.roots) > 1 else None

    @property
    def study(self) -> Study:
        """The search of the last root, begun when first needed."""
        root = self.roots[-1]
        if root.study is None:
            root.study = self.engine.study(root.position)
        return root.study

    def view(self) -> View:
        """Tell what is known where one stands."""
        return self.study.look(self.path)

    def run(self, amount: int | None = None) -> int:
        """Search on from the root; return how much was run."""
        if self.roots[-1].position.is_over:
            raise UserError(f"the game is over ({self.roots[-1].position.outcome})")
        if amount is None:  # an agent without a tree first looks with its own budget
            amount = self.engine.usual or int(self.roots[-1].study is not None)
        if not 0 <= amount <= MOST:
            raise UserError(f"expected at most {MOST} {self.engine.unit}, found {amount}")
        before = self.study.spent
        self.study.run(amount)
        return self.study.spent - before

    def down(self, move: str) -> None:
        """Step to the position after a move, in the same search."""
        self.path.append(self.position.parse(move))

    def up(self) -> None:
        """Step back towards the root."""
        if not self.path:
            raise UserError("this is the root; undo takes a played move back")
        self.path.pop()

    def play(self, move: str | None = None) -> None:
        """Make where one stands, or the position after a move from there, the root."""
        actions = [*self.path] if move is None else [*self.path, self.position.parse(move)]
        for action in actions:
            before = self.roots[-1].position
            self.roots.append(Root(before.play(action), before.action_text(action)))
        self.path = []

    def cut_moves(self, words: Sequence[str]) -> list[str]:
        """Cut words into moves where the game can, as in 4435."""
        moves: list[str] = []
        for word in words:
            try:
                cut = self.game.split_moves
                moves += [word] if cut is None else cut(word)
            except ValueError:
                moves.append(word)
        return moves

    def undo(self) -> str:
        """Take the last played move back and return it."""
        if len(self.roots) == 1:
            raise UserError("no move was played; up leads back from a move that was only looked at")
        self.path = []
        return self.roots.pop().move or ""

    def set_up(self, position: Position) -> None:
        """Begin anew from another position."""
        self.roots, self.path = [Root(position)], []

    def path_texts(self) -> list[str]:
        """Write the path below the root as moves."""
        return _texts(self.roots[-1].position, self.path)

    def moves(self) -> list[str]:
        """List the moves that were played."""
        return [root.move for root in self.roots if root.move is not None]

    def text(self) -> str:
        """Write the exploration; `read_exploration` reads it back."""
        values = (self.game.spec, self.engine.spec, self.against, self.seed,
                  self.roots[0].position.text())  # fmt: skip
        pairs = zip(HEAD, values, strict=True)
        lines = [FIRST_LINE, *(f"{key} {value}" for key, value in pairs if value is not None)]
        for root in self.roots:
            lines += [f"play {root.move}"] if root.move is not None else []
            lines += [f"run {root.study.spent}"] if root.study and root.study.spent else []
        lines += [f"down {move}" for move in self.path_texts()]
        return "\n".join([*lines, ""])

    def save(self, path: Path) -> None:
        """Write it to a file, but over nothing else than an exploration."""
        if path.exists() and not (path.is_file() and _first_line(path) == FIRST_LINE):
            raise UserError(f"{path} exists and is no exploration; choose another name")
        write_text(path, self.text())


def read_exploration(text: str, name: str) -> Exploration:
    """Read an exploration and run its searches again; say which line is wrong."""
    lines = [line.strip() for line in text.splitlines()]
    if not lines or lines[0] != FIRST_LINE:
        raise UserError(f"{name} is no exploration: its first line should be {FIRST_LINE!r}")
    head: dict[str, str] = {}
    found: Exploration | None = None
    for number, line in enumerate(lines[1:], start=2):
        word, _, rest = line.partition(" ")
        try:
            if word in HEAD and found is None and word not in head:
                head[word] = rest.strip()
            elif word and not word.startswith("#"):
                found = found or _begin(head)
                _follow_command(found, word, rest.strip())
        except UserError as error:
            raise UserError(f"{name}, line {number}: {error}") from None
    return found or _begin(head)


def load_exploration(path: Path) -> Exploration:
    """Read an exploration from a file."""
    try:
        return read_exploration(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError:
        raise UserError(f"{path} is no text file") from None


def expect_known(game: str, *agents: str) -> None:
    """Refuse rules and programs that a file names: reading it must not run them."""
    if parse_spec(game).name.endswith(".py"):
        raise UserError(f"game {game!r}: a file may not name rules to run")
    for agent in agents:
        if agent.strip().startswith("gtp"):
            raise UserError(f"agent {agent!r}: a file may not name a program to run")


def _begin(head: dict[str, str]) -> Exploration:
    missing = [key for key in ("game", "agent") if key not in head]
    if missing:
        raise UserError(f"expected a line '{missing[0]} …' first")
    expect_known(head["game"], head["agent"], head.get("against", ""))
    game, seed = load_game(head["game"]), head.get("seed", "0")
    number = whole_number(seed)
    if number is None:
        raise UserError(f"seed: expected a whole number, found {seed!r}")
    start = game.position(head.get("position", "start"))
    engine = open_engine(head["agent"], game, number)
    return Exploration(engine, start, number, head.get("against"))


def _follow_command(exploration: Exploration, word: str, rest: str) -> None:
    if word == "run":
        amount = whole_number(rest)
        if rest and amount is None:
            raise UserError(f"run: expected a whole number, found {rest!r}")
        exploration.run(amount)
    elif word in ("play", "down"):
        step = exploration.play if word == "play" else exploration.down
        for move in exploration.cut_moves(rest.split()):
            step(move)
    else:
        known = [*HEAD, "run", "play", "down"]
        raise UserError(f"there is no {word!r} in an exploration; {nearest(word, known)}")


def whole_number(word: str) -> int | None:
    """Read a number without sign; None if it is none, or one that nothing here could be."""
    return int(word) if word.isascii() and word.isdecimal() and len(word) <= DIGITS else None


def _texts(position: Position, actions: list[int]) -> list[str]:
    words = []
    for action in actions:
        words.append(position.action_text(action))
        position = position.play(action)
    return words


def _first_line(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.readline(len(FIRST_LINE) + 1).rstrip("\n")
