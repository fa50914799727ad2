"""Elements picked by indices: in pieces, by several threads, of every size."""

import numpy as np
import pytest

import lazyarray as la

from .fusing import same

PIECE = 2048  # Gathering::kPiece
COUNTS = [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 5, 40_000]
DTYPES = ["?", "u1", "i2", "f4", "f8", "c16", "g", "G"]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_elements(crew, dtype, count):
    rng = np.random.default_rng(0)
    x = (rng.random(1000) * 200).astype(dtype)
    i = rng.integers(-1000, 1000, count)
    a, k = la.array(x), la.array(i)
    same(a[k], x[i])
    same(la.take(a, i), np.take(x, i))
    same(a[k.astype("i4")], x[i])


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 7, 100])
@pytest.mark.parametrize("dtype", ["u1", "f4", "f8"])
def test_rows_and_columns(crew, dtype, width):
    rng = np.random.default_rng(1)
    x = (rng.random((50, width)) * 200).astype(dtype)
    rows, columns = rng.integers(-50, 50, PIECE + 3), rng.integers(-width, width, 9)
    a = la.array(x)
    same(a[la.array(rows)], x[rows])
    same(la.take(a, la.array(columns), axis=1), np.take(x, columns, axis=1))
    cube = (rng.random((3, 40, width)) * 200).astype(dtype)
    c, middle = la.array(cube), rng.integers(-40, 40, PIECE + 1)
    same(la.take(c, la.array(middle), axis=1), np.take(cube, middle, axis=1))
    got, want = c[:, la.array(middle)], cube[:, middle]
    same(got, want)
    assert got.strides == want.strides


@pytest.mark.parametrize("count", [1, 3, 16, 17])
@pytest.mark.parametrize("dtype", ["?", "i2", "f8", "D"])
def test_few_columns(crew, dtype, count):
    # Up to 16 that are there are copied one by one.
    rng = np.random.default_rng(2)
    for shape in [(50, 7), (1, 3), (3, 40, 5), (4, 3, 2)]:
        x = (rng.random(shape) * 200).astype(dtype)
        a = la.array(x)
        for axis in range(1, x.ndim):
            n = x.shape[axis]
            k = rng.integers(-n, n, count)
            front = (slice(None),) * axis
            for there, ours in ((k, la.array(k)), (k.tolist(), k.tolist()), (k.astype("i4"), k)):
                got, want = a[(*front, ours)], x[(*front, there)]
                same(got, want)
                assert got.strides == want.strides
            k[-1] = n
            with pytest.raises(IndexError, match=f"index {n} is out of bounds for axis {axis}"):
                a[(*front, la.array(k))].wait_to_read()


@pytest.mark.parametrize("where", [0, 1, PIECE - 1, PIECE, 3 * PIECE, 3 * PIECE + 4])
@pytest.mark.parametrize("bad", [1000, -1001, 2**63 - 1, -(2**63)])
def test_out_of_bounds(crew, where, bad):
    i = np.arange(3 * PIECE + 5) % 1000
    i[where] = bad
    got = None
    with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0 with size 1000"):
        got = la.array(np.arange(1000.0))[la.array(i)]
        got.wait_to_read()
    if got is not None:  # the naive engine raises at the call
        got[...] = 1.0  # heals
        same(got, np.ones(len(i)))


@pytest.mark.parametrize("n", [1, 40, 3000])
def test_masks_of_one_axis(crew, n):
    rng = np.random.default_rng(2)
    x, mask = rng.random((n, 5, 3)), rng.random(n) > 0.5
    a, b = la.array(x), la.array(mask)
    for m in (mask, b):
        got, want = a[m], x[mask]
        same(got, want)
        assert got.strides == want.strides
    y = np.ascontiguousarray(x.transpose(1, 0, 2))
    got, want = la.array(y)[:, b], y[:, mask]
    same(got, want)
    assert got.strides == want.strides
    same(a.transpose(1, 0, 2)[:, b], x.transpose(1, 0, 2)[:, mask])
    same(a[la.zeros(n, bool)], x[np.zeros(n, bool)])
    with pytest.raises(IndexError):
        a[la.ones(n + 1, bool)]


