"""NumPy's iterators over lazyarrays: what they read and write, and when."""

import numpy as np
import pytest

import lazyarray as la

pytestmark = pytest.mark.host  # NumPy iterates over the host's memory


def test_iterators_read_and_write_through():
    x = la.arange(6).reshape(2, 3)
    y = x * 10
    total = [int(a) + int(b) for a, b in la.nditer([x, y])]
    assert total == [11 * k for k in range(6)]
    it = la.nditer(x, flags=["multi_index"])
    assert [(it.multi_index, int(v)) for v in it][-1] == ((1, 2), 5)
    with la.nditer(x[:, 1:], op_flags=["readwrite"]) as it:
        for v in it:
            v[...] = -v
    assert x.tolist() == [[0, -1, -2], [3, -4, -5]]
    with la.nditer([x, None]) as it:
        for a, b in it:
            b[...] = a * a
        assert it.operands[1].tolist() == (x * x).tolist()
    with la.nditer(x.T, op_flags=["readwrite"], flags=["external_loop", "buffered"], op_dtypes="f8",
                   casting="unsafe") as it:  # fmt: skip
        for v in it:
            v += 1
    assert x[0].tolist() == [1, 0, -1]
    outer, inner = la.nested_iters(x, [[1], [0]])
    assert [[int(v) for v in inner] for _ in outer] == x.T.tolist()
    assert [float(v) for v in la.nditer(la.ones(3).sum())] == [3]
    with pytest.raises(ValueError, match="read-only"):
        next(la.nditer(x))[...] = 1


def test_an_iterator_sees_what_was_pushed_before():
    x = la.ones(200_000)
    for _ in range(5):
        x = x + 1
    assert float(next(la.nditer(x))) == 6
    with la.no_sync(), pytest.raises(RuntimeError):
        la.nditer(x + 1)


@pytest.mark.parametrize(
    "call", ["x.flat[::-1] = x", "x.flat[1:] = x.reshape(-1)[:-1]", "x.flat = x[:, ::-1]"]
)
def test_what_overlaps_is_read_first(call):
    ours, numpys = la.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3)
    exec(call, {"x": ours})
    left, _, right = call.partition(" = ")
    exec(f"{left} = ({right}).copy()", {"x": numpys})
    assert ours.tolist() == numpys.tolist()
