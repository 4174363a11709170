"""Exams: how many positions of a suite an agent answers right, and which ones it does not.

Where only the best moves are known, a right answer is one of them. Where all moves have exact
scores, a right answer keeps the outcome: it wins what can be won and draws what can be drawn. Then
it also counts how often a move was among the best, and how many points were lost on the mean.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from randori.agents.agent import RESIGN, Agent
from randori.arena.match import score_interval
from randori.arena.suites import Question, Suite
from randori.errors import IllegalAction

BATCH = 64
"""Positions that an agent gets at once, between two words about progress."""


@dataclass(frozen=True)
class Answer:
    """What an agent played in one position."""

    question: Question
    action: int
    """RESIGN if it gave up."""

    @property
    def is_best(self) -> bool:
        """Whether no move is better."""
        return self.action in self.question.best

    @property
    def is_correct(self) -> bool:
        """Whether it is among the best moves or, with scores, keeps the outcome."""
        scores = self.question.scores
        if not scores or self.action == RESIGN:
            return self.is_best
        return _outcome(scores[self.action]) == _outcome(max(scores.values()))

    @property
    def loss(self) -> int:
        """By how much the best score is missed; giving up is as bad as the worst move."""
        scores = self.question.scores
        if not scores:
            return 0
        return max(scores.values()) - scores.get(self.action, min(scores.values()))

    def summary(self) -> dict[str, Any]:
        """Return what `--json` says of a failure."""
        question, position = self.question, self.question.position
        gave_up = self.action == RESIGN
        said: dict[str, Any] = {
            "name": question.name,
            "class": question.kind,
            "position": question.words or position.text(),
            "played": None if gave_up else position.action_text(self.action),
            "best": [position.action_text(action) for action in question.best],
        }
        return {**said, "loss": self.loss} if question.scores else said


@dataclass(frozen=True)
class ExamResult:
    """The answers of one agent to one suite."""

    agent: str
    answers: tuple[Answer, ...]

    @property
    def failures(self) -> list[Answer]:
        """The wrong answers, in the order of the suite."""
        return [answer for answer in self.answers if not answer.is_correct]

    def by_class(self) -> dict[str, list[Answer]]:
        """Sort the answers by the class of their questions, in the order of the suite."""
        found: dict[str, list[Answer]] = {}
        for answer in self.answers:
            found.setdefault(answer.question.kind, []).append(answer)
        return found

    def summary(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        classes = {kind: tally(answers) for kind, answers in self.by_class().items()}
        return {"agent": self.agent, **tally(self.answers), "by_class": classes}


def tally(answers: Sequence[Answer]) -> dict[str, Any]:
    """Count right answers, with Wilson's 95 % interval of their share."""
    count, correct = len(answers), sum(answer.is_correct for answer in answers)
    share = correct / max(1, count)
    low, high = score_interval(share, count)
    figures: dict[str, Any] = {
        "positions": count, "correct": correct, "accuracy": share, "low": low, "high": high,
    }  # fmt: skip
    scored = [answer for answer in answers if answer.question.scores]
    if scored:
        figures["best"] = sum(answer.is_best for answer in scored)
        figures["best_share"] = figures["best"] / len(scored)
        figures["mean_loss"] = sum(answer.loss for answer in scored) / len(scored)
    return figures


def take_exam(
    agent: Agent,
    suite: Suite,
    *,
    seed: int = 0,
    batch: int = BATCH,
    progress: Callable[[int], None] | None = None,
) -> ExamResult:
    """Ask an agent for a move in every position; `progress` hears how many are answered."""
    answers: list[Answer] = []
    for some in answer_in_turn(agent, suite, seed=seed, batch=batch):
        answers += some
        if progress is not None:
            progress(len(answers))
    return ExamResult(agent.spec, tuple(answers))


def answer_in_turn(
    agent: Agent, suite: Suite, *, seed: int = 0, batch: int = BATCH
) -> Iterator[list[Answer]]:
    """Yield the answers to `batch` questions at a time, for exams that somebody may stop."""
    rng = np.random.default_rng(seed)
    for first in range(0, len(suite.questions), batch):
        questions = suite.questions[first : first + batch]
        states = np.array([question.position.state for question in questions], dtype=np.uint64)
        actions = np.asarray(agent.act(states, rng)).tolist()
        if len(actions) != len(questions):
            raise ValueError(f"agent {agent.spec!r} gave {len(actions)} for {len(questions)}")
        for question, action in zip(questions, actions, strict=True):
            if action not in (RESIGN, *question.best, *question.position.actions()):
                raise IllegalAction(f"agent {agent.spec!r} played illegal action {action}")
        yield [Answer(*pair) for pair in zip(questions, actions, strict=True)]


def _outcome(score: int) -> int:
    return (score > 0) - (score < 0)
