"""Networks have the shapes that games ask for, the papers' sizes, and can learn."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from randori.agents.models import signature_of
from randori.errors import UserError
from randori.games.registry import load_game
from randori.games.shobu import MOVES
from randori.networks import NetworkConfig, Signature
from randori.networks.build import KINDS, build
from randori.networks.heads import (
    Factors,
    PlanesHead,
    PolicyHead,
    ValueHead,
    expected,
    squash,
)
from randori.networks.resnet import Block


@pytest.mark.parametrize("kind", KINDS)
def test_shapes(kind: str, signature: Signature) -> None:
    network = build(NetworkConfig(kind=kind, blocks=1, channels=8), signature)
    logits, values = network(torch.rand(3, signature.planes, signature.height, signature.width))
    assert logits.shape == (3, signature.num_logits)
    assert values.shape == (3,)
    assert values.abs().max() <= 1


@pytest.mark.parametrize("kind", KINDS)
def test_bf16_networks_answer_in_float32(kind: str) -> None:
    signature = Signature(2, 6, 7, (7,))
    network = build(NetworkConfig(kind=kind, blocks=1, channels=8), signature).bfloat16()
    logits, values = network(torch.rand(3, 2, 6, 7, dtype=torch.bfloat16))
    assert logits.dtype == values.dtype == torch.float32


@pytest.mark.parametrize("kind", KINDS)
def test_two_positions_are_learnt_by_heart(kind: str) -> None:
    torch.manual_seed(0)
    signature = Signature(2, 4, 4, (6, 3))
    network = build(NetworkConfig(kind=kind, blocks=2, channels=16), signature)
    planes = torch.randint(0, 2, (2, 2, 4, 4)).float()
    first, second, outcome = torch.tensor([4, 1]), torch.tensor([0, 2]), torch.tensor([1.0, -1.0])
    optimizer = torch.optim.Adam(network.parameters(), lr=5e-3)
    for _ in range(60):
        logits, values = network(planes)
        loss = (
            nn.functional.cross_entropy(logits[:, :6], first)
            + nn.functional.cross_entropy(logits[:, 6:], second)
            + nn.functional.mse_loss(values, outcome)
        )
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
    logits, values = network.eval()(planes)
    assert (logits[:, :6].softmax(1)[[0, 1], first] > 0.7).all()
    assert (logits[:, 6:].softmax(1)[[0, 1], second] > 0.7).all()
    assert (values * outcome > 0.7).all()


def test_sub_heads_see_the_ones_before_them_and_none_after() -> None:
    factors = (64, 8, 2, 64)
    head = Factors(512, Signature(8, 4, 4, factors))
    # Paper A's widths, with 8 directions instead of its misprinted 16.
    stages = [stage for stage in head.stages if isinstance(stage, nn.Sequential)]
    assert [stage[0].in_features for stage in stages] == [512, 576, 584, 586]
    features = torch.rand(1, 512)
    before = head(features).split(factors, 1)
    for place, stage in enumerate(stages):
        with torch.no_grad():
            for weight in stage[2].parameters():
                weight.add_(1)
        after = head(features).split(factors, 1)
        changed = [not torch.equal(a, b) for a, b in zip(before, after, strict=True)]
        assert changed == [other >= place for other in range(4)]
        before = after


@torch.no_grad()
def test_sub_heads_add_up_to_the_logits_of_a_game() -> None:
    """Paper A's square, direction, distance and square, for every move of Shobu."""
    game = load_game("shobu")
    head = Factors(12, signature_of(game)).eval()
    features = torch.rand(2, 12)
    logits = head(features).numpy()[:, game.factors].sum(2)
    with torch.autocast("cpu", torch.bfloat16):
        rough = head(features)
    assert rough.dtype == torch.float32  # sums of what was rounded, not rounded sums
    head.parts = None
    square, direction, distance, other = np.split(head(features).numpy(), [64, 72, 74], axis=1)
    kind, passive, aggressive = MOVES.T
    expected = square[:, passive] + direction[:, kind // 2] + distance[:, kind % 2]
    np.testing.assert_allclose(logits, expected + other[:, aggressive], atol=1e-5)


@torch.no_grad()
def test_planes_show_a_stone_where_it_stands() -> None:
    """A logit of Shobu depends on its own cell of the planes, whose place the input has too."""
    game = load_game("shobu")
    signature = signature_of(game)
    head = PlanesHead(4, signature, norm=False)
    assert head.planes.out_channels == 16 * (4 + 2)
    x = torch.rand(1, 4, 4, 4)
    planes = head.planes(head.conv(x)).flatten()
    logits = head(x)[0, game.factors]  # [actions, 2]
    words = np.zeros(game.input_words, dtype=np.uint64)
    kind, passive, aggressive = MOVES.T
    for column, squares, first in ((0, passive, 64), (1, aggressive, 0)):
        for action in range(0, len(MOVES), 7):
            square = int(squares[action])
            game.plain.planes(np.array([0, 1 << square, 0], dtype=np.uint64), words)
            (board,) = np.flatnonzero(words)
            cell = int(words[board]).bit_length() - 1
            plane = first + 16 * int(board) + int(kind[action])
            assert logits[action, column] == planes[16 * plane + cell]


def test_a_policy_of_planes_needs_to_know_where() -> None:
    for spec, kind in (("shobu", PlanesHead), ("connect4", PolicyHead)):
        signature = signature_of(load_game(spec))
        assert isinstance(build(NetworkConfig(blocks=1), signature).policy, kind)
        dense = build(NetworkConfig(blocks=1, policy="dense"), signature)
        assert isinstance(dense.policy, PolicyHead)


@pytest.mark.parametrize("norm", [True, False])
def test_a_block_adds_to_what_came_in(norm: bool) -> None:
    block = Block(4, norm).eval()
    x = torch.rand(2, 4, 3, 3)
    assert not torch.allclose(block(x), x)
    for weight in block.second.parameters():
        nn.init.zeros_(weight)
    torch.testing.assert_close(block(x), x)


@torch.no_grad()
def test_the_value_head_pools_mean_and_maximum() -> None:
    head = ValueHead(4, 3, hidden=5, norm=False, scores=1)
    x = torch.rand(2, 4, 6, 7)
    board = head.conv(x)
    pooled = [
        [board[b, c].mean() for c in range(3)] + [board[b, c].max() for c in range(3)]
        for b in range(2)
    ]
    hidden = torch.tensor(pooled) @ head.hidden.weight.T + head.hidden.bias
    score = hidden.clamp(min=0) @ head.last.weight[0] + head.last.bias
    torch.testing.assert_close(squash(head(x)), score.tanh())


@torch.no_grad()
def test_win_draw_and_loss_become_one_value() -> None:
    scores = torch.tensor([[5.0, 5.0, 5.0], [9.0, -9.0, -9.0], [0.0, 40.0, 0.0]])
    torch.testing.assert_close(expected(scores), torch.tensor([0.0, 1.0, 0.0]), atol=1e-6, rtol=0)
    network = build(NetworkConfig(blocks=1, channels=4, value="wdl"), Signature(2, 3, 3, (9,)))
    values = network.eval()(torch.rand(5, 2, 3, 3))[1]
    assert ((values > -1) & (values < 1)).all()


def test_one_factor_is_one_linear_layer() -> None:
    assert [type(stage) for stage in Factors(10, Signature(2, 3, 3, (7,))).stages] == [nn.Linear]


def test_mlp_has_paper_cs_size() -> None:
    network = build(NetworkConfig(kind="mlp", blocks=3, hidden=64), Signature(1, 1, 26, (2625,)))
    assert sum(weight.numel() for weight in network.parameters()) == 180_738


def test_batch_norm_can_be_left_out() -> None:
    signature = Signature(2, 6, 7, (7,))
    for kind in ("resnet", "cnn"):
        network = build(NetworkConfig(kind=kind, batch_norm=False), signature)
        assert not any("norm" in name for name, _ in network.named_modules())


def test_unknown_kind_names_the_nearest() -> None:
    with pytest.raises(UserError, match="did you mean 'resnet'"):
        build(NetworkConfig(kind="resnett"), Signature(2, 6, 7, (7,)))


@pytest.mark.parametrize("bad", [{"channels": 0}, {"blocks": -1}, {"dropout": 1.0}])
def test_impossible_sizes_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=next(iter(bad))):
        NetworkConfig(**bad)


def test_config_needs_no_torch() -> None:
    code = "import sys, randori.networks.config; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
