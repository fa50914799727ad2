"""NumPy's functions on a device, as captured PYTHON instructions call them; see test_library.py."""

import pathlib

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy._lazy import Program
from lazyarray.lazy.cuda import library
from lazyarray.lazy.cuda.library import Hosted, calls
from tests.cuda.recorded import RNG, check, numbers, run

pytestmark = pytest.mark.usefixtures("cupy")
ROOM = pathlib.Path(la.__file__).parent


@pytest.mark.parametrize(
    "function, shapes",
    [
        (lambda a: la.sum(a.T[::2], (0, 2)), [(4, 3, 6)]),
        (lambda a: la.prod(a[::2].T, (0, 2), keepdims=True), [(4, 3, 5)]),
        (lambda a: la.max(a[::2, :, 1:].transpose(2, 0, 1), 1), [(4, 3, 5)]),
        (lambda a: la.median(a), [(4, 3)]),
        (lambda a: la.median(a, (0, 2), keepdims=True), [(4, 3, 2)]),
        (lambda a: la.sort(a, 0), [(4, 3)]),
        (lambda a: la.argsort(a, 0, stable=True), [(4, 3)]),
        (lambda a: la.argsort(a, descending=True, stable=True), [(4, 3)]),
        (lambda a: la.sort(a, descending=True), [(4, 3)]),
        (lambda a, b: la.lexsort([a, b], 0), [(4, 3), (4, 3)]),
        (lambda a: la.cumsum(a[::2].T, 1), [(8, 3)]),
        (lambda a: la.round(a[::2], 2), [(4, 3)]),
        (lambda a, b: la.searchsorted(a, b, "right"), [(5,), (3, 2)]),
        (lambda a, b: la.dot(a, b), [(2, 3, 4), (2, 4, 5)]),
        (lambda a, b: la.vdot(a.T, b), [(3, 4), (4, 3)]),
        (lambda a: la.delete(a, 2, 1), [(4, 3)]),
        (lambda a: a[[0, 2], :, [1, -1]], [(4, 3, 5)]),
        (lambda a: a[:, [[0], [2]], [1, -1]], [(4, 3, 5)]),
        (lambda a: a[1, ..., np.array([True, False, True, False, True])], [(4, 3, 5)]),
        (lambda a: la.linalg.svd(a, compute_uv=False), [(2, 4, 3)]),
        (lambda a: la.linalg.eigvalsh(a), [(2, 3, 3)]),
        (lambda a: tuple(la.linalg.slogdet(a)), [(2, 3, 3)]),
        (lambda a: tuple(la.linalg.qr(a)), [(4, 3)]),
        (lambda a: la.linalg.qr(a, "r"), [(4, 3)]),
        (lambda a: tuple(la.linalg.eigh(a)), [(3, 3)]),
        (lambda a: la.fft.fft(a, axis=0), [(4, 3)]),
        (lambda a: la.fft.rfft(a, 7, norm="ortho"), [(4, 6)]),
        (lambda a: la.fft.irfft(a), [(4, 6)]),
        (lambda a: la.fft.hfft(a), [(4, 6)]),
        (lambda a: la.fft.ihfft(a), [(4, 6)]),
    ],
)
@pytest.mark.parametrize("dtype", list("df"))
def test_functions(function, shapes, dtype):
    arrays = [np.sort(numbers(*s, dtype=dtype), 0) for s in shapes]
    check(function, *arrays, kind="python", close=1e-4 if dtype == "f" else 1e-9)


@pytest.mark.parametrize("dtype", list("FD"))
def test_moments_of_complex_numbers(dtype):
    x = numbers(4, 5, dtype=dtype)  # of reals, they are composed of sums
    close = 1e-4 if dtype == "F" else 1e-12
    check(lambda a: la.var(a, (0, 1), ddof=1, keepdims=True), x, kind="python", close=close)
    check(lambda a: la.std(a.T, 0), x, kind="python", close=close)


def test_sums_where_a_mask_is_true():
    x, mask = numbers(4, 5), RNG.random((4, 5)) < 0.5
    for name in ("sum", "prod"):
        check(lambda a, m: getattr(la, name)(a, 0, where=m), x, mask, kind="python", close=1e-12)  # noqa: B023
    check(lambda a, m: la.any(a, 1, where=m), x, mask[0], kind="python")
    check(lambda a, m: la.all(a, None, where=m), x, mask, kind="python")