@pytest.mark.parametrize("n", [7, 8, 31, 32, 33, 70, 2039, 2040, 2048, 5000])
@pytest.mark.parametrize("dtype", ["?", "i2", "f4", "f8", "c16", "G"])
def test_elements_by_masks_of_long_runs(dtype, n):
    """Runs of what is left out, and of what is taken: masks are looked at many bytes at a time."""
    x = (np.arange(n) % 90 + 1).astype(dtype)
    values = (np.arange(n) % 80 + 100).astype(dtype)
    a, b = la.array(x), la.array(values)
    masks = [np.zeros(n, bool), np.ones(n, bool)]
    for places in [*([i] for i in range(min(n, 70))), [0, n - 1], [n // 2, n - 1], [1, 3, n - 2]]:
        one = np.zeros(n, bool)
        one[places] = True
        masks += [one, ~one]
    for mask in masks:
        m, count = la.array(mask), np.count_nonzero(mask)
        same(a[m], x[mask])
        got, want = a.copy(), x.copy()
        got[m], want[mask] = b[:count], values[:count]
        same(got, want)
        got[m], want[mask] = b[-1], values[-1]
        same(got, want)


@pytest.mark.parametrize("n", [0, 1, 8191, 8192, 8193, 50_000])
@pytest.mark.parametrize("dtype", ["i8", "i4", "u1", "?"])
def test_bincount(n, dtype):
    rng = np.random.default_rng(3)
    i, w = rng.integers(0, 2 if dtype == "?" else 100, n).astype(dtype), rng.random(n)
    a, b = la.array(i), la.array(w)
    for least in (0, 7, 300):
        same(la.bincount(a, minlength=least), np.bincount(i, minlength=least))
        same(la.bincount(a, b, least), np.bincount(i, w, least))
        same(la.bincount(a, b.astype("f4"), least), np.bincount(i, w.astype("f4"), least))


@pytest.mark.parametrize("n", [10, 10_000])
def test_bincount_errors(n):
    ones = np.ones(n, int)
    for args in (
        (np.where(np.arange(n) == n - 1, -1, 1),),
        (ones * 1.5,),
        (ones, None, -1),
        (ones, np.ones(n + 1)),
        (ones.reshape(2, -1),),
        (np.where(np.arange(n) == 3, -1, 1), np.ones(n)),
    ):
        with pytest.raises((ValueError, TypeError)) as want:
            np.bincount(*args)
        mine = [la.array(v) if isinstance(v, np.ndarray) else v for v in args]
        with pytest.raises(type(want.value)) as got:
            la.bincount(*mine).wait_to_read()
        assert str(got.value) == str(want.value)


@pytest.mark.parametrize("rows", [1, 2, 31, 1000])
@pytest.mark.parametrize("many", [0, 1, 2, 2047, 2048, 2049, 5000])
def test_picking_along_an_inner_axis(rows, many):
    """Many rows with few indices are gathered in one go; indices are taken 2048 at a time."""
    if rows * many > 200_000:
        rows = 40
    rng = np.random.default_rng(many)
    a = rng.random((3, rows, 40, 2))
    index = rng.integers(-40, 40, many)
    for base in (a, a[..., :1], a[:, ::-1], a.transpose(1, 0, 2, 3), a[:, :, :, 0].copy()):
        x = la.array(base)
        np.testing.assert_array_equal(la.take(x, index, axis=2).asnumpy(), np.take(base, index, 2))
        np.testing.assert_array_equal(x[:, :, index].asnumpy(), base[:, :, index])
        some = index % base.shape[1]
        np.testing.assert_array_equal(la.take(x, some, axis=1).asnumpy(), np.take(base, some, 1))
    if many:
        index[many // 2] = 40
        with pytest.raises(IndexError, match="index 40 is out of bounds for axis 2 with size 40"):
            la.take(la.array(a), la.array(index), axis=2).wait_to_read()


@pytest.mark.parametrize("shape", [(2, 5), (300, 200), (5, 4, 30)])
def test_elements_lie_as_their_indices_do(shape, direct):
    rng = np.random.default_rng(3)
    x = rng.standard_normal(1000)
    a, index = la.array(x), rng.integers(-1000, 1000, shape)
    turned = [lambda i: i.T, lambda i: i.T[::-1], lambda i: i.swapaxes(0, 1), lambda i: i]
    turned += [lambda i: i[::2].T, lambda i: i.astype("i4").T]
    for turn in turned:
        want = x[turn(index)]
        for got in (a[turn(la.array(index))], a[turn(index)], a[turn(la.array(index) + 0),]):
            same(got, want)
            assert got.strides == want.strides and got.base is None
            assert got.sum().item() == want.sum()
    a.attach_grad()
    with la.autograd.record():
        got = (a[la.array(index).T] * la.arange(index.size).reshape(index.T.shape)).sum()
    got.backward()
    want = np.zeros(1000)
    np.add.at(want, index.T, np.arange(index.size).reshape(index.T.shape))
    np.testing.assert_array_equal(a.grad.asnumpy(), want)


@pytest.mark.parametrize("shape", [(3, 3), (9, 1), (1, 1), (0, 3), (2, 1, 4), (40, 30)])
@pytest.mark.parametrize("dtype", ["?", "i2", "f8", "G"])
def test_elements_of_a_table(shape, dtype, direct):
    rng = np.random.default_rng(4)
    x = (rng.random(100) * 50).astype(dtype)
    a, index = la.array(x), rng.integers(-100, 100, shape)
    for i in (index, index[::-1], index[:, :, None]):
        k = la.array(i)
        for got, want in (
            (a[k], x[i]),
            (la.take(a, k), np.take(x, i)),
            (a[::2][k // 2], x[::2][i // 2]),
        ):
            same(got, want)
            assert got.base is None and not la.shares_memory(got, a)
        assert (la.array(np.ascontiguousarray(i)) == k).all()  # as it was
    if index.size:
        index.flat[-1] = 100
        with pytest.raises(IndexError, match="index 100 is out of bounds for axis 0 with size 100"):
            a[la.array(index)].wait_to_read()
    if dtype == "f8":
        a.attach_grad()
        with la.autograd.record():
            total = a[k].sum()
        total.backward()
        assert a.grad.sum() == k.size
