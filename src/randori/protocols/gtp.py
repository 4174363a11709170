"""The Go Text Protocol from the other side: an agent that clients of Go and Othello can drive.

Requests come as lines and leave as answers; commands are functions in tables, one a game.
"""

import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

from randori.errors import UserError
from randori.protocols import gtp_analysis, gtp_commands, gtp_go, gtp_othello
from randori.protocols.gtp_session import Command, Session, log
from randori.protocols.gtp_table import GtpError
from randori.protocols.lines import Lines


def known_command(session: Session, words: list[str]) -> str:
    """Tell whether a command is known."""
    gtp_commands.expect(words, 1, "a command")
    return "true" if words[0] in COMMANDS[session.kind] else "false"


def list_commands(session: Session, words: list[str]) -> str:
    """List what is known, a command a line."""
    return "\n".join(COMMANDS[session.kind])


_SHARED: dict[str, Command] = {
    "known_command": known_command,
    "list_commands": list_commands,
    "help": list_commands,
    **gtp_commands.COMMANDS,
    **gtp_analysis.COMMANDS,
}
COMMANDS: dict[str, dict[str, Command]] = {
    "go": {**_SHARED, **gtp_go.COMMANDS},
    "othello": {**_SHARED, **gtp_othello.COMMANDS},
}
"""What is known, by game."""


@dataclass(frozen=True)
class Request:
    """One line of a client: its number, if it has one, a command, and words."""

    number: str
    name: str
    words: list[str]


def read_request(line: str) -> Request | None:
    """Take a line apart; None for one that says nothing."""
    kept = "".join(c for c in line.replace("\t", " ") if c >= " " and c != "\x7f")
    words = kept.partition("#")[0].split()
    number = words.pop(0) if words and words[0].isascii() and words[0].isdecimal() else ""
    if not words:
        return Request(number, "", []) if number else None
    return Request(number, words[0], words[1:])


def serve(session: Session, lines: Lines, output: TextIO) -> None:
    """Answer until the client quits or its lines end."""
    session.lines = lines
    while not session.is_over and (line := lines.take()) is not None:
        request = read_request(line)
        if request is not None:
            for part in answer(session, request):
                output.write(part)
                output.flush()


def answer(session: Session, request: Request) -> Iterator[str]:
    """Yield the answer to a request, in pieces where it is a stream."""
    try:
        command = COMMANDS[session.kind].get(request.name)
        if command is None:
            raise GtpError("unknown command")
        found = command(session, request.words)
        if isinstance(found, str):
            yield f"={request.number} {without_gaps(found)}".rstrip() + "\n\n"
            return
        first = next(found, None)  # until here it may fail
    except (GtpError, UserError) as error:
        yield refusal(request, str(error))
        return
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        yield refusal(request, f"{type(error).__name__}: {error}")
        return
    yield f"={request.number}\n"
    try:
        while first is not None:
            yield f"{first}\n"
            first = next(found, None)
    except Exception as error:  # too late to say ?
        log(f"{request.name}: {type(error).__name__}: {error}")
    yield "\n"


def refusal(request: Request, why: str) -> str:
    """Write that a request failed, in one line."""
    return f"?{request.number} {' '.join(why.split())}".rstrip() + "\n\n"


def without_gaps(words: str) -> str:
    """Leave out empty lines, for one ends an answer; a board may begin on a line of its own."""
    lines = "\n".join(line for line in words.split("\n") if line.strip())
    return f"\n{lines}" if words.startswith("\n") else lines