@pytest.mark.parametrize("dtype", list("fd"))
@pytest.mark.parametrize("name", ["add", "divide", "negative", "sqrt"])
def test_arithmetic_where_a_mask_is_true(name, dtype):
    operation, mask = getattr(la, name), RNG.random((4, 5)) < 0.5
    x, out = abs(numbers(4, 5, dtype=dtype)), numbers(4, 5, dtype=dtype)
    if name in ("add", "divide"):
        check(lambda a, m, o: operation(a, 3, where=m, out=o), x, mask, out, kind="python")
        check(lambda a, m, o: operation(1.5, a, where=m, out=o), x, mask[0], out, kind="python")
    else:
        check(lambda a, m, o: operation(a, where=m, out=o), x, mask, out, kind="python")


@pytest.mark.parametrize("mode", ["wrap", "clip"])
def test_take_beyond_the_bounds(mode):
    index = np.array([[5, -7], [3, 0]])
    check(lambda a, i: la.take(a, i, 1, mode=mode), numbers(2, 4), index, kind="python")
    check(lambda a, i: la.take(a, i, 1, mode=mode), numbers(0, 4, 2), index, kind="python")


def test_functions_along_an_axis():
    x, i = numbers(4, 3), RNG.integers(-4, 4, (6, 3))
    check(lambda a, k: la.take_along_axis(a, k, 0), x, i, kind="python")
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4"):
        run(lambda a, k: la.take_along_axis(a, k, 0), x, i * 0 + 4, kind="python")


@pytest.mark.parametrize(
    "key, shape",
    [
        (([0, 2, 0, -1],), (4, 3, 5)),
        ((slice(None), [1, 1, 1]), (3, 1)),
        (([0, 1], slice(None), [[4], [4]]), ()),
        ((Ellipsis, [0, 0, 2]), (3,)),
        ((2, [0, 0], [1, 1]), (2,)),
    ],
)
def test_of_values_in_one_place_the_last_stays(key, shape):
    arrays = [np.array(k) for k in key if isinstance(k, list)]
    values = numbers(*shape)

    def store(x, v, *index):
        given = iter(index)
        x[tuple([next(given) if isinstance(k, list) else k for k in key])] = v
        return x

    check(store, numbers(4, 3, 5), values, *arrays, kind="python", name="setitem")
    wrong = [a * 0 + 5 for a in arrays]
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis"):
        run(store, numbers(4, 3, 5), values, *wrong, kind="python")


@pytest.mark.parametrize("value", [7.5, np.array([[1], [2]])])
def test_values_of_the_host_are_stored(value):
    def store(x, i):
        x[i, 1:] = value
        return x

    check(store, numbers(4, 3), np.array([3, -4]), kind="python", name="setitem")


@pytest.mark.parametrize("true", [0, 4])
def test_values_that_are_more_than_a_mask_has_places(true):
    def store(x, key, v):
        x[key] = v
        return x

    mask, none = np.arange(12).reshape(4, 3) < true, np.zeros(0, int)
    for few in (true, 1):  # integers: not the native way
        check(store, numbers(4, 3), mask, np.arange(few), kind="python", name="setitem")
    with pytest.raises(ValueError, match=f"assign 3 input values to the {true} output values"):
        run(store, numbers(4, 3), mask, np.arange(3), kind="python")
    check(store, numbers(4), none, np.arange(1), kind="python", name="setitem")
    with pytest.raises(ValueError, match="broadcast"):
        run(store, numbers(4), none, np.arange(3), kind="python")


def test_values_that_are_not_of_the_selections_shape():
    """Which only the mask's values tell."""

    def store(x, m, v):
        x[m] = v
        return x

    x, m = numbers(4, 3), np.array([True, False, True, True])
    with pytest.raises(ValueError) as error:
        run(store, x, m, numbers(2, 3), kind="python")
    assert str(error.value) == (
        "shape mismatch: value array of shape (2,3) could not be broadcast to indexing result of "
        "shape (3,3)"
    )


