"""Which outputs are ever in memory, and for how long."""

import weakref

import numpy as np
import pytest

import lazyarray as la
from lazyarray import engine

from .fusing import SMALL, both, explained, figures, same

rng = np.random.default_rng(0)
LINE = rng.random(50)


@pytest.fixture(autouse=True)
def small():
    with figures(**SMALL), engine.bulk(1 << 20):
        yield


def test_temporaries_of_an_expression_are_never_in_memory():
    a = la.array(rng.random(500_000))
    la.waitall()
    la.storage.pool_stats()
    b = a * 2
    b.wait_to_read()
    del b
    before = la.storage.pool_stats()["in_use"]
    with figures(tile_bytes=65536, least=256, task_ns=25000, row=8192):
        y = ((a * 2 + 1) * a - 3) / (a + 7) + a
        y.wait_to_read()
        how = explained()
    assert la.storage.pool_stats()["in_use"] - before < 1.3 * y.nbytes
    assert how.temporaries == 6 and len(how.passes) == 1
    assert how.in_scratch == ["multiply", "add", "multiply", "subtract", "add", "divide"]


def test_an_array_with_a_handle_is_in_memory():
    x = la.array(LINE)
    t = x * 2
    y = t + 1
    how = explained()
    same([t, y], [LINE * 2, LINE * 2 + 1])
    assert how.temporaries == 0 and how.stages == [["multiply", "add"]]


def test_a_view_of_a_dead_base_keeps_it():
    x = la.array(LINE)
    base = x * 2
    view = base[3:7]
    y = base + 1
    del base
    how = explained()
    assert how.temporaries == 0
    same([view, y], [(LINE * 2)[3:7], LINE * 2 + 1])


def test_a_var_keeps_its_array():
    x = la.array(LINE)
    t = x * 2
    var = t.var
    y = t + 1
    del t
    how = explained()
    same(y, LINE * 2 + 1)
    assert how.temporaries == 0
    assert var.version == 1


def test_an_output_that_dies_unread():
    x = la.array(LINE)
    x * 5
    y = x + 1
    z = y * 2
    del y, z
    how = explained()
    assert how.temporaries == 3
    la.waitall()
    same(x, LINE)


def test_a_temporary_that_crosses_a_product_is_in_memory():
    def program(m, s):
        return [(s + 1) @ (s * 2) - 1]

    i = np.arange(81).reshape(9, 9)
    how = both(program, i)
    assert how.temporaries == 0
    assert "matmul" in how.stages


def test_a_product_in_between_keeps_the_order():
    def program(m, i):
        t = i + 1
        p = t @ i
        t += p
        i *= 2
        return [t * i, p]

    both(program, np.arange(81).reshape(9, 9))


def test_deletion_between_ops():
    def program(m, a):
        t = a * 2
        u = t + 1
        del t
        v = u * a
        del u
        t = v - 1
        del v
        return [t]

    how = both(program, LINE)
    assert how.temporaries == 3 and how.stages == [["multiply", "add", "multiply", "subtract"]]


def test_a_temporary_overwritten_and_used_again():
    def program(m, a):
        t = a * 2
        b = t + 1
        t[...] = a
        t -= 4
        t[...] = t * t
        return [t + b]

    both(program, LINE)


def test_a_temporary_written_in_part_is_in_memory():
    def program(m, a):
        t = m.empty(50)
        t[:] = a
        t[10:20] = 0.0
        u = t + 1
        del t
        return [u]

    both(program, LINE)


def test_a_dead_array_is_let_go_after_its_pass():
    x = la.array(LINE)
    t = x * 2
    gone = weakref.ref(t)
    y = t + 1
    del t
    assert gone() is None
    same(y, LINE * 2 + 1)
