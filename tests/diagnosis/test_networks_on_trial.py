"""Whole folders, networks and all: one that learnt, one that knows by heart, one that is dead."""

import numpy as np
import pytest
import torch

from randori.agents.models import model_info, signature_of
from randori.diagnosis.doctor import examine
from randori.diagnosis.opinions import look
from randori.diagnosis.page import doctor_page
from randori.networks.build import build
from randori.networks.config import NetworkConfig
from randori.networks.planes import unpack
from randori.runs.checkpoint import write_checkpoint
from randori.runs.shards import write_shard

from .conftest import random_states
from .test_openings import assert_stands_alone

CONFIG = NetworkConfig(kind="mlp", blocks=2, hidden=128)


def make(game, games, seed, *, is_random=False):
    """Rows that a board explains, or rows of which every one is chance."""
    rng = np.random.default_rng(seed)
    states = random_states(game, games, rng)
    view = look(game, states)
    stones = (view.words[:, :1] | view.words[:, 1:2]) >> np.arange(42, dtype=np.uint64) & np.uint64(
        1
    )
    heights = stones.reshape(-1, 6, 7).sum(axis=1).astype(float)
    liking = np.exp(0.8 * heights)[np.arange(len(states))[:, None], view.actions]
    liking *= rng.lognormal(0, 0.5, liking.shape)
    if is_random:
        liking = rng.dirichlet(np.full(7, 0.3), len(states))
    counts = np.where(np.arange(7) < view.legal[:, None], np.ceil(60 * liking), 0)
    counts = np.minimum(counts, 60_000).astype(np.uint16)
    chance = np.full(len(states), 0.5) if is_random else np.where(heights[:, 3] > 2, 0.85, 0.15)
    results = np.where(rng.random(len(states)) < chance, 1, -1).astype(np.int8)
    values = results.astype(np.float32)
    return {"states": states, "counts": counts, "values": values, "results": results}


def learn(game, rows, steps):
    """Fit a network to the rows by plain gradient descent."""
    torch.manual_seed(0)
    network = build(CONFIG, signature_of(game)).eval()
    view = look(game, rows["states"])
    planes = unpack(torch.tensor(view.words.view(np.int64)), signature_of(game))
    actions = torch.tensor(view.actions.astype(np.int64))
    is_open = torch.arange(7) < torch.tensor(view.legal)[:, None]
    target = torch.tensor(rows["counts"].astype(np.float32))
    target = target / target.sum(1, keepdim=True)
    results = torch.tensor(rows["results"].astype(np.float32))
    optimizer = torch.optim.Adam(network.parameters(), 3e-3)
    for _ in range(steps):
        logits, values = network(planes)
        logits = logits.gather(1, actions).masked_fill(~is_open, -1e9)
        cross = -(target * torch.log_softmax(logits, 1)).sum(1).mean()
        loss = cross + (values - results).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return network


def save(path, game, network, number, scale=1.0):
    weights = {name: scale * t.detach().numpy() for name, t in network.state_dict().items()}
    info = model_info(game, CONFIG, iteration=number, seconds=60.0 * number)
    write_checkpoint(path, number, weights, info, {"a": np.zeros(1)}, {})


def test_a_network_that_learnt(made, connect4):
    old, new = make(connect4, 80, 0), make(connect4, 40, 1)
    path = made(shards={1: old, 2: new})
    save(path, connect4, learn(connect4, old, 60), 1)
    found = examine(path)
    named = [f.name for f in found.findings if f.verdict in ("odd", "sick")]
    assert named == [], [f for f in found.findings if f.name in named]
    assert found.finding("held_out").details["checkpoint"] == 1
    assert found.finding("value_sight").value > 0.2
    page = doctor_page(found)
    assert_stands_alone(page)
    assert "Value against outcomes" in page


def test_a_network_that_knows_its_rows_by_heart(made, connect4):
    old = make(connect4, 12, 0, is_random=True)
    new = make(connect4, 60, 1, is_random=True)
    path = made(shards={1: old, 2: new})
    save(path, connect4, learn(connect4, old, 400), 1)
    finding = examine(path).finding("held_out")
    assert finding.verdict == "sick"
    assert finding.details["value_old"] < 0.3 < 0.9 < finding.details["value_new"]


def test_a_dead_network(made, connect4):
    rows = make(connect4, 60, 0)
    path = made(shards={1: rows, 2: rows})
    save(path, connect4, build(CONFIG, signature_of(connect4)), 1, scale=0.0)
    found = examine(path)
    sick = {finding.name for finding in found.findings if finding.verdict == "sick"}
    assert {"policy_entropy", "policy_sight", "value_sight"} <= sick
    assert found.verdict == "sick"


def test_one_checkpoint_is_asked_about_its_own_rows(made, connect4):
    rows = make(connect4, 60, 0)
    path = made(shards={1: rows})
    save(path, connect4, learn(connect4, rows, 60), 1)
    found = examine(path)
    assert found.finding("held_out").verdict == "unknown"
    assert found.finding("policy_entropy").value is not None


@pytest.mark.parametrize("what", ["cut", "foreign"])
def test_models_that_cannot_be_asked(made, connect4, what):
    rows = make(connect4, 20, 0)
    path = made(shards={1: rows, 2: rows})
    network = build(CONFIG, signature_of(connect4))
    save(path, connect4, network, 1)
    file = path / "checkpoints" / "000001" / "model.safetensors"
    if what == "cut":
        file.write_bytes(file.read_bytes()[:500])
    else:
        file.write_bytes(file.read_bytes().replace(b"connect4", b"connect5"))
    found = examine(path)
    assert found.finding("policy_entropy").verdict == "unknown"
    assert found.finding("visits_entropy").value is not None
    assert found.notes


def test_a_shard_that_disappears_while_one_looks(made, connect4):
    rows = make(connect4, 20, 0)
    path = made(shards={1: rows})
    from randori.diagnosis.evidence import gather

    evidence = gather(path)
    (path / "replay" / "000001.npz").unlink()
    assert evidence.window is None
    write_shard(path, 1, rows)
