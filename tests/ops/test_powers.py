"""Powers of floats have NumPy's bits, those of negative ones, too, which vectors leave alone."""

import numpy as np
import pytest

import lazyarray as la

rng = np.random.default_rng(5)
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, -5e-324, -1e-310, -1.0, -1e300, 1e300, -(2.0**-1022)]
NUMBERS = {
    **{f"scale {s}": rng.normal(size=3001) * s for s in (1.0, 1e-3, 1e3, 1e100)},
    "of any size": np.ldexp(rng.normal(size=9001), rng.integers(-1060, 1000, 9001)),
    "negative": -rng.random(700),
    "seldom negative": np.where(rng.random(4000) < 0.001, -1.5, 1.5) * rng.random(4000),
    "special": rng.permutation(np.repeat(SPECIAL, 40)),
    "singles of any size": np.ldexp(rng.normal(size=9001), rng.integers(-160, 130, 9001)),
    "around one": -1 - rng.normal(size=2000) * 1e-9,
    "mantissas": -np.ldexp(1 + np.arange(4096) / 4096, np.arange(4096) % 7 - 3),
}
EXPONENTS = (3, 4, 5, 7, 10, -2, -3, 100, -100, 101, 1000, 1024, 1025, 2, 1, 0, -1, 0.5, 2.5)


def agree(x, power, write=False, view=lambda v: v):
    """Bits are compared; of a NaN only that it is one. And the flags."""
    told = []
    for xp, made in ((np, np.array), (la, la.array)):
        flags = []
        v = view(made(x))
        with (
            xp.errstate(all="call"),
            np.errstate(call=lambda what, _, flags=flags: flags.append(what)),
        ):
            found = xp.power(v, power, out=v if write else None)
            found = np.asarray(found)
        told.append((found, sorted(set(flags))))
    (want, warned), (got, heard) = told
    nan = np.isnan(want)
    assert got.dtype == want.dtype and (np.isnan(got) == nan).all()
    assert got[~nan].tobytes() == want[~nan].tobytes()
    assert heard == warned


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("power", EXPONENTS, ids=str)
def test_powers(kind, power, direct):
    x = NUMBERS[kind]
    agree(x, power)
    agree(x, float(power), write=True)
    for n in (1, 2, 3, 255, 256, 257):
        agree(x[n : 2 * n], power)
    views = (
        lambda v: v[::3],
        lambda v: v[::-1],
        lambda v: v[: len(v) // 4 * 4].reshape(4, -1).T,
        lambda v: v[: len(v) // 4 * 4].reshape(4, -1)[:, ::-1],
    )
    for view in views:
        agree(x, power, view=view)
    agree(x[:100], np.full(100, power))
    with np.errstate(all="ignore"):
        single = x.astype("f4")
    agree(single, power)
    agree(single, power, write=True)
    for view in views:
        agree(single, power, view=view)
