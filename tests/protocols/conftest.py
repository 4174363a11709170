"""A client for tests: lines in, answers out."""

import io
from collections.abc import Callable

import pytest

from randori.protocols.gtp import serve
from randori.protocols.gtp_session import Session
from randori.protocols.lines import Lines

Say = Callable[..., list[str]]


def talk(session: Session, *lines: str) -> list[str]:
    """Send lines; return the answers, without the empty line behind each."""
    output = io.StringIO()
    serve(session, Lines([f"{line}\n".encode() for line in lines]), output)
    written = output.getvalue()
    assert not written or written.endswith("\n\n")
    return written.split("\n\n")[:-1]


@pytest.fixture
def client() -> Callable[..., Say]:
    """Begin a session; saying lines to it returns its answers."""

    def begin(game: str = "go:size=5", agent: str = "random", **options: object) -> Say:
        session = Session(game, agent, seed=0)
        for name, value in options.items():
            setattr(session, name, value)
        return lambda *lines: talk(session, *lines)

    return begin
