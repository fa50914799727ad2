"""Broadcast operands of short rows, which a pass writes out for each tile."""

import contextlib
import itertools

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy.cpu.jit._tier import _set_jit, refused_loops

from .fusing import SMALL, figures, same

pytestmark = pytest.mark.host  # passes on CPUs

# Rows that are short and that aren't: to compiled loops, to our own for many rows, to NumPy's.
ROWS = [1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 32, 33, 47, 63, 64, 65]
WAYS = {  # figures of a pass: as users have them, in small tiles, and those shared out
    "users": {"inline_ns": 0, "fuse_ns": 0, "age_ns": 1e15},
    "small": SMALL,
    "tasks": {**SMALL, "tile_bytes": 4096, "least": 64},
}
PROGRAMS = {
    "one": lambda m, x, b: x * b,
    "chain": lambda m, x, b: (x * b + b) * x - b,
    "compared": lambda m, x, b: m.where(x > b, x, b),
    "cast": lambda m, x, b: (x * b).astype("f4") * b + x,
    "integers": lambda m, x, b: (x * 100).astype("i2") // ((b * 10).astype("i1") | 3),
    "complex": lambda m, x, b: x * (b + 1j) - b,
    "complex sums": lambda m, x, b: (x * 1j + (b - 1j)) - (b * 1j + x),
    "complex singles": lambda m, x, b: (x * 1j).astype("F") - (b * 1j).astype("F"),
    "rows": lambda m, x, b: (x - x.mean(-1, keepdims=True)) * b / x.max(-1, keepdims=True),
    "row sums": lambda m, x, b: (x * b).sum(-1),
    "columns": lambda m, x, b: (x * b + 1).sum(0),
    "all": lambda m, x, b: ((x - b) * (x - b)).sum(),
    "exp": lambda m, x, b: m.exp(x * b) * b,
}


@pytest.fixture(params=["1", "eager"])
def jit(request):
    before = _set_jit(request.param)
    refused = set(refused_loops())
    yield
    _set_jit(before)
    assert not [x for x in set(refused_loops()) - refused if x.startswith("other bits")]


def check(program, *operands):
    with np.errstate(all="ignore"):
        want = program(np, *operands)
        for _ in range(2):  # compiled loops are compared the first time
            same(program(la, *map(la.array, operands)), want)


def numbers(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("way", WAYS)
def test_rows_and_columns(jit, name, way):
    with figures(**WAYS[way]):
        for r, n in itertools.product(ROWS, (1, 3, 100, 1031)):
            for other in ((r,), (1, r), (n, 1)):
                check(PROGRAMS[name], numbers((n, r)), numbers(other, 1))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("way", WAYS)
def test_more_axes(jit, name, way):
    shapes = [(50, 40, 3), (7, 90, 5), (90, 7, 3), (16, 16, 16), (2, 3, 400), (100, 3, 2)]
    with figures(**WAYS[way]):
        for a, b, c in shapes:
            for other in ((c,), (b, 1), (a, 1, 1), (1, b, c), (a, 1, c), (a, b, 1)):
                check(PROGRAMS[name], numbers((a, b, c)), numbers(other, 1))
        for other in ((30, 1, 5), (20, 1, 4, 1), (4, 1), (1, 30, 1, 5)):
            check(PROGRAMS[name], numbers((20, 30, 4, 5)), numbers(other, 1))


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "f4", "f8", "c16", "g", "G"])
def test_elements_of_any_size(dtype):
    """In whole tiles, and where a sum cuts pieces of a line in the midst of a row."""
    with figures(**WAYS["tasks"]):
        for r, n in itertools.product((2, 3, 4, 5, 7, 11, 31), (257, 1031)):
            x = (numbers((n, r)) * 10).astype(dtype)
            for other in ((r,), (n, 1)):
                b = (numbers(other, 1) * 10).astype(dtype)
                check(lambda m, x, b: m.not_equal(x, b), x, b)
                check(lambda m, x, b: m.add(x, b).sum(), x, b)


