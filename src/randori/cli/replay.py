"""`randori show`: a position, or a game out of a file, as a board, a list of moves, SVG or text."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice, pairwise, zip_longest
from pathlib import Path
from textwrap import fill
from typing import Any

from randori.cli.report import console, note, print_json, printable
from randori.cli.terminal import draw, is_fancy, print_position
from randori.errors import UserError
from randori.games import registry, sgf
from randori.games.drawing import draw_board, last_cells
from randori.games.game import Game
from randori.games.position import Position
from randori.games.records import GameRecord, read_records
from randori.runs.atomic import write_text
from randori.words import some

FILES = (".jsonl", ".sgf")
RESULTS = {"first": "first wins", "second": "second wins", "draw": "draw", None: "unfinished"}
WIDTH, TIE = 80, "\u00a0"  # no line is broken at a tie


@dataclass(frozen=True)
class Wish:
    """What to show of a game, and how; without a ply the last position."""

    ply: int | None = None
    boards: bool = False
    form: str | None = None
    svg: Path | None = None
    dots: bool = False
    """Mark in the drawing where legal moves lead."""
    as_json: bool = False


@dataclass(frozen=True)
class Pick:
    """Which game of a file, and the rules to replay it with if they are somebody's own."""

    number: int | None = None
    rules: str | None = None


def show(source: str, position: str | None, moves: str, pick: Pick, wish: Wish) -> None:
    """Show a game by name or by file."""
    if Path(source).suffix.lower() not in FILES:
        if pick != Pick():
            which = "--game" if pick.number is not None else "--rules"
            raise UserError(f"{which} goes with a file of games ({', '.join(FILES)})")
        start = "start" if position is None else position
        record, positions = play_moves(registry.load_game(source), start, moves)
        present(record, positions, wish, {"game": positions[0].game.spec}, "")
        return
    if position is not None or moves:
        raise UserError("--position and --moves go with a game, not with a file of games")
    record, total = pick_game(Path(source), number := pick.number or 1)
    try:
        positions = record.replay(find_rules(record, pick.rules))
    except UserError as error:
        raise UserError(f"{source}, game {number}: {error}") from None
    # The name of the first position is needed for the one that is shown.
    fields = {{"position": "start"}.get(key, key): value for key, value in record.fields().items()}
    present(record, positions, wish, fields, f"game {number} of {total}")


def find_rules(record: GameRecord, rules: str | None) -> Game | None:
    """Return the rules of a game of somebody's own: a file of games must not have code run."""
    if record.game in registry.GAMES:
        if rules is not None:
            raise UserError(f"--rules is for games of your own; this is {record.spec}")
        return None
    if rules is None and record.game.endswith(".py"):
        advice = f"if you trust that file, add --rules {record.spec}"
        raise UserError(f"its rules are in {record.game}; {advice}")
    return None if rules is None else registry.load_game(rules)


def play_moves(game: Game, start: str, moves: str) -> tuple[GameRecord, list[Position]]:
    """Play moves, with spaces or commas between them or, where the game can cut them, without."""
    positions, actions = [game.position(start)], []
    words = deque(moves.split())
    while words:
        word = words.popleft().strip(",")
        legal = map(str.casefold, positions[-1].legal())
        if "," in word and word.casefold() not in legal:  # a comma may be part of a move
            words.extendleft(reversed(word.split(",")))
            continue
        try:
            parts = [word] if game.split_moves is None else game.split_moves(word)
        except ValueError as error:
            raise UserError(f"--moves {word!r}: {error}") from None
        for move in parts:
            actions.append(positions[-1].parse(move))
            positions.append(positions[-1].play(actions[-1]))
    result = positions[-1].outcome
    return GameRecord.from_actions(game, actions, result, start=positions[0]), positions


def pick_game(path: Path, number: int) -> tuple[GameRecord, str]:
    """Return one game of a file, counted from 1, and how many there are."""
    games = read_records(path)
    record = next(islice(games, number - 1, None), None)
    if record is None:
        held = sum(1 for _ in read_records(path))
        raise UserError(
            f"{path} holds no game" if not held else f"--game {number}: {path} holds {held}"
        )
    try:
        return record, str(number + sum(1 for _ in games))
    except UserError as error:
        note(f"note: {error}")  # what is broken behind it does not matter to this game
        return record, f"more than {number}"


