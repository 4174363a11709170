"""Play in a terminal: a drawn board, moves as text, hints, and what the agent thinks.

Commands and moves come line by line, from a keyboard or from a pipe; the end of input ends the
session.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.text import Text

from randori.agents.agent import Agent
from randori.cli.report import console, percent
from randori.errors import IllegalAction
from randori.games import text
from randori.games.drawing import Cells, as_cells, last_cells, legal_cells
from randori.games.game import Game
from randori.games.position import FEW, Position, Side
from randori.search.search import Analysis, Move

STONES = "●○"
BRACKETS = {(False, False): " ", (False, True): "(", (True, False): ")", (True, True): "|"}
"""What stands between two cells, by whether the last move filled the left and the right one."""
SHOWN_MOVES = 3
"""Moves shown after the agent has moved."""
LINE_PLIES = 8

SIDES: dict[str, frozenset[Side]] = {
    "first": frozenset({"first"}),
    "second": frozenset({"second"}),
    "both": frozenset({"first", "second"}),
    "none": frozenset(),
}
"""Which sides people play."""

HELP = """\
a move       play it; the beginning is enough where only one legal move begins so
hint [n]     the agent's best n moves
undo         take your last move back
moves        the moves so far, and the legal ones
board        draw the board again
position     the position as text, for --position
resign       give up
quit         leave"""


def draw(position: Position, last: Cells = None, *, fancy: bool = False) -> Text:
    """Draw the board with its coordinates; the cells of the last move stand in brackets.

    `fancy` draws stones, colours and the cells that legal moves fill. What the board does not show
    follows below it.
    """
    game = position.game
    height, width = game.board
    margin = len(str(height))
    marked = set(as_cells(last))
    open_cells = set(legal_cells(game, position.state)) if fancy else set()
    drawn = Text(end="")
    drawn.append(" " * margin, style="dim")
    for column, name in enumerate(game.columns[:width]):
        drawn.append(f"{'   ' if game.look.is_apart(1, column) else ' '}{name}", style="dim")
    for row, glyphs in enumerate(text.rows(game, position.state)):
        drawn.append("\n" * game.look.is_apart(0, row))
        drawn.append(f"\n{text.row_number(game, row):>{margin}}", style="dim")
        closing = False
        for column, glyph in enumerate(glyphs):
            cell = row * width + column
            if game.look.is_apart(1, column):
                drawn.append(") " if closing else "  ")
                closing = False
            drawn.append(BRACKETS[closing, cell in marked])
            drawn.append(*_glyph(game, glyph, cell in open_cells, fancy))
            closing = cell in marked
        drawn.append(")" if closing else "")
    below = _beside(position)
    drawn.append(f"\n{below}" if below else "")
    return drawn


def _glyph(game: Game, glyph: str, is_open: bool, fancy: bool) -> tuple[str, str]:
    """Return how a cell looks, and its style."""
    if glyph == text.EMPTY:
        return ("•", "green") if is_open else (("·", "dim") if fancy else (glyph, ""))
    side = game.glyphs.index(glyph)
    return (STONES[side] if fancy else glyph), f"bold {game.look.inks[side]}"


def _beside(position: Position) -> str:
    """Say what both sides hold, or else the details of the position."""
    game = position.game
    hands = [
        f"{game.glyphs[side]} {tray.count}{f' ({tray.note})' if tray.note else ''}"
        for side, tray in enumerate(text.trays(game, position.state))
    ]
    return f"in hand: {', '.join(hands)}" if hands else text.details(game, position.state)


def print_position(position: Position, last: Cells = None) -> None:
    """Print all there is to say about a position."""
    screen = console()
    screen.print(draw(position, last, fancy=is_fancy(screen)), no_wrap=True)
    print(f"position: {position.text()}")
    side = position.to_move
    if not position.is_over:
        print(f"to move: {side} ({position.game.glyphs[side == 'second']})")
    print(f"legal: {' '.join(position.legal()) or 'none'}")
    print(f"outcome: {position.outcome or 'none yet'}{by_points(position)}")


def by_points(position: Position) -> str:
    """Say by how much a finished game was won, where points decide."""
    margin = position.game.margin
    if position.outcome in (None, "draw") or margin is None:
        return ""
    return f" by {abs(margin(position.state)):g}"


def is_fancy(console: Console) -> bool:
    """Tell whether stones and colours can be shown."""
    return console.is_terminal and console.encoding.lower().startswith("utf")


def ask(prompt: str) -> str | None:
    """Read a line, or None at the end of input; what comes from a pipe is echoed."""
    if not sys.stdin.isatty():
        print(prompt, end="", flush=True)  # whoever is at the other end may wait for it
        line = sys.stdin.readline()
        print(line.rstrip())
        return line.strip() if line else None
    with suppress(ImportError):
        import readline  # noqa: F401  (gives `input` a history and an editable line)
    try:
        return input(prompt).strip()
    except EOFError:
        print()
        return None


def judge(agent: Agent, position: Position, seed: int) -> tuple[str, Analysis | None]:
    """Return the agent's move and, where it can tell, the analysis of that very search."""

    def twin() -> Agent:
        return Agent(agent.spec, agent.game, agent.player, np.random.default_rng(seed))

    if not agent.can_analyse:
        return twin().choose(position), None
    analysis, move = twin().analyse(position), twin().choose(position)
    if position.action_text(analysis.best.action) != move:
        # Trees that had to grow drew other dice; they are large enough now.
        analysis = twin().analyse(position)
    return move, analysis


