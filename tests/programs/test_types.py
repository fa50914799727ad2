"""Programs about dtypes, printing, errors, files and settings."""

import copy
import io
import os
import pickle
import tempfile

import pytest

from .compare import check, programs


def what_is_it(np):
    x = np.ones((2, 3), dtype=np.float32)
    y = x.astype("float64")
    return [
        isinstance(x, np.ndarray), x.dtype == np.float32, x.dtype == "float32", y.dtype == float,
        y.dtype is np.dtype("float64"), x.dtype.kind == "f", x.dtype.name, str(x.dtype),
        x.dtype.itemsize, np.issubdtype(x.dtype, np.floating), np.issubdtype(x.dtype, np.integer),
        x.dtype.type is np.float32, np.isscalar(3.0), np.isscalar(x), np.ndim(x),
        np.shape([[1, 2]]), np.size(x, 1), hasattr(x, "shape"), callable(np.add),
        x.dtype in (np.float32, np.float64), np.isrealobj(x), np.iterable(x), len(x),
        np.dtype(np.int16).str, np.dtype("c8").name, np.result_type(x, y), np.can_cast("i4", "i2"),
        np.promote_types("i4", "f4"), np.min_scalar_type(300), np.iinfo(np.int8).max,
        np.finfo(x.dtype).eps, np.finfo(float).tiny, np.iinfo("uint16").min,
        np.array([1, 2.5]).dtype, np.array([True, 2]).dtype,
    ]  # fmt: skip


def casts(np):
    x = np.array([1.7, -1.7, 2.5, 300.0])
    i = x.astype(int)
    v = np.array([1.0, 2.0], dtype=np.float32).view(np.int32)
    b = np.array([1, 256, 3], dtype="<u2").view(np.uint8)
    c = np.array([1 + 2j, 3 - 4j])
    flags = np.array([0, 1, 2]).astype(bool)
    wrapped = np.array([250, 260, -1]).astype(np.uint8)
    return [
        i, v, b, c.real, c.imag, np.abs(c), c.conj(), c.view(float), flags, wrapped,
        x.astype(np.float16), i.astype(complex), flags.astype(np.int8), flags.sum(), flags + 1,
        ~flags, -x.astype(np.int64),
        np.array([1, 2], dtype=np.uint8) - np.array([2, 1], dtype=np.uint8), np.float32(3) * x[:1],
        np.ones(2, np.float32) * 2.5, np.ones(2, np.int8) * 2, np.arange(3) / 2, np.arange(3) // 2,
        np.arange(3, dtype=np.uint8) * np.float32(2), (x > 0) * 1, (x > 0) * 2.0,
        np.int8(5) + np.arange(2), np.rint(x), np.fix(x), np.trunc(x), np.ceil(x).astype("i8"),
        np.around(x), x.round(), x // 1, x % 1,
    ]  # fmt: skip


def numpy_scalars_come_and_go(np):
    a = np.float64(2.5)
    b = np.int32(7)
    x = np.zeros(3)
    x[0], x[1] = a, b
    x += a
    scale = np.float32(0.5)
    s = x.sum().astype(np.float32)
    t = np.float64(x[1])
    u = np.int64(x.argmax())
    return (
        x * scale, a * x, b - x, x**b, a < x, s, t, u, np.array(a), np.asarray(b), x.mean().item(),
        type(a * 2),
    )  # fmt: skip


def element_methods(np):
    x = np.array([1.25, -2.5])
    v = x[0]
    n = np.arange(3)[2]
    return [
        v.dtype, v.shape, v.ndim, v.size, v.item(), v.astype(int), v.round(1), v.tolist(), float(v),
        v.T, (v + 1).dtype, (v + 1j).dtype, -v, abs(x[1]), v**2, v // 1, v % 1, v > 1, n << 1,
        n & 1, n | 1, ~n, v.real, v.imag, v.conj(), v.sum(), v.max(), v.copy(), v.reshape(1),
        v.is_integer() if hasattr(v, "is_integer") else False,
    ]  # fmt: skip


