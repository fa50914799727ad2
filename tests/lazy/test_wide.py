"""A product that BLAS runs on threads of its own has the cores to itself."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray import engine
from lazyarray.lazy import _lazy


@pytest.mark.skipif(
    type(engine.get()).__name__ == "NaiveEngine", reason="runs everything at the call"
)
@pytest.mark.host  # of the CPU's BLAS
def test_nothing_computes_beside_a_threaded_product():
    rng = np.random.default_rng(0)
    a = rng.random((300, 300))
    x, v = la.array(a), la.ones(400_000)
    la.waitall()
    e = engine.get()
    e.trace_start()
    products = [x @ x for _ in range(4)]
    others = [v * 2.0 + i for i in range(8)]
    products += [y @ x for y in products]
    la.waitall()
    rows = e.trace_stop()
    for o in others:
        assert o[0].item() >= 2.0
    np.testing.assert_array_equal(products[-1].asnumpy(), a @ a @ a)
    wide = [r for r in rows if r["name"] == "matmul"]
    assert len(wide) == 8
    if _lazy.blas_threads() < 2:
        pytest.skip("BLAS has one thread")
    for w in wide:
        for r in rows:
            if r is not w:
                assert r["end"] <= w["start"] or w["end"] <= r["start"], (w, r)


def test_many_products_and_small_work_all_end():
    """A waiting product lets nothing overtake it for ever, and starves nothing."""
    x, v = la.ones((120, 120)), la.ones(20_000)
    sums = []
    for i in range(60):
        sums.append((x @ x).sum() if i % 3 == 0 else (v + i).sum())
    for i, s in enumerate(sums):
        assert s.item() == (120.0**3 if i % 3 == 0 else 20_000.0 * (1 + i))
