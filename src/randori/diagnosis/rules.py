"""The rules: one function a finding, with thresholds that mean the same in every game.

A rule is sick only where something is broken whatever the game, and odd where a person should
look: a side that always wins may be a fault or the truth about the game.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from randori.diagnosis.evidence import Evidence, Rows
from randori.diagnosis.findings import Finding, Measure, Verdict, percent
from randori.diagnosis.opinions import divergences
from randori.diagnosis.trials import FEWEST, Part, Trial
from randori.diagnosis.variety import random_distinct_share
from randori.runs.health import (
    calibration,
    changed,
    distinct_share,
    entropies,
    explained,
    insight,
)
from randori.words import some

EARLY = 500
"""Gradient steps before which a network need not have learnt anything."""
VARIED, MONOTONOUS = 0.5, 0.1
"""Distinct positions against those of random play: healthy above, sick below. A Connect 4 run that
stayed weak had fallen to 0.4."""
PARTS = 8
"""Points of a trend that is computed from rows."""
NO_NETWORK = "no network of this run could be asked about its rows"
NO_ROWS = "there are no replay rows to look at"


def _parts(rows: Rows) -> list[Rows]:
    """Cut rows into stretches of time."""
    cuts = np.linspace(0, len(rows), min(PARTS, max(1, len(rows) // FEWEST)) + 1).astype(int)
    return [rows.pick(slice(a, b)) for a, b in pairwise(cuts)]


def _grade(value: float, odd: bool, sick: bool) -> Verdict:
    if math.isnan(value):
        return "unknown"
    return "sick" if sick else "odd" if odd else "ok"


def _hushed(verdict: Verdict, sentence: str, evidence: Evidence) -> tuple[Verdict, str]:
    """Call nothing sick that a network of so few steps cannot have learnt yet."""
    if verdict == "sick" and evidence.steps < EARLY:
        steps = some(round(evidence.steps), "gradient step")
        return "odd", f"{sentence}; after only {steps} that may pass"
    return verdict, sentence


def policy_entropy(evidence: Evidence, trial: Trial | None) -> Finding:
    """Judge how decided the network's own policy is."""
    measure = Measure("policy_entropy", "entropy of the network's policy")
    if trial is None:
        return measure.missing(NO_NETWORK)
    part = trial.best
    value = float(entropies(part.opinion.policy, part.rows.legal).mean())
    verdict = _grade(value, value > 0.95 or value < 0.08, value > 0.985 or value < 0.02)
    if value > 0.95:
        sentence = "the network gives every move about the same chance"
        advice = (
            "raise train.learning_rate or train.reuse; if visits are as even, raise "
            "selfplay.search.simulations"
        )
    elif value < 0.08:
        sentence = "the network has settled on one move almost everywhere, so that little is tried"
        advice = "raise selfplay.noise_share or the selfplay.temperature points; lower train.reuse"
    else:
        sentence, advice = "0 % is one move, 100 % no preference among the legal ones", ""
    if value > 0.5:
        verdict, sentence = _hushed(verdict, sentence, evidence)
    trend = evidence.series("prior_entropy")
    return measure.found(value, percent(value), verdict, sentence, advice, trend)


def visits_entropy(evidence: Evidence, trial: Trial | None) -> Finding:
    """Judge how decided the search is: these are the targets that the policy learns."""
    measure = Measure("visits_entropy", "entropy of the search's visits")
    rows = evidence.window
    if rows is None or len(rows) < FEWEST:
        return measure.missing(NO_ROWS)
    trend = [float(entropies(p.visits, p.legal).mean()) for p in _parts(rows)]
    value = trend[-1]
    verdict = _grade(value, value > 0.95 or value < 0.06, value > 0.985 or value < 0.015)
    if value > 0.95:
        sentence = "search visits all moves alike: its targets teach nothing"
        advice = (
            "raise selfplay.search.simulations, or lower selfplay.search.exploration and "
            "selfplay.noise_share"
        )
    elif value < 0.06:
        sentence = "search looks at one move only: its targets repeat what the network believes"
        advice = "raise selfplay.search.exploration, selfplay.noise_share or simulations"
    else:
        sentence, advice = "the targets of the policy; 0 % is one move, 100 % no preference", ""
    return measure.found(value, percent(value), verdict, sentence, advice, trend)


