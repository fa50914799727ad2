"""What may share a pass and what must not, and how a segment is cut into operators."""

import itertools
import threading

import numpy as np
import pytest

import lazyarray as la
from lazyarray import engine

from .fusing import SMALL, Explained, both, explained, figures, same

rng = np.random.default_rng(0)
LINE = rng.random(50)
SQUARE = rng.random((9, 9))


@pytest.fixture(autouse=True)
def small():
    with figures(**SMALL), engine.bulk(1 << 20):
        yield


# ---- hazards: each keeps two ops in separate passes, and the values right ---------------------


def raw_at_another_offset(m, a):
    a += 1
    return a[1:] * 2


def raw_backwards(m, a):
    a += 1
    return a[::-1] * 2


def raw_of_a_piece(m, a):
    a[:10] = 7.0
    return a[5:15] + 1


def war_forward(m, a):
    a[1:] = a[:-1] * 2


def war_backward(m, a):
    a[:-1] = a[1:] * 2


def war_of_an_earlier_reader(m, a):
    b = a[:-1] + 1
    a[1:] *= 3
    return b


def jacobi(m, a):
    for _ in range(4):
        a[1:-1] = (a[:-2] + a[2:]) * 0.5


def jacobi_of_two_axes(m, s):
    for _ in range(3):
        s[1:-1, 1:-1] = 0.25 * (s[:-2, 1:-1] + s[2:, 1:-1] + s[1:-1, :-2] + s[1:-1, 2:])


def sweeps_in_both_directions(m, a):
    for _ in range(3):
        a[1:] = a[:-1] * 0.5 + 1
        a[:-1] = a[1:] - 2


def waw_overlapping(m, a):
    a[:30] = a[:30] * 2
    a[20:] = a[20:] + 100
    a[:30] = a[:30] - 1


def broadcast_read_of_what_is_written(m, a):
    a -= a[0]


def broadcast_row_of_what_is_written(m, s):
    s -= s[0]
    s /= s[:, 3:4] + 1


def divide_by_the_sum(m, a):
    a /= a.sum()
    a -= a.max()


def divide_by_the_sums(m, s):
    s /= s.sum(axis=0)
    s /= s.sum(axis=1, keepdims=True)


def add_the_transpose(m, s):
    s += s.T
    return s * 2


def transpose_read_after_write(m, s):
    s *= 2
    return s.T + s


def overwritten_later(m, a):
    b = a * 2
    c = b + a
    a[...] = 0.0
    a += 1
    return b, c


def overwritten_in_between(m, a):
    b = a * 2
    a += 1
    c = b + a
    a[...] = 9.0
    return c, a * b


def negative_strides(m, a):
    b = a[::-1] * 2
    a[::-1] = b + a
    return b[::-1] - 1


def reversed_in_place(m, a):
    a[...] = a[::-1]
    a += 1


def crossed_halves(m, a):
    n = len(a) // 2
    a[:n], a[n:] = a[n:] + 1, a[:n] * 2


def sums_added_to_the_first_row(m, s):
    """A sum for each row, written where the first row lies."""
    a = s.reshape(-1)
    t = m.sqrt(s)
    a[: len(s)] += t.sum(axis=1)
    return s + t


def strided_pieces_that_meet(m, a):
    a[::2] = a[::2] * 2
    a[::3] = a[::3] + 1


HAZARDS = [
    (raw_at_another_offset, LINE),
    (raw_backwards, LINE),
    (raw_of_a_piece, LINE),
    (war_forward, LINE),
    (war_backward, LINE),
    (war_of_an_earlier_reader, LINE),
    (jacobi, LINE),
    (jacobi_of_two_axes, SQUARE),
    (sweeps_in_both_directions, LINE),
    (waw_overlapping, LINE),
    (broadcast_read_of_what_is_written, LINE),
    (broadcast_row_of_what_is_written, SQUARE),
    (divide_by_the_sum, LINE),
    (divide_by_the_sums, SQUARE),
    (add_the_transpose, SQUARE),
    (transpose_read_after_write, SQUARE),
    (overwritten_later, LINE),
    (overwritten_in_between, LINE),
    (negative_strides, LINE),
    (reversed_in_place, LINE),
    (crossed_halves, LINE),
    (strided_pieces_that_meet, LINE),
    (sums_added_to_the_first_row, SQUARE),
]


def whole(program):
    """The program as one whose results are a list, with nothing left out."""

    def run(m, *args):
        out = program(m, *args)
        return [] if out is None else list(out) if isinstance(out, tuple) else [out]

    return run


