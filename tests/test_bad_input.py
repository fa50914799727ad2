"""Wrong and odd input: NumPy's errors, raised at the call; arrays as they were; no crash."""

import copy
import itertools
import math
import subprocess
import sys
import warnings
import weakref

import numpy as np
import pytest

import lazyarray as la

NAMES = ("a", "b", "i", "u", "m", "c", "z")


def environment(xp):
    return {
        "np": xp,
        "math": math,
        "itertools": itertools,
        "a": xp.arange(12.0).reshape(3, 4),
        "b": xp.arange(4.0),
        "i": xp.arange(12).reshape(3, 4),
        "u": xp.arange(5).astype("u1"),
        "m": xp.arange(12).reshape(3, 4) % 3 == 0,
        "c": xp.arange(4) + 1j,
        "z": xp.array(3),
    }


def run(code, names):
    try:
        compiled = compile(code, "line", "eval")
    except SyntaxError:
        compiled = compile(code, "line", "exec")
    return eval(compiled, names)


WRONG = """
a[5]
a[0, 0, 0]
a[2**70]
a[[0, 5]]
a[[0, -4]]
a[:, [0, 9]]
a[[5]] = 1
a[:, [0, 9], None] = 1
a[1.0]
a["x"]
a[..., ...]
a[0] = [1, 2]
a[0] = "x"
a[m] = "x"
a[m] = b""
a[m] = object()
a[0] = [1j]
u[:] = [300] * 5
u[[0]] = [300]
u[0] = -1
u[0] = 2**70
i[0] = float("nan")
i[:] = [float("nan")] * 4
del a[0]
i **= -1
i[0] ** -1
m ** -1
i += 1.5
u += 300
m -= m
a += b[:3]
b += a
a @ a
z @ a
a < None
np.add(a, 1, out=b)
np.add(a, 1, out=i)
np.add(a, 1, out=(a, a))
np.add(a, 1, out=[1])
np.add(a, 1, out=i, where=m)
np.add(a, 1, out=a, where=m.astype(int))
np.add(a, 1, dtype=int)
np.add(a, 1, casting="foo")
np.modf(a, out=a)
np.modf(a, out=(a,))
np.modf(a, out=(i, None))
np.divmod(a, 2, out=(a, b))
a.sum(axis=2)
a.sum(axis=(0, 0))
a.sum(axis=0, out=b[:3])
a.sum(out=b, initial=1)
a.max(where=m)
a.sum(where=m.astype(int))
a.sum(where=m[:, :2])
a.astype(int, casting="safe")
a.reshape(5)
np.take(a, 99)
np.take(a, [3], axis=0)
np.put(a, [99], 5)
np.repeat(a, -1)
np.zeros((2, -1))
np.zeros({3})
np.ones(iter([2, 3]))
np.empty({2: 1, 3: 1})
np.full(itertools.count(1), 2)
np.random.normal(size={3})
a.reshape({3, 4})
a.reshape(iter([4, 3]))
a.transpose({0, 1})
np.repeat(b, np.array([1, 2, 3, 4], "u8"))
b.fill(np.ones(1))
b.reshape(2, 2, copy="no")
np.load(3)
np.arange(1e19)
np.arange(-1e30, 1e30)
np.zeros((10**10, 10**10))
np.zeros(3, dtype="nope")
np.broadcast_to(b, (2**40, 2**40))
np.zeros((1,) * 65)
np.zeros((1,) * 64)[None]
f"{a:.2f}"
bool(a)
hash(a)
{a}
np.array([[1, 2], [3]])
""".strip().split("\n")


@pytest.mark.parametrize("code", WRONG)
def test_errors_are_numpys_and_leave_the_arrays(code):
    plain, lazy = environment(np), environment(la)
    with pytest.raises(Exception) as wanted:
        run(code, plain)
    with pytest.raises(Exception) as got:
        run(code, lazy)  # at the call: nothing here is waited for
    kinds = [t for t in wanted.type.__mro__ if t.__module__ == "builtins"]
    assert isinstance(got.value, kinds[0])
    for name in NAMES:  # also those that the line left unchanged in NumPy only because it stopped
        np.testing.assert_array_equal(lazy[name].asnumpy(), environment(np)[name])


