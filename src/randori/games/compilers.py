"""Which way kernels are compiled: ours, or by versions of Numba not tried with it in their own."""

import re
from typing import Any

import numba

TRIED = ((0, 61), (0, 68))
"""The first and the last version that `pipelines.py` was tried with."""


def _is_tried(version: str) -> bool:
    """Tell whether a version lies between those that were tried; some builds have none."""
    found = re.match(r"(\d+)\.(\d+)\.", version)
    return found is not None and TRIED[0] <= (int(found[1]), int(found[2])) <= TRIED[1]


def _ways(version: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what tells `njit` how to compile what Python calls, and what only that calls."""
    if not _is_tried(version):
        return {}, {}
    from randori.games.pipelines import KernelCompiler, PartCompiler  # what they need may be gone

    return {"pipeline_class": KernelCompiler}, {"pipeline_class": PartCompiler}


njit: Any = numba.njit
KERNEL, PART = _ways(numba.__version__)
