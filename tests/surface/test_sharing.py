"""What is a view of what: as NumPy has it, also where axes are one element long.

There a sum, a diagonal or a copy may be had as a view, and would be written through.
"""

import contextlib
import io
import warnings

import numpy as np
import pytest

import lazyarray as la

from . import samples

CALLS, _ = samples.load()
# What asks for files, settings or other libraries, or is random.
NOT_HERE = ("random.", "engine.", "printoptions", "errstate", "seterr", "la.", "open(", "file")
CUTS = {
    "whole": lambda a: a,
    "one": lambda a: a[(slice(0, 1),) * a.ndim],
    "last": lambda a: a[..., :1],
}


def results(call, make, xp, arrays):
    """The arrays that a call gives, and those that it was given; None where it fails."""
    given = {name: make(a) for name, a in arrays.items()}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            got = eval(call, {"xp": xp, "np": np, "la": la, **given})
    except Exception:
        return None
    found = got if isinstance(got, (tuple, list)) else [got]
    return [x for x in found if isinstance(x, (np.ndarray, la.NDArray)) and np.ndim(x)], given


@pytest.mark.parametrize("cut", CUTS)
def test_what_shares_memory(cut):
    arrays = {n: np.array(CUTS[cut](np.asarray(a))) for n, a in samples.arrays(np).items()}
    others, seen = [], 0
    for name, calls in CALLS.items():
        for call in calls:
            if any(part in name + call for part in NOT_HERE):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = results(call, np.copy, np, arrays)
                ours = results(call, la.array, la, arrays) if theirs and theirs[0] else None
            if not theirs or not ours or len(theirs[0]) != len(ours[0]):
                continue
            for want, got in zip(theirs[0], ours[0], strict=True):
                for n in arrays:
                    seen += 1
                    if np.shares_memory(want, theirs[1][n]) != la.shares_memory(got, ours[1][n]):
                        others.append((call, n))
    assert others == []
    assert seen > 10000
    with contextlib.suppress(Exception):
        la.waitall()  # what failed is not asked for here