RIGHT = """
a == None
a != None
None == a
a == "x"
None in a
"x" in a
3.0 in a
a[::2**70]
a[2**70:]
a[:-2**70:-1]
a[[5], []]
a[[]]
a[m]
a[:, m[0]]
a.T[m.T]
a[m] *= 2
a[m] = 7
i[m] = 2.5
m[m] = False
i[m] = True
a[m] = memoryview(b"abcd")
a[m] = "2.5"
a[m] = np.timedelta64(3, "D")
np.split(b, [None, 1])[0]
np.array_split(a, [1, None], axis=1)[1]
a.T[a.T > 4] = -1
a[0] = None
a[0] = "3"
a[0] = ["1", "2", "3", "4"]
i[0] = [1.5, 2.5, 3.5, 4.5]
i[[0]] = [1.5, 2.5, 3.5, 4.5]
u[:] = range(5)
np.add(a, 1, out=a, where=1)
np.add(a, 1, out=a, where=None)
np.union1d(a.astype("f4"), 2.5)
np.setxor1d(u, -1, assume_unique=True)
np.concatenate((u, 300), axis=None)
np.nanstd(i, dtype="i4")
np.linspace(np.ones(3, "f2"), np.ones(3, "?"), 3, retstep=True)
np.linspace(np.ones(3, "u1"), 1j, 3, retstep=True)
np.expm1(np.array([complex(math.nan, 1)]))
np.add(a, 1, out=a, where=[True, False, True, False])
np.add(a, 1, out=a, where=m)
np.add(a, 1, out=a, where=i[0, 1])
np.add(a, 1, out=a, where=a[0, 0])
np.add(a, 1, out=a, where=a.sum())
np.modf(a + 0.5, out=(a, None))
np.divmod(a, 3, out=(a, a.copy()))
np.modf(a, a.copy(), a.copy())
a.astype("f4").mean(dtype="f8")
a.astype("f4").mean(dtype="f8", axis=0)
a.sum(where=True)
a.max(where=m, initial=-1)
a.sum(where=m)
a.sum(where=m[0])
a.astype("f4", casting="same_kind")
a.astype("i8", order="F").strides
a.astype("i8", "F", "unsafe", True, False).strides
b.searchsorted([1.5, 2])
a.compress([True, False, True], axis=0)
z.choose([1, 2, 3, 4])
a.put([0, 5], 9)
np.repeat(a, 3, axis=1)
np.repeat(a, 3)
np.repeat(a, 20)
np.repeat(a, [1, 2, 0], axis=0)
np.repeat(a, 1, axis=0)
np.repeat(a, 0, axis=0)
np.count_nonzero(np.arange(9000) % 3)
np.count_nonzero(np.ones((90, 90)), keepdims=True)
np.array([], dtype=int) ** -1
np.zeros((1,) * 64).sum()
np.concatenate([a, i])
np.concatenate([a, a], axis=1)
f"{z:d}|{b}"
math.floor(z)
""".strip().split("\n")


@pytest.mark.parametrize("code", RIGHT)
def test_oddities_are_numpys(code):
    plain, lazy = environment(np), environment(la)
    want, got = run(code, plain), run(code, lazy)
    if isinstance(want, tuple) and not isinstance(got, tuple):
        got = tuple(got)
    for w, g in zip(*[x if type(x) is tuple else (x,) for x in (want, got)], strict=True):
        if isinstance(g, la.NDArray):
            assert g.dtype == w.dtype
            np.testing.assert_array_equal(g.asnumpy(), w)
        else:
            assert g == w
    for name in NAMES:
        np.testing.assert_array_equal(lazy[name].asnumpy(), plain[name])


@pytest.mark.parametrize(
    "other", [["a"], None, "x", b"x", {}, {1, 2}, np.datetime64("2020"), object]
)
def test_what_no_array_can_hold_numpy_holds(other):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", la.HostArrayWarning)
        got = la.array(other)
    want = np.array(other)
    assert type(got) is np.ndarray and got.dtype == want.dtype and got.tolist() == want.tolist()


def test_byte_orders_of_numpy_are_plain_values():
    x = la.ones(2)
    assert (x + np.arange(2, dtype=">f8")).asnumpy().tolist() == [1, 2]
    assert x[np.array([1], dtype=">i8")].item() == 1
    x[0] = np.array(5, dtype=">i4")
    assert x.tolist() == [5, 1]
    host = np.arange(4.0)[::-2]
    host.setflags(write=False)
    assert (x - host).tolist() == [2, 0]


def test_selecting_with_a_mask_on_another_device_names_both():
    x, mask = la.ones(3), la.ones(3, bool, la.cpu(1))
    with pytest.raises(ValueError, match=r"pu\(0\) and cpu\(1\)"):
        x[mask]
    with pytest.raises(ValueError, match=r"pu\(0\) and cpu\(1\)"):
        x[mask] = 0
    with pytest.raises(ValueError, match=r"pu\(0\) and cpu\(1\)"):
        la.add(x, 1, where=mask)


