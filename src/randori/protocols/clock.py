"""Time on the clock, and how much of it a move may take."""

from dataclasses import dataclass, field

LAG = 0.05
"""Seconds that a move costs besides its thinking: pipes, a busy machine."""
OVERTIME_SHARE = 0.85
"""How much of the time for an overtime move is used, for being late loses the game."""
MAIN_SHARE = 0.5
"""No move takes more of what is left of the main time than this."""
LEAST = 0.01


@dataclass(frozen=True)
class TimeSystem:
    """Main time, then overtime: so many stones in each period, or a period for every stone."""

    main: float = 0.0
    period: float = 0.0
    stones: int = 0
    """how many moves a period is for; 0 for none"""
    periods: int = 0
    """in Japanese overtime, where a period is for one move: how many may be overrun"""

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit at all: a period for no stones says that there is none."""
        return not (self.period > 0 and self.stones == 0) and self.main + self.period > 0

    @property
    def overtime_move(self) -> float:
        """Seconds for one move in overtime."""
        return self.period / self.stones if self.stones else 0.0


@dataclass
class Clock:
    """What both sides have left; a client may correct it at any time, else we count ourselves."""

    system: TimeSystem = TimeSystem()
    _left: list[tuple[float, int]] = field(default_factory=lambda: [(0.0, 0), (0.0, 0)])
    """seconds, and in overtime the stones or periods to go: 0 stands for main time"""

    def set(self, system: TimeSystem) -> None:
        """Start a new game's time."""
        self.system = system
        self.restart()

    def restart(self) -> None:
        """Give both sides all of their time back."""
        begin = (self.system.main, 0) if self.system.main > 0 else self._overtime()
        self._left = [begin, begin]

    def correct(self, side: int, seconds: float, stones: int) -> None:
        """Take over what the client says."""
        self._left[side] = (seconds, stones)

    def allot(self, side: int, moves_left: float) -> float | None:
        """Return the seconds for the next move, None for no limit."""
        if not self.system.is_limited:
            return None
        seconds, stones = self._left[side]
        if stones > 0:
            wish = seconds / (1 if self.system.periods else stones) * OVERTIME_SHARE
        else:
            share = seconds / max(1.0, moves_left)
            wish = max(share, self.system.overtime_move * OVERTIME_SHARE)
            wish = min(wish, seconds if self.system.period else MAIN_SHARE * seconds)
        return max(LEAST, wish - min(LAG, wish / 2))

    def spend(self, side: int, seconds: float) -> None:
        """Take the time of a move off the clock."""
        left, stones = self._left[side]
        left -= seconds
        if self.system.periods and stones:
            left = self.system.period
        elif stones > 1:
            stones -= 1
        elif stones == 1 or (left <= 0 and self.system.stones):
            left, stones = self._overtime()
        self._left[side] = (max(0.0, left), stones)

    def _overtime(self) -> tuple[float, int]:
        return self.system.period, self.system.periods or self.system.stones