@pytest.mark.parametrize("tile", [8, 200, 65536])
@pytest.mark.parametrize("program, array", HAZARDS, ids=lambda v: getattr(v, "__name__", ""))
def test_hazard(program, array, tile):
    with figures(tile_bytes=tile, least=1 if tile == 8 else 4):
        both(whole(program), array)


@pytest.mark.parametrize(
    "program, array", [h for h in HAZARDS if h[1] is LINE], ids=lambda v: getattr(v, "__name__", "")
)
def test_hazard_in_large_arrays(program, array):
    with figures(inline_ns=10000, fuse_ns=1000, tile_bytes=65536, least=256, row=8192):
        both(whole(program), np.resize(array, 120_050))


@pytest.mark.parametrize(
    "program, array, stages",
    [
        (raw_at_another_offset, LINE, [["add"], ["multiply"]]),
        (raw_backwards, LINE, [["add"], ["multiply"]]),
        (war_of_an_earlier_reader, LINE, [["add"], ["multiply"]]),
        (transpose_read_after_write, SQUARE, [["multiply"], ["add"]]),
    ],
)
def test_a_hazard_separates(program, array, stages):
    assert both(whole(program), array).stages == stages


def test_the_jacobi_copies_do_not_share_a_pass_with_what_they_overwrite():
    how = both(whole(jacobi), LINE)
    assert len(how.passes) >= 8
    for stage in how.stages:
        assert len(stage) <= 2


# ---- windows: several of their elements are one ------------------------------------------------


