"""sin and cos of doubles, exp of complex ones, in vectors: NumPy's bits and flags, always."""

import numpy as np
import pytest

import lazyarray as la

rng = np.random.default_rng(3)
# Below and above where the algorithm changes, and where the C library is asked.
EDGES = (2.0**-26, 2.0**-27, 0.126, 0.85546875, 2.4262657, 105414350.0, 2.0**-1022, 700.0)
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 1e300, -1e22, 1.0]
NUMBERS = {
    **{f"within {scale}": rng.uniform(-scale, scale, 4001) for scale in (0.1, 1, 2.5, 7, 100, 1e8)},
    "of any size": np.ldexp(rng.uniform(-1, 1, 9001), rng.integers(-1070, 1000, 9001)),
    "around turns": np.arange(-2000, 2000) * (np.pi / 4) + rng.normal(size=4000) * 1e-12,
    "quarter turns": np.arange(-2000, 2001) * (np.pi / 8),
    "edges": np.concatenate([e * (1 + np.arange(-9, 9) * 2.0**-52) for e in EDGES] * 2) * -1,
    "special": rng.permutation(np.repeat(SPECIAL, 7)),
}


def heard(xp, call):
    """What a call gives, and which flags are told."""
    flags = []
    with xp.errstate(all="call"), np.errstate(call=lambda what, _: flags.append(what)):
        found = call()
        found = found.asnumpy() if isinstance(found, la.NDArray) else found
    return found, sorted(set(flags))


def agree(name, x, write=False, view=lambda v: v):
    """Bits are compared; of a NaN only that it is one."""
    x, y = view(x.copy()), view(la.array(x))
    want, warned = heard(np, lambda: getattr(np, name)(x, out=x.copy() if write else None))
    got, told = heard(la, lambda: getattr(la, name)(y, out=y if write else None))
    reals, ours = want.reshape(-1).view("f8"), np.ascontiguousarray(got).reshape(-1).view("f8")
    nan = np.isnan(reals)
    assert (np.isnan(ours) == nan).all()
    assert ours[~nan].tobytes() == reals[~nan].tobytes()
    assert told == warned


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("name", ["sin", "cos"])
def test_of_doubles(name, kind, direct):
    x = NUMBERS[kind]
    agree(name, x)
    agree(name, x, write=True)
    for n in (1, 2, 3, 4, 5, 7):
        agree(name, x[n : 2 * n])
    for view in (
        lambda v: v[::3],
        lambda v: v[::-1],
        lambda v: v[: 3 * (len(v) // 3)].reshape(-1, 3)[:, :2],
    ):
        agree(name, x, view=view)


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("size", [0, 1, 30, 800])
def test_of_complex_numbers(kind, size, direct):
    z = np.empty(len(NUMBERS[kind]), complex)
    z.imag = NUMBERS[kind]
    z.real = rng.uniform(-size, size, len(z))
    if size == 800:
        z.real[::50] = rng.permutation(np.resize(SPECIAL, len(z[::50])))
    agree("exp", z)
    agree("exp", z, write=True)
    z.real = -0.0
    agree("exp", z)
    for view in (lambda v: v[::2], lambda v: v[::-1], lambda v: v[:1], lambda v: v[:6]):
        agree("exp", z, view=view)
