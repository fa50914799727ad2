"""Scalars: what NumPy returns as a scalar is an array without axes that never changes."""

import copy
import fractions
import inspect
import math
import numbers
import operator
import pickle
import statistics

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import asynchronous, pending


def kind(value):
    """ "scalar" or "array" for what has no axes, by either library; else the shape."""
    if isinstance(value, tuple):
        return tuple(map(kind, value))
    if np.shape(value):
        return np.shape(value)
    is_array = isinstance(value, np.ndarray | la.NDArray) and not isinstance(value, la.Scalar)
    return "array" if is_array else "scalar"


def samples(xp):
    """A scalar, an array without axes, a vector, and a complex one of the first two."""
    v = xp.array([1.0, 2.0, 3.0])
    found = {"xp": xp, "s": v.sum(), "z": xp.array(5.0), "v": v, "c": (v * 2j).sum()}
    return found | {"i": v.argmax(), "w": xp.array(5j), "k": xp.array(2)}


EXPRESSIONS = """
s[()] s[...] s[None] s[...,None] s[True] z[()] z[...] z[None] v[0] v[-1] v[...,0] v[i] v[k]
v[k,...] s.T s.reshape(()) s.reshape(1) s.reshape(-1) s.ravel() s.flatten() s.squeeze()
s.transpose() s.copy() s.astype('f4') s.view('i8') s.byteswap() s.real s.imag c.real c.imag
c.conj() s.conj() s.flat[0] s.round() s.clip(0,1) s.take(0) s.repeat(2) s.sum() s.mean()
s.cumsum() s.argmax() s.argsort() s.sum(keepdims=True) z.sum(keepdims=True) z.mean(keepdims=True)
v.sum(keepdims=True) s.base z.T z.reshape(()) z.copy() z.astype(int) z.squeeze() z.real w.real
w.imag z.imag z.view() z.conj() w.conj() z.byteswap() z.clip(0,1) z.round() z.take(0) z.dot(3)
z.sum() z.argmax() z.cumsum() z.flat[0] z.transpose() -z abs(z) +z z+1 1+z z//2 divmod(z,2) z**2
z==5 z==None s==None k<<1 ~k v@v v.dot(v) xp.array(s) xp.asarray(s) xp.asanyarray(s) xp.copy(s)
xp.reshape(s,()) xp.ravel(s) xp.atleast_1d(s) xp.expand_dims(s,0) xp.broadcast_to(s,(2,))
xp.where(True,s,1) xp.full((),3) xp.zeros(()) xp.zeros_like(s) xp.ones_like(z) xp.squeeze(v[:1])
xp.add(1,2) xp.add(z,z) xp.add.reduce(v) xp.modf(z) xp.frexp(z) xp.divmod(z,2) xp.sin(z)
xp.isnan(s) xp.maximum(s,z) xp.linalg.norm(v) xp.linalg.det(xp.eye(2))
xp.linalg.slogdet(xp.eye(3)) xp.trace(xp.eye(2)) xp.dot(v,v) xp.vdot(v,v) xp.inner(v,v)
xp.tensordot(v,v,1) xp.einsum('i,i',v,v) xp.interp(2.5,v,v) xp.searchsorted(v,2) xp.median(v)
xp.percentile(v,50) xp.var(v) xp.std(z) xp.ptp(v) xp.average(v) xp.trapezoid(v)
xp.polyval([1,2],s) xp.prod(v) xp.count_nonzero(v) xp.real(z) xp.real(w) xp.nan_to_num(s)
xp.random.default_rng(0).normal() xp.random.default_rng(0).normal(size=())
xp.random.default_rng(0).choice(5) xp.random.default_rng(0).random(()) xp.random.rand()
xp.random.randint(5) xp.random.normal(size=()) xp.add(v,v,where=True)[0]
xp.sum(v,out=xp.zeros(())) xp.sin(z,out=xp.zeros(())) xp.take(v,1) xp.choose(0,[1,2]) tuple(v)
tuple(v.reshape(1,3)) i*[1,2] [1,2]*i i*[] [1]*(i-2) (1,2)*i k*[1,2] [1,2]*k (1,)*k
"""


@pytest.mark.parametrize("expression", EXPRESSIONS.split())
def test_kinds(expression):
    want = eval(expression, samples(np))
    got = eval(expression, samples(la))
    assert kind(got) == kind(want)
    if kind(want) == "array":
        assert got.flags.writeable == want.flags.writeable