def windows(m, b):
    """Views of ``b`` that meet its elements several times."""
    step, n, at = b.itemsize, len(b), m.lib.stride_tricks
    yield at.sliding_window_view(b, 3, writeable=True)
    yield at.sliding_window_view(b, 5, writeable=True)
    yield at.as_strided(b, (2, n // 2), (step, step))
    yield at.as_strided(b, (3, n // 3), (2 * step, step))
    yield at.as_strided(b, (n // 3, 2), (3 * step, step))  # these don't


def doubled(m, b, w):
    w *= 2


def squared(m, b, w):
    m.multiply(w, w, out=w)


def written_then_read(m, b, w):
    m.add(m.arange(float(w.size)).reshape(w.shape), 1, out=w)
    return w * 1


def stored_then_read(m, b, w):
    w[...] = m.arange(float(w.size)).reshape(w.shape)
    b += 1
    return w + 1


def stored_turned(m, b, w):
    w[...] = m.arange(float(w.size)).reshape(w.shape[::-1]).T
    return w + 1


def covered(m, b, w):
    b[...] = 5
    w[...] = 1  # as many as b has, but not all of b
    return b * 2


def both_in_turn(m, b, w):
    b *= 2
    w += b[:1]
    b += 1
    w -= 2
    return w * w


@pytest.mark.parametrize("n", [6, 12, 50, 3000, 40_000, 300_001])
@pytest.mark.parametrize(
    "program",
    [doubled, squared, written_then_read, stored_then_read, stored_turned, covered, both_in_turn],
)
def test_writing_to_windows(program, n):
    for which in range(5):
        found = []
        for m in (np, la):
            b = m.arange(float(n)) + 0.5
            w = list(windows(m, b))[which]
            y = program(m, b, w)
            found.append([np.asarray(x).tobytes() for x in (b, w, w if y is None else y)])
        assert found[0] == found[1], which


@pytest.mark.parametrize("n", [12, 60, 3000, 40_000])
@pytest.mark.parametrize("dtype", ["f8", "i4"])
def test_storing_to_windows_of_any_order(n, dtype):
    """Of what is written to one place the last stays, and NumPy's order is that of the target."""
    turns = [
        lambda w: w.T,
        lambda w: w[::-1],
        lambda w: w[:, ::-1],
        lambda w: w[::-1, ::-1].T,
        lambda w: w[None].swapaxes(0, 2),
    ]
    values = [
        lambda w: np.arange(w.size).reshape(w.shape),
        lambda w: np.arange(w.size).reshape(w.shape[::-1]).T,
        lambda w: np.arange(w.size)[::-1].reshape(w.shape),
        lambda w: np.arange(w.shape[-1]),
        lambda w: np.arange(w.shape[-2])[:, None],
    ]
    for which, turn, value in itertools.product(range(5), turns, values):
        found = []
        for m in (np, la):
            b = m.zeros(n, dtype)
            w = turn(list(windows(m, b))[which])
            w[...] = m.asarray(value(np.asarray(w)).astype("f8"))
            found.append(np.asarray(b))
        np.testing.assert_array_equal(found[1], found[0])


WRITES = {
    "w += x": lambda m, w, x, mask: w.__iadd__(x),
    "w *= row": lambda m, w, x, mask: w.__imul__(x[0]),
    "w -= its own turned": lambda m, w, x, mask: w.__isub__(w[::-1, ::-1]),
    "out=": lambda m, w, x, mask: m.multiply(x, x, out=w),
    "out= of views": lambda m, w, x, mask: m.add(x[::-1, ::-1], x[::-1, ::-1], out=w),
    "out= of one": lambda m, w, x, mask: m.square(x, out=w),
    "copyto": lambda m, w, x, mask: m.copyto(w, x, where=mask),
    "copyto of a number": lambda m, w, x, mask: m.copyto(w, 3, where=mask),
}


@pytest.mark.parametrize("steps", [(1, 3), (-3, 3), (-1, -1), (1, -2), (2, 2), (-2, 1)])
@pytest.mark.parametrize("dtype", ["f8", "i2", "f2", "D"])
@pytest.mark.parametrize("write", WRITES)
def test_several_operands_written_to_windows(write, dtype, steps):
    """NumPy writes in its iterator's order, or by a copy of the output in that of addresses."""
    for shape in [(8, 3), (4, 7), (33, 17), (300, 65)]:
        rng = np.random.default_rng(0)
        x = rng.integers(-9, 9, shape).astype(dtype)
        mask = rng.random(shape) < 0.5
        ends = [(n - 1) * k for n, k in zip(shape, steps, strict=True)]
        b = np.arange(sum(map(abs, ends)) + 1).astype(dtype)
        begin = -sum(min(end, 0) for end in ends)
        found = []
        for m in (np, la):
            base = m.array(b)
            strides = tuple(k * b.itemsize for k in steps)
            w = m.lib.stride_tricks.as_strided(base[begin:], shape, strides)
            WRITES[write](m, w, m.array(x), m.array(mask))
            found.append(np.asarray(base))
        np.testing.assert_array_equal(found[1], found[0])


# ---- what may fuse -----------------------------------------------------------------------------


def test_a_chain_is_one_pass():
    how = both(lambda m, a: [(a * 2 + 1) / a - 3], LINE)
    assert how.stages == [["multiply", "add", "divide", "subtract"]]
    assert how.temporaries == 3 and how.passes[0]["tiles"] > 1


def test_in_place_updates_at_the_same_place_fuse():
    def program(m, a):
        for _ in range(5):
            a += 1
            a *= 0.5

    how = both(whole(program), LINE)
    assert how.stages == [["add", "multiply"] * 5]


def test_interleaved_views_fuse_where_they_are_related():
    def program(m, x):
        even, odd = x[::2], x[1::2]
        even += 1
        odd *= 2
        return even + odd

    how = both(whole(program), LINE)
    assert how.stages == [["add", "multiply", "add"]]


def test_one_view_under_two_shapes_fuses():
    def program(m, a):
        a += 1
        b = a.reshape(5, 10) * 2
        return b.reshape(10, 5).reshape(50) - a

    how = both(whole(program), LINE)
    assert how.stages == [["add", "multiply", "subtract"]]


def test_shapes_that_do_not_nest_are_two_passes():
    w = rng.random((6, 20))[:, ::2]
    v = rng.random((15, 8))[:, ::2]

    def program(m, w, v):
        return [(w[:, ::2][:, :4] + 1).reshape(3, 8) * 2, (w + 1).reshape(15, 4) * v]

    both(program, w, v)


def test_transposed_operands_fuse_and_keep_their_strides():
    s = np.array(SQUARE, order="F")
    how = both(lambda m, s, t: [(s.T + 1) * s.T, (t.T - 1) * 2], s, SQUARE, strides=False)
    assert sorted(map(len, how.stages)) == [2, 2]

    def of_layouts(m, x):
        y = x.transpose(2, 0, 1) * 2
        return [y + 1, y]

    a = rng.random((4, 5, 6))
    how = both(of_layouts, a, strides=True)
    assert how.stages == [["multiply", "add"]]


def test_a_scalar_array_is_read_once_it_is_there():
    def program(m, a):
        s = a.sum()
        return a / s, (a - s) / s

    both(whole(program), LINE)


# ---- independent parts, merging, diamonds ------------------------------------------------------


def held(x):
    gate = threading.Event()
    engine.get().push_sync(lambda ctx: gate.wait(20), la.cpu(0), mutable_vars=[x.var])
    return gate


def test_independent_parts_are_operators_of_their_own():
    with figures(cheap_ns=0):
        xs = [la.array(LINE + i) for i in range(4)]
        la.waitall()
        ys = [(x * 2 + 1) * x for x in xs]
        how = explained()
    assert len(how.operators) == 4
    assert how.stages == [["multiply", "add", "multiply"]] * 4
    same(ys, [((LINE + i) * 2 + 1) * (LINE + i) for i in range(4)])


@pytest.mark.host  # what is small is launched together on a GPU
def test_a_wait_on_one_part_does_not_wait_for_a_blocked_one():
    blocked, free = la.array(LINE), la.array(LINE)
    la.waitall()
    gate = held(blocked)
    a = (blocked + 1) * 2
    b = (free + 1) * 2
    c = (a - 1) / 3
    d = (b - 1) / 3
    same(d, ((LINE + 1) * 2 - 1) / 3)  # would hang until the gate opens
    assert a.var.version == 0
    gate.set()
    same(c, ((LINE + 1) * 2 - 1) / 3)


def test_two_producers_merge_into_their_consumer():
    def program(m, a, b):
        p = a * 2 + 1
        q = b * 3 - 1
        return [p / q]

    how = both(program, LINE, LINE[::-1].copy())
    assert how.stages == [["multiply", "add", "multiply", "subtract", "divide"]]
    assert how.temporaries == 4


def test_what_another_part_needs_is_not_moved_past_it():
    def program(m, a, b):
        p = a * 2  # wanted by the product, and by the end
        q = p.reshape(5, 10)[:, :5] @ p.reshape(5, 10)[:, 5:]
        r = b + 1
        return [p + r, q, p * r]

    both(program, np.arange(50), np.arange(50) * 3)


@pytest.mark.parametrize("kind", ["product", "shift", "transpose", "columns"])
def test_diamonds(kind):
    """Two branches of one producer meet again; one goes through what can't share its pass."""

    def program(m, s):
        top = s * 2
        if kind == "product":
            side = (top @ top) % 7
        elif kind == "shift":
            side = m.zeros((9, 9), dtype=s.dtype)
            side[1:] = top[:-1] + 1
        elif kind == "transpose":
            side = (top + 1).T * 1
        else:
            side = top.sum(axis=0) + 1
        left = top - 3
        out = left * side
        top += out
        return [out, top, left + top]

    both(program, np.arange(81).reshape(9, 9))


def test_a_chain_of_diamonds_in_any_order():
    def program(m, a, b, c):
        for i in range(12):
            t = a[::-1] + b
            u = b * 2 - c
            c = c + t[::-1]
            a = u + t if i % 3 else u - a[::-1]
            b[i:] = b[: 50 - i] + c[i:]
        return [a, b, c]

    integers = np.arange(50)
    both(program, integers, integers[::-1] * 3, integers % 7)


def test_explain_is_of_the_whole_segment():
    x, s = la.array(LINE), la.array(SQUARE)
    la.waitall()
    with figures(cheap_ns=0):
        y, z = x + 1, s * 2
        how = explained()
    assert how.text.startswith("segment: 2 instructions in 2 operators, 0 temporaries")
    assert any(word in how.text for word in ("not begun", "running", " us", " ms"))
    same([y, z], [LINE + 1, SQUARE * 2])
    assert isinstance(Explained(la.explain()).passes[0]["tiles"], int)


@pytest.mark.parametrize("n", [8, 500])
def test_rows_copied_to_whole_rows(n):
    a = np.random.default_rng(0).random((40, n))
    x, b = la.array(a), la.zeros((40, n))
    with figures(**SMALL), engine.bulk(1 << 20):
        b[...] = x.sum(1, keepdims=True) / n  # the quotient is of rows, its copy of elements
        np.testing.assert_array_equal(
            b.asnumpy(), np.broadcast_to(a.sum(1, keepdims=True) / n, a.shape)
        )
        b[...] = (x.max(1) + 1.5).reshape(-1, 1)
        np.testing.assert_array_equal(
            b.asnumpy(), np.broadcast_to(a.max(1)[:, None] + 1.5, a.shape)
        )


def test_a_reversed_output_of_a_reversed_input():
    a = np.random.default_rng(0).random((40, 60))
    x, out = la.array(a), la.empty((40, 60))
    la.exp(x[:, ::-1], out=out[:, ::-1])  # wrote in front of its own copy
    np.testing.assert_allclose(out.asnumpy(), np.exp(a), rtol=1e-15)
