"""Numbers of things as people write them, for every part that says something."""


def some(count: float, noun: str, shown: str = "") -> str:
    """Write a number of things, as `shown` if given: 1 game, 2 games, 3 plies, 12.3 k classes."""
    if count != 1:
        ends = {"ly": "lies", "ss": "sses"}.get(noun[-2:], f"{noun[-2:]}s")
        noun = f"{noun[:-2]}{ends}"
    return f"{shown or count} {noun}"
