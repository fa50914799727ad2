"""What lazyarray does not hold, NumPy holds: what is made, handed over, and said of it."""

import datetime
import fractions
import io
import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy._lazy import TracingError
from lazyarray.ops import hosts

quiet = pytest.mark.filterwarnings("ignore::lazyarray.HostArrayWarning")
NAMES = np.array(["bob", "ada", "cyd", "ada"])
DAYS = np.array(["2024-01-03", "2024-01-01"], "M8[D]")
RECORDS = np.array([(2, 1.0), (1, 3.0)], dtype=[("a", int), ("b", float)])
OBJECTS = np.array([3, 1, 2, 1], dtype=object)
MASKED = np.ma.array([1.0, 2.0, 3.0, 9.0], mask=[0, 1, 0, 0])


@pytest.fixture(autouse=True)
def untold():
    hosts._told.clear()


def agree(got, want):
    """The same structure; what lazyarray can hold is a lazyarray, the rest is NumPy's."""
    if isinstance(want, (tuple, list)):
        assert type(got) is type(want) and len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            agree(g, w)
    elif isinstance(want, np.ma.MaskedArray):
        assert isinstance(got, np.ma.MaskedArray) and got.tolist() == want.tolist()
    elif isinstance(want, (np.ndarray, np.generic)):
        if want.dtype.char in "?bBhHiIlLqQefdgFDG" and not isinstance(want, np.matrix):
            assert isinstance(got, la.NDArray)
            assert isinstance(got, la.Scalar) == isinstance(want, np.generic)
            got = got.asnumpy()
        else:
            assert type(got) is type(want)
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_array_equal(got, want)
    else:
        assert type(got) is type(want) and got == want


# ---- what is made -------------------------------------------------------------------------------

MADE = """
xp.array(["a", "bc"])
xp.array([b"a"])
xp.array("a")
xp.array([[1, 2], [3]], dtype=object)
xp.array([datetime.datetime(2024, 1, 2)])
xp.array([datetime.date(2024, 1, 2)], dtype="M8[D]")
xp.array([(1, 2.0)], dtype=[("a", int), ("b", float)])
xp.array([None, 1])
xp.array({1: 2})
xp.array(2**70)
xp.array([1, "a"], ndmin=2)
xp.array(NAMES, copy=False)
xp.asarray(["a"], dtype="U5")
xp.asarray(NAMES)
xp.asanyarray(MASKED)
xp.array(MASKED)
xp.ascontiguousarray(NAMES[::2])
xp.zeros(3, "U5")
xp.zeros((2, 2), object)
xp.zeros(2, dtype=[("x", "f4"), ("n", "i2", 3)])
xp.ones(2, object)
xp.full(3, "abc")
xp.full((2, 2), None)
xp.full(2, 0, dtype="M8[D]")
xp.zeros_like(NAMES)
xp.full_like(NAMES, "z")
xp.ones_like(OBJECTS)
xp.zeros_like(np.ones(3), dtype=object)
xp.arange("2024-01", "2024-03", dtype="datetime64[D]")
xp.arange(np.datetime64("2024-01-01"), np.datetime64("2024-01-05"))
xp.arange(3, dtype="m8[s]")
xp.arange(3).astype(str)
xp.arange(3).astype("U2", order="F")
xp.arange(3.0).astype(object)
xp.arange(3).astype("M8[D]")
xp.astype(xp.arange(3), "S3")
xp.arange(3).view("S8")
xp.fromiter(["a", "b"], "U1")
xp.frombuffer(b"abcd", "S2")
xp.fromstring("1 2", dtype=object, sep=" ")
xp.loadtxt(["a 1", "b 2"], dtype=str)
xp.loadtxt(["a 1", "b 2"], dtype=[("k", "U3"), ("n", int)])
xp.loadtxt(["a 1", "b 2"], dtype=[("k", "U3"), ("n", int)], unpack=True)
xp.genfromtxt(["k,n", "1,2"], delimiter=",", names=True)
xp.genfromtxt(["a,1", "b,2"], delimiter=",", dtype=None, encoding="utf-8")
xp.genfromtxt(["1,2", ",3"], delimiter=",", usemask=True)
xp.fromregex(io.StringIO("a 1"), "(.) (.)", [("k", "U1"), ("n", int)])
xp.vectorize(str)(xp.arange(3))
xp.vectorize(lambda s: s + "!", otypes=["U9"])(NAMES)
xp.vectorize(lambda x: (x, str(x)))(xp.arange(2))
xp.frompyfunc(lambda a, b: f"{a}{b}", 2, 1)(xp.arange(2), ["a", "b"])
xp.bmat([[xp.eye(2), xp.eye(2)]]), xp.bmat(xp.eye(2)), xp.bmat([xp.eye(2), xp.eye(2)])
xp.bmat("a, b; b, a", {"a": xp.eye(2), "b": xp.ones((2, 1))}, {})
xp.str_("a"), xp.bytes_(b"a"), xp.datetime64("2024"), xp.timedelta64(3, "D")
xp.dtype([("a", int)]), xp.object_ is object, xp.void, xp.record
""".strip().split("\n")


