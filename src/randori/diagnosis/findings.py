"""A finding: one figure about a run, how it went, and whether it looks healthy."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Verdict = Literal["ok", "odd", "sick", "unknown"]
WORST: tuple[Verdict, ...] = ("sick", "odd", "ok", "unknown")
"""From bad to good; what could not be measured comes last."""


@dataclass(frozen=True)
class Finding:
    """What the doctor says about one side of a run."""

    name: str
    title: str
    value: float | None
    """the figure; None where it could not be measured"""
    shown: str
    """the figure as people read it"""
    verdict: Verdict
    sentence: str = ""
    """what the figure means, or why there is none"""
    advice: str = ""
    """what to try where it is not ok, with the names of settings"""
    trend: tuple[float, ...] = ()
    """the figure over time, oldest first"""
    details: Mapping[str, Any] = field(default_factory=dict)

    def fields(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        return asdict(self)


@dataclass(frozen=True)
class Measure:
    """A name and a title, from which findings are made."""

    name: str
    title: str

    def missing(self, why: str) -> Finding:
        """Say why there is no figure."""
        return Finding(self.name, self.title, None, "–", "unknown", why)

    def found(
        self,
        value: float,
        shown: str,
        verdict: Verdict,
        sentence: str,
        advice: str = "",
        trend: Sequence[float] = (),
        **details: Any,
    ) -> Finding:
        """Make the finding; advice is kept only where something is wrong."""
        kept = advice if verdict in ("odd", "sick") else ""
        return Finding(
            self.name, self.title, value, shown, verdict, sentence, kept, tuple(trend), details
        )


def percent(share: float) -> str:
    """Write a share as per cents, with a digit where it is small."""
    number = 100 * share
    return f"{number:.1f} %" if abs(number) < 9.95 else f"{number:.0f} %"


def tenths(share: float) -> str:
    """Write a share to a tenth of a per cent; less than that, but not nothing, is not 0.0 %."""
    return "<0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"
