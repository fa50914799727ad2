"""Convolutions against loops over windows, gradients against differences; memory orders; errors."""

import itertools
import warnings

import numpy as np
import pytest

import lazyarray as la
from lazyarray import nn

from ..ops.compare import there
from .checks import check_gradients, close, gradients, normal


def pairs(v):
    return v if isinstance(v, tuple) else (v, v)


def convolved(x, w, b, stride, padding, dilation, groups):
    """The definition: a loop over results."""
    n = len(x)
    out, per, kh, kw = w.shape
    (sh, sw), (dh, dw) = pairs(stride), pairs(dilation)
    if padding == "same":
        both = [(d * (k - 1) // 2, d * (k - 1) - d * (k - 1) // 2) for d, k in ((dh, kh), (dw, kw))]
    else:
        both = [(p, p) for p in pairs(0 if padding == "valid" else padding)]
    x = np.pad(x, [(0, 0), (0, 0), *both])
    oh = (x.shape[2] - dh * (kh - 1) - 1) // sh + 1
    ow = (x.shape[3] - dw * (kw - 1) - 1) // sw + 1
    y = np.zeros((n, out, oh, ow))
    for o, i, j in itertools.product(range(out), range(oh), range(ow)):
        first = o // (out // groups) * per
        rows, columns = i * sh + dh * np.arange(kh), j * sw + dw * np.arange(kw)
        window = x[:, first : first + per][:, :, rows[:, None], columns]
        y[:, o, i, j] = (window * w[o]).sum(axis=(1, 2, 3)) + (0 if b is None else b[o])
    return y


CASES = [  # kernel, stride, padding, dilation
    (3, 1, 0, 1),
    (3, 1, 1, 1),
    ((3, 2), (2, 1), (1, 2), 1),
    (2, 2, 0, 1),
    (3, 1, 2, 2),
    ((3, 2), (2, 3), (2, 1), (2, 3)),
    (1, 1, 0, 1),
    (1, 2, 0, 1),
    (1, 1, 1, 1),
    (3, 1, "same", 1),
    ((2, 4), 1, "same", (1, 2)),
    (5, 1, "valid", 1),
    ((7, 1), 1, (3, 0), 1),
    (3, 5, 4, 1),
]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize(("c", "out", "groups"), [(4, 6, 1), (4, 6, 2), (4, 8, 4), (1, 3, 1)])
def test_conv2d(case, c, out, groups):
    kernel, *options = case
    x, w, b = normal(2, c, 7, 6), normal(out, c // groups, *pairs(kernel), seed=1), normal(out)
    want = convolved(x, w, b, *options, groups)
    close(nn.conv2d(x, w, b, *options, groups), want)
    close(nn.conv2d(x[0], w, b, *options, groups), want[0])
    close(nn.conv2d(x, w, None, *options, groups), convolved(x, w, None, *options, groups))
    # Any order of memory: images as their neighbours leave them, reversed, with gaps.
    lies = la.array(np.ascontiguousarray(x.swapaxes(0, 1))).swapaxes(0, 1)
    close(nn.conv2d(lies, w, b, *options, groups), want)
    close(nn.conv2d(la.array(x[..., ::-1].copy())[..., ::-1], w, b, *options, groups), want)
    close(nn.conv2d(la.array(np.repeat(x, 2, 2))[:, :, ::2], w, b, *options, groups), want)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("groups", [1, 2])
def test_conv2d_gradients(case, groups):
    kernel, *options = case
    x, w, b = normal(2, 2, 7, 6), normal(4, 2 // groups, *pairs(kernel), seed=1), normal(4)
    check_gradients(lambda x, w, b: nn.conv2d(x, w, b, *options, groups), x, w, b)
    check_gradients(
        lambda x, w: nn.conv2d(x.swapaxes(0, 1), w, None, *options, groups),
        x.swapaxes(0, 1).copy(),
        w,
        second=False,
    )


@pytest.mark.parametrize(("stride", "padding", "dilation"), [(1, 0, 1), (2, 1, 2), (1, "same", 3)])
@pytest.mark.parametrize("groups", [1, 3])
def test_conv1d(stride, padding, dilation, groups):
    x, w, b = normal(2, 3, 11), normal(6, 3 // groups, 3, seed=1), normal(6)
    sides = (0, padding) if isinstance(padding, int) else padding
    want = convolved(x[:, :, None], w[:, :, None], b, (1, stride), sides, (1, dilation), groups)[
        :, :, 0
    ]
    close(nn.conv1d(x, w, b, stride, padding, dilation, groups), want)
    close(nn.conv1d(x[1], w, b, stride, padding, dilation, groups), want[1])
    check_gradients(lambda *a: nn.conv1d(*a, stride, padding, dilation, groups), x, w, b)


@pytest.mark.parametrize("seed", range(20))
def test_random_shapes(seed):
    rng = np.random.default_rng(seed)
    n, groups, per, out = (int(v) for v in rng.integers(1, 4, 4))
    kernel, stride, dilation = (tuple(map(int, rng.integers(1, 4, 2))) for _ in range(3))
    padding = tuple(map(int, rng.integers(0, 5, 2)))
    plane = [
        int(rng.integers(max(1, d * (k - 1) + 1 - 2 * p), 12))
        for k, d, p in zip(kernel, dilation, padding, strict=True)
    ]
    x = rng.standard_normal((n, groups * per, *plane))
    w = rng.standard_normal((groups * out, per, *kernel))
    options = (stride, padding, dilation, groups)
    close(nn.conv2d(x, w, None, *options), convolved(x, w, None, *options))
    check_gradients(lambda x, w: nn.conv2d(x, w, None, *options), x, w, second=False)


def test_chains_keep_the_order_of_memory():
    """Nothing is copied between convolution, ReLU, pooling and convolution."""
    x = nn.relu(nn.conv2d(la.ones((4, 3, 8, 8)), la.ones((5, 3, 3, 3))))
    pooled = nn.max_pool2d(x, 2)
    for y in (x, pooled, nn.batch_norm(pooled + x[:, :, ::2, ::2], training=True)):
        assert y.strides[1] > y.strides[0] > y.strides[2]


def test_dtypes():
    x, w = normal(2, 3, 6, 6), normal(4, 3, 3, 3)
    want = convolved(x, w, None, 1, 0, 1, 1)
    for dtype, tol in (("f8", 1e-12), ("f4", 1e-4), ("f2", 0.05)):
        y = nn.conv2d(x.astype(dtype), w.astype(dtype))
        assert y.dtype == dtype
        close(y.astype("f8"), want, tol)
        (gx, gw) = gradients(nn.conv2d, x.astype(dtype), w.astype(dtype))
        assert gx.dtype == gw.dtype == dtype
    assert nn.conv2d(x.astype("f4"), w).dtype == np.float64
    for dtype in there(("int64", "complex128", "longdouble")):
        with pytest.raises(TypeError, match="float16, float32 or float64"):
            nn.conv2d(np.ones((1, 1, 2, 2), dtype), np.ones((1, 1, 2, 2), dtype))


def test_empty_batch():
    x, w = np.ones((0, 2, 5, 5)), normal(3, 2, 3, 3)
    gx, gw, gb = gradients(nn.conv2d, x, w, np.ones(3))
    assert gx.shape == x.shape and not gw.any() and not gb.any()


def test_nothing_waits():
    with la.no_sync(), warnings.catch_warnings():
        warnings.simplefilter("error")
        y = nn.conv2d(la.ones((2, 1, 4, 4)), la.ones((1, 1, 2, 2)), padding="same").sum()
    assert y.item() == 2 * 7 * 7


@pytest.mark.parametrize(
    ("x", "w", "options", "words"),
    [
        ((1, 2, 3, 3), (1, 1, 2, 2), {}, r"\(1, 2, 3, 3\).*\(1, 1, 2, 2\)"),
        ((3, 3), (1, 1, 2, 2), {}, r"\(3, 3\)"),
        ((1, 1, 3, 3), (1, 1, 2), {}, r"\(1, 1, 2\)"),
        ((1, 1, 3, 3), (), {}, r"\(\)"),
        ((1, 2, 3, 3), (3, 1, 2, 2), {"groups": 2}, "2 groups"),
        ((1, 2, 3, 3), (3, 1, 2, 2), {"groups": 0}, "0 groups"),
        ((1, 1, 3, 3), (1, 1, 4, 2), {}, r"\(4, 2\).*don't fit.*\(3, 3\)"),
        ((1, 1, 3, 3), (1, 1, 0, 2), {}, "kernel_size"),
        ((1, 1, 3, 3), (1, 1, 2, 2), {"padding": "full"}, "'full'"),
        ((1, 1, 3, 3), (1, 1, 2, 2), {"padding": "same", "stride": 2}, "stride 1"),
        ((1, 1, 3, 3), (1, 1, 2, 2), {"padding": -1}, "padding"),
        ((1, 1, 3, 3), (1, 1, 2, 2), {"stride": 0}, "stride"),
        ((1, 1, 3, 3), (1, 1, 2, 2), {"stride": (1, 1, 1)}, "stride"),
        ((1, 1, 3, 3), (1, 1, 2, 2), {"bias": np.ones(2)}, r"\(2,\) for 1"),
    ],
)
def test_refused(x, w, options, words):
    with pytest.raises(ValueError, match=words):
        nn.conv2d(np.ones(x), np.ones(w), **options)


def test_refused_kinds():
    with pytest.raises(TypeError, match="stride"):
        nn.conv2d(np.ones((1, 1, 3, 3)), np.ones((1, 1, 2, 2)), stride=1.5)
    with pytest.raises(ValueError, match=r"conv1d.*\(1, 3, 3, 3\)"):
        nn.conv1d(np.ones((1, 3, 3, 3)), np.ones((1, 3, 2)))
    for call in (
        lambda: nn.conv2d(None, np.ones((1, 1, 2, 2))),
        lambda: nn.conv2d(np.ones((1, 1, 2, 2)), None),
        lambda: nn.conv1d(None, None),
        lambda: nn.max_pool2d(None, 2),
        lambda: nn.cross_entropy(None, [1]),
        lambda: nn.layer_norm(None, 2),
    ):
        with pytest.raises(TypeError, match="takes arrays, not None"):
            call()