def zero_dimensional(np):
    x = np.array(5.0)
    x[()] = 6
    x[...] += 1
    x += 1
    y = np.float64(3)
    z = np.asarray(7)
    total = np.array(0)
    for i in range(4):
        total += i
    return (
        x, x[()], float(x), y, int(z), z.item(), z.shape, z.ndim, total, x.reshape(1),
        np.atleast_1d(z), x * [1, 2],
    )  # fmt: skip


def printing(np):
    A = np.arange(6).reshape(2, 3) / 3
    print(A)
    print(np.array([1, 20, 300]), np.array([True, False]))
    print(np.array([1 + 2j, -0.5j]), np.array([]), np.zeros((0, 3)))
    print(np.arange(2000))
    print("A =", A[0], "sum:", A.sum(), "shape:", A.shape, A.dtype, sep="\n")
    print(f"{A[1]} and {A.max():.2f}, {A[1, 2]}")
    print(str(A[0]), "%s" % A[0], "{}".format(A[:, 0]))
    with np.printoptions(precision=2, suppress=True):
        print(A, np.array([1e-9, 1.0]))
    print(np.array2string(A, precision=1, separator=", "))
    print(np.array_str(A[0], precision=3), np.array([np.nan, np.inf, -np.inf]))
    np.set_printoptions(precision=4)
    print(A)
    np.set_printoptions(precision=8)
    print(
        np.float32(1) / 3 * np.ones(2, np.float32),
        np.format_float_positional(1e-7),
        np.base_repr(10, 2),
    )
    print([A[0, 1].item()], A.tolist(), [float(v) for v in A[0]], A.astype("f2")[0])
    print("\n".join(" ".join(f"{v:6.2f}" for v in row) for row in A))
    print(A[0, 0], A[0, 1], np.arange(3)[1], (A > 0)[0, 1], np.array(5), np.array(2.5))


def errors_of_the_wrong_shape(np):
    found = []
    calls = [
        lambda: np.ones(3) + np.ones(4), lambda: np.ones((2, 3)) @ np.ones((2, 3)),
        lambda: np.arange(6).reshape(4, 2), lambda: np.ones(3)[5], lambda: np.ones((2, 2))[0, 0, 0],
        lambda: np.concatenate([np.ones((2, 2)), np.ones(3)]), lambda: np.ones(3).sum(axis=1),
        lambda: np.array([[1, 2], [3]]), lambda: np.linalg.inv(np.ones(3)),
        lambda: np.zeros(3).astype("nonsense"), lambda: np.ones(3)[1.5],
        lambda: np.stack([np.ones(2), np.ones(3)]), lambda: np.broadcast_to(np.ones(3), (2, 2)),
        lambda: np.full((2, -1), 0), lambda: np.dot(np.ones(2), np.ones(3)),
        lambda: np.arange(3) << 1.5, lambda: np.ones(3)["a"], lambda: len(np.array(5)),
        lambda: int(np.ones(2)), lambda: np.linspace(0, 1, -1), lambda: np.argmax([]),
        lambda: np.max(np.array([])), lambda: np.vstack([np.ones(2), np.ones(3)]),
        lambda: np.split(np.arange(5), 2), lambda: iter(np.array(1)),
        lambda: np.ones(2, dtype=int).__setitem__(5, 1),
        lambda: np.zeros(2).__setitem__(slice(None), np.ones(3)), lambda: np.bincount([-1]),
        lambda: np.random.default_rng(0).choice(3, 5, replace=False), lambda: +np.array([True]),
        lambda: -np.array([True]), lambda: np.zeros(3)[[0, 7]],
        lambda: np.arange(3)[np.array([0.0, 1.0])],
    ]  # fmt: skip
    for f in calls:
        try:
            f()
            found.append("no error")
        except Exception as e:
            found.append((type(e).__name__, str(e)))
    return found