def policy_sight(evidence: Evidence, trial: Trial | None) -> Finding:
    """Judge whether the policy depends on the board at all."""
    measure = Measure("policy_sight", "what the policy owes to the board")
    if trial is None:
        return measure.missing(NO_NETWORK)
    part = trial.best
    several = part.rows.legal >= 2
    nats = divergences(part.opinion.policy[several], part.opinion.blind[several])
    value = float((nats / np.log(part.rows.legal[several])).mean()) if several.any() else math.nan
    verdict = _grade(value, value < 0.02, value < 0.004)
    sentence = "how far the policy is from one that never looks at the board, in log(legal moves)"
    advice = ""
    if value < 0.02:
        sentence = "the policy is the same whatever stands on the board"
        advice = (
            "the network does not learn: try another train.learning_rate and train.warm_up_steps, "
            "a lower train.l2, or a larger network"
        )
        verdict, sentence = _hushed(verdict, sentence, evidence)
    return measure.found(value, f"{value:.3f}", verdict, sentence, advice)


def search_changes(evidence: Evidence, trial: Trial | None) -> Finding:
    """Judge how often search prefers another move than the network does."""
    measure = Measure("search_changes", "search changes the network's first choice")
    trend = evidence.series("search_changed", "search_overruled")
    if trial is None:
        if not trend:
            return measure.missing(NO_NETWORK)
        recent = float(np.mean(trend[-3:]))
        return measure.found(recent, percent(recent), "ok", "as self-play counted it", "", trend)
    rows, policy = trial.best.rows, trial.best.opinion.policy
    value = changed(rows.visits, policy)
    gain = insight(rows.visits, policy, rows.legal)
    verdict = _grade(value, gain < 0.25 or value < 0.01, gain < 0.08)
    sentence = f"its first choice is {percent(gain)} of the way from a random move to the search's"
    advice = ""
    if gain < 0.25:
        sentence = f"the network's first choice is hardly better than a random move ({sentence})"
        advice = (
            "more gradient steps (train.reuse), another train.learning_rate, or a larger network"
        )
        verdict, sentence = _hushed(verdict, sentence, evidence)
    elif value < 0.01:
        sentence = "search never changes the network's choice: it teaches nothing new"
        advice = "raise selfplay.search.simulations, selfplay.search.exploration or noise_share"
    return measure.found(
        value, percent(value), verdict, sentence, advice, trend, insight=gain
    )  # fmt: skip


def distinct_positions(evidence: Evidence) -> Finding:
    """Judge the variety of the window against that of random play of the same size."""
    measure = Measure("distinct_positions", "distinct positions in the window")
    window = evidence.window
    if window is None or len(window) < FEWEST:
        return measure.missing(NO_ROWS)
    rows = window.once
    value = distinct_share(rows.states)
    lengths = evidence.series("game_length")
    length = lengths[-1] if lengths else 4.0 * len(rows) / rows.games
    keep = len(rows) / max(1.0, rows.games * length)
    usual = random_distinct_share(evidence.game, len(rows), keep)
    ratio = value / max(usual, 1e-9)
    verdict = _grade(ratio, ratio < VARIED, ratio < MONOTONOUS)
    sentence = f"random games of as many rows would have {percent(usual)}"
    advice = ""
    if ratio < VARIED:
        sentence = f"self-play repeats itself; {sentence}"
        advice = (
            "raise selfplay.random_share, selfplay.archive, the selfplay.temperature points and "
            "selfplay.noise_share; check that the seeds differ"
        )
    trend = [distinct_share(part.states) for part in _parts(rows)]
    return measure.found(value, percent(value), verdict, sentence, advice, trend, random=usual)


def value_sight(evidence: Evidence, trial: Trial | None) -> Finding:
    """Judge whether the value head says anything about results."""
    measure = Measure("value_sight", "results that the value explains")
    if trial is None:
        return measure.missing(NO_NETWORK)
    rows, values = trial.best.rows, trial.best.opinion.values
    value, spread = explained(values, rows.results), float(np.std(values))
    if math.isnan(value):
        return measure.found(
            0.0, "–", "odd", "all games ended alike, so that there is nothing for a value to learn",
            "raise selfplay.temperature and selfplay.noise_share; is the game always won so?",
            spread=spread,
        )  # fmt: skip
    doubt = _explained_doubt(trial.best)
    verdict = _grade(value, value < 0.02 - doubt, spread < 0.02 or value < -0.3 - doubt)
    sentence = f"share of the variance of results; values spread by {spread:.2f}"
    advice = ""
    if spread < 0.02:
        sentence = f"the value head is dead: it says {float(np.mean(values)):+.2f} of any position"
        advice = "raise train.value_weight, lower train.learning_rate, check network.value_channels"
    elif value < 0.02 - doubt:
        sentence = "values are no better than the mean of all results"
        advice = (
            "more games before learning (warm_up_rows), a lower train.reuse, or train.search_share "
            "above 0"
        )
    verdict, sentence = _hushed(verdict, sentence, evidence)
    trend = evidence.series("value_explained")
    return measure.found(value, percent(value), verdict, sentence, advice, trend, spread=spread)


