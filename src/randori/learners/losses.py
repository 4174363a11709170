"""What a network is told: cross entropy of the policy, error of the value, and the side tasks."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits as binary_cross_entropy

from randori.learners.harvest import NONE_MADE
from randori.learners.replay import Samples
from randori.networks.heads import Outputs


@dataclass(frozen=True)
class Losses:
    """The mean over steps of what they saw, before they moved."""

    policy: float
    """cross entropy, in nats; its floor is the entropy of the search's own policy"""
    value: float
    """mean of (v − z)²"""
    reply: float = 0.0
    """cross entropy of the opponent's answer, where that is learnt"""
    owners: float = 0.0
    """cross entropy of who has a cell in the end, where that is learnt"""


class Targets(NamedTuple):
    """A batch of samples as tensors: in memory, or on the device that learns."""

    words: Tensor
    actions: Tensor
    shares: Tensor
    values: Tensor
    results: Tensor
    replies: Tensor
    owners: Tensor
    amends: Tensor


def tensors_of(samples: Samples) -> Targets:
    """Look at the arrays of a batch as tensors, without a copy."""
    parts = (getattr(samples, name) for name in Targets._fields)
    signed = (part.view(np.int64) if part.dtype == np.uint64 else part for part in parts)
    return Targets(*(torch.from_numpy(part) for part in signed))


def policy_loss(logits: Tensor, shares: Tensor) -> Tensor:
    """Return the cross entropy over legal actions; `shares` is −1 where there is none."""
    absent = shares < 0
    log_share = torch.log_softmax(logits.masked_fill(absent, -torch.inf), dim=1)
    cross = -(shares * log_share.masked_fill(absent, 0.0)).sum(dim=1)
    return cross.mean()


def shares_of(values: Tensor, draws: Tensor) -> Tensor:
    """Split values [B] into win, draw and loss [B, 3].

    A value does not tell how much of it is a draw. What the network believes stays as it is, as far
    as the value allows: only games that are drawn teach that they are.
    """
    values = values.clamp(-1, 1)
    drawn = torch.minimum(draws, 1 - values.abs())
    return torch.stack([1 - drawn + values, 2 * drawn, 1 - drawn - values], 1) / 2


def wdl_loss(scores: Tensor, targets: Targets, search_share: float) -> Tensor:
    """Return the cross entropy of win, draw and loss."""
    said = torch.log_softmax(scores, dim=1)
    draws = said[:, 1].detach().exp()
    results, amends = targets.results, targets.amends
    ended = torch.stack([results > 0, results == 0, results < 0], 1).float()
    ended = torch.where((amends == NONE_MADE)[:, None], ended, shares_of(amends, draws))
    target = (1 - search_share) * ended + search_share * shares_of(targets.values, draws)
    return -(target * said).sum(dim=1).mean()


def reply_loss(logits: Tensor, replies: Tensor) -> Tensor:
    """Return the cross entropy of the answer over all actions, where there was one."""
    answered = replies >= 0
    log_share = torch.log_softmax(logits, dim=1)
    picked = log_share.gather(1, replies.clamp(min=0).long()[:, None])[:, 0]
    return -(picked * answered).sum() / answered.sum().clamp(min=1)


def owner_loss(logits: Tensor, owners: Tensor) -> Tensor:
    """Return the cross entropy of cells being mine; `owners` [B, 2 * cells] are 0 and 1."""
    mine, theirs = owners.chunk(2, dim=1)
    return binary_cross_entropy(logits, (1 + mine - theirs) / 2)


def parts_of(factors: Tensor, num_logits: int) -> Tensor | None:
    """Return ones [P, A] where a logit is part of an action's; None where each is an action's own.

    A product with it has a gradient that a card computes at once; that of picking logits one by
    one, with `factors` [A, F], takes longer than all the rest of a step.
    """
    own = torch.arange(num_logits, device=factors.device)[:, None]
    if torch.equal(factors, own):
        return None
    parts = torch.zeros(num_logits, len(factors), device=factors.device)
    return parts.scatter_(0, factors.T, 1.0)


def losses_of(
    said: Outputs,
    targets: Targets,
    factors: Tensor,
    parts: Tensor | None,
    search_share: float,
    owners: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """Return the four losses [4] to learn from, and the mean square error of the value.

    `factors` [A, F] are the logits whose sum is an action's, `parts` the same as a matrix; `owners`
    come unpacked.
    """
    ended = torch.where(targets.amends == NONE_MADE, targets.results, targets.amends)
    wanted = (1 - search_share) * ended + search_share * targets.values
    error = (said.value - wanted).square().mean()
    picked = factors[targets.actions.long()]  # [B, K, F]: far fewer than all actions in most games
    logits = said.logits.gather(1, picked.flatten(1)).view_as(picked).sum(dim=2)
    policy = policy_loss(logits, targets.shares)
    nothing = torch.zeros((), device=error.device)
    value = error
    if said.wdl is not None:
        value = wdl_loss(said.wdl, targets, search_share)
    reply = owned = nothing
    if said.reply is not None:
        every = said.reply if parts is None else said.reply @ parts  # [B, A]
        reply = reply_loss(every, targets.replies)
    if said.owners is not None and owners is not None:
        owned = owner_loss(said.owners, owners)
    return torch.stack([policy, value, reply, owned]), error
