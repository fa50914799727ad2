"""Lengths of axes: below, at and above every figure at which the code does something else."""

from __future__ import annotations

import math
import random

from lazyarray.lazy._lazy import _policy

# What C++ has as constants: LineLoops::kLongest, Nest::kShort, pairwise blocks,
# Gathering::kPiece.
CONSTANTS = (32, 128, 400, 2048)
# Lengths that programs have, and what divides into nothing.
COMMON = (1, 2, 3, 4, 5, 7, 8, 10, 16, 60, 63, 64, 65, 100, 600, 1000, 1024, 4097, 100003)
MOST_ELEMENTS = 400_000


def pool() -> list[int]:
    """All lengths that an axis may have, sorted."""
    policy = {name: int(value) for name, value in _policy().items()}
    figures = {*CONSTANTS, policy["least"], policy["most"], policy["row"]}
    figures |= {policy["panel"] * k for k in range(1, policy["panels"] + 1)}
    figures.add(policy["panels"] * policy["widest"])
    figures |= {policy["tile_bytes"] // (8 * k) for k in (1, 2, 3, 5)}
    figures |= {int(policy["split_ns"] / cost) for cost in (0.5, 1.0, 5.0)}
    around = {f + d for f in figures for d in (-1, 0, 1)}
    return sorted({n for n in around | set(COMMON) if 0 < n <= MOST_ELEMENTS})


POOL = pool()
SMALL = [n for n in POOL if n <= 10]


def shape(rng: random.Random) -> tuple[int, ...]:
    """The shape of a space to compute in: one to nine axes, rarely one without elements.

    It mostly holds work enough to be cut and shared; one or two lengths are large.
    """
    axes = rng.choices((1, 2, 3, 4, 5, 8), (20, 60, 60, 20, 10, 5))[0]
    if axes > 5:  # about as many as a pass has (kAxes)
        return tuple(rng.choice(SMALL[1:4]) for _ in range(rng.randint(6, 9)))
    low = 10 if rng.random() < 0.2 else 4000
    size = math.exp(rng.uniform(math.log(low), math.log(MOST_ELEMENTS)))
    found: list[int] = []
    for left in range(axes - 1, -1, -1):
        fitting = [n for n in POOL if n <= size] or [1]
        if not left:  # nearly as long as may be
            found.append(fitting[-1 - min(rng.randrange(6), len(fitting) - 1)])
        elif rng.random() < 0.6:
            found.append(min(rng.choice(SMALL if rng.random() < 0.1 else SMALL[1:]), int(size)))
        else:
            found.append(rng.choice(fitting))
        size = max(size / found[-1], 1.0)
    if rng.random() < 0.02:
        found[rng.randrange(axes)] = 0
    rng.shuffle(found)
    return tuple(found)