@pytest.mark.host
def floating_point_errors(np):
    found = []
    with np.errstate(divide="raise"):
        try:
            float((np.ones(2) / np.zeros(2))[0])
        except FloatingPointError as e:
            found.append(str(e))
    with np.errstate(all="ignore"):
        x = np.array([1.0, 0, -1]) / 0
        y = np.log(np.array([0.0, -1]))
    old = np.seterr(over="ignore")
    z = np.exp(np.array([1000.0]))
    np.seterr(**old)
    return (
        found, x, y, z, np.isfinite(x), np.isinf(x), np.isposinf(x), np.isneginf(x),
        np.geterr() == old,
    )  # fmt: skip


def special_values(np):
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0])
    return [
        x == x, np.isnan(x), np.nan_to_num(x, nan=0, posinf=1, neginf=-1), np.signbit(x),
        np.sign(x), x.max(), np.nanmax(x), np.maximum(x, 0), np.fmax(x[:4], 0),
        np.array_equal(x, x), np.array_equal(x, x, equal_nan=True), np.sort(x, kind="stable"),
        x.argmax(), np.allclose(x, x, equal_nan=True), np.isclose(x, 0), np.nextafter(1, 2),
        np.spacing(1.0), np.e, np.pi, np.euler_gamma,
    ]  # fmt: skip


def assertions(np):
    x = np.array([1.0, 2.0]) / 3
    np.testing.assert_allclose(x * 3, [1, 2])
    np.testing.assert_array_equal(x, x.copy())
    np.testing.assert_almost_equal(x[0], 0.3333333, decimal=6)
    np.testing.assert_equal(x.shape, (2,))
    assert np.allclose(x, [1 / 3, 2 / 3]) and np.isclose(x[0], 1 / 3)
    assert np.array_equal(x, x) and (x == x).all() and not np.array_equiv(x, 1)
    caught = []
    for bad in (
        lambda: np.testing.assert_allclose(x, [1, 2]),
        lambda: np.testing.assert_array_equal(x, x[:1]),
    ):
        try:
            bad()
        except AssertionError as e:
            caught.append(str(e).splitlines()[1])
    with np.testing.assert_raises(ValueError):
        np.ones(2) + np.ones(3)
    return caught


def files(np):
    A, b = np.arange(6.0).reshape(2, 3), np.array([1, 2, 3])
    with tempfile.TemporaryDirectory() as d:
        at = lambda name: os.path.join(d, name)
        np.save(at("a.npy"), A)
        np.savez(at("two.npz"), A, b=b)
        np.savez_compressed(at("small.npz"), A=A)
        np.savetxt(at("a.txt"), A, fmt="%.4f", delimiter=",", header="x,y,z")
        text = open(at("a.txt")).read()
        out = [np.load(at("a.npy")), np.loadtxt(at("a.txt"), delimiter=",")]
        with np.load(at("two.npz")) as data:
            out += [sorted(data.files), data["arr_0"], data["b"], "b" in data]
        out.append(np.load(at("small.npz"))["A"])
        out.append(np.genfromtxt(io.StringIO("1,2\n3,\n"), delimiter=","))
        b.tofile(at("raw"))
        out.append(np.fromfile(at("raw"), dtype=b.dtype))
    x, y = np.loadtxt(io.StringIO("1 2\n3 4"), unpack=True)
    return (
        out, text, x, y, np.fromstring("1 2 3", sep=" "), np.frombuffer(b.tobytes(), dtype=int),
        np.fromiter(range(3), int),
    )  # fmt: skip


def copies_and_pickles(np):
    x = np.arange(4.0)
    y, z, w = copy.copy(x), copy.deepcopy({"x": x}), pickle.loads(pickle.dumps(x))
    x[0] = 9
    memory = io.BytesIO()
    np.save(memory, x)
    memory.seek(0)
    return x, y, z, w, np.load(memory), np.array(x, copy=True), np.copy(x), x.copy()


def legacy_random(np):
    rs = np.random.RandomState(42)
    np.random.seed(0)
    a = np.random.rand(3, 2)
    b = np.random.randn(4)
    c = np.random.randint(0, 10, size=5)
    np.random.shuffle(c)
    assert a.shape == (3, 2) and b.ndim == 1 and c.size == 5
    assert ((a >= 0) & (a < 1)).all()
    return (
        rs.rand(2), rs.randn(3), rs.randint(0, 9, 4), rs.permutation(5), rs.choice([1, 2, 3], 2),
        rs.uniform(-1, 1, 2),
    )  # fmt: skip