def _explained_doubt(part: Part) -> float:
    """Return two standard errors of what values explain; the rows of a game share one result."""
    results = part.rows.results
    gains = (results - results.mean()) ** 2 - part.value_errors
    return 2 * float(gains.std()) / math.sqrt(part.games) / float(results.var())


def value_calibration(evidence: Evidence, trial: Trial | None) -> Finding:
    """Judge whether a value of 0.6 comes true as 0.6."""
    measure = Measure("value_calibration", "value against outcomes: calibration error")
    window = evidence.window
    if trial is not None:
        rows, values, whose = trial.best.rows, trial.best.opinion.values, "network"
        games = trial.best.games
    elif window is not None and window.values is not None and len(window) >= FEWEST:
        rows, values, whose, games = window, window.values, "search", window.games
    else:
        return measure.missing(NO_ROWS)
    bins = calibration(values, rows.results, games)
    value = max(0.0, bins.error - bins.noise)
    verdict = _grade(value, value > 0.15, value > 0.3)
    high = float(np.nansum((np.abs(bins.promised) - np.abs(bins.came)) * bins.counts))
    sentence = f"mean distance of the {whose}'s value from what came of it, chance taken off"
    advice = ""
    if value > 0.15:
        how = "promises more than comes" if high > 0 else "is too timid"
        sentence = f"the {whose}'s value is off by {value:.2f} on average; it {how}"
        advice = (
            "lower train.reuse or enlarge the window; lower selfplay.temperature, whose blunders "
            "spoil results; mix the search's value in with train.search_share"
        )
        verdict, sentence = _hushed(verdict, sentence, evidence)
    curve = [
        {"promised": float(p), "came": float(c), "rows": int(n)}
        for p, c, n in zip(bins.promised, bins.came, bins.counts, strict=True)
        if n
    ]
    trend = evidence.series("value_error")
    return measure.found(value, f"{value:.3f}", verdict, sentence, advice, trend, curve=curve,
                         error=bins.error, noise=bins.noise)  # fmt: skip


def held_out(evidence: Evidence, trials: Sequence[Trial]) -> Finding:
    """Judge whether the network knows its old rows by heart."""
    measure = Measure("held_out", "loss on unseen games against old ones")
    fit = [trial for trial in trials if trial.fresh is not None and trial.old is not None]
    if not fit:
        return measure.missing("needs a checkpoint and games that were played after it")
    trial = fit[-1]
    gap, policy = trial.value_gap, trial.policy_gap
    sure = gap - 2 * trial.doubt
    verdict = _grade(gap, sure > 0.25 or policy > 0.5, sure > 0.5 or policy > 0.75)
    assert trial.old is not None
    assert trial.fresh is not None
    figures = {
        f"{name}_{age}": float(errors.mean())
        for age, part in (("old", trial.old), ("new", trial.fresh))
        for name, errors in (("value", part.value_errors), ("policy", part.policy_errors))
    }
    sentence = (
        "value {value_old:.3f} on old rows, {value_new:.3f} on new; policy {policy_old:.3f} and "
        "{policy_new:.3f}"
    ).format(**figures)
    advice = ""
    if verdict != "ok":
        sentence = f"the network knows old games by heart ({sentence})"
        advice = "lower train.reuse, enlarge window, raise train.l2, or take a smaller network"
    value = max(gap, policy)
    trend = [max(one.value_gap, one.policy_gap) for one in fit]
    return measure.found(
        value, f"{100 * value:+.0f} %", verdict, sentence, advice, trend, value_gap=gap,
        policy_gap=policy, checkpoint=trial.checkpoint, **figures,
    )  # fmt: skip
