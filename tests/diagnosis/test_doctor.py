"""Runs that are sick on purpose are named, and healthy ones are not."""

import re
from dataclasses import replace

import numpy as np
import pytest

from randori.diagnosis import history, rules
from randori.diagnosis.doctor import BY_NETWORK, BY_RECORD, PATIENCE, examine, judge
from randori.diagnosis.evidence import gather
from randori.diagnosis.opinions import Opinion, divergences, look, softmax
from randori.diagnosis.trials import Part, Trial
from randori.games.registry import GAMES, load_game
from randori.runs.health import shares

from .conftest import healthy


def trial_of(rows, opinion=None, old=None):
    fresh = Part(rows, opinion or healthy(rows))
    return Trial(1, old or Part(rows, healthy(rows, 1)), fresh)


def verdicts(evidence, trial):
    findings = [rule(evidence, trial) for rule in BY_NETWORK]
    findings.append(rules.held_out(evidence, [trial]))
    findings += [rule(evidence) for rule in BY_RECORD]
    return {finding.name: finding.verdict for finding in findings}


@pytest.mark.parametrize("spec", [*GAMES, "othello:size=6"])
def test_a_healthy_run_of_any_game(made, rows_of, spec):
    few = {"go": 2, "shobu": 3, "choko": 6, "othello": 8}.get(spec, 30)
    length = 0.5 * load_game(spec).longest
    path = made(spec, {1: rows_of(spec, few, 0), 2: rows_of(spec, few, 1)}, game_length=length)
    evidence = gather(path)
    found = verdicts(evidence, trial_of(evidence.window))
    assert {name for name, verdict in found.items() if verdict in ("odd", "sick")} == set()
    assert [name for name, verdict in found.items() if verdict == "unknown"] == ["gate"]


def test_a_constant_policy(evidence):
    rows = evidence.window
    level = softmax(np.zeros_like(rows.visits), look(evidence.game, rows.states))
    opinion = replace(healthy(rows), policy=level, blind=level)
    found = verdicts(evidence, trial_of(rows, opinion))
    assert found["policy_entropy"] == found["policy_sight"] == "sick"
    assert found["search_changes"] == "sick"
    assert found["value_sight"] == found["visits_entropy"] == "ok"


def test_a_policy_that_never_looks_at_the_board(evidence):
    """It has preferences, so that its entropy looks well."""
    rows = evidence.window
    view = look(evidence.game, rows.states)
    fixed = softmax(np.linspace(0, 2, evidence.game.num_actions)[view.actions], view)
    finding = rules.policy_sight(evidence, trial_of(rows, Opinion(fixed, fixed, rows.values)))
    assert finding.verdict == "sick"
    assert "whatever stands on the board" in finding.sentence
    assert "train.learning_rate" in finding.advice


def test_a_collapsed_policy(evidence):
    rows = evidence.window
    single = np.eye(rows.visits.shape[1])[np.argmax(rows.visits, axis=1)]
    opinion = replace(healthy(rows), policy=single)
    finding = rules.policy_entropy(evidence, trial_of(rows, opinion))
    assert finding.verdict == "sick"
    assert "noise_share" in finding.advice


def test_a_dead_value_head(evidence):
    rows = evidence.window
    opinion = replace(healthy(rows), values=np.full(len(rows), 0.1))
    finding = rules.value_sight(evidence, trial_of(rows, opinion))
    assert finding.verdict == "sick"
    assert finding.sentence == "the value head is dead: it says +0.10 of any position"


def test_a_value_that_was_never_trained(evidence):
    """It is not constant, only of no use."""
    rows = evidence.window
    values = np.random.default_rng(0).normal(0.1, 0.2, len(rows))
    opinion = replace(healthy(rows), values=values)
    finding = rules.value_sight(evidence, trial_of(rows, opinion))
    assert finding.verdict == "odd"
    assert "no better than the mean" in finding.sentence


def test_a_value_that_is_upside_down(evidence):
    rows = evidence.window
    opinion = replace(healthy(rows), values=-rows.values)
    found = verdicts(evidence, trial_of(rows, opinion))
    assert found["value_sight"] == found["value_calibration"] == "sick"