def describe_moves(position: Position, moves: list[Move]) -> list[str]:
    """Write moves as lines of a table: move, visits, prior, value, proven result."""
    with_priors = any(move.prior for move in moves)
    names = [position.action_text(move.action) for move in moves]
    width = max([6, *map(len, names)])
    lines = [f"  {'move':{width}} {'visits':>7}{'  prior' if with_priors else ''}   value"]
    for name, move in zip(names, moves, strict=True):
        prior = f" {percent(move.prior):>6}" if with_priors else ""
        value = signed(move.value) if move.visits or move.proven else "–"
        proven = f"  proven {move.proven}" if move.proven else ""
        lines.append(f"  {name:{width}} {move.visits:7d}{prior} {value:>7}{proven}")
    return lines


def signed(value: float) -> str:
    """Write a value with its sign; nothing is +0.00."""
    return f"{round(value, 2) + 0.0:+.2f}"


def describe_line(position: Position, line: list[int]) -> str:
    """Write a line of play as move texts."""
    words = []
    for action in line[:LINE_PLIES]:
        words.append(position.action_text(action))
        position = position.play(action)
    return " ".join(words) + (" …" if len(line) > LINE_PLIES else "")


@dataclass(frozen=True)
class Turn:
    """A position, the move that led to it, and the cells which that move filled."""

    position: Position
    move: str | None = None
    cells: Cells = None


