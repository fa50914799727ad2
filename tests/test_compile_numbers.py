"""la.compile: numbers that change from call to call, in functions that take or ask for them."""

import warnings

import numpy as np
import pytest

import lazyarray as la

FUNCTIONS = {
    "quantile": lambda x, k: la.quantile(x, k / 10),
    "percentile": lambda x, k: la.percentile(x, k * 10),
    "repeat": lambda x, k: la.repeat(x, k + 1),
    "arange": lambda x, k: la.arange(k + 1) + x.sum(),
    "argmax": lambda x, k: la.argmax(x, k % 2),
    "pad": lambda x, k: la.pad(x, 1, constant_values=k),
    "full": lambda x, k: la.full((2, 2), k),
    "fulllike": lambda x, k: la.full_like(x, k),
    "clip": lambda x, k: la.clip(x, k, k + 2),
    "where": lambda x, k: la.where(x > k, x, k),
    "where2": lambda x, k: la.where(x > k, k, 0),
    "linspace": lambda x, k: la.linspace(0, k, 5),
    "select": lambda x, k: la.select([x > k], [x], k),
    "nan": lambda x, k: la.nan_to_num(x, nan=k),
    "power": lambda x, k: la.power(x, k),
    "rpow": lambda x, k: k**x,
    "pow": lambda x, k: x**k,
    "ldexp": lambda x, k: la.ldexp(x, k),
    "append": lambda x, k: la.append(x, k),
    "insert": lambda x, k: la.insert(x, 0, k),
    "concat": lambda x, k: la.concatenate([x.ravel(), [k]]),
    "stack": lambda x, k: la.array([x[0, 0], k]),
    "dot": lambda x, k: la.dot(x, k),
    "outer": lambda x, k: la.outer(x, k),
    "inner": lambda x, k: la.inner(x, k),
    "multiply_out": lambda x, k: la.multiply(x, k, out=la.zeros((2, 4))),
    "adddt": lambda x, k: la.add(x, k, dtype="float64"),
    "setitem": lambda x, k: (lambda y: (y.__setitem__((0,), k), y)[1])(x * 1),
    "fill": lambda x, k: (lambda y: (y.fill(k), y)[1])(x * 1),
    "setmask": lambda x, k: (lambda y: (y.__setitem__(y > 3, k), y)[1])(x * 1),
    "iadd": lambda x, k: (lambda y: y.__iadd__(k))(x * 1),
    "roll": lambda x, k: la.roll(x, k),
    "round": lambda x, k: la.round(x / 3, k),
    "sum_initial": lambda x, k: la.sum(x, initial=k),
    "max_init": lambda x, k: la.max(x, initial=k),
    "std_ddof": lambda x, k: x.std(ddof=k % 2),
    "eye": lambda x, k: la.eye(3, k=k),
    "tri": lambda x, k: la.tril(x, k),
    "diff": lambda x, k: la.diff(x, prepend=k),
    "searchsorted": lambda x, k: la.searchsorted(x[0], k),
    "take": lambda x, k: la.take(x, k),
    "isclose": lambda x, k: la.isclose(x, k),
    "interp": lambda x, k: la.interp(k, x[0], x[1]),
    "hypot": lambda x, k: la.hypot(x, k),
    "arctan2": lambda x, k: la.arctan2(k, x),
    "maximum": lambda x, k: la.maximum(k, x),
    "fmod": lambda x, k: la.fmod(x, k),
    "divmod": lambda x, k: divmod(x, k)[1],
    "rdivmod": lambda x, k: divmod(k, x)[0],
    "matmulscale": lambda x, k: (k * x) @ x.T / k,
    "shift": lambda x, k: x.astype("int16") << k,
    "and": lambda x, k: x.astype("int16") & k,
    "xor": lambda x, k: k ^ x.astype("int16"),
    "cmp": lambda x, k: (x < k) | (k >= x),
    "npmul": lambda x, k: x * np.multiply(k, 2),
    "npf32": lambda x, k: np.float32(2) * k * x,
    "nparr": lambda x, k: la.array(np.array([k, 1])) + 0,
    "sumlist": lambda x, k: sum([x, k, k]),
    "ufuncouter": lambda x, k: la.add.outer(x, k),
    "reduceat": lambda x, k: la.add.reduce([x[0], x[1] * k]),
    "gelu": lambda x, k: la.nn.leaky_relu(x - 4, k / 10),
    "sgd": lambda x, k: (lambda w: (la.nn.sgd(w, x, lr=k), w)[1])(x * 1),
    "adam": lambda x, k: (lambda w: (la.nn.adam(w, x, x * 0, x * 0, lr=k, step=k + 1), w)[1])(
        x * 1
    ),
    "norm": lambda x, k: la.linalg.norm(x) * k,
    "fftn": lambda x, k: la.fft.fft(x, k + 2),
    "uniform": lambda x, k: la.random.uniform(0, k, size=3) * 0 + k,
    "isin": lambda x, k: la.isin(x, k),
    "copyto": lambda x, k: (lambda y: (la.copyto(y, k), y)[1])(x * 1),
    "putmask": lambda x, k: (lambda y: (la.putmask(y, y > 2, k), y)[1])(x * 1),
    "broadcast": lambda x, k: la.broadcast_to(k, (2, 2)) + 0,
    "asarray": lambda x, k: la.asarray(k) * x,
    "f32": lambda x, k: la.asarray(k, dtype="float32") * x,
    "astype": lambda x, k: (x * k).astype("int8"),
    "einsum": lambda x, k: la.einsum("ij,->ij", x, k),
    "vander": lambda x, k: la.vander(x[0], k + 1),
    "heaviside": lambda x, k: la.heaviside(x - 3, k),
    "copysign": lambda x, k: la.copysign(x, -k),
    "nextafter": lambda x, k: la.nextafter(x, k),
    "trapz": lambda x, k: la.trapezoid(x, dx=k),
    "grad": lambda x, k: la.gradient(x, k + 1)[0],
    "logaddexp": lambda x, k: la.logaddexp(x, k),
    "gcd": lambda x, k: la.gcd(x.astype("int16"), k),
    "resize": lambda x, k: la.resize(x, (k + 1,)),
    "digitize": lambda x, k: la.digitize(x, [0, k, 100]),
    "hist": lambda x, k: la.histogram(x, bins=4, range=(0, k + 9))[0],
}
NUMBERS = {"int": [1, 2, 3, 4, 5, 0], "float": [1.5, 0.5, 2.5, 3.5, 0.0, 1.0]}