def test_copies_stay_on_their_device():
    x = la.ones(3, ctx=la.cpu(1))
    assert copy.copy(x).ctx == copy.deepcopy([x])[0].ctx == la.cpu(1)


HUGE = """
la.zeros(10**18)
la.zeros(2**62, 'i1')
la.ones(2**60 - 1)
la.empty(2**60 - 1) + 1
big[:, None] * big[None]
big[:, None, None] * big[None]
big[:, None, None] + big[None, :, None] + big
big[:, None] @ big[None]
big[:, None] == big
la.where(big[:, None] > 0, big, 0)
la.maximum(big[:, None], big)
la.broadcast_to(la.ones(1, 'i1'), (2**62,)).astype('f8')
la.repeat(big, 2**33)
la.repeat(la.ones(4), 2**62)
la.tile(big, (2**33, 1))
la.eye(2**32)
la.outer(big, big)
la.random.random(2**62)
""".strip().split("\n")


@pytest.mark.skipif(sys.platform != "linux", reason="limits its address space as Linux does")
def test_huge_arrays_are_errors_and_not_crashes():
    code = f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
import lazyarray as la
big = la.broadcast_to(la.ones(1), (2**31,))
for line in {HUGE!r}:
    try:
        eval(line).wait_to_read()
        raise SystemExit(line + ' went well')
    except (MemoryError, ValueError):
        pass
print(la.ones(3).sum().item())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "3.0\n"), done.stderr[-2000:]


def test_an_array_without_memory_cannot_be_made():
    with pytest.raises(TypeError, match="argument"):
        la.NDArray()
    blank = la.NDArray.__new__(la.NDArray)
    assert (blank.shape, blank.dtype, (blank + 1).tolist()) == ((0,), "f8", [])
    assert la.ndarray((3,)).asnumpy().shape == (3,)


@pytest.mark.parametrize(
    "view",
    [
        lambda xp, a: xp.broadcast_to(a, (2, 3)),
        lambda xp, a: xp.broadcast_to(a, (2, 3))[0],
        lambda xp, a: xp.broadcast_to(a, (2, 3)).T[1:],
        lambda xp, a: xp.broadcast_to(a, (3,)),
        lambda xp, a: xp.diagonal(xp.zeros((3, 3))),
    ],
)
@pytest.mark.parametrize(
    "write",
    [
        lambda xp, v: v.__setitem__(0, 5.0),
        lambda xp, v: v.__setitem__(Ellipsis, 5.0),
        lambda xp, v: v.__setitem__([0], 5.0),
        lambda xp, v: v.__iadd__(1.0),
        lambda xp, v: xp.add(v, 1.0, out=v),
        lambda xp, v: v.__setitem__(v == 0, 1.0),
        lambda xp, v: v.sort(),
        lambda xp, v: v.fill(2.0),
    ],
)
def test_views_that_numpy_makes_read_only_are(view, write):
    for xp in (np, la):
        a = xp.zeros(3)
        with pytest.raises(ValueError, match="read-only"):
            write(xp, view(xp, a))
        assert np.asarray(a).tolist() == [0.0, 0.0, 0.0]


def test_what_a_failed_call_was_given_can_be_looked_at():
    """As pytest and debuggers do: no frame may hold an array whose memory isn't there."""
    for bad in (
        lambda: setattr(la.ones((4, 4)), "shape", (4,)),
        lambda: la.ones((4, 4)).reshape(3, 5),
        lambda: la.broadcast_to(la.ones(3), (2, 4)),
        lambda: la.moveaxis(la.ones((2, 3)), 5, 0),
        lambda: la.ones((2, 3)).transpose(0, 0),
        lambda: la.ones((2, 3)).view("f4,f4,f4,f4,f4"),
    ):
        with pytest.raises((ValueError, AttributeError, TypeError)) as raised:
            bad()
        frame = raised.value.__traceback__
        while frame is not None:
            for value in [*frame.tb_frame.f_locals.values()]:
                repr(value)
            frame = frame.tb_next