def test_it_is_said_which_are(jit):
    x, b, c = la.array(numbers((5000, 7))), la.array(numbers(7)), la.array(numbers((5000, 1)))
    with figures(**WAYS["users"]):
        for y, count in [
            ((x * b + b) * b, "1 broadcast operand"),
            ((x - c) / c, "1 broadcast operand"),
            ((x - c) * b, "2 broadcast operands"),
            (((x - c) * b).sum(), "2 broadcast operands"),
        ]:
            y.wait_to_read()
            assert f"{count} written out" in str(la.explain())
        for y in (x * x + x, x * 2.0 + 1.0, la.array(numbers((500, 70))) * la.array(numbers(70))):
            (y + 1).wait_to_read()
            assert "written out" not in str(la.explain())


def test_what_changes_meanwhile_is_read_where_it_is(jit):
    def changes(m, x, b):
        y = x * 1.5
        y *= b
        y -= y[:, :1]  # its own first column, which becomes zero
        b += 1.0
        y *= b
        b *= 0.5
        return y + b, b

    with figures(**WAYS["small"]):
        for r in (3, 7, 16):
            x, b = numbers((1031, r)), numbers(r, 1)
            got = changes(la, la.array(x), la.array(b))
            same(got, changes(np, x.copy(), b.copy()))


def test_more_than_there_is_room_for():
    x, many = numbers((1031, 5)), [numbers(5, i) for i in range(40)]

    def program(m, x, *many):
        for b in many:
            x = x * 0.5 + b
        return x

    with figures(**WAYS["users"]):
        same(program(la, la.array(x), *map(la.array, many)), program(np, x, *many))


def test_numbers_that_an_integer_cannot_hold():
    """NumPy's loops make something else of them where they step otherwise."""

    def program(m, x, dtype):
        stored = m.zeros((len(x), 4), dtype)
        stored[...] = (x * 2.0)[:, None]
        return stored

    x = numbers(1031) * 1e3
    with figures(**WAYS["small"]), np.errstate(all="ignore"):
        for dtype in ("u1", "i2", "u4", "i4", "u8", "i8"):
            for y in (x, x - 1e10, x + 1e20):
                same(program(la, la.array(y), dtype), program(np, y, dtype))


def test_a_sum_of_more_than_there_is_room_for():
    """All of an instruction's operands are written out, or none."""
    x, c = numbers((20_000, 5)), numbers(5, 1)
    for count in range(13, 18):
        many = [numbers((20_000, 1), i) for i in range(count)]

        def program(m, x, c, *many):
            for b in many[1:]:
                x = x + b
            return (x + many[0] * c).sum()

        with figures(**WAYS["users"]):
            check(program, x, c, *many)


def test_what_a_compiled_loop_leaves_to_be_written_out(jit):
    """A column made of row maxima, which only what is written out of it is made of."""

    def program(m, x):
        largest = x.max(-1, keepdims=True) * 2.0 + 1.0
        return x * largest, largest - 0.5

    with figures(**WAYS["users"]):
        for r in (3, 7, 8, 40):
            x = numbers((20_000, r))
            for _ in range(3):
                with la.engine.bulk(99):
                    got = program(la, la.array(x))
                same(got, program(np, x))


@pytest.mark.parametrize("between", [0, 30])
@pytest.mark.parametrize("jit", ["0", "1", "eager"], indirect=True)
def test_parts_of_an_array_are_told_apart(jit, between):
    """The same program on other parts of an array is another plan, or reads those."""
    x, b = numbers((20_000, 5)), numbers((4, 5), 1)
    more = [numbers((20_000, 5), i) for i in range(between)]

    def program(m, x, b, i, j, *more):
        y = x * b[i] * 2
        for z in more:
            y = y * z
        return y + b[j]

    with figures(**WAYS["users"]):
        for i, j in ((0, 0), (0, 1), (1, 0), (3, 3), (2, 3)):
            check(lambda m, x, b, *more, i=i, j=j: program(m, x, b, i, j, *more), x, b, *more)