def test_no_alias_of_a_scalar_changes():
    s, seen = la.array([1.0, 2.0]).sum(), []
    for _ in range(3):
        s += 1.0
        seen.append(s)
    assert [float(v) for v in seen] == [4, 5, 6]
    s = kept = la.array([1.0, 2.0]).sum()
    s -= np.ones(3)
    assert s.tolist() == [2, 2, 2] and float(kept) == 3


OPERATORS = "iadd isub imul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift".split()


@pytest.mark.parametrize("name", OPERATORS)
def test_in_place_operators_make_new_ones(name):
    s = kept = la.array([3, 4]).sum()
    s = getattr(operator, name)(s, 2)
    assert s is not kept and isinstance(s, la.Scalar)
    assert (float(s), float(kept)) == (float(getattr(operator, name)(np.int64(7), 2)), 7)
    z = same = la.array(7.0 if name == "itruediv" else 7)
    z = getattr(operator, name)(z, 2)  # an array without axes is written
    assert z is same


@pytest.mark.parametrize("view", ["s[...]", "s.reshape(1)", "s.ravel()", "s[None]", "la.array(s)",
    "la.asarray(s)", "la.expand_dims(s, 0)", "la.atleast_1d(s)", "la.reshape(s, (1, 1))",
    "la.lib.stride_tricks.as_strided(s, (1,), (8,))", "np.asarray(s)"])  # fmt: skip
def test_views_are_of_copies(view):
    s = la.array([1.0, 2.0]).sum()
    t = eval(view)
    t[...] = 9
    t += 1
    assert float(s) == 3 and float(t.sum()) == 10


@pytest.mark.parametrize("statement", [
    "s[()] = 1", "s[...] = 1", "s[0] = 1", "del s[()]", "s.shape = (1,)", "s.dtype = 'i8'",
    "s.real = 1", "s.imag = 1", "s.flat = [1]", "s[0]", "s[:]", "s[[0]]", "s.sort()",
    "xp.add(1, 2, out=s)", "xp.sum(v, out=s)", "v.mean(out=s)", "xp.dot(v, v, out=s)",
    "xp.modf(s, out=(s, s))", "xp.einsum('i->', v, out=s)", "xp.median(v, out=s)", "len(s)",
    "xp.concatenate([v, v], out=s)", "xp.matmul(v, v, out=s)", "iter(s)", "s @ s", "s @ v", "v @ s",
    "xp.add.at(s, (), 1)", "xp.clip(v, 0, 1, out=s)", "xp.take(v, 0, out=s)", "xp.argmax(v, out=s)",
])  # fmt: skip
def test_what_would_change_one_raises_as_in_numpy(statement):
    with pytest.raises(Exception) as want:
        exec(statement, samples(np))
    given = samples(la)
    with pytest.raises(want.type):
        exec(statement, given)
    assert float(given["s"]) == 6


def test_methods_that_change_arrays_leave_scalars_alone():
    s = la.array([1.0, 2.0]).sum()
    assert s.fill(5) is None and s.put(0, 5) is None and s.resize((2,)) is None
    assert s.setflags(write=True) is None and not s.flags.writeable and not s.flags["W"]
    with pytest.raises(TypeError, match="ArrayType"):
        la.copyto(s, 4)
    with pytest.raises(TypeError, match="the array to change"):
        la.putmask(s, True, 4)
    with pytest.raises(ValueError, match="read-only"):
        la.ones(()).copyto(s)
    for wrong in (lambda: type(s)([1.0]), lambda: la.Scalar(1.0)):
        with pytest.raises(TypeError, match="what operations give"):
            wrong()
    assert float(s) == 3 and s.shape == () and s.base is None


@pytest.mark.parametrize(("dtype", "abc", "parent"), [
    ("f8", numbers.Real, numbers.Rational), ("f2", numbers.Real, numbers.Rational),
    ("g", numbers.Real, numbers.Rational), ("i4", numbers.Integral, None),
    ("u1", numbers.Integral, None), ("c8", numbers.Complex, numbers.Real),
    ("?", None, numbers.Number),
])  # fmt: skip
def test_numbers(dtype, abc, parent):
    s, n = la.ones(3, dtype).max(), np.ones(3, dtype).max()
    for each in (numbers.Number, numbers.Complex, numbers.Real, numbers.Rational, numbers.Integral):
        assert isinstance(s, each) == isinstance(n, each)
    assert abc is None or isinstance(s, abc)
    assert parent is None or not isinstance(s, parent)
    assert not isinstance(la.ones(()), numbers.Number)


