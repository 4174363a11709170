"""What a user can get wrong, said in one line that names the way out.

Anything raised as a `UserError` ends a command with that line and exit code 2, never a traceback.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """A mistake outside the program: bad input, a foreign file, a full disk."""


class IllegalAction(UserError):
    """A move that the rules do not allow in this position."""


class BrokenLaw(UserError):
    """A game whose rules contradict the protocol; the message names the law and the position."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Say what `word` may have meant: ``did you mean 'x'?`` or the list of what is known."""
    names = sorted(known)
    close = get_close_matches(word, names, n=1, cutoff=0.5)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known: {', '.join(names)}" if names else "there are none"
