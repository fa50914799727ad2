"""Many numbers, of which there are loops of our own, are NumPy's."""

import numpy as np
import pytest

import lazyarray as la

# Around the words of a block, of which a uniform number takes two; as an op from 50,000 on.
LENGTHS = (1, 2, 3, 63, 64, 65, 155, 156, 157, 311, 312, 313, 623, 624, 625, 1247, 5000, 60_001)
DRAWS = {
    "rand": lambda r, n: r.rand(n),
    "uniform": lambda r, n: r.uniform(-2.0, 5, n),
    "randn": lambda r, n: r.randn(n),
    "normal": lambda r, n: r.normal(1.5, 0.3, n),
    "normals of two axes": lambda r, n: r.normal(size=(n, 3)),
    "exponential": lambda r, n: r.exponential(2.5, n),
    "choice": lambda r, n: r.choice(7, n),
    "choice of a list": lambda r, n: r.choice([1.5, 2, 4], n),
    "choice of a range": lambda r, n: r.choice(range(1000), (2, n)),
    "permutation": lambda r, n: r.permutation(n),
    "permutation of numbers": lambda r, n: r.permutation(np.arange(n) * 0.5),
    "one number": lambda r, _: r.normal(),
}
LIMITS = (1, 2, 3, 16, 17, 1000, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**40)
DRAWS |= {
    f"integers below {high}": lambda r, n, high=high: r.randint(0, high, n) for high in LIMITS
}
DRAWS["integers from below zero"] = lambda r, n: r.randint(-5, 6, n)
DRAWS["bytes"] = lambda r, n: r.randint(0, 200, n, dtype="u1")


def both(seed, calls):
    ours, theirs = la.random.RandomState(seed), np.random.RandomState(seed)
    for call, n in calls:
        got, want = np.asarray(call(ours, n)), np.asarray(call(theirs, n))
        assert got.dtype == want.dtype and got.tobytes() == want.tobytes()
    assert float(ours.normal()) == theirs.normal()  # the second one that waits, too
    for got, want in zip(ours.get_state(), theirs.get_state(), strict=True):
        assert np.array_equal(got, want)


@pytest.mark.parametrize("name", DRAWS)
def test_numbers_are_numpys(name, direct):
    call = DRAWS[name]
    for n in LENGTHS:
        both(n, [(call, n), (call, 3), (call, n)])


def test_mixed_draws(direct):
    rng = np.random.default_rng(6)
    names = list(DRAWS)
    for seed in range(40):
        both(seed, [(DRAWS[names[rng.integers(len(names))]], int(rng.choice(LENGTHS[:-1])))
                    for _ in range(8)])  # fmt: skip


def test_other_words_are_numpys_to_make():
    for kind in (np.random.PCG64, np.random.Philox, np.random.SFC64):
        ours = la.random.RandomState(kind(3))
        theirs = np.random.RandomState(kind(3))
        for call in (DRAWS["rand"], DRAWS["normal"], DRAWS["choice"]):
            for n in (100, 60_000):
                assert np.asarray(call(ours, n)).tobytes() == call(theirs, n).tobytes()


@pytest.mark.parametrize("kind", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_newer_normal_numbers(kind, direct):
    ours, theirs = (
        xp.random.Generator(getattr(np.random, kind)(8)) for xp in (la, np)
    )  # of some 250,000 numbers 3000 are outside of the layers, and 60 of the tail
    for n in (1, 63, 64, 65, 1000, 60_001):
        for call in (
            lambda g, n: g.normal(1.5, 0.3, n),
            lambda g, n: g.standard_normal(n),
            lambda g, n: g.standard_normal((n, 2)),
            lambda g, n: g.standard_normal(n, dtype="f4"),
            lambda g, n: g.random(3),
        ):
            got, want = np.asarray(call(ours, n)), call(theirs, n)
            assert got.dtype == want.dtype and got.tobytes() == want.tobytes()
    out, wanted = la.zeros(60_000), np.zeros(60_000)
    assert ours.standard_normal(out=out) is out
    theirs.standard_normal(out=wanted)
    assert out.asnumpy().tobytes() == wanted.tobytes()


def test_states_that_others_made():
    ours, theirs = la.random.RandomState(1), np.random.RandomState(1)
    kind, key, pos, _, _ = theirs.get_state()
    for state in (ours, theirs):
        state.set_state((kind, key, pos, 0, 1.25))  # a number that does not wait
        state.normal(size=64)
    assert ours.get_state()[4] == theirs.get_state()[4]
    for odd in (-1, -200, 624, 625, 5000):  # NumPy reads what lies there
        ours.set_state((kind, key, odd, 0, 0.0))
        assert ours.rand(700).max() < 1 and ours.permutation(100).sum() == 4950