def test_they_work_as_numbers():
    v = la.array([4, 7, 2])
    i, s, x = v.argmin(), v.sum(), v.mean()
    assert [10, 20, 30][i] == 30 and list(range(i)) == [0, 1] and "ab" * i == "abab"
    assert math.isclose(math.sqrt(s), 13**0.5) and math.floor(x) == 4 and round(x) == 4
    assert f"{s:d} {x:.2f} {s}" == "13 4.33 13" and divmod(s, 5) == (2, 3)
    assert {13: "a"}[s] == "a" and {s: 1}[13] == 1 and hash(x) == hash(float(x))
    assert fractions.Fraction(s) == 13 and s.as_integer_ratio() == (13, 1) and s.is_integer()
    assert x.as_integer_ratio() == float(x).as_integer_ratio() and not x.is_integer()
    assert s.bit_count() == 3 and s.numerator == 13 and s.denominator == 1
    assert bool(s) and int(x) == 4 and complex(x) == x.item() and np.isscalar(s)
    assert statistics.mean([x, x]) == float(x) and type(statistics.mean([x, x])) is type(x)
    assert la.isscalar(s) and not la.isscalar(la.ones(()))


@pytest.mark.parametrize("make", [lambda v: v.sum(), lambda v: v[0], lambda v: (v > 1).all()])
def test_copies_are_scalars(make):
    s = make(la.array([2.0, 3.0]))
    for t in (copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s)), s.copyto(la.cpu(1)),
              s.as_in_context(la.cpu(1)), s.to_device(la.cpu(1)), s.detach()):  # fmt: skip
        assert type(t) is type(s) and t.item() == s.item() and t.dtype == s.dtype
    assert s.as_in_context(s.ctx) is s


def test_gradients():
    v = la.array([1.0, 2.0])
    v.attach_grad()
    with la.autograd.record():
        loss = (v * v).sum()
        first = loss
        loss += 3 * v[0]
        loss *= 2
    assert isinstance(loss, la.Scalar) and loss is not first
    loss.backward()
    assert v.grad.tolist() == [10, 8]
    s = la.array([3.0]).sum()
    s.attach_grad()
    with la.autograd.record():
        y = s * s
    y.backward()
    assert float(s.grad) == 6 and not isinstance(s.grad, la.Scalar)
    s.grad[...] = 0  # the gradient is an array
    with la.autograd.record():
        y = s.reshape(1) * s.T * s[...]
    y.backward()
    assert float(s.grad) == 27


def test_compiled_functions_tell_scalars_from_arrays():
    @la.compile
    def f(s):
        t = s
        t += 1
        return s, t, s.sum()

    for _ in range(2):
        s = la.array([1.0, 2.0]).sum()
        a, b, c = f(s)
        assert (float(a), float(b), float(c)) == (3, 4, 3)
        assert all(isinstance(x, la.Scalar) for x in (a, b, c))
        z = la.array(3.0)
        a, b, c = f(z)
        assert (float(z), float(a), float(b), float(c)) == (4, 4, 4, 4)
        assert [isinstance(x, la.Scalar) for x in (a, b, c)] == [False, False, True]
        a += 1
        assert float(z) == 5


@pytest.mark.filterwarnings("ignore::lazyarray.CompileWarning")
def test_a_scalar_that_escapes_from_a_compiled_function():
    kept = []

    @la.compile
    def f(s):
        kept.append(s)
        kept.append(s + 1)
        return s * 2

    for k in range(1, 4):
        s = la.array([1.0, k]).sum()
        assert float(f(s)) == 2 * (1 + k)
        assert [float(x) for x in kept[-2:]] == [1 + k, 2 + k]
        assert all(isinstance(x, la.Scalar) and not x.flags.writeable for x in kept)


def test_a_traced_array_without_axes_stays_one():
    def f(v):
        z = la.zeros(())
        z += v.sum()
        z[...] = z * 2
        z += 1
        return z

    v = la.array([1.0, 2.0])
    graph = la.trace(f, la.spec((2,)))
    assert float(f(v)) == float(graph(v)) == float(la.compile(f)(v)) == 7


def test_optimizers_refuse_them():
    w = la.array([3.0]).sum()
    with pytest.raises(TypeError, match="scalars never change"):
        la.nn.sgd(w, w, lr=0.1)
    z = la.array(3.0)
    la.nn.sgd(z, w, lr=0.5)
    assert float(z) == 1.5


