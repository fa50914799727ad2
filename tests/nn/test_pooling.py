"""Pooling against loops over windows, gradients against differences; ties, NaN, errors."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray import nn

from .checks import check_gradients, close, gradients, normal


def pairs(v):
    return v if isinstance(v, tuple) else (v, v)


def pooled(x, kernel, stride, padding, dilation, function, border):
    """The definition: ``function`` of each window, with ``border`` around the planes."""
    (kh, kw), (ph, pw), (dh, dw) = pairs(kernel), pairs(padding), pairs(dilation)
    sh, sw = pairs(kernel if stride is None else stride)
    x = np.pad(x, [(0, 0), (0, 0), (ph, ph), (pw, pw)], constant_values=border)
    oh = (x.shape[2] - dh * (kh - 1) - 1) // sh + 1
    ow = (x.shape[3] - dw * (kw - 1) - 1) // sw + 1
    y = np.zeros((*x.shape[:2], oh, ow))
    for i in range(oh):
        for j in range(ow):
            rows, columns = i * sh + dh * np.arange(kh), j * sw + dw * np.arange(kw)
            y[:, :, i, j] = function(x[:, :, rows[:, None], columns])
    return y


def largest(windows):
    return windows.max(axis=(2, 3))


CASES = [  # kernel, stride, padding
    (2, None, 0),
    (3, 2, 1),
    ((3, 2), (2, 1), (1, 0)),
    ((2, 3), (1, 2), (0, 1)),
    (1, 1, 0),
    (4, 3, 2),
    (3, 1, 1),
]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("dilation", [1, 2, (2, 1)])
def test_max_pool2d(case, dilation):
    x = normal(2, 3, 9, 8)
    want = pooled(x, *case, dilation, largest, -np.inf)
    close(nn.max_pool2d(x, *case, dilation), want, 0)
    close(nn.max_pool2d(x[1], *case, dilation), want[1], 0)
    lies = la.array(np.ascontiguousarray(x.swapaxes(0, 1))).swapaxes(0, 1)
    close(nn.max_pool2d(lies, *case, dilation), want, 0)
    close(nn.max_pool2d(la.array(x[:, :, ::-1].copy())[:, :, ::-1], *case, dilation), want, 0)
    check_gradients(lambda x: nn.max_pool2d(x, *case, dilation), x)
    check_gradients(lambda x: nn.max_pool2d(x.swapaxes(0, 1), *case, dilation) ** 2, x)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("inclusive", [True, False])
def test_avg_pool2d(case, inclusive):
    x = normal(2, 3, 9, 8)
    border = 0 if inclusive else np.nan
    want = pooled(x, *case, 1, lambda w: np.nanmean(w, axis=(2, 3)), border)
    close(nn.avg_pool2d(x, *case, count_include_pad=inclusive), want)
    close(nn.avg_pool2d(x[1], *case, count_include_pad=inclusive), want[1])
    lies = la.array(np.ascontiguousarray(x.swapaxes(0, 1))).swapaxes(0, 1)
    close(nn.avg_pool2d(lies, *case, count_include_pad=inclusive), want)
    check_gradients(lambda x: nn.avg_pool2d(x, *case, count_include_pad=inclusive) ** 2, x)


def test_one_dimension():
    x = normal(2, 3, 9)
    for case in ((2, None, 0), (3, 2, 1)):
        kernel, stride, padding = case
        plane = ((1, kernel), (1, stride or kernel), (0, padding), 1)
        close(nn.max_pool1d(x, *case), pooled(x[:, :, None], *plane, largest, -np.inf)[:, :, 0], 0)
        want = pooled(x[:, :, None], *plane, lambda w: w.mean(axis=(2, 3)), 0)[:, :, 0]
        close(nn.avg_pool1d(x, *case), want)
        close(nn.avg_pool1d(x[0], *case), want[0])
        check_gradients(lambda x, case=case: nn.max_pool1d(x, *case), x)
        check_gradients(lambda x, case=case: nn.avg_pool1d(x, *case), x)
    assert nn.max_pool1d(x, 3, dilation=4).shape == (2, 3, 1)


@pytest.mark.parametrize("size", [1, 2, 3, 4, (2, 5), (4, 3), 8, (12, 8)])
def test_adaptive_avg_pool(size):
    x = normal(2, 3, 8, 9)
    rows, columns = pairs(size)

    def bins(n, m):
        return [slice(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]

    want = [[x[:, :, i, j].mean(axis=(2, 3)) for j in bins(9, columns)] for i in bins(8, rows)]
    want = np.moveaxis(np.array(want), (0, 1), (2, 3))
    close(nn.adaptive_avg_pool2d(x, size), want)
    close(nn.adaptive_avg_pool2d(x[0], size), want[0])
    check_gradients(lambda x: nn.adaptive_avg_pool2d(x, size) ** 2, x)
    line = np.array([x[:, :, 0, j].mean(axis=2) for j in bins(9, columns)])
    close(nn.adaptive_avg_pool1d(x[:, :, 0], columns), np.moveaxis(line, 0, 2))


def test_global_avg_pool():
    x = normal(2, 3, 4, 5)
    close(nn.global_avg_pool(x), x.mean(axis=(2, 3)))
    close(nn.global_avg_pool(x[..., 0]), x[..., 0].mean(axis=2))
    close(nn.global_avg_pool(la.array(x).swapaxes(0, 1)), x.mean(axis=(2, 3)).T)
    check_gradients(lambda x: nn.global_avg_pool(x) ** 2, x)
    check_gradients(lambda x: nn.global_avg_pool(x.swapaxes(0, 1)) ** 2, x)


def test_ties_go_to_the_first():
    x = np.array([[[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]])
    (g,) = gradients(lambda x: nn.max_pool2d(x, 2), x)
    assert g.tolist() == [[[1, 0, 1, 0], [0, 0, 0, 0]]]
    (g,) = gradients(lambda x: nn.max_pool1d(x, 2, 1), np.array([[0.0, 3.0, 1.0]]))
    assert g.tolist() == [[0, 2, 0]]


def test_nan_and_infinity():
    x = la.array([[np.nan, 1.0, 2.0, np.nan, -np.inf, -np.inf, 5.0, np.inf]])
    y = nn.max_pool1d(x, 2)
    np.testing.assert_array_equal(y.asnumpy(), [[np.nan, np.nan, -np.inf, np.inf]])
    (g,) = gradients(lambda x: nn.max_pool1d(x, 2), x.asnumpy())
    assert g.tolist() == [[1, 0, 0, 1, 1, 0, 0, 1]]


def test_dtypes_and_empty_batches():
    x = normal(2, 3, 4, 4)
    for f in (nn.max_pool2d, nn.avg_pool2d, nn.adaptive_avg_pool2d):
        for dtype in ("f2", "f4", "f8"):
            y = f(x.astype(dtype), 2)
            assert y.dtype == dtype
            close(y.astype("f8"), f(x, 2).asnumpy(), 1e-2)
            assert gradients(lambda x, f=f: f(x, 2), x.astype(dtype))[0].dtype == dtype
        assert gradients(lambda x, f=f: f(x, 2), x[:0])[0].shape == (0, 3, 4, 4)
        with pytest.raises(TypeError, match="int64"):
            f(np.ones((1, 1, 4, 4), "int64"), 2)
    assert nn.global_avg_pool(x[:0]).shape == (0, 3)


def test_refused():
    x = la.ones((1, 1, 3, 3))
    for f in (nn.max_pool2d, nn.avg_pool2d):
        with pytest.raises(ValueError, match="padding of 2 is more than half of 3"):
            f(x, 3, 1, 2)
        with pytest.raises(ValueError, match=r"don't fit in planes of \(3, 3\)"):
            f(x, 4)
        with pytest.raises(ValueError, match=r"\(3, 3\)"):
            f(x[0, 0], 2)
        with pytest.raises(ValueError, match="kernel_size"):
            f(x, 0)
    with pytest.raises(ValueError, match="output_size"):
        nn.adaptive_avg_pool2d(x, 0)
    with pytest.raises(ValueError, match="without elements"):
        nn.adaptive_avg_pool2d(x[..., :0], 1)
    with pytest.raises(ValueError, match=r"\(3, 3\)"):
        nn.global_avg_pool(x[0, 0])


@pytest.mark.parametrize("n", [10, 37, 64])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 9])
def test_bins_are_apart(n, count):
    """An infinity is in the means of its own bins alone; each bin is the mean of its elements."""
    a = np.random.default_rng(n).normal(size=(2, 3, n))
    a[0, 0, n // 2], a[1, 1, -1] = np.inf, np.nan
    got = nn.adaptive_avg_pool1d(la.array(a), count).asnumpy()
    for i in range(count):
        start, end = i * n // count, -(-(i + 1) * n // count)
        np.testing.assert_allclose(got[..., i], a[..., start:end].mean(-1), rtol=1e-12)


@pytest.mark.parametrize("kernel", [6, 7, 8, (3, 9), (1, 20), (20, 20), 25])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("view", [lambda v: v, lambda v: v.swapaxes(0, 1), lambda v: v[..., ::-1]])
def test_means_of_wide_windows(kernel, dtype, view):
    a = view(np.random.default_rng(3).normal(size=(3, 2, 25, 27)).astype(dtype))
    x = la.array(a)
    x.attach_grad()
    kh, kw = (kernel, kernel) if isinstance(kernel, int) else kernel
    oh, ow = a.shape[2] // kh, a.shape[3] // kw
    cut = a[..., : oh * kh, : ow * kw].reshape(*a.shape[:2], oh, kh, ow, kw)
    with la.autograd.record():
        y = nn.avg_pool2d(x, kernel)
    y.backward()
    np.testing.assert_allclose(y.asnumpy(), cut.mean((3, 5)), rtol=1e-4, atol=1e-6)
    want = np.zeros(a.shape)
    want[..., : oh * kh, : ow * kw] = 1 / (kh * kw)
    np.testing.assert_allclose(x.grad.asnumpy(), want, rtol=1e-6)


@pytest.mark.parametrize("give", [np.array, la.array, list, tuple], ids=lambda give: give.__name__)
def test_sizes_in_arrays(give):
    x, w = la.array(normal(1, 2, 9, 8)), la.array(normal(3, 2, 3, 2))
    close(nn.max_pool2d(x, give([3, 2]), give([2, 1])), nn.max_pool2d(x, (3, 2), (2, 1)))
    got = nn.conv2d(x, w, stride=give([1, 2]), padding=give([1, 0]), dilation=give([2, 1]))
    close(got, nn.conv2d(x, w, stride=(1, 2), padding=(1, 0), dilation=(2, 1)))
    close(nn.adaptive_avg_pool2d(x, give([3, 2])), nn.adaptive_avg_pool2d(x, (3, 2)))


@pytest.mark.parametrize("size", [{3}, np.array([3.0, 2.0]), [np.array([3]), 2], 3.0, "3", {3: 2}])
def test_sizes_that_are_no_integers_are_named(size):
    with pytest.raises(TypeError, match="max_pool2d: kernel_size is an integer or 2 of them, not"):
        nn.max_pool2d(la.ones((1, 1, 9, 9)), size)
    with pytest.raises(TypeError, match="avg_pool2d: output_size is an integer or 2 of them, not"):
        nn.adaptive_avg_pool2d(la.ones((1, 1, 9, 9)), size)
