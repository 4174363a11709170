"""Suites: positions whose best moves are known, as text that people can read and write.

    # Random positions, solved to the end.
    game: connect4
    44353 | 1:-4 2:-2 3:+4 4:+1 5:-4 6:-4 7:-4 | early clear | 17
    26 | 2 4 5 | paper

A line holds a position (its text, its name, or the moves that lead there from the start), then the
best moves, or every legal move with its exact score for the mover, positive where it wins and 0
where it draws; then a class, which exams report by; and a name, if the question has one. A line
that begins with ``#`` is a comment; those in front of the first position are kept.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from randori.arena.openings import read_line
from randori.errors import UserError, nearest
from randori.games.game import Game
from randori.games.position import Position
from randori.games.registry import GAMES, load_game
from randori.spec import parse_spec
from randori.words import are

SHIPPED = Path(__file__).parents[1] / "suites"
BAR = " | "
SCORED = re.compile(r"(?P<move>.+):(?P<score>[+-]?[0-9]+)", re.ASCII)


@dataclass(frozen=True)
class Question:
    """One position with what is known about its moves."""

    position: Position
    best: tuple[int, ...]
    """The best moves, in the order of the file."""
    kind: str = ""
    """The class that it counts for."""
    name: str = ""
    scores: Mapping[int, int] = field(default_factory=dict)
    """Exact scores of all legal moves for their mover; empty where they are not known."""
    words: str = ""
    """How the position is written, if not by its text."""

    @classmethod
    def scored(
        cls, position: Position, scores: Mapping[int, int], kind: str, name: str = "",
        words: str = "",
    ) -> "Question":  # fmt: skip
        """Make a question of which all scores are known."""
        top = max(scores.values())
        best = tuple(action for action, score in scores.items() if score == top)
        return cls(position, best, kind, name, scores, words)

    def line(self) -> str:
        """Write one line of a suite."""
        known = [
            f"{self.position.action_text(action)}{_score_text(self.scores, action)}"
            for action in self.scores or self.best
        ]
        parts = [self.words or self.position.text(), " ".join(known), self.kind, self.name]
        return BAR.join(parts).rstrip(" |")


@dataclass(frozen=True)
class Suite:
    """Questions about one game."""

    game: Game
    questions: tuple[Question, ...]
    notes: tuple[str, ...] = ()
    """What the comments at the top say, a line each."""


def write_suite(suite: Suite) -> str:
    """Write the text that `parse_suite` reads."""
    notes = [f"# {note}".rstrip() for note in suite.notes]
    lines = [*notes, f"game: {suite.game.spec}", *(q.line() for q in suite.questions)]
    return "".join(f"{line}\n" for line in lines)


def read_suite(game: Game, name: str | Path) -> Suite:
    """Read a file, or the shipped suite of this name."""
    path = find_suite(game, name)
    where = f"suite {path.stem!r}" if path.parent == SHIPPED else str(path)
    return parse_suite(game, read_text(path), where)


def parse_suite(game: Game, text: str, where: str = "suite") -> Suite:
    """Read what `write_suite` wrote; `where` is named in front of what is wrong."""
    questions: list[Question] = []
    notes: list[str] = []
    spec = ""
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if line.startswith("#") and not questions:
            notes.append(line[1:].strip())
        if not line or line.startswith("#"):
            continue
        try:
            if line.startswith("game:"):
                spec = line.removeprefix("game:").strip()
                _expect_game(game, spec)
            elif not spec:
                raise UserError(f"expected `game: {game.spec}` before the first position")
            else:
                questions.append(_parse_question(game, line))
        except UserError as error:
            raise UserError(f"{where}, line {number}: {error}") from None
    if not questions:
        raise UserError(f"{where} holds no positions")
    return Suite(game, tuple(questions), tuple(notes))


def shipped_suites(game: Game | None = None) -> dict[str, Path]:
    """List the suites that come with the package by name, or those for one game."""
    found = {path.stem: path for path in sorted(SHIPPED.glob("*.txt"))}
    return {n: path for n, path in found.items() if game is None or _header(path) == game.identity}


def find_suite(game: Game, name: str | Path) -> Path:
    """Return the path of a suite that is given by path or by name; a shipped one is for `game`."""
    shipped, known = shipped_suites(), shipped_suites(game)
    path = Path(name)
    if path.is_dir() and str(name) not in shipped:
        raise UserError(f"suite {str(name)!r} is a folder; expected a file of positions, or a name")
    if not path.is_file():
        if str(name) not in shipped:
            there = f"there is no file of this name, and no such suite of {game.spec}"
            raise UserError(f"suite {str(name)!r}: {there}; {nearest(str(name), known)}")
        path = shipped[str(name)]
    if path.parent == SHIPPED and path.stem not in known:
        others = f"; for that there {are(len(known))} {', '.join(known)}" if known else ""
        raise UserError(f"suite {path.stem!r} is for {_header(path)}, not for {game.spec}{others}")
    return path


def read_text(path: Path) -> str:
    """Read a file as text."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise UserError(f"cannot read a suite from {path}: {reason}") from None


def _header(path: Path) -> str:
    lines = (line for line in read_text(path).splitlines() if line.startswith("game:"))
    return next(lines, "").removeprefix("game:").strip()


def _expect_game(game: Game, spec: str) -> None:
    # A suite must not name a file of rules and have it run: only known games are loaded.
    name = parse_spec(spec).name
    usual = load_game(spec).spec if name in GAMES else spec
    if usual not in (game.spec, game.identity):
        raise UserError(f"this suite is for {usual}, not for {game.spec}")


def _parse_question(game: Game, line: str) -> Question:
    parts = [part.strip() for part in line.split("|")]
    if not 2 <= len(parts) <= 4 or not all(parts[:2]):
        raise UserError("expected `position | best moves | class | name`, the last two optional")
    words, answers, kind, name = [*parts, "", ""][:4]
    position = _read_position(game, words)
    own = "" if words == position.text() else words
    read = dict(_parse_answers(position, answers.split()))
    known = {action: score for action, score in read.items() if score is not None}
    if not known:
        return Question(position, tuple(read), kind, name, {}, own)
    if len(known) < len(read):
        raise UserError("either all moves have a score or none")
    if missing := set(position.actions()) - set(known):
        raise UserError(f"{position.action_text(min(missing))} is legal and has no score")
    return Question.scored(position, known, kind, name, own)


def _read_position(game: Game, words: str) -> Position:
    try:
        position = game.position(words)
    except UserError:
        position = Position(game, read_line(game, words).state)
    if position.is_over:
        raise UserError(f"the game is over in {words!r}: there is no best move")
    return position


def _parse_answers(position: Position, words: list[str]) -> Iterator[tuple[int, int | None]]:
    seen = set()
    for word in words:
        scored = SCORED.fullmatch(word)
        action = position.parse(scored["move"] if scored else word)
        if action in seen:
            raise UserError(f"{position.action_text(action)} stands there twice")
        seen.add(action)
        yield action, int(scored["score"]) if scored else None


def _score_text(scores: Mapping[int, int], action: int) -> str:
    if action not in scores:
        return ""
    return f":{scores[action]:+d}" if scores[action] else ":0"