@quiet
@pytest.mark.parametrize("expression", MADE)
def test_what_is_made(expression):
    scope = {"np": np, "io": io, "datetime": datetime, "NAMES": NAMES, "MASKED": MASKED,
             "OBJECTS": OBJECTS}  # fmt: skip
    try:
        want = eval(expression, scope | {"xp": np})
    except Exception as exc:
        with pytest.raises(type(exc)):
            eval(expression, scope | {"xp": la})
    else:
        agree(eval(expression, scope | {"xp": la}), want)


def test_a_ragged_list_is_numpys_error():
    for xp in (np, la):
        with pytest.raises(ValueError, match="inhomogeneous"):
            xp.array([[1, 2], [3]])


@quiet
def test_arrays_of_objects_hold_the_lazyarrays_themselves():
    x, y = la.arange(3.0), la.arange(2.0)
    held = la.array([x, y], dtype=object)
    assert held.shape == (2,) and held[0] is x and held[1] is y
    held[1][:] = 7
    assert y.tolist() == [7, 7]
    assert la.array([x.sum(), None]).tolist() == [3.0, None]
    assert la.array([x, x], dtype=object).shape == (2, 3)


def test_an_explicit_gpu_raises():
    class Gpu(la.Context):  # as if there were one
        pass

    gpu = Gpu("gpu", 0)
    assert gpu.device_type == "gpu"
    for call in (
        lambda: hosts.handed_over(np.zeros, (3, "U5"), {}, TypeError("no dtype")),
        lambda: hosts.handed_over(np.zeros, (3, "U5", la.cpu(1)), {}, TypeError("no dtype")),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", la.HostArrayWarning)
            assert call().tolist() == [""] * 3
    with pytest.raises(TypeError, match=r"no dtype.*NumPy's arrays are not on"):
        hosts.handed_over(np.zeros, (3, "U5", gpu), {}, TypeError("no dtype"))
    with pytest.raises(TypeError, match=r"no dtype <U3.*not on"):
        hosts.given(NAMES, gpu)


# ---- the note -----------------------------------------------------------------------------------


def test_it_is_given_once_a_place_in_the_users_line():
    def make():
        return la.array(["a", "b"])

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(3):
            make()
        la.zeros(2, "U3")
        la.where(la.array([True]), "a", "b")
        la.loadtxt(["a"], dtype=str)
        la.array([3]).astype(str)
        la.random.choice(["a", "b"], 2)
        la.sort(["b", "a"])
        la.load(io.BytesIO(npy(NAMES)))
    assert {w.category for w in seen} == {la.HostArrayWarning}
    assert {w.filename for w in seen} == {__file__}
    first = make.__code__.co_firstlineno + 1
    assert [w.lineno - first for w in seen] == [0, 6, 7, 8, 9, 10, 11, 12]
    assert "dtype <U1" in str(seen[0].message) and "simplefilter" in str(seen[0].message)


@quiet
@pytest.mark.parametrize(
    "call",
    [
        lambda xp: xp.zeros(3, dtype=[("x", float), ("y", int)]),
        lambda xp: xp.empty((2, 2), dtype=object),
        lambda xp: xp.full((2, 2), " "),
        lambda xp: xp.ones(2, "U3"),
        lambda xp: xp.array([("a", 1.0), ("b", 2.0)], dtype=[("name", "U2"), ("v", float)]),
        lambda xp: xp.array([["x", "o"], [" ", "x"]]),
        lambda xp: xp.array([None, 1, "a"]),
        lambda xp: xp.array([None, 1.0], dtype=float),
        lambda xp: xp.array(["1", "2.5"], dtype=float),
        lambda xp: xp.arange("2024-01", "2024-03", dtype="datetime64[M]"),
        lambda xp: xp.array(["2024-01-03"], dtype="M8[D]"),
        lambda xp: xp.array([1, 2], dtype="m8[s]"),
        lambda xp: xp.isin(NAMES, ["ada", "cyd"]),
        lambda xp: xp.isin(NAMES, NAMES[:1]),
        lambda xp: xp.argsort(NAMES),
        lambda xp: xp.searchsorted(np.sort(NAMES), ["bob", "x"]),
        lambda xp: xp.diff(DAYS),
        lambda xp: xp.ravel(RECORDS),
        lambda xp: xp.concatenate([NAMES, NAMES[::-1]]),
        lambda xp: xp.count_nonzero(OBJECTS),
        lambda xp: xp.unique(NAMES, return_counts=True),
    ],
)
def test_what_is_usual_is_as_numpys_also_once_it_was_told(call):
    for _ in range(3):
        agree(call(la), call(np))


def test_views_and_arrays_that_are_given_stay_themselves():
    assert la.asarray(NAMES) is NAMES and la.asarray(a=NAMES) is NAMES
    for view in (la.atleast_1d(NAMES), la.ravel(NAMES), la.squeeze(NAMES[None]), la.flip(DAYS)):
        assert type(view) is np.ndarray and (view is NAMES or view.base is not None)
    seconds = np.frombuffer(memoryview(bytearray(16)), "m8[s]")
    assert np.shares_memory(la.reshape(seconds, (2, 1)), seconds)
    copied = la.array(NAMES)
    assert copied is not NAMES and not np.shares_memory(copied, NAMES)


def test_it_is_told_of_each_kind_in_a_line_and_of_each_line():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(2):
            la.array(["a"]), la.array([None]), la.empty(2, dtype=object)
            la.empty(2, dtype=object)
    told = [str(w.message).partition(":")[0] for w in seen]
    assert told == [
        "lazyarray has no dtype <U1",
        "lazyarray has no dtype object",
        "lazyarray has no dtype object",
    ]


def test_who_has_such_arrays_is_not_told_again():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        la.unique(NAMES), la.concatenate([NAMES, NAMES]), la.sort(RECORDS, order="b")
        la.random.permutation(NAMES), la.where(NAMES == "ada", NAMES, "x")
        la.max(DAYS), la.sum(MASKED), la.random.choice(["a", "b"]), NAMES[la.array([0])]


def test_it_can_be_turned_off_and_be_an_error():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", la.HostArrayWarning)
        la.array(["a"])
    assert seen == []
    with warnings.catch_warnings():
        warnings.simplefilter("error", la.HostArrayWarning)
        for _ in range(2):
            with pytest.raises(la.HostArrayWarning):
                la.array(["a"])
    done = subprocess.run(
        [sys.executable, "-c", "import lazyarray as la\nla.array(['a'])\nla.array(['a'])"],
        capture_output=True, text=True, env=os.environ | {"PYTHONPATH": os.path.dirname(
            os.path.dirname(la.__file__))},
    )  # fmt: skip
    assert done.stderr.count("HostArrayWarning: lazyarray has no dtype <U1") == 2


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


# ---- what is handed over ------------------------------------------------------------------------

CALLS = """
xp.unique(NAMES)
xp.unique(NAMES, return_index=True, return_inverse=True, return_counts=True)
xp.concatenate([NAMES, NAMES])
xp.concatenate([x, OBJECTS])
xp.sort(NAMES)
xp.sort(RECORDS, order="b")
xp.argsort(RECORDS, order="a")
xp.argsort(NAMES, kind="stable")
xp.partition(DAYS, 1)
xp.lexsort((NAMES, x))
xp.where(x > 1, "a", "b")
xp.where(NAMES == "ada", x, 0)
xp.where(NAMES == "ada")
xp.select([x > 2, x > 1], ["hi", "mid"], "low")
xp.isin(NAMES, ["ada"])
xp.intersect1d(NAMES, ["ada", "z"])
xp.setdiff1d(NAMES, ["ada"])
xp.union1d(NAMES, ["z"])
xp.searchsorted(xp.sort(NAMES), ["b", "z"])
xp.arange(3).searchsorted(OBJECTS)
xp.array_equal(NAMES, NAMES.copy()), xp.array_equiv(NAMES, NAMES[:1])
xp.diff(DAYS)
xp.max(DAYS), xp.min(DAYS), xp.ptp(DAYS)
xp.mean(DAYS - DAYS[0])
xp.sum(OBJECTS), xp.prod(OBJECTS), xp.max(OBJECTS)
xp.sum(x, dtype=object)
x.sum(dtype=object)
xp.add.reduce(OBJECTS), xp.maximum.reduce(DAYS), xp.maximum.accumulate(DAYS)
xp.add.outer(NAMES[:2], NAMES[:2])
xp.add(NAMES, "!"), xp.multiply(OBJECTS, x), xp.isnan(DAYS), xp.abs(OBJECTS)
xp.add(x, OBJECTS, where=[True, True, False, True], out=np.zeros(4, object))
xp.logical_and(OBJECTS, x)
xp.stack([NAMES, NAMES]), xp.tile(NAMES, 2), xp.repeat(NAMES, 2), xp.roll(NAMES, 1), xp.flip(NAMES)
xp.split(NAMES, 2)
xp.append(NAMES, "z"), xp.insert(NAMES, 1, "z"), xp.delete(NAMES, 1)
xp.reshape(NAMES, (2, 2)), xp.transpose(RECORDS), xp.broadcast_to(NAMES, (2, 4)), xp.ravel(NAMES)
xp.take(NAMES, x.astype(int)), xp.compress(x > 1, NAMES)
xp.take_along_axis(NAMES, x.astype(int), 0)
xp.choose([0, 1], [NAMES[:2], NAMES[2:]])
xp.meshgrid(NAMES[:2], x)
xp.nonzero(OBJECTS), xp.count_nonzero(NAMES == "ada"), xp.any(OBJECTS), xp.all(NAMES == "ada")
xp.shape(NAMES), xp.ndim(RECORDS), xp.size(NAMES), xp.iterable(NAMES)
xp.array2string(NAMES), xp.array_repr(DAYS), xp.array_str(OBJECTS)
xp.dot(OBJECTS, x), xp.matmul(OBJECTS, x), x @ OBJECTS, OBJECTS @ x
xp.apply_along_axis(lambda v: v[0] + v[1], 0, NAMES)
xp.sum(MASKED), xp.mean(MASKED), xp.max(MASKED), xp.std(MASKED), xp.cumsum(MASKED)
xp.sqrt(MASKED), xp.add(x, MASKED), x + MASKED, MASKED * x, x > MASKED, -MASKED
xp.where(MASKED > 1, 1, 0)
xp.add(NAMES, x)
xp.sin(NAMES)
xp.sort(x, order="a")
xp.linalg.inv(NAMES)
x + NAMES
x < NAMES
x == NAMES, x != NAMES, NAMES == x
x + OBJECTS, OBJECTS - x, x ** OBJECTS, x // OBJECTS, divmod(x, OBJECTS), x > OBJECTS
xp.arange(2) + DAYS, DAYS - xp.arange(2), DAYS[0] + xp.arange(2)
xp.arange(2) * np.timedelta64(1, "D")
xp.arange(2) * datetime.timedelta(1)
NAMES[x > 1], NAMES[xp.argsort(x)], NAMES[xp.argmax(x)], RECORDS[xp.array([1, 0])]["b"]
xp.char.upper(NAMES), xp.char.str_len(NAMES), xp.char.startswith(NAMES, "a")
xp.char.multiply(NAMES, xp.array([1, 2, 0, 1])), xp.char.join("-", NAMES), xp.char.split(NAMES)
xp.strings.find(NAMES, "a"), xp.strings.isalpha(NAMES), xp.strings.slice(NAMES, 2)
xp.fft.fft(OBJECTS)
""".strip().split("\n")


@quiet
@pytest.mark.parametrize("expression", CALLS)
def test_what_is_handed_over(expression, direct):
    def run(xp):
        scope = globals() | {
            "NAMES": NAMES.copy(),
            "OBJECTS": OBJECTS.copy(),
            "MASKED": MASKED.copy(),
            "xp": xp,
            "x": xp.array([3.0, 1.0, 2.0, 0.0]),
        }
        return eval(expression, scope)

    try:
        want = run(np)
    except Exception as exc:
        with pytest.raises(type(exc)):
            run(la)
    else:
        same_values(run(la), want)


def same_values(got, want):
    """The same values and dtypes, be it lazyarray's arrays or NumPy's."""
    if isinstance(want, (tuple, list)):
        assert type(got) is type(want) and len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same_values(g, w)
        return
    if isinstance(want, np.ma.MaskedArray):
        assert isinstance(got, np.ma.MaskedArray) and got.tolist() == want.tolist()
        return
    got = got.asnumpy() if isinstance(got, la.NDArray) else got
    if isinstance(want, (np.ndarray, np.generic)):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_array_equal(got, want)
    else:
        assert got == want


def test_what_can_be_held_is_a_lazyarray_again():
    values, inverse = la.unique(NAMES, return_inverse=True)
    assert type(values) is np.ndarray and type(inverse) is la.NDArray
    assert isinstance(la.argsort(NAMES), la.NDArray) and isinstance(la.argmax(OBJECTS), la.Scalar)
    with la.set_scalars("numpy"):
        assert type(la.argmax(OBJECTS)) is np.int64 and type(la.isnan(DAYS[0])) is np.bool


def test_a_view_of_a_numpy_array_stays_one():
    assert np.shares_memory(la.ravel(RECORDS["a"]), RECORDS) is False  # held: a copy, as always
    objects = OBJECTS.copy()
    la.reshape(objects, (2, 2))[0, 0] = 9
    assert objects[0] == 9 and la.asarray(objects) is objects


def test_what_is_written():
    names, x = NAMES.copy(), la.arange(4.0)
    la.copyto(names, "z", where=la.array([True, False, False, False]))
    la.put(names, la.array([1]), "y")
    la.putmask(names, x > 2, "w")
    assert names.tolist() == ["z", "y", "cyd", "w"]
    la.random.shuffle(names)
    assert sorted(names) == ["cyd", "w", "y", "z"]
    names[x > 1] = "q"
    assert names[2:].tolist() == ["q", "q"]
    x[:2] = np.array(["1.5", "2.5"])  # cast, as NumPy assigns
    x[2] = np.array(7, dtype=object)
    x[x > 6] = np.ma.array([8.0], mask=[1])
    assert x.tolist() == [1.5, 2.5, 8, 3]
    x[la.array([0, 1])] = np.array([4, 5], dtype=object)
    assert x.tolist() == [4, 5, 8, 3]
    with pytest.raises(ValueError, match="could not convert"):
        x[:] = np.array(["a"] * 4)
    with pytest.raises(TypeError, match="same_kind"):
        x += np.array([1, 2, 3, 4], dtype=object)
    out = la.zeros(2)
    assert la.max(np.array([[1, 2], [3, 4]], dtype=object), axis=0, out=out) is out
    assert out.tolist() == [3, 4]
    y = la.ones(2)
    y += MASKED[:2]
    assert np.asarray(y).tolist()[0] == 2
    whole, counted = la.zeros(2), la.zeros(2, int)
    took, each = np.array([7, 8], "m8[s]"), np.timedelta64(2, "s")
    got = la.divmod(took, each, out=(counted, None))
    assert got[0] is counted and counted.tolist() == [3, 4]
    assert got[1].tolist() == np.remainder(took, each).tolist()
    la.subtract(np.array([7, 8], dtype=object), 1, out=whole, casting="unsafe")
    assert whole.tolist() == [6, 7]
    counts = la.zeros(2)
    la.add.at(counts, np.array([0, 0]), 1.0)
    assert counts.tolist() == [2, 0]


INTO = """
xp.greater_equal(xp.arange(4.0), Fraction(1, 2), out)
xp.less(MASKED, 2, out)
xp.less(DAYS[[0, 1, 0, 1]], DAYS[0], out)
xp.add(MASKED, 2, out)
xp.add.reduce(np.stack([OBJECTS, OBJECTS]), 0, None, out)
xp.add.reduce(np.stack([OBJECTS, OBJECTS]), out=out)
xp.add.accumulate(OBJECTS, 0, None, out)
xp.add.reduceat(OBJECTS, [0, 1, 2, 3], 0, None, out)
xp.add.accumulate(OBJECTS, out=out)
xp.cumsum(OBJECTS, 0, None, out)
xp.take(OBJECTS, [3, 2, 1, 0], 0, out, mode="clip")
xp.matmul(np.stack([OBJECTS] * 4), OBJECTS, out, casting="unsafe")
xp.matmul(xp.ones((4, 4)), np.ma.array(MASKED), out)
xp.compress([True] * 4, OBJECTS, 0, out)
xp.choose([0, 1, 0, 1], np.stack([OBJECTS, OBJECTS]), out)
xp.mean(np.stack([OBJECTS, OBJECTS]), 0, None, out)
""".strip().split("\n")


@quiet
@pytest.mark.parametrize("dtype", [object, ">f8", "U20"])
@pytest.mark.parametrize(
    "call",
    [
        lambda xp, x, out: xp.matmul(xp.eye(4), x, out),
        lambda xp, x, out: xp.matmul(xp.eye(4), x, out=out, casting="unsafe"),
        lambda xp, x, out: xp.add.reduce(xp.ones((4, 4)), out=(out,)),
        lambda xp, x, out: xp.add.accumulate(x, out=(out,)),
        lambda xp, x, out: xp.add.reduceat(x, [0, 1, 2, 3], out=(out,)),
    ],
)
def test_outputs_that_numpy_holds(call, dtype):
    found = []
    for xp in (np, la):
        out = np.zeros(4, dtype)
        try:
            assert call(xp, xp.arange(4.0), out) is out
            found.append(out.tolist())
        except TypeError:
            found.append("refused")
    assert found[0] == found[1]


WRITTEN_BY_NAME = """
xp.copyto(dst=x, src=OBJECTS, casting="unsafe")
xp.copyto(dst=x, src=MASKED)
xp.copyto(dst=x, src=xp.ones(4))
xp.put(a=x, ind=[0, 1], v=OBJECTS)
xp.put(ind=[0, 1], v=xp.ones(2), a=x)
xp.place(arr=x, mask=[True] * 4, vals=MASKED)
xp.place(arr=x, mask=[True] * 4, vals=[5, 6])
xp.put_along_axis(arr=x, indices=np.array([0, 1]), values=OBJECTS[:2], axis=0)
xp.put_along_axis(arr=x, indices=np.array([0, 1]), values=np.ones(2), axis=0)
xp.fill_diagonal(a=x.reshape(2, 2), val=OBJECTS[:2])
xp.fill_diagonal(a=x.reshape(2, 2), val=7)
xp.nan_to_num(x, copy=False, nan=np.ma.array(3.0))
xp.nan_to_num(x, False, np.ma.array(3.0))
xp.nan_to_num(x=x, copy=False)
xp.nan_to_num(x, nan=np.ma.array(3.0))
""".strip().split("\n")


@quiet
@pytest.mark.parametrize("code", WRITTEN_BY_NAME)
def test_what_is_written_may_be_given_by_name(code):
    """By NumPy's functions, too; and NumPy's own array."""
    want = np.array([1.0, np.nan, 3.0, 4.0])
    found = [(la, la.array(want)), (np, la.array(want)), (la, want.copy())]
    eval(code, {**globals(), "xp": np, "x": want})
    for xp, x in found:
        eval(code, {**globals(), "xp": xp, "x": x})
        np.testing.assert_array_equal(np.asarray(x), want)


@pytest.mark.parametrize("code", INTO)
def test_an_output_by_place_is_written(code):
    names = {**globals(), "Fraction": fractions.Fraction}
    want, got = np.full(4, 9.0), la.full(4, 9.0)
    result = eval(code, {**names, "xp": np, "out": want})
    assert np.asarray(eval(code, {**names, "xp": la, "out": got})).tolist() == result.tolist()
    assert got.tolist() == want.tolist()
    numpys = np.full(4, 9.0)
    assert eval(code, {**names, "xp": la, "out": numpys}).tolist() == result.tolist()
    assert numpys.tolist() == want.tolist()


def test_functions_that_have_no_such_arrays_stay_errors():
    with pytest.raises(TypeError, match="no dtype"):
        la.from_dlpack(NAMES)
    with pytest.raises(np.linalg.LinAlgError):
        la.linalg.inv(NAMES)


def test_an_error_of_numpys_comes_alone():
    with pytest.raises(TypeError) as seen:
        la.sin(NAMES)
    assert seen.value.__suppress_context__ or seen.value.__context__ is None


# ---- what watches -------------------------------------------------------------------------------


def test_waits_are_counted_and_refused():
    x = la.ones(3) > 0
    with la.no_sync(), pytest.raises(RuntimeError):
        la.where(x, "a", "b")


def test_gradients_do_not_end_in_numpy():
    x = la.ones(2)
    x.attach_grad()
    with la.autograd.record():
        y = x * 2
        with pytest.raises(NotImplementedError, match="no gradient rule"):
            la.multiply(y, np.array([1, 2], dtype=object))
        with pytest.raises(NotImplementedError, match="no gradient rule"):
            y * np.ma.array([1.0, 2.0], mask=[1, 0])
        assert la.unique(NAMES).tolist() == ["ada", "bob", "cyd"]


@quiet
def test_compiled_functions_say_so():
    def labels(x):
        return la.where(x > 1, "a", "b")

    with pytest.warns(la.CompileWarning, match=r"where.*can't be traced"):
        assert la.compile(labels)(la.array([0.0, 2.0])).tolist() == ["b", "a"]

    def constant(x):
        return x, la.array(["a"])

    with pytest.warns(la.CompileWarning, match=r"array.*can't be traced"):
        assert la.compile(constant)(la.ones(2))[1].tolist() == ["a"]

    def handed_on(x, names=NAMES):
        return x + 1, names

    with pytest.warns(la.CompileWarning, match="can't hold"):
        assert la.compile(handed_on)(la.ones(2))[1] is NAMES
    with pytest.raises(TypeError, match="can't hold"):
        la.compile(lambda x, names: x)(la.ones(2), NAMES)


def test_traces_say_so():
    with pytest.raises(TracingError, match=r"where.*can't be traced"):
        la.trace(lambda x: la.where(x > 1, "a", "b"), la.spec((3,)))
    with pytest.raises(TypeError, match="no dtype"):
        la.trace(lambda x, names: x, la.spec((3,)), NAMES)
    with pytest.raises(TypeError, match="no dtype"):
        la.sym.Variable("x") + NAMES


def test_threads_hand_over_side_by_side():
    found = []

    def work():
        for _ in range(50):
            found.append(la.unique(NAMES, return_inverse=True)[1].tolist())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [[1, 0, 2, 0]] * 200


def test_arrays_joined_by_an_index_expression():
    """Each was an ``Unheld``."""
    d = np.array(["2020-01-01"], "M8[D]")
    assert la.r_[d, d].tolist() == np.r_[d, d].tolist()
    m = np.ma.masked_array([1.0, 2], [0, 1])
    assert la.c_[m, m].tolist() == np.c_[m, m].tolist()
    assert type(la.r_[np.asmatrix(np.eye(2)), np.asmatrix(np.eye(2))]) is np.matrix
    text = np.array(["a", "b"])
    found = la.c_[la.ones((2, 1)), text]
    assert found.tolist() == np.c_[np.ones((2, 1)), text].tolist()


def test_a_part_of_a_matrix_becomes_an_array():
    m = np.asmatrix(np.arange(9.0).reshape(3, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for part in (m, m[:, :2], m.T):
            x = la.asarray(part)
            assert isinstance(x, la.NDArray) and x.tolist() == part.tolist()


def test_an_array_of_more_axes_is_stored_where_these_are_of_length_one():
    class Given:
        def __array__(self, dtype=None, copy=None):
            return np.array([[1.0, 2.0]])

    class Lent:
        def __init__(self):
            self.held = np.array([[1.0, 2.0]])
            self.__array_interface__ = self.held.__array_interface__

    row = np.array([[1.0, 2.0]])
    text = np.array([["1", "2"]])
    arrays = (
        np.asmatrix(row),
        np.ma.array(row),
        memoryview(row),
        row.astype(object),
        text,
        Given(),
        Lent(),
    )
    for value in arrays:
        for xp in (np, la):
            x = xp.zeros((3, 2))
            x[0] = value
            x[1, :] = value
            x[2][:] = value
            assert x.tolist() == [[1, 2]] * 3
    for xp in (np, la):  # of sequences each axis counts
        for value in ([[1.0, 2.0]], [row[0]], (row,)):
            with pytest.raises(ValueError, match="maximum number of dimension"):
                xp.zeros((3, 2))[0] = value


def test_shapes_are_asked_of_what_has_one():
    class Odd:
        shape, ndim, size = (2, 3), 2, 6

    for f in ("shape", "ndim", "size"):
        assert getattr(la, f)(Odd()) == getattr(np, f)(Odd())
    assert la.size(Odd(), 1) == np.size(Odd(), 1) == 3


@quiet
def test_a_ufunc_of_objects_with_other_arguments():
    objects = np.array([1, 2, 3], object)
    for given in ({"order": "C"}, {"dtype": object}):
        agree(la.add(la.arange(3), objects, **given), np.add(np.arange(3), objects, **given))
    assert la.add(la.arange(3), objects, out=...).tolist() == [1, 3, 5]


@pytest.mark.host
@pytest.mark.parametrize(
    "call",
    [
        lambda xp, s, r: xp.sort(s),
        lambda xp, s, r: xp.sort(r, order=["n", "s"]),
        lambda xp, s, r: xp.argsort(s, kind="stable"),
        lambda xp, s, r: xp.unique(s, return_counts=True),
        lambda xp, s, r: xp.concatenate([s, s]),
        lambda xp, s, r: xp.isin(s, ["a", "c"]),
        lambda xp, s, r: xp.append(s, "q"),
        lambda xp, s, r: xp.roll(r, 1),
        lambda xp, s, r: tuple(xp.array_split(r, 2)),
        lambda xp, s, r: xp.add(s.astype(object), s.astype(object)),
        lambda xp, s, r: xp.add.accumulate(s.astype(object)),
        lambda xp, s, r: xp.max(np.stack([DAYS, DAYS]), axis=1, keepdims=True),
        lambda xp, s, r: np.array(xp.sum(s.astype(object))),
        lambda xp, s, r: np.array(xp.multiply.reduce(OBJECTS, initial=2**70)),
        lambda xp, s, r: xp.sum(np.array([[1.5, 2]], object), axis=0, dtype=float),
    ],
)
def test_calls_of_such_arrays_alone_are_numpys_at_once(call):
    strings, records = np.array(["b", "a", "c", "a"]), np.zeros(3, [("n", "i4"), ("s", "U2")])
    seen = []
    sys.setprofile(lambda frame, event, _: seen.append(frame.f_code.co_name))
    try:
        got = call(la, strings, records)
    finally:
        sys.setprofile(None)
    assert "handed_over" not in seen
    want = call(np, strings, records)
    for g, w in zip(got, want, strict=True) if type(want) is tuple else [(got, want)]:
        assert isinstance(g, np.ndarray if w.dtype.kind in "USOVM" else la.NDArray)
        np.testing.assert_array_equal(np.asarray(g), w)


@pytest.mark.host
@pytest.mark.parametrize(
    "call",
    [
        lambda xp, m: xp.sum(m),
        lambda xp, m: xp.sum(m, axis=0),
        lambda xp, m: xp.max(m, 1),
        lambda xp, m: xp.any(m),
        lambda xp, m: xp.mean(m),
        lambda xp, m: xp.std(m, ddof=1),
        lambda xp, m: xp.argmax(m),
        lambda xp, m: xp.reshape(m, (1, 4)),
        lambda xp, m: xp.concatenate([m, m], axis=1),
        lambda xp, m: xp.maximum(m, np.float64(2)),
        lambda xp, m: xp.multiply(m, m, dtype=np.dtype("f4")),
    ],
)
def test_calls_of_masked_arrays_or_matrices_alone_too(call):
    for m in (MASKED.reshape(2, 2), np.asmatrix([[1.0, 2.0], [3.0, 4.0]])):
        seen = []
        sys.setprofile(lambda frame, event, _, seen=seen: seen.append(frame.f_code.co_name))
        try:
            got = call(la, m)
        finally:
            sys.setprofile(None)
        assert "handed_over" not in seen
        agree(got, call(np, m))


@quiet
@pytest.mark.host
@pytest.mark.parametrize("make", ["array", "asarray", "asanyarray"])
def test_arrays_of_strings_are_made_without_trying_ours_first(make):
    seen = []
    sys.setprofile(lambda frame, event, _: seen.append(frame.f_code.co_name))
    try:
        made = getattr(la, make)([["a", "b"], ["c", "d"]])
    finally:
        sys.setprofile(None)
    assert "handed_over" not in seen
    assert type(made) is np.ndarray and made.tolist() == [["a", "b"], ["c", "d"]]


@quiet
@pytest.mark.host
@pytest.mark.parametrize(
    "make",
    [
        lambda xp: xp.zeros((2, 3), np.dtype([("n", "i4"), ("s", "U2")])),
        lambda xp: xp.zeros(2, "U3"),
        lambda xp: xp.empty(3, dtype=object),
        lambda xp: xp.array([1, None], dtype=object),
        lambda xp: xp.array([], dtype="U4"),
        lambda xp: xp.arange("2024-01", "2024-03", dtype="M8[D]"),
        lambda xp: xp.sort(["b", "a"]),
    ],
)
def test_what_is_asked_of_dtypes_and_numbers_alone_is_numpys_in_few_steps(make):
    seen = []
    sys.setprofile(lambda frame, event, _: seen.append(frame.f_code.co_name))
    try:
        made = make(la)
    finally:
        sys.setprofile(None)
    want = make(np)
    assert "handed_over" not in seen
    assert type(made) is np.ndarray and made.dtype == want.dtype and made.tolist() == want.tolist()
    with la.cpu(1):
        assert make(la).tolist() == want.tolist()
    with pytest.warns(la.HostArrayWarning):
        la.zeros(2, "U7")


@quiet
@pytest.mark.host
@pytest.mark.skipif(
    isinstance(la.engine.get(), la.engine.NaiveEngine), reason="it takes no call at once"
)
def test_strings_that_numpy_makes_of_numbers_are_made_once():
    x, seen = la.arange(4) > 1, []
    sys.setprofile(lambda frame, event, _: seen.append(frame.f_code.co_name))
    try:
        made, full = la.where(x, "yes", "no"), la.full(2, "ab")
    finally:
        sys.setprofile(None)
    assert "handed_over" not in seen
    assert made.tolist() == ["no", "no", "yes", "yes"] and full.tolist() == ["ab", "ab"]
    one = la.ones(2)[0]
    assert isinstance(la.array([one, "x"], dtype=object)[0], la.Scalar)  # ours, not its value


@pytest.mark.host
def test_strings_that_numpy_makes_of_numbers_are_noted():
    with pytest.warns(la.HostArrayWarning, match="no dtype <U3"):
        la.where(la.arange(4) > 1, "yes", "no")
