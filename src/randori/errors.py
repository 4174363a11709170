"""What a user can get wrong, said in one line that names the way out.

Anything raised as a `UserError` ends a command with that line and exit code 2, never a traceback.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """A mistake outside the program: bad input, a foreign file, a full disk."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C, by somebody who has been told already what was stopped."""


class IllegalAction(UserError):
    """A move that the rules do not allow in this position."""


class BrokenLaw(UserError):
    """A game whose rules contradict the protocol; the message names the law and the position."""


ALIKE = 0.6
"""Share of letters that a name must have in common with what was typed, to be a guess."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Say what `word` may have meant: ``did you mean 'x'?`` or the list of what is known."""
    names = sorted(known)
    by_letters = {_letters(name): name for name in names}
    close = get_close_matches(_letters(word), by_letters, n=1, cutoff=ALIKE)
    if close:
        return f"did you mean {by_letters[close[0]]!r}?"
    return f"known: {', '.join(names)}" if names else "there are none"


def _letters(name: str) -> str:
    """Leave out what people write in several ways: capitals, hyphens and underlines."""
    return name.lower().replace("-", "").replace("_", "")