class Session:
    """One game between people, agents, or both."""

    def __init__(
        self, start: Position, agent: Agent, people: frozenset[Side], seed: int, console: Console
    ) -> None:
        self._turns = [Turn(start)]
        self._agent = agent
        self._people = people
        self._rng = np.random.default_rng(seed)
        self._console = console
        self._is_drawn = False
        self._is_left = False

    @property
    def _position(self) -> Position:
        return self._turns[-1].position

    def play(self) -> None:
        """Go on until the game is over, somebody leaves or the input ends."""
        self._introduce()
        while not self._position.is_over and not self._is_left:
            if self._position.to_move in self._people:
                self._ask_person()
            else:
                self._ask_agent()
        if self._position.is_over:
            self._show_board()
            self._say(self._verdict())
        moves = " ".join(turn.move for turn in self._turns if turn.move)
        if moves:
            self._say(f"moves: {moves}")

    def _introduce(self) -> None:
        glyphs = self._position.game.glyphs
        sides: tuple[Side, Side] = ("first", "second")
        names = ["you" if side in self._people else self._agent.spec for side in sides]
        parts = [f"{self._name(side)} is {name}" for side, name in zip(sides, names, strict=True)]
        ending = "; type a move, or help" if self._people else ""
        legend = f" ({STONES[0]} {glyphs[0]}, {STONES[1]} {glyphs[1]})" if self._fancy else ""
        self._say(f"{self._position.game.title}: {', '.join(parts)}{legend}{ending}")

    def _ask_person(self) -> None:
        if not self._is_drawn:
            self._show_board()
            legal = self._position.legal()
            more = f" … {len(legal)} in all, see moves" if len(legal) > FEW else ""
            shown = " ".join(legal[:FEW])
            self._say(f"{self._name(self._position.to_move)} to move: {shown}{more}")
        line = ask("> ")
        if line is None:
            self._is_left = True
        elif line:
            self._obey(line)

    def _obey(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        commands: dict[str, Callable[[str], None]] = {
            "hint": self._hint,
            "undo": self._undo,
            "moves": self._moves,
            "board": lambda _: self._show_board(),
            "position": lambda _: self._say(self._position.text()),
            "help": lambda _: self._say(HELP),
            "?": lambda _: self._say(HELP),
            "resign": self._resign,
            "quit": self._quit,
            "exit": self._quit,
        }
        if word.lower() in commands and line not in self._position.legal():
            commands[word.lower()](rest.strip())
            return
        try:
            self._move(complete(self._position, line))
        except IllegalAction as error:
            self._say(str(error))

    def _move(self, move: str) -> None:
        before = self._position
        after = before.play(move)
        cells = last_cells(before.game, before.state, after.state)
        self._turns.append(Turn(after, move, cells))
        self._is_drawn = False

    def _ask_agent(self) -> None:
        position = self._position
        if not self._people:
            self._show_board()
        move, analysis = self._judge()
        self._move(move)
        words = f"{self._name(position.to_move)} plays {move}"
        if analysis is None:
            self._say(words)
            return
        self._say(f"{words}   value {signed(analysis.value)}")
        for line in describe_moves(position, list(analysis.moves[:SHOWN_MOVES])):
            self._say(line, style="dim")

    def _judge(self) -> tuple[str, Analysis | None]:
        seed = int(self._rng.integers(2**63))
        if not self._console.is_terminal:
            return judge(self._agent, self._position, seed)
        with self._console.status(f"{self._agent.spec} is thinking"):
            return judge(self._agent, self._position, seed)

    def _hint(self, rest: str) -> None:
        if not self._agent.can_analyse:
            self._say(f"agent {self._agent.spec!r} picks moves but cannot analyse")
            return
        if rest and not (rest.isdecimal() and int(rest)):
            self._say(f"expected hint, or hint and how many moves, like hint 5; got hint {rest}")
            return
        count = int(rest) if rest else SHOWN_MOVES
        _, analysis = self._judge()
        assert analysis is not None
        self._say(f"value {signed(analysis.value)} for {self._name(self._position.to_move)}")
        for line in describe_moves(self._position, list(analysis.moves[:count])):
            self._say(line)
        if analysis.line:
            self._say(f"  expected: {describe_line(self._position, list(analysis.line))}")

    def _undo(self, rest: str) -> None:
        mine = [i for i, t in enumerate(self._turns[:-1]) if t.position.to_move in self._people]
        if not mine:
            self._say("there is nothing to take back")
            return
        del self._turns[mine[-1] + 1 :]
        self._is_drawn = False

    def _moves(self, rest: str) -> None:
        played = " ".join(turn.move for turn in self._turns if turn.move)
        self._say(f"played: {played or 'nothing yet'}")
        self._say(f"legal: {' '.join(self._position.legal())}")

    def _resign(self, rest: str) -> None:
        other: Side = "second" if self._position.to_move == "first" else "first"
        loser = self._name(self._position.to_move)
        self._say(f"{loser} resigns: {self._name(other)} wins")
        self._is_left = True

    def _quit(self, rest: str) -> None:
        self._is_left = True

    def _verdict(self) -> str:
        outcome = self._position.outcome
        if outcome is None or outcome == "draw":
            return "a draw"
        words = f"{self._name(outcome)} wins{by_points(self._position)}"
        if len(self._people) != 1:
            return words
        return f"{words}: {'well played' if outcome in self._people else 'the agent won'}"

    def _show_board(self) -> None:
        turn = self._turns[-1]
        self._console.print()
        self._console.print(draw(turn.position, turn.cells, fancy=self._fancy), no_wrap=True)
        self._is_drawn = True

    @property
    def _fancy(self) -> bool:
        return is_fancy(self._console)

    def _name(self, side: Side) -> str:
        return self._position.game.glyphs[side == "second"]

    def _say(self, words: str, style: str = "") -> None:
        self._console.print(words, style=style, soft_wrap=True)


def complete(position: Position, word: str) -> str:
    """Return the legal move that `word` is, or that it alone begins."""
    legal = position.legal()
    folded = word.casefold()
    for fits in (
        [move for move in legal if move == word],
        [move for move in legal if move.casefold() == folded],
        [move for move in legal if move.casefold().startswith(folded)],
    ):
        if len(fits) == 1:
            return fits[0]
        if fits:
            raise IllegalAction(f"{word!r} may be {' or '.join(fits)}")
    return position.action_text(position.parse(word))