def test_an_operand_that_failed():
    """Its readers fail, the others are computed."""
    x, b = la.array(numbers((5000, 3))), la.array(numbers(3))
    with figures(**WAYS["users"]), np.errstate(divide="raise"):
        bad = la.array(np.zeros(3))
        bad = 1 / bad
        y, z = x * bad + x, x * b + x
        np.testing.assert_array_equal(z, x.asnumpy() * b.asnumpy() + x.asnumpy())
        with pytest.raises(FloatingPointError):
            y.wait_to_read()
        with pytest.raises(FloatingPointError):
            bad.wait_to_read()


@pytest.mark.parametrize("jit", ["0", "1"], indirect=True)
@pytest.mark.parametrize("columns", [3, 16, 30, 100])
def test_an_operand_without_values(jit, columns):
    """The reader itself has its memory allocated: the process crashed."""
    with figures(**WAYS["users"]), np.errstate(all="ignore"):
        for shape in ((columns,), (6250, 1)):
            y = la.ones((6250, columns)) * la.empty(shape) + 1
            assert y.asnumpy().shape == (6250, columns)
            assert (la.ones((6250, columns)) - la.empty(shape)).sum(0).asnumpy().shape == (columns,)


@pytest.mark.parametrize("rows, columns", [(7, 2), (9, 63), (8, 64), (1030, 3), (9, 0)])
@pytest.mark.parametrize("dtype", ["?", "i4", "i8", "f2", "f8", "c16"])
def test_an_op_by_itself(dtype, rows, columns):
    x = np.abs(numbers((rows, columns)) * 9).astype(dtype)
    row = np.abs(numbers(columns, 1) * 9).astype(dtype)
    column = np.abs(numbers((rows, 1), 2) * 9).astype(dtype)
    functions = (
        "add",
        "multiply",
        "less",
        "not_equal",
        "maximum",
        "logical_and",
        "floor_divide",
        "arctan2",
    )

    def results(m, x, row, column):
        for a in (x, x[::-1, ::-1], x[:, None]):
            for b in (row, row[::-1], column, column[::-1]):
                if a.ndim == 3:  # each row by itself, and by all others, of which 50 will do
                    b = column[:, None] if b is column else b if b.ndim == 1 else b[:50]
                yield m.where(b > 4, a, row)
                for name in functions:
                    with contextlib.suppress(TypeError):  # no loop for the dtype
                        yield getattr(m, name)(a, b)
                        yield getattr(m, name)(b, a)
        if dtype != "?":
            x += x[0]
            yield x

    with np.errstate(all="ignore"):
        want = list(results(np, x.copy(), row, column))
        same(list(results(la, *map(la.array, (x, row, column)))), want)


@pytest.mark.parametrize("rows, columns", [(65, 8), (700, 2), (3000, 2)])
@pytest.mark.parametrize("name", ["fmin", "fmax", "minimum", "maximum"])
def test_zeros_have_the_signs_of_the_loop_that_numpys_buffers_choose(name, rows, columns):
    zeros = np.where(numbers((rows, columns)) < 0, -0.0, 0.0).astype("f4")
    row = np.where(numbers(columns, 3) < 0, -0.0, 0.0).astype("f4")
    for a, b in ((zeros, row), (row, zeros)):
        same(getattr(la, name)(la.array(a), la.array(b)), getattr(np, name)(a, b))


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 5000])
@pytest.mark.parametrize("dtype", ["?", "i2", "f4", "f8", "D"])
def test_rows_of_nothing(dtype, rows):
    """As many points are compared with a list that happens to be empty."""
    x = np.ones(rows, dtype)
    for name in ("equal", "add", "hypot", "logical_and", "copysign", "power"):
        for shape in ((rows, 1), (1, rows, 1)):
            for none in (x[:0], np.ones((1, 0), "f4")):
                for a, b in ((x.reshape(shape), none), (none, x.reshape(shape))):
                    with contextlib.suppress(TypeError):  # no loop for the dtype
                        want = getattr(np, name)(a, b)
                        same(getattr(la, name)(la.array(a), la.array(b)), want)
                        same(
                            getattr(la, name)(la.array(a) + 0, la.array(b)),
                            getattr(np, name)(a + 0, b),
                        )