def test_put_along_axis():
    def store(x, i, v):
        la.put_along_axis(x, i, v, 1)
        return x

    check(store, numbers(4, 3), np.array([[0, 0, -1]] * 4), numbers(4, 3), kind="python")


@pytest.mark.parametrize(
    "function",
    [
        lambda a: la.sum(a.T[:, ::2], 0, initial=2.0),
        lambda a: la.linalg.svd(a @ a.T, hermitian=True),
        lambda a: la.linalg.qr(a, "raw"),
        lambda a: la.median(a.astype("e")),
        lambda a: la.add(a, a, where=a > 0, out=a.astype("e"), casting="unsafe"),
    ],
)
def test_what_is_left_to_the_host_writes_nothing(function):
    x = la.array(numbers(4, 4))
    with Program() as program:
        function(x)
    instruction = program.instructions()[-1]
    xp = calls.cupy()
    outs = [xp.array(np.full(o.layout.shape, 7, o.layout.dtype)) for o in instruction.outputs]
    ins = [xp.array(numbers(4, 4).astype(o.layout.dtype)) for o in instruction.inputs]
    with pytest.raises(Hosted):
        library.PYTHON[instruction.name](outs, ins, instruction.function)
    assert all((o == 7).all() for o in outs)


@pytest.mark.host
@pytest.mark.parametrize(
    "most, kind, function, arrays",
    [
        (24, "gufunc", lambda a: la.cumsum(a, 1), [numbers(4, 6)]),
        (24, "gufunc", lambda a: la.cumprod(a, None), [numbers(4, 6)]),
        (24, "python", lambda a: la.cumsum(a[::2].T, 1), [numbers(8, 6)]),
        (12, "gufunc", lambda a, i: la.take(a, i, 1), [numbers(2, 5, 3), np.array([0, 1, 1, 4])]),
        (
            12,
            "python",
            lambda a, i: la.take(a, i, 1, mode="clip"),
            [numbers(2, 5, 3), np.arange(4)],
        ),
        (12, "python", lambda a, i: a[:, i, :, [[0]]], [numbers(2, 5, 3, 2), np.arange(4)]),
        (36, "gufunc", lambda a, b: a @ b, [np.arange(36).reshape(6, 6), np.ones((6, 1), int)]),
    ],
)
def test_more_elements_than_cupy_counts(monkeypatch, most, kind, function, arrays):
    """Its running sums, and its take of several lines, give wrong numbers then."""
    assert calls.MOST == 2**31 - 1
    monkeypatch.setattr(calls, "MOST", most)
    check(function, *arrays, kind=kind, close=1e-9)
    monkeypatch.setattr(calls, "MOST", most - 1)
    with pytest.raises(Hosted, match=f"{most} elements"):
        run(function, *arrays, kind=kind)


def test_take_of_one_line_has_no_limit(monkeypatch):
    """CuPy multiplies no lengths there."""
    monkeypatch.setattr(calls, "MOST", 1)
    x, i = numbers(5, 3), np.array([0, 1, 1, 4])
    check(lambda a, k: la.take(a, k, 0), x, i)
    check(lambda a, k: la.take(a, k, mode="wrap"), x, i, kind="python")
    check(lambda a, j: a[[0, 4], j], x, np.array([2, 0]), kind="python")
    check(lambda a, k: la.take_along_axis(a, k, 0), x, i[:, None], kind="python")


def test_a_dtype_that_cupy_lacks():
    with pytest.raises(Hosted):
        run(la.sort, numbers(3, 4).astype("g"))


def test_svd_of_nan():
    with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
        run(la.linalg.svd, np.full((3, 3), np.nan), kind="python")


def test_every_name_is_a_kernels():
    """So that no replacement is left behind under a name that an op no longer has."""
    files = (p for p in ROOM.rglob("*.p*") if p.suffix in (".py", ".pyx", ".pxi"))
    known = " ".join(p.read_text() for p in files)
    for name in [*library.GUFUNCS, *library.PYTHON]:
        bare = name.removeprefix("stable_").rpartition(".")[2]
        assert f'"{bare}"' in known, name