def test_an_early_network_may_be_ignorant(made, rows_of):
    evidence = gather(made(shards={1: rows_of("connect4")}, iterations=1))
    rows = evidence.window
    level = softmax(np.zeros_like(rows.visits), look(evidence.game, rows.states))
    opinion = Opinion(level, level, np.zeros(len(rows)))
    found = verdicts(evidence, trial_of(rows, opinion, Part(rows, opinion)))
    assert "sick" not in found.values()
    finding = rules.value_sight(evidence, trial_of(rows, opinion))
    assert finding.verdict == "odd"
    assert "after only 100 gradient steps" in finding.sentence


@pytest.mark.parametrize("iterations", [1, 20])
def test_an_early_network_is_only_told_to_train_on(made, rows_of, iterations):
    """All else would contradict itself: more steps and fewer, larger networks and smaller."""
    rows = {name: np.tile(a[:5], (100, 1) if a.ndim == 2 else 100)
            for name, a in rows_of("connect4").items()}  # fmt: skip
    counts = rows["counts"]
    rows["counts"] = np.where(counts == counts.max(1, keepdims=True), counts, 0)
    found = examine(made("connect4", {1: rows}, iterations=iterations))
    assert found.finding("visits_entropy").verdict == "sick"
    assert (found.finding("visits_entropy").advice == PATIENCE) is (iterations == 1)
    assert "random_share" in found.finding("distinct_positions").advice


@pytest.mark.parametrize("spec", ["connect4", "tictactoe"])
def test_games_that_are_all_the_same(made, rows_of, spec):
    rows = rows_of(spec)
    end = 1 + int(np.flatnonzero(np.diff(rows["states"][:, 0].astype(int)) <= 0)[0])
    same = {name: np.tile(a[:end], (100, 1) if a.ndim == 2 else 100) for name, a in rows.items()}
    finding = rules.distinct_positions(gather(made(spec, {1: same})))
    assert finding.verdict == "sick"
    assert "repeats itself" in finding.sentence
    assert finding.value == pytest.approx(0.01)


def test_games_that_lose_their_variety(made, rows_of):
    rows = rows_of("connect4")
    thrice = {name: np.tile(a, (3, 1) if a.ndim == 2 else 3) for name, a in rows.items()}
    finding = rules.distinct_positions(gather(made("connect4", {1: thrice})))
    assert finding.verdict == "odd"
    assert "archive" in finding.advice
    assert 0.25 < finding.value < 0.4


def test_a_small_game_must_repeat_itself(made, rows_of):
    rows = rows_of("tictactoe", 400)
    finding = rules.distinct_positions(gather(made("tictactoe", {1: rows})))
    assert finding.value < 0.6
    assert finding.verdict == "ok"


def test_rows_that_are_written_twice_are_not_repetitions(made, rows_of):
    """Weighing by surprise writes some rows twice in a row."""
    rows = rows_of("connect4")
    twice = {name: np.repeat(array, 2, axis=0) for name, array in rows.items()}
    evidence = gather(made(shards={1: twice}))
    assert len(evidence.window) == 2 * len(rows["results"])
    assert abs(evidence.window.games - 60) <= 15
    assert rules.distinct_positions(evidence).value > 0.7


def test_a_replay_known_by_heart(evidence):
    rows = evidence.window
    perfect = Opinion(shares(rows.visits), healthy(rows).blind, rows.results * 0.95)
    old = Part(rows, perfect)
    ignorant = replace(healthy(rows, 2), values=healthy(rows).values * -0.3)
    finding = rules.held_out(evidence, [Trial(1, old, Part(rows, ignorant))])
    assert finding.verdict == "sick"
    assert "by heart" in finding.sentence
    assert "train.reuse" in finding.advice
    assert rules.held_out(evidence, []).verdict == "unknown"


def test_visits_without_preference(made, rows_of):
    rows = rows_of("connect4")
    legal = look(load_game("connect4"), rows["states"]).legal
    level = {**rows, "counts": (9 * (np.arange(7) < legal[:, None])).astype(np.uint16)}
    finding = rules.visits_entropy(gather(made(shards={1: level})), None)
    assert finding.verdict == "sick"
    assert "simulations" in finding.advice