def new_random(np):
    rng = np.random.default_rng(seed=42)
    x = np.arange(10)
    rng.shuffle(x)
    deck = rng.permutation(x)
    return [
        x, deck, rng.random(), rng.normal(0, 1, (2, 2)), rng.integers(0, 5, endpoint=True, size=4),
        rng.choice(x, 3, replace=False), rng.uniform(1, 2), rng.standard_normal(3),
        rng.poisson(3, 4), rng.exponential(2.0, 2), rng.binomial(10, 0.5, 3),
        rng.multivariate_normal([0, 0], np.eye(2), 2), rng.dirichlet([1, 2, 3]), rng.beta(2, 3),
        rng.gamma(2.0), rng.multinomial(5, [0.2, 0.8]), rng.integers(10),
        rng.random(2, dtype=np.float32),
    ]  # fmt: skip


def functions_of_functions(np):
    f = np.vectorize(lambda a, b: a + b if a > b else a - b)
    g = np.apply_along_axis(lambda r: r[r > 1].sum(), 1, np.arange(6).reshape(2, 3))
    h = np.fromfunction(lambda i, j: i * 10 + j, (3, 4), dtype=int)
    k = np.frompyfunc if False else np.piecewise
    assert k is np.piecewise
    return (
        f([1, 5], [3, 2]), g, h, np.apply_over_axes(np.sum, np.ones((2, 3)), [0, 1]),
        list(map(np.sqrt, [4.0, 9.0])),
    )  # fmt: skip


def functions_with_array_arguments(np):
    def relu(x, slope=0.0):
        return np.where(x > 0, x, slope * x)

    def softmax(x, axis=-1):
        e = np.exp(x - np.max(x, axis=axis, keepdims=True))
        return e / e.sum(axis=axis, keepdims=True)

    def describe(x):
        x = np.asarray(x, dtype=float)
        if x.ndim == 0:
            x = x[None]
        return {"n": x.size, "mean": x.mean(), "range": (x.min(), x.max())}

    return (
        relu(np.array([-1.0, 2.0]), slope=0.1), softmax([[1.0, 2], [3, 4]]), describe([1, 2]),
        describe(5), relu(-3.0),
    )  # fmt: skip


def a_class_that_holds_arrays(np):
    class Vector:
        def __init__(self, *xs):
            self.v = np.array(xs, dtype=float)

        def __add__(self, o):
            return Vector(*(self.v + o.v))

        def __mul__(self, k):
            return Vector(*(k * self.v))

        __rmul__ = __mul__

        def __abs__(self):
            return np.sqrt((self.v**2).sum())

        def __repr__(self):
            return f"Vector({', '.join(f'{x:g}' for x in self.v)})"

        def __eq__(self, o):
            return bool(np.all(self.v == o.v))

    a, b = Vector(3, 4), Vector(1, 2)
    print(a + b, 2 * a, abs(a), a == b, a)
    return (a + b).v, abs(a), a == Vector(3, 4)


def bits(np):
    x = np.array([5, 12, 255], dtype=np.uint8)
    bits = np.unpackbits(x[:, None], axis=1)
    weights = 2 ** np.arange(8)[::-1]
    y = x.copy()
    y ^= 0b1010
    y <<= 1
    y |= 1
    return (
        bits, np.packbits(bits, axis=1).ravel(), bits @ weights, y, x & -x, np.bitwise_count(x),
        x >> 2, np.invert(x), np.left_shift(1, np.arange(4)),
    )  # fmt: skip


def dates_strings_and_records_are_numpys(np):
    made = [
        np.array(["a", "b"]),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.zeros(2, dtype="f8,i4"),
        np.array([1, None]),
    ]
    return [(str(x.dtype), x.shape, str(x)) for x in made]


@pytest.mark.parametrize("program", programs(globals()))
def test_program(program):
    check(program)
