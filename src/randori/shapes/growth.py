"""Weights from other tables: a smaller board, or fewer sets (paper B, section 7)."""

import numpy as np

from randori.shapes.sight import Weights
from randori.shapes.tables import Tables


def grow(theta: Weights, small: Tables, large: Tables) -> Weights:
    """Return weights for other tables: what lies alike in the corner starts alike.

    Shapes at places that the small board has not got start at zero, as do sets that it has not
    got. `theta` is [.., weights].
    """
    grown = np.zeros((*theta.shape[:-1], large.num_weights), dtype=np.float32)
    known = {fact.set: fact for fact in small.facts}
    for new in large.facts:
        old = known.get(new.set)
        if old is not None and new.set.is_hashed and new.weights == old.weights:
            grown[..., new.first :][..., : new.weights] = theta[..., old.first :][
                ..., : old.weights
            ]
    count, total = np.zeros(large.num_weights), np.zeros(grown.shape)
    totals = total.reshape(-1, large.num_weights)
    for home in large.homes.keys() & small.homes.keys():
        size = 3 ** (home.height * home.width)
        before = small.nets.exact.ids[small.homes[home] :][:size]
        after = large.nets.exact.ids[large.homes[home] :][:size]
        for lane in range(2):
            np.add.at(count, after[:, lane], 1)
            for weights, sums in zip(theta.reshape(-1, small.num_weights), totals, strict=True):
                np.add.at(sums, after[:, lane], weights[before[:, lane]])
    is_known = count > 0
    grown[..., is_known] = total[..., is_known] / count[is_known]
    grown[..., 0] = 0
    return grown
