"""`randori gtp`: an agent for clients that speak the Go Text Protocol."""

import os
import sys

from randori.protocols.gtp import serve
from randori.protocols.gtp_session import Session
from randori.protocols.lines import Lines, lines_of


def run_gtp(game: str, agent: str, *, seed: int | None, remove_dead: bool) -> None:
    """Serve one client on stdin and stdout until it quits."""
    session = Session(game, agent, seed=seed)
    session.remove_dead = remove_dead
    # Whatever prints by mistake must not end up between two answers.
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", errors="replace")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with channel:
        serve(session, Lines(lines_of(sys.stdin.fileno())), channel)
