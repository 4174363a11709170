"""Rules that read the metrics alone: games, pace and gates over the course of a run."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from randori.diagnosis.evidence import Evidence
from randori.diagnosis.findings import Finding, Measure, Verdict, percent

RECENT = 5
"""Newest iterations that make up the present."""
NO_METRICS = "the metrics of this run do not say"


def _now(series: Sequence[float]) -> float:
    return float(np.mean(series[-RECENT:]))


def first_player(evidence: Evidence) -> Finding:
    """Judge the balance between the two sides."""
    measure = Measure("first_player_score", "first player's score")
    trend = evidence.series("first_player_score")
    if not trend:
        return measure.missing(NO_METRICS)
    value = _now(trend)
    is_odd = not 0.05 < value < 0.95
    sentence = "of the points; a draw is half a point"
    if is_odd:
        side = "first" if value > 0.5 else "second"
        sentence = f"the {side} player wins nearly always, which may be the truth about the game"
    advice = (
        "if the game is not won for that side, let openings vary more (selfplay.temperature, "
        "selfplay.noise_share) and ask an exam or a match"
    )
    return measure.found(value, percent(value), "odd" if is_odd else "ok", sentence, advice, trend)


def draws(evidence: Evidence) -> Finding:
    """Judge the share of draws; games that run into the limit have no result worth learning."""
    measure = Measure("draw_share", "draws")
    trend = evidence.series("draw_share")
    if not trend:
        return measure.missing(NO_METRICS)
    value = _now(trend)
    lengths = evidence.series("game_length")
    near_limit = bool(lengths) and _now(lengths) > 0.9 * evidence.game.longest
    # In a game such as tic-tac-toe a draw fills the board, which is no fault.
    is_capped = near_limit and evidence.game.longest > 2 * evidence.game.board_cells
    verdict: Verdict = "ok"
    sentence, advice = "of all games", ""
    if value > 0.9:
        verdict = "sick" if is_capped else "odd"
        sentence = "hardly any game is decided, which may be the truth about the game"
        if is_capped:
            sentence = f"games run into the limit of {evidence.game.longest} plies undecided"
        advice = (
            "if good play is no draw, raise selfplay.search.simulations and selfplay.temperature, "
            "so that somebody wins and values have something to learn"
        )
    return measure.found(value, percent(value), verdict, sentence, advice, trend)


def game_length(evidence: Evidence) -> Finding:
    """Judge the length of games against what it was."""
    measure = Measure("game_length", "plies of a game")
    trend = evidence.series("game_length")
    if not trend:
        return measure.missing(NO_METRICS)
    value = _now(trend)
    usual = float(np.median(trend))
    has_collapsed = len(trend) >= 2 * RECENT and value < 0.5 * usual
    sentence, advice = f"at most {evidence.game.longest}; {usual:.1f} over the whole run", ""
    if has_collapsed:
        sentence = f"games have become much shorter than they were ({usual:.1f} plies)"
        advice = (
            "look at the newest games with `randori show`; if one side blunders, go back to an "
            "older checkpoint with a lower train.learning_rate"
        )
    verdict: Verdict = "odd" if has_collapsed else "ok"
    return measure.found(value, f"{value:.1f}", verdict, sentence, advice, trend)


def pace(evidence: Evidence) -> Finding:
    """Judge the speed of self-play against that of the network alone."""
    measure = Measure("throughput", "evaluations a second")
    trend = evidence.series("evaluations_per_s")
    if not trend:
        return measure.missing(NO_METRICS)
    value = _now(trend)
    shares = evidence.series("bare_share")
    busy = _now(shares) if shares else 1.0
    playing = _playing_share(evidence)
    pauses = evidence.series("paused_share")
    paused = _now(pauses) if pauses else 0.0
    verdict: Verdict = "ok"
    sentence, advice = f"self-play takes {percent(playing)} of the time", ""
    if shares:
        sentence = f"{sentence}, at {percent(busy)} of the pace of the bare network"
    if playing < 0.1:
        verdict = "odd"
        advice = "lower train.reuse, or evaluate less often (evaluation.every_minutes)"
    elif paused > 0.3:
        verdict = "odd"
        sentence = f"self-play waits {percent(paused)} of the time for learning and evaluating"
        advice = (
            "raise selfplay.search.simulations, which would cost nothing, or lower train.reuse; "
            "on a GPU a larger train.batch takes fewer steps; evaluate less often"
        )
    elif busy < 0.4 and playing > 0.5:
        verdict = "odd"
        sentence = f"the network waits {percent(1 - busy)} of the time for its next batch"
        advice = (
            "raise selfplay.slots and selfplay.threads, so that batches are full; a small game "
            "that its cache knows by heart is no fault"
        )
    return measure.found(value, f"{value:,.0f}".replace(",", " "), verdict, sentence, advice, trend,
                         bare_share=busy, playing_share=playing, paused_share=paused)  # fmt: skip


def _playing_share(evidence: Evidence) -> float:
    """Return the share of the clock in self-play, from evaluations and their pace."""
    rows = [
        (m["evaluations"], m["seconds"], m["evaluations_per_s"])
        for m in evidence.metrics
        if all(m.get(key) for key in ("evaluations", "seconds", "evaluations_per_s"))
    ]
    played = clock = 0.0
    for (before, start, _), (after, end, rate) in pairwise(rows):
        if end > start:
            played += (after - before) / rate
            clock += end - start
    return min(1.0, played / clock) if clock else 1.0


def gates(evidence: Evidence) -> Finding:
    """Judge how candidates fare against the network that they want to replace."""
    measure = Measure("gate", "candidates that passed the gate")
    tried = [m for m in evidence.metrics if m.get("gate_passed") is not None]
    if not tried:
        has_gate = bool(evidence.setting("gate.threshold", 0))
        return measure.missing("no candidate yet" if has_gate else "this run has no gate")
    passed = [bool(m["gate_passed"]) for m in tried]
    scores = [float(m.get("gate_score") or 0.0) for m in tried]
    value = float(np.mean(passed))
    drought = next((i for i, was in enumerate(reversed(passed)) if was), len(passed))
    verdict: Verdict = "sick" if drought >= 15 else "odd" if drought >= 7 else "ok"
    sentence = f"{sum(passed)} of {len(passed)}; the newest scored {scores[-1]:.2f}"
    advice = ""
    if verdict != "ok":
        sentence = f"the last {drought} candidates failed; {sentence}"
        advice = (
            "lower gate.threshold or raise gate.games; lower train.learning_rate; let more rows "
            "come between candidates (gate.every)"
        )
    return measure.found(value, percent(value), verdict, sentence, advice, scores, drought=drought)