def outcome(f, *args):
    try:
        y = np.asarray(f(*args))
    except Exception as exc:
        return type(exc).__name__
    return y.dtype, y.shape, y.tobytes()


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("dtype", ["float32", "int16"])
def test_numbers_that_change(name, kind, dtype):
    f = FUNCTIONS[name]
    compiled = la.compile(f)
    x = la.arange(8, dtype=dtype).reshape(2, 4) + 1
    for k in NUMBERS[kind]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert outcome(compiled, x, k) == outcome(f, x, k), k


@pytest.mark.parametrize("kind", [la.nn.SGD, la.nn.Momentum, la.nn.Adam])
def test_a_rate_that_changes_is_taken_anew(kind):
    """A trainer looks at nothing of its rate that changes: no more than two captures."""
    ways = []
    for compiled in (False, True):
        w = la.array(np.linspace(-1, 1, 20))
        w.attach_grad()
        trainer = kind([w], 0.1)

        def step(scale, w=w, trainer=trainer):
            with la.autograd.record():
                loss = ((w - 2) ** 2).sum() * scale
            loss.backward()
            trainer.step()

        run = la.compile(step) if compiled else step
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for i in range(40):
                trainer.lr = 0.1 * 0.9**i
                run(1.0 + i % 7 / 10)
        ways.append(w.asnumpy())
        assert not compiled or len(run.memory()) <= 4
    np.testing.assert_array_equal(*ways)


def test_numbers_that_never_come_again_end_the_captures():
    @la.compile
    def f(x, n):
        return x * 2 if n % 2 else x * 3

    x = la.arange(3.0)
    with pytest.warns(la.CompileWarning, match="few came again"):
        for n in range(100):
            np.testing.assert_array_equal(f(x, n).asnumpy(), np.arange(3.0) * (2 if n % 2 else 3))
    assert len(f.memory()) < 33


def test_numbers_that_come_again_stay_captured():
    @la.compile
    def f(x, n):
        return x * 2 if n % 2 else x * 3

    x = la.arange(3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n in [i // 3 for i in range(120)]:
            f(x, n)
    assert len(f.memory()) >= 40
