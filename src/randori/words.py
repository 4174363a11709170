"""Numbers of things as people write them, for every part that says something."""


def some(count: float, noun: str, shown: str = "") -> str:
    """Write a number of things, as `shown` if given: 1 game, 2 games, 3 plies, 12.3 k classes."""
    return f"{shown or count} {noun if count == 1 else _several(noun)}"


def are(count: float) -> str:
    """Return the verb for so many."""
    return "is" if count == 1 else "are"


def _several(noun: str) -> str:
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"
