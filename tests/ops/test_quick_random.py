"""Native ways: random calls of functions that NumPy has in Python, against NumPy, bit for bit."""

import random
import warnings

import numpy as np
import pytest

import lazyarray as la

pytestmark = pytest.mark.host

CALLS = """
    xp.mean(a,{axis},keepdims={flag})  xp.std(a,{axis},ddof={n})  xp.var(a,axis={axis})
    a.mean({axis})  a.std(axis={axis})  xp.mean(a.tolist())  xp.mean(a>0,axis={axis})
    xp.average(a,axis={axis},weights=b)  xp.median(a,axis={axis},keepdims={flag})
    xp.percentile(a,{q},axis={axis})  xp.percentile(a,[25,50,100])
    xp.quantile(a,xp.array([0.1,0.9]),axis={axis},keepdims={flag})  xp.quantile(a,1)
    xp.histogram(a,{k})  xp.histogram(a,bins={k},range=(-1,1.5))
    xp.linalg.norm(a,axis={axis},keepdims={flag})  xp.linalg.norm(v)  xp.linalg.inv(m)
    xp.linalg.det(m)  xp.linalg.solve(m,m[0])  xp.linalg.solve(m,m.T)
    xp.linalg.cholesky(m@m.T)  xp.linalg.eigh(m+m.T)  xp.linalg.eigvalsh(m+m.T)
    xp.linalg.trace(m)  xp.linalg.svd(m[:{k}])  xp.linalg.svd(m[:,:{k}],full_matrices=False)
    xp.linalg.svdvals(m)  xp.linalg.matrix_rank(m[:{k}])  xp.linalg.pinv(m[:{k}])
    xp.linalg.pinv(m[:,:{k}])  xp.linalg.eig(m)  xp.linalg.eigvals(m@m.T)  xp.trace(m)
    xp.linalg.trace(i*i[:,None])  xp.cross(i[:3],i[-3:])  xp.cross(t,t[::-1])
    xp.cross(t[0],[1.0,2,3])  xp.interp(c,s,v)  xp.interp(0.5,s,v)  xp.gradient(v)
    xp.gradient(v,0.5)  xp.trapezoid(v)  xp.trapezoid(v,s)  xp.allclose(a,b)
    xp.isclose(v,{n})  xp.isclose(a,b,rtol=0.5)  xp.diff(v)  xp.diff(i)  xp.clip(a,-0.5,1)
    xp.clip(v,0,{n})  v.clip(-1,v[0])  xp.clip(0.75,-1,{n})  xp.where(v>0,1,{n})
    xp.allclose(a,a*(1+1e-6))  xp.allclose(v,0)  xp.array_equal(a,b)  xp.array_equal(v,v+0)
    xp.unique(i,return_counts={flag})  xp.unique(v)  xp.unique(a)  xp.tile(v,{k})
    xp.tile(m,({k},2))  xp.tile(m,{k})  xp.pad(v,{n})  xp.pad(m,{k})  xp.round(a,{n})
    xp.round(a,-{n})  a.round({k})  xp.round(v[0],{n})  round(v[-1],{k})  xp.tile(v,({k},2))
    xp.meshgrid(v,i)  xp.delete(v,{n})  xp.insert(v,{n},2.5)  xp.insert(i,-1,{k})
    xp.where(a>0)  xp.where(v>0)  xp.nonzero(i)  xp.linspace({q},{n},{k})
    xp.linspace(-1.5,{q},{k},endpoint={flag})  xp.repeat(v,{k})  xp.append(v,{n})
    """.split()
ODD = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1e308, -1e308, 5e-324]
ROWS = [1, 2, 3, 5, 8, 17, 130]  # a pairwise sum begins at 8, and is cut at 128