def present(
    record: GameRecord, positions: list[Position], wish: Wish, fields: dict[str, Any], which: str
) -> None:
    """Print and draw what is wished; `fields` begin the JSON, `which` says which of how many."""
    ways = {"--boards": wish.boards, "--json": wish.as_json, "--format": wish.form is not None,
            "--ply": wish.boards and wish.ply is not None}  # fmt: skip
    if len(chosen := [way for way, is_on in ways.items() if is_on]) > 1:
        raise UserError(f"{' and '.join(chosen)} do not go together")
    plies = len(record.moves)
    ply = plies if wish.ply is None else wish.ply
    if ply > plies:
        raise UserError(f"--ply {ply}: the game has {some(plies, 'ply')}")
    before, place = positions[max(0, ply - 1)], positions[ply]
    last = last_cells(place.game, before.state, place.state)
    if wish.form is not None:
        print(write_as(wish.form, record, place, ply))
    if wish.svg is not None:
        write_text(wish.svg, draw_board(place.game, place.state, last, show_legal=wish.dots))
    if wish.as_json:
        shown = {"position": place.text(), "to_move": place.to_move, "legal": place.legal(),
                 "outcome": place.outcome, "ply": place.ply}  # fmt: skip
        print_json(fields | shown)
    elif wish.form is None:
        print_header(record, positions, which)
        if wish.boards:
            print_boards(record, positions)
        else:
            print(f"after {ply} of {some(plies, 'ply')}:\n" if ply < plies else "", end="")
            print_position(place, last)


def write_as(form: str, record: GameRecord, place: Position, ply: int) -> str:
    """Write the record, or its position after `ply` plies, in another format."""
    game, glue = place.game, "" if place.game.split_moves else " "
    whole: dict[str, Callable[[], str]]
    whole = {"jsonl": record.to_json, "moves": lambda: glue.join(map(str.strip, record.moves))}
    if record.game == sgf.GAME:
        whole["sgf"] = lambda: sgf.write_sgf(record).rstrip()
    if form in game.formats:
        return game.formats[form](place.state)
    if form not in whole:
        known = ", ".join([*whole, *game.formats])
        raise UserError(f"--format: {game.name} has no format {form!r}; known: {known}")
    if ply < len(record.moves):
        raise UserError(f"--ply does not go with --format {form}, which writes the whole game")
    return whole[form]()


def print_header(record: GameRecord, positions: list[Position], which: str) -> None:
    """Print who played, how it ended, and the moves in numbered pairs with their values."""
    if not which:
        return
    print(f"{record.spec}, {which}")
    for side, glyph in zip(("first", "second"), positions[0].game.glyphs, strict=True):
        if side in record.agents:
            print(f"{side} ({glyph}): {printable(record.agents[side])}")
    early = " before the end" * bool(record.result and not positions[-1].is_over)
    result = record.result or positions[-1].outcome
    print(f"result: {RESULTS[result]}{early}, {some(len(record.moves), 'ply')}")
    if isinstance(record.extra.get("note"), str):
        print(f"note: {printable(record.extra['note'])}")
    entries = ["…"] if positions[0].to_move == "second" else []
    for move, value in zip_longest(record.moves, record.values):
        entries.append(move if value is None else f"{move} ({value:+.2f})")
    pairs = [" ".join(entries[i : i + 2]) for i in range(0, len(entries), 2)]
    cells = [f"{number}. {pair}".replace(" ", TIE) for number, pair in enumerate(pairs, start=1)]
    print(fill("  ".join(cells), WIDTH).replace(TIE, " "), end="\n\n")


def print_boards(record: GameRecord, positions: list[Position]) -> None:
    """Draw every position."""
    screen, moves = console(), ("start", *record.moves)
    for ply, (before, place) in enumerate(pairwise([positions[0], *positions])):
        print(f"ply {ply}: {moves[ply]}")
        last = last_cells(place.game, before.state, place.state)
        screen.print(draw(place, last, fancy=is_fancy(screen)), no_wrap=True, end="\n\n")
