"""The doctor: all findings about a run, worst first."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from randori.diagnosis import history, learning, rules
from randori.diagnosis.evidence import Evidence, gather
from randori.diagnosis.findings import WORST, Finding, Verdict
from randori.diagnosis.trials import hold_trials

BY_NETWORK = (
    rules.policy_entropy, rules.visits_entropy, rules.policy_sight, rules.search_changes,
    rules.value_sight, rules.value_calibration,
)  # fmt: skip
PATIENCE = "train on first, with `randori resume`: after so few steps nothing else tells"
"""What is advised before a network can have learnt anything, where rules would contradict each
other."""
BY_RECORD = (
    rules.distinct_positions, learning.losses, history.first_player, history.draws,
    history.game_length, history.pace, history.gates,
)  # fmt: skip


@dataclass(frozen=True)
class Examination:
    """What the doctor found."""

    path: Path
    game: str
    learner: str
    iteration: int
    steps: int
    seconds: float
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    """What could not be read."""

    @property
    def verdict(self) -> Verdict:
        """The worst of all findings."""
        found = Counter(finding.verdict for finding in self.findings)
        return next(verdict for verdict in WORST if found[verdict] or verdict == "unknown")

    def finding(self, name: str) -> Finding:
        """Return a finding by name."""
        return next(finding for finding in self.findings if finding.name == name)

    def summary(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        return {
            "run": str(self.path),
            "game": self.game,
            "learner": self.learner,
            "iteration": self.iteration,
            "steps": self.steps,
            "seconds": self.seconds,
            "verdict": self.verdict,
            "findings": [finding.fields() for finding in self.findings],
            "notes": list(self.notes),
        }


def examine(path: Path) -> Examination:
    """Examine a run folder, complete or still being trained."""
    return judge(gather(path))


def judge(evidence: Evidence) -> Examination:
    """Apply all rules to what a run folder holds."""
    trials = hold_trials(evidence)
    newest = trials[-1] if trials else None
    findings = [rule(evidence, newest) for rule in BY_NETWORK]
    findings.append(rules.held_out(evidence, trials))
    if evidence.steps < rules.EARLY:
        findings = [replace(one, advice=one.advice and PATIENCE) for one in findings]
    findings += [rule(evidence) for rule in BY_RECORD]
    findings.sort(key=lambda finding: WORST.index(finding.verdict))
    return Examination(
        evidence.run.path,
        evidence.run.game,
        evidence.run.learner,
        int(max(evidence.series("iteration"), default=0)),
        int(evidence.steps),
        max(evidence.series("seconds"), default=0.0),
        tuple(findings),
        tuple(evidence.notes),
    )