def operands(rng):
    shape = tuple(rng.choice(ROWS) for _ in range(rng.choice([1, 1, 2, 2, 3])))
    shape = shape[:1] if np.prod(shape) > 5000 else shape
    numpys = np.random.default_rng(rng.randrange(1 << 30))
    a = numpys.normal(size=shape) * 10.0 ** rng.choice([0, 0, 3, -3, 150, -200])
    kind = rng.random()
    if kind < 0.2:
        a = numpys.integers(-50, 50, shape)
    elif kind < 0.3:
        a = numpys.integers(-(2**62), 2**62, shape)
    elif kind < 0.5:
        a.flat[rng.randrange(a.size)] = rng.choice(ODD)
        a.flat[rng.randrange(a.size)] = rng.choice(ODD)
    k = rng.choice([2, 3, 8, 70, 513])
    v = np.round(numpys.normal(size=k), rng.choice([0, 2, 15]))
    side = rng.choice([1, 2, 3, 6, 64, 65])
    m = numpys.normal(size=(side, side))
    if rng.random() < 0.1:
        m[0] = m[-1]
    return {
        "a": a,
        "b": numpys.random(a.shape),
        "v": v,
        "s": np.sort(numpys.random(k)),
        "c": numpys.random(rng.choice([1, 3, k])),
        "i": numpys.integers(0, 5, k),
        "m": m,
        "t": numpys.normal(size=(rng.choice([1, 4]), 3)),
    }


LAYOUTS = [
    lambda xp, x: xp.array(x),
    lambda xp, x: xp.array(x),
    lambda xp, x: xp.array(x.T).T,
    lambda xp, x: xp.array(np.repeat(x, 2, axis=0))[::2],
    lambda xp, x: xp.array(x[::-1])[::-1],
]


def told(value):
    if isinstance(value, tuple | list):
        return type(value).__name__, [told(x) for x in value]
    if isinstance(value, bool):
        return value
    a = np.asarray(value)
    if a.dtype.kind == "f":
        a = np.where(np.isnan(a), np.nan, a)
    return a.dtype, a.shape, np.ndim(value) > 0, a.tobytes()


def outcome(call, xp, values, layout):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        given_to = {name: layout(xp, x) for name, x in values.items()}
        try:
            result = told(eval(call, {**given_to, "xp": xp}))
        except Exception as error:
            return type(error).__name__
    # Which op of NumPy's function it was met in is not compared.
    return result, {str(w.message).partition(" encountered in ")[0] for w in given}


@pytest.mark.parametrize("seed", range(6))
def test_native_ways_give_numpys_bits(seed):
    from tests.conftest import DIRECT_BYTES, _set_policy

    rng = random.Random(seed)
    _set_policy("direct_bytes", DIRECT_BYTES)
    try:
        for _ in range(60):
            values, layout = operands(rng), rng.choice(LAYOUTS)
            for pattern in rng.sample(CALLS, 12):
                call = pattern.format(
                    axis=rng.choice([None, 0, -1, 1]),
                    flag=rng.choice([True, False]),
                    n=rng.choice([0, 1, 2]),
                    k=rng.choice([1, 2, 7, 40]),
                    q=rng.choice([0, 50, 33.3, 100]),
                )
                got, want = (outcome(call, xp, values, layout) for xp in (la, np))
                assert got == want, (call, values["a"].dtype, values["a"].shape)
    finally:
        _set_policy("direct_bytes", 0)


def test_native_ways_leave_no_flags_behind():
    x = la.array([1e308, 1e308, -1e308])
    with np.errstate(all="ignore"):
        la.mean(x), la.std(x), la.percentile(x, 50), la.trapezoid(x)
        la.interp(x, la.arange(3.0), x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (la.array([1.0, 2.0]) * 2).tolist() == [2.0, 4.0]


def test_methods_ask_for_arrays():
    for method in (la.NDArray.mean, la.NDArray.std):
        with pytest.raises(TypeError):
            method([1.0, 2.0])


def test_choices_of_a_vector_are_numpys():
    for source in ([0.5, 1.5, 2.5], [3, 4], np.arange(7.0)):
        for size in (1, 3, (2, 3), 50):
            drawn = []
            for xp in (la, np):
                xp.random.seed(5)
                given = xp.array(source) if isinstance(source, np.ndarray) else source
                drawn.append(xp.random.choice(given, size=size))
                drawn.append(xp.random.choice(given, size, p=[1 / len(source)] * len(source)))
                drawn.append(xp.random.random())
            for got, want in zip(drawn[:3], drawn[3:], strict=True):
                assert told(got) == told(want)