VALUES = {
    "?": [True], "b": [-1, 100], "B": [200], "h": [-300, 300], "H": [65534], "i": [-70000],
    "I": [4000000000], "l": [2**40, -1, 5, 128, 127, -128, -129], "L": [2**63 + 1],
    "e": [1.5, np.inf], "f": [1e30, np.nan, 2.5],
    "d": [1e300, -1e10, np.inf, np.nan, 300.7, -1.5, -0.5, 127.9, 2.0**63, -(2.0**63), 2.0**64],
    "F": [1 + 2j], "D": [1e300 + 0j, 2 + 0j],
}  # fmt: skip
STORES = [
    lambda a, s, m: a.__setitem__(0, s), lambda a, s, m: a.__setitem__(Ellipsis, s),
    lambda a, s, m: a.__setitem__(slice(1, None), s), lambda a, s, m: a.fill(s),
    lambda a, s, m: a.__setitem__(slice(0, 0), s), lambda a, s, m: a.flat.__setitem__(0, s),
    lambda a, s, m: a.__setitem__(m.array([0, 1]), s), lambda a, s, m: a.put([0], s),
    lambda a, s, m: a.__setitem__(m.array([True, False, True]), s),
    lambda a, s, m: m.copyto(a, s, casting="unsafe"),
    lambda a, s, m: a.__setitem__(0, m.asarray(s)),
]  # fmt: skip


@pytest.mark.host  # a GPU's kernels tell of no cast that fails: docs/gpu.md
@pytest.mark.parametrize("dtype", [*"?bBhHiIlLefdFD"])
@pytest.mark.filterwarnings("ignore")
def test_a_scalar_that_integers_cannot_hold_is_no_item(dtype, direct):
    """NumPy casts arrays, but an item is made one of the dtype, or it is an error."""
    for store in STORES:
        for kind, values in VALUES.items():
            for value in values:
                told = []
                for m in (np, la):
                    a = m.zeros(3, dtype)
                    s = m.array([value, value], kind)[0]
                    try:
                        with np.errstate(all="ignore"):
                            store(a, s, m)
                            told.append(np.asarray(a).tobytes())
                    except (TypeError, ValueError, OverflowError) as error:
                        told.append(type(error))
                assert told[0] == told[1], (inspect.getsource(store), dtype, kind, value)


@pytest.mark.host  # a GPU's kernels tell of no cast that fails: docs/gpu.md
@asynchronous
def test_such_a_scalar_that_is_not_known_yet_is_the_arrays_error():
    s = la.array([300.5, 2.5])
    a, b = la.zeros(3, "i1"), la.zeros(3, "i1")
    with pending(s):
        a[0], b[0] = s[0], s[1]
    with pytest.raises(OverflowError, match="300 out of bounds for int8") as caught:
        a.asnumpy()
    assert "test_scalars.py" in caught.value.__notes__[0]
    assert b.tolist() == [2, 0, 0]


@asynchronous
def test_such_a_store_heals_what_it_overwrites():
    s = la.array([300.5])
    a, b = la.zeros(3, "i8"), la.zeros(3, "i8")
    for x in (a, b):
        la.engine.get().push_sync(lambda ctx: [][0], la.cpu(0), mutable_vars=[x.var])  # poisons it
    with pending(s):
        a[...], b[1:] = s[0], s[0]
    assert a.tolist() == [300] * 3
    with pytest.raises(IndexError):
        b.asnumpy()
    with pytest.raises(IndexError):
        la.waitall()


@pytest.mark.parametrize("code", "?bBhHiIlLefdgFDG")
@pytest.mark.parametrize("value", [0.1, 1e30, 60000.0, 3.0, -0.0])
def test_a_scalar_in_an_f_string_is_pythons_number(code, value):
    if (code in "bBhHiIlL" and abs(value) > 100) or (code == "e" and value > 1e9):
        value = 100.0
    for made in (lambda xp: xp.array([value]).astype(code)[0], lambda xp: xp.array(value, code)):
        want, got = made(np), made(la)
        assert f"{got}" == f"{want}" and f"{got}" == f"{want}"
        assert str(got) == str(want)
    pending = (la.ones(300_000, "f4") * np.float32(0.1))[5]
    assert f"{pending}" == "0.10000000149011612"


@pytest.mark.parametrize("dtype", ["f4", "f8", "F", "?"])
def test_only_integers_repeat_a_sequence(dtype):
    for xp in (np, la):
        number = xp.array([1, 2], dtype)[1]
        for call in (lambda: [1, 2] * number, lambda: number * (1, 2)):  # noqa: B023
            with pytest.raises(TypeError, match="can't multiply sequence by non-int of type"):
                call()