@pytest.mark.parametrize(
    ("name", "verdict", "metrics"),
    [
        ("first_player_score", "odd", {"first_player_score": 0.99}),
        ("first_player_score", "odd", {"first_player_score": 0.01}),
        ("draw_share", "odd", {"draw_share": 0.97}),
        ("game_length", "odd", {"game_length": lambda i: 30 if i < 15 else 8}),
        ("loss_trend", "sick", {"policy_loss": lambda i: 1.2 if i < 12 else 2.4}),
        ("loss_trend", "odd", {"value_loss": lambda i: 0.4 if i < 15 else 0.55}),
        ("loss_trend", "sick", {"learning_rate": 1e-9}),
        ("loss_trend", "odd", {"policy_loss": 2.9, "policy_entropy": 1.8}),
        ("loss_trend", "ok", {"policy_loss": lambda i: 4 - 0.05 * i, "policy_entropy": 1.8}),
        ("throughput", "odd", {"bare_share": 0.1}),
        ("throughput", "odd", {"evaluations_per_s": 50_000.0}),
        ("throughput", "odd", {"paused_share": 0.5}),
        ("throughput", "ok", {"paused_share": 0.1}),
        ("gate", "sick", {"gate_score": 0.4, "gate_passed": lambda i: i < 3}),
        ("gate", "odd", {"gate_score": 0.4, "gate_passed": lambda i: i < 12}),
        ("gate", "ok", {"gate_score": 0.57, "gate_passed": lambda i: i % 3 == 0}),
        ("loss_trend", "ok", {"policy_loss": lambda i: 2.5 - 0.05 * i}),
        ("draw_share", "unknown", {"draw_share": None}),
    ],
)
def test_what_the_metrics_tell(made, name, verdict, metrics):
    evidence = gather(made(**metrics))
    finding = next(f for f in (rule(evidence) for rule in BY_RECORD) if f.name == name)
    assert finding.verdict == verdict, finding
    assert bool(finding.advice) == (verdict in ("odd", "sick"))


def test_games_that_run_into_the_limit(made):
    longest = load_game("shobu").longest
    evidence = gather(made("shobu", game_length=longest - 1, draw_share=0.95))
    assert history.draws(evidence).verdict == "sick"


def test_a_full_board_is_no_limit(made):
    evidence = gather(made("tictactoe", game_length=9.0, draw_share=0.98))
    assert history.draws(evidence).verdict == "odd"


def test_a_folder_with_nothing_in_it(made):
    found = judge(gather(made(iterations=0)))
    assert {finding.verdict for finding in found.findings} == {"unknown"}
    assert found.verdict == "unknown"
    assert found.notes == ("there are no metrics yet: the first iteration has not ended",)
    assert all(finding.sentence for finding in found.findings)


def test_damaged_and_foreign_shards(made, rows_of):
    path = made(shards={1: rows_of("connect4"), 2: {"observations": np.zeros((5, 3))}})
    write = path / "replay" / "000003.npz"
    write.write_bytes(b"PK not really")
    found = examine(path)
    assert found.finding("visits_entropy").verdict == "ok"
    assert any("000003.npz is damaged" in note for note in found.notes)
    assert any("000002.npz holds no rows" in note for note in found.notes)


def test_rows_of_other_rules(made, rows_of):
    found = examine(made("othello", {1: rows_of("connect4")}))
    assert found.finding("visits_entropy").verdict == "unknown"
    assert found.notes == ("the rows of replay/000001.npz do not fit othello",)


def test_another_learner(made):
    """What its metrics do not say is unknown, not an error."""
    nothing = dict.fromkeys(("policy_loss", "policy_entropy", "bare_share", "evaluations_per_s"))
    found = examine(made(**nothing, value_loss=None))
    assert found.verdict == "ok"
    assert found.finding("loss_trend").verdict == "unknown"


def test_divergence_against_a_plain_sum():
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(4), 5), rng.dirichlet(np.ones(4), 5)
    p[0, 1] = 0.0
    expected = [
        sum(a * np.log(a / b) for a, b in zip(x, y, strict=True) if a)
        for x, y in zip(p, q, strict=True)
    ]
    assert divergences(p, q) == pytest.approx(expected)


def test_advice_names_settings_that_exist():
    from pathlib import Path

    from randori.learners.settings import AlphaZeroConfig
    from randori.runs.config import to_dict

    def names(value, prefix=""):
        for key, inner in value.items():
            yield f"{prefix}{key}"
            if isinstance(inner, dict):
                yield from names(inner, f"{prefix}{key}.")

    known = set(names(to_dict(AlphaZeroConfig())))
    parts = {name.partition(".")[0] for name in known if "." in name}
    pattern = rf"\b((?:{'|'.join(parts)})\.[a-z_.0-9]*[a-z_0-9])"
    sources = [Path(module.__file__).read_text() for module in (rules, history)]
    named = {word for source in sources for word in re.findall(pattern, source)}
    assert len(named) > 10
    assert named - known == set()