# Calls that NumPy refuses, whose errors were other ones, or none.
REFUSED = [
    "x.reshape()",
    "xp.indices(3)",
    "x.sum(axis=[0])",
    "xp.max(x, axis=[0])",
    "xp.mean(x, axis=[0])",
    "xp.std(x, axis=[0])",
    "x.var(axis=[0])",
    "xp.argmax(x, axis=(0, 0))",
    "xp.argmin(x[0, 0], axis=True)",
    "xp.argsort(x, axis=True)",
    "xp.argpartition(x, 1, axis=True)",
    "xp.compress([1, 0], x, axis=True)",
    "xp.cumprod(x, axis=True)",
    "x.cumsum(True)",
    "xp.packbits(x > 1, axis=True)",
    "xp.repeat(x, 2, axis=True)",
    "xp.take(x, [0], axis=True)",
    "xp.unwrap(x, axis=True)",
    "x.any([0, 1])",
    "x[0].__setitem__(slice(0, 1), [[1]])",
    "x[0].__setitem__(slice(0, 2), [[1, 2]])",
    "x.__setitem__(..., [[[1, 2, 3]]])",
    "x.__setitem__((0, slice(2)), ((1, 2),))",
    "xp.add.reduce(x, where=x > 1, initial=None)",
    "xp.multiply.reduce(x, where=x > 1, initial=None)",
    "xp.add.reduce(x, 0, None, None, False, 0, True, 1)",
    "xp.add.reduce(x, 0, None, None, False, 0, initial=1)",
    "xp.insert(x, xp.ones((2, 3), bool), 1)",
    "xp.add.reduceat(x[0, 0], [0])",
    "xp.tril(xp.array(3.0))",
    "xp.triu(xp.array(3.0))",
    "xp.nan_to_num(x, nan=1j)",
    "xp.nan_to_num(x, posinf=xp.array(1j))",
    "xp.fft.fftfreq(-1)",
    "xp.dot(xp.array(2), xp.arange(3), out=xp.zeros(3, bool))",
    "x[0, 0].mean('x')",
    "x[0, 0].std(object())",
    "x[0, 0].var([0])",
    "xp.median(x[0, 0], axis='x')",
    "x.transpose(None, 1.5)",
    "x.transpose(None, None)",
    "xp.sum(x, out=(xp.zeros(()),))",
    "x.max(out=(xp.zeros(()),))",
    "xp.add(x, 1, out=x, subok=3)",
    "x[xp.float32]",
    "x[:, xp.float32]",
    "x.__setitem__(xp.float32, 5)",
]


@pytest.mark.parametrize("call", REFUSED)
def test_what_numpy_refuses(call):
    def made(xp):
        return {"xp": xp, "x": xp.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])}

    with pytest.raises(Exception) as refused:
        eval(call, made(np))
    names = made(la)
    with pytest.raises(refused.type) as error:
        eval(call, names)
    assert not isinstance(error.value, (AttributeError, NameError))
    assert names["x"].tolist() == [[0, 1, 2], [3, 4, 5]]


class Unbound(Exception):
    pass


class Unready:
    """As a proxy of web frameworks is, whose object isn't there yet: whatever is asked raises."""

    def __getattribute__(self, name):
        raise Unbound(name)


UNREADY = """
np.array(p)
np.sum(a, where=p)
np.multiply(a, 2, where=p, out=a)
np.where(p, a, 1)
np.concatenate([p, a])
a[p]
a[m] = p
a + p
"""


@pytest.mark.parametrize("call", UNREADY.split("\n")[1:-1])
def test_objects_that_raise_whatever_is_asked(call, capfd):
    for xp in (np, la):
        with pytest.raises(Unbound):
            run(call, {**environment(xp), "p": Unready()})
    assert "ignored" not in capfd.readouterr().err


def test_a_dead_proxy_is_no_index(capfd):
    gone = weakref.proxy(Unready())
    x = la.arange(3)
    for call in (lambda: x[gone], lambda: x.__setitem__(gone, 1)):
        with pytest.raises(ReferenceError):
            call()
    assert x.tolist() == [0, 1, 2] and not capfd.readouterr().err


DEEP = """
np.vstack(x)
np.cov(x)
np.quantile(x, 0.3)
np.linalg.cholesky(x)
np.linalg.norm(x)
np.concatenate([x, a])
np.array(x, dtype=object).ndim
np.array([x, [None]], dtype=object).ndim
np.array([x, y], dtype=object).ndim
np.insert(b, 0, x)
np.pad(b, x)
np.where(x, 1, 2)
np.copyto(b, x)
b + x
b[x]
"""


@pytest.mark.filterwarnings("ignore::lazyarray.HostArrayWarning")
@pytest.mark.parametrize("call", DEEP.split("\n")[1:-1])
def test_lists_deeper_than_arrays(call):
    itself = []
    itself.append(itself)
    deep, dicts = 1.0, {}
    for _ in range(100_000):
        deep, dicts = [deep], {"a": dicts}
    for x in (itself, deep):
        found = []
        for xp in (np, la):
            names = {**environment(xp), "x": x, "y": dicts}
            try:
                found.append(run(call, names))
            except Exception as error:
                found.append(type(error))
        assert found[0] == found[1]


def test_blocks_deeper_than_arrays():
    itself = []
    itself.append(itself)
    with pytest.raises(ValueError, match="dimension"):
        la.block(itself)
