"""numpy.fft's functions, bit for bit; nothing waits."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray import fft

from .ops.compare import asynchronous, call, check, layouts, pending, rng, same

ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
SEVERAL = [f"{i}{r}fft{n}" for n in "2n" for r in ("", "r") for i in ("", "i")]
REAL = rng.random((3, 4, 5))


def kinds(a):
    return [a, a.astype("f4"), a.astype("e"), a.astype("g"), (9 * a).astype("i2"), a > 0.5,
            a * (1 + 2j), (a * 1j).astype("F")]  # fmt: skip


@pytest.mark.parametrize("name", ONE)
def test_one_axis(name):
    for a in kinds(REAL):
        for kwargs in ({}, {"n": 3}, {"n": 8, "axis": 0}, {"axis": -2, "norm": "ortho"},
                       {"norm": "forward"}, {"norm": "backward", "n": 1}):  # fmt: skip
            check(name, a, module="fft", **kwargs)
    for a in layouts(REAL):
        check(name, a, module="fft", axis=1)


@pytest.mark.parametrize("name", ONE)
def test_errors_and_edges(name):
    for kwargs in (
        {"n": 0}, {"n": -2}, {"n": 2.5}, {"axis": 3}, {"n": 4, "axis": 3}, {"norm": "x"},
    ):  # fmt: skip
        assert isinstance(check(name, REAL, module="fft", **kwargs), Exception)
    for a in (np.zeros((0, 4)), np.zeros((4, 0)), np.ones(1), np.float64(3), [1, 2, 3]):
        check(name, a, module="fft")
        if np.size(a) or name not in ("irfft", "hfft"):  # see below
            check(name, a, 3, module="fft")


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_several_axes(name):
    for a in kinds(REAL):
        for kwargs in ({}, {"s": (2, 6), "axes": (0, 1)}, {"s": (3, -1), "axes": (1, 0)},
                       {"axes": (0, 0)}, {"axes": (2,), "norm": "ortho"}, {"s": (4, 4)},
                       {"s": (4, None), "axes": (0, 1)}, {"s": (2, 2), "axes": (0,)},
                       {"axes": (5,)}, {"axes": None}):  # fmt: skip
            check(name, a, module="fft", **kwargs)
    check(name, np.ones(4), module="fft")
    check(name, np.float64(2), module="fft")


def test_transforms_of_nothing_to_real_numbers_are_zeros(direct):
    """NumPy's read a value beyond the memory (it is in the first of theirs)."""
    for one in (la.zeros(0), np.zeros(0), [], la.zeros(0, "c8")):
        for name in ("irfft", "hfft"):
            assert getattr(fft, name)(one, 5).tolist() == [0.0] * 5
    assert fft.irfft(la.zeros((2, 0)), 3, axis=1).tolist() == [[0.0] * 3] * 2
    for one in (fft.irfft2, fft.irfftn):
        assert one(la.zeros((0, 0)), (2, 2), (0, 1)).tolist() == [[0.0] * 2] * 2
        assert one(la.zeros((3, 0)), (2, 2), (0, 1)).tolist() == [[0.0] * 2] * 2


def test_lengths_without_axes_are_deprecated_as_in_numpy():
    with pytest.warns(DeprecationWarning, match="`axes` should not be `None`") as seen:
        fft.fftn(la.ones((2, 2)), (2, 2))
    assert seen[0].filename == __file__


@pytest.mark.parametrize("name", ONE + SEVERAL)
def test_out(name):
    x = la.array(REAL[0])
    want = getattr(np.fft, name)(REAL[0])
    out = la.zeros(want.shape, dtype=want.dtype)
    assert getattr(fft, name)(x, out=out) is out
    same(out, want)
    assert getattr(fft, name)(x * 0, out=(out,)) is out
    assert not out.any()
    with pytest.raises(ValueError, match="shape"):
        getattr(fft, name)(x, out=out[:1])
    if want.dtype.kind == "c":
        with pytest.raises(TypeError, match="Cannot cast"):
            getattr(fft, name)(x, out=la.zeros(want.shape))


def test_in_place():
    x = la.array(REAL + 0j)
    fft.fft(x, out=x)
    same(x, np.fft.fft(REAL + 0j))


@pytest.mark.parametrize("n", [1, 2, 5, 8, np.int32(7)])
def test_frequencies(n):
    for name in ("fftfreq", "rfftfreq"):
        check(name, n, module="fft")
        check(name, n, 0.1, module="fft")
        check(name, n, d=np.float32(0.1), module="fft")
        mine = getattr(fft, name)(n, d=0.5, dtype="f4", device=la.cpu(0))
        same(mine, getattr(np.fft, name)(n, d=0.5).astype("f4"))


def test_errors_of_frequencies():
    for name in ("fftfreq", "rfftfreq"):
        assert isinstance(check(name, 2.0, module="fft"), ValueError)
        assert isinstance(check(name, 0, module="fft"), ZeroDivisionError)
        with pytest.raises(TypeError, match="real floating"):
            getattr(fft, name)(4, dtype="c8")


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
@pytest.mark.parametrize("axes", [None, 0, -1, (0, 2), [1, 1], (), 3, np.int64(1)])
def test_shifts(name, axes):
    for a in layouts(rng.random((3, 4, 5))):
        check(name, a, axes, module="fft")
    check(name, np.arange(5), axes, module="fft")
    check(name, np.array(3.0), axes, module="fft")


@asynchronous
def test_nothing_waits():
    x = la.array(REAL)
    with pending(x), la.no_sync():
        got = [getattr(fft, name)(x) for name in ONE + SEVERAL]
        got += [fft.fftshift(x), fft.fftfreq(4, x[0, 0, 0])]
    want = [getattr(np.fft, name)(REAL) for name in ONE + SEVERAL]
    same(got, [*want, np.fft.fftshift(REAL), np.fft.fftfreq(4, REAL[0, 0, 0])], strides=False)


def test_protocol():
    same(np.fft.rfft(la.array(REAL)), np.fft.rfft(REAL))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 16, 31, 128, 257, 1024])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft"])
def test_vectors_at_once(name, n, direct):
    """By the loops themselves, without NumPy's layers of Python."""
    seeds = np.random.default_rng(n)
    for dtype in "dfil" if name == "rfft" else "dfilDF":
        x = (seeds.standard_normal(n) * 9).astype(dtype)
        if not n:
            with pytest.raises(ValueError, match="Invalid number of FFT data points"):
                getattr(la.fft, name)(la.array(x))
            continue
        got, want = getattr(la.fft, name)(la.array(x)), getattr(np.fft, name)(x)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got.asnumpy(), want)


TRANSFORMS = "fft ifft rfft irfft ihfft fft2 rfft2 fftn ifftn rfftn irfftn".split()


@pytest.mark.parametrize("name", TRANSFORMS)
def test_the_precision_of_out_counts(name):
    """NumPy computes in the higher one; in several steps, each writes to out."""
    for dtype in "efdFD":
        a = rng.standard_normal((8, 12)).astype(dtype)
        plain = call(getattr(np.fft, name), (a,), {})
        if isinstance(plain, Exception):
            continue
        for to in "efdFD":
            want, got = np.zeros(plain.shape, to), la.zeros(plain.shape, to)
            raised = call(getattr(np.fft, name), (a,), {"out": want})
            mine = call(getattr(la.fft, name), (la.array(a),), {"out": got})
            if isinstance(raised, Exception):
                assert isinstance(mine, TypeError), (dtype, to, raised, mine)
            else:
                np.testing.assert_array_equal(got.asnumpy(), want, f"{dtype} to {to}")
