"""Random array programs equal NumPy bit for bit, whatever the engine, bulk size and workers.

The engine type and the number of workers are fixed for a process, so the programs run in this
process as it is, and in child processes for the other combinations.
"""

import os
import subprocess
import sys
import time

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import lazyarray as la
from lazyarray import engine
from lazyarray.lazy._lazy import _set_policy

from .agree import memory

CHILD = "LAZYARRAY_TEST_CHILD" in os.environ
EXAMPLES = int(os.environ.get("LAZYARRAY_TEST_EXAMPLES", "150"))

DTYPES = ["?", "i1", "u2", "i4", "i8", "f4", "f8", "c16"]
BINARY = ["add", "subtract", "multiply", "maximum", "minimum", "less", "equal", "logical_or"]
UNARY = ["negative", "square", "absolute", "sign", "logical_not", "isfinite", "sqrt", "exp"]
INPLACE = ["add", "subtract", "multiply"]
FIGURES = {  # of the flush and tile policies: tiny tiles and rows make small arrays take every path
    "flush_ns": [1, 300, 30000],
    "age_ns": [0, 100000],
    "fuse_ns": [0, 0, 1000],
    "tile_bytes": [8, 200, 65536],
    "stream": [0, 1 << 25],  # 0: every pass fetches ahead if it can
    "ahead_bytes": [8, 200],
    "least": [1, 5, 256],
    "row": [4, 30, 8192],
    "split_ns": [0, 100000],
    "task_ns": [0, 25000],
}
REDUCE = ["sum", "prod", "max", "min", "any", "all", "mean"]


class Program:
    """The same program on NumPy and on lazyarray, an operation at a time."""

    def __init__(self, draw):
        self.draw = draw
        self.pairs = []
        rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        for _ in range(draw(st.integers(2, 4))):
            shape = draw(
                st.sampled_from(
                    [
                        (),
                        (1,),
                        (5,),
                        (3, 4),
                        (4, 3),
                        (2, 1, 4),
                        (33,),
                        (0, 3),
                        (300,),
                        (7, 40),
                        (6, 6),
                    ]
                )
            )
            dtype = np.dtype(draw(st.sampled_from(DTYPES)))
            values = rng.integers(-3, 4, shape)
            if dtype.kind in "fc":
                values = values + rng.random(shape).round(2)
            self.add(np.asarray(values).astype(dtype))

    def add(self, a):
        self.pairs.append((a, la.array(a)))

    def pick(self):
        return self.pairs[self.draw(st.integers(0, len(self.pairs) - 1))]

    def both(self, f, g):
        """Runs f on NumPy and g on lazyarray; both give a result or the same error."""
        with np.errstate(all="ignore"):
            try:
                want = f()
            except Exception as exc:
                with pytest.raises(type(exc)):
                    np.asarray(g())
                return
            got = g()
        if want is not None:
            # NumPy's scalars as they are: they and ours never change.
            assert isinstance(want, np.generic) == isinstance(got, la.Scalar)
            self.pairs.append((want, got))
        if len(self.pairs) > 12:
            self.delete()

    def delete(self):
        if len(self.pairs) > 1:
            del self.pairs[self.draw(st.integers(0, len(self.pairs) - 1))]

    # -- the steps

    def binary(self):
        (a, x), (b, y) = self.pick(), self.pick()
        name = self.draw(st.sampled_from(BINARY))
        self.both(lambda: getattr(np, name)(a, b), lambda: getattr(la, name)(x, y))

    def scalar(self):
        (a, x) = self.pick()
        name = self.draw(st.sampled_from(BINARY))
        s = self.draw(st.sampled_from([0, 1, 2, -1, 0.5, True, 1j]))
        if self.draw(st.booleans()):
            self.both(lambda: getattr(np, name)(a, s), lambda: getattr(la, name)(x, s))
        else:
            self.both(lambda: getattr(np, name)(s, a), lambda: getattr(la, name)(s, x))

    def unary(self):
        a, x = self.pick()
        name = self.draw(st.sampled_from(UNARY))
        self.both(lambda: getattr(np, name)(a), lambda: getattr(la, name)(x))

    def inplace(self):
        (a, x), (b, y) = self.pick(), self.pick()
        name = self.draw(st.sampled_from(INPLACE))
        self.both(
            lambda: getattr(np, name)(a, b, out=a) is None or None,
            lambda: getattr(la, name)(x, y, out=x) is None or None,
        )

    def key(self, a):
        keys = []
        for n in a.shape[: self.draw(st.integers(0, a.ndim))]:
            kind = self.draw(st.integers(0, 4))
            if kind == 0 and n:
                keys.append(self.draw(st.integers(-n, n - 1)))
            elif kind == 1:
                keys.append(slice(None, None, -1))
            elif kind == 2:
                keys.append(slice(self.draw(st.integers(-3, 3)), self.draw(st.integers(-3, 5))))
            elif kind == 3:
                keys.append(slice(None, None, 2))
            else:
                keys.append(slice(None))
        if self.draw(st.integers(0, 5)) == 0:
            keys.append(None)
        return (*keys, Ellipsis)

    def view(self):
        a, x = self.pick()
        key = self.key(a)
        self.both(lambda: a[key], lambda: x[key])

    def transpose(self):
        a, x = self.pick()
        self.both(lambda: a.T, lambda: x.T)

    def assign(self):
        (a, x), (b, y) = self.pick(), self.pick()
        key = self.key(a)

        def numpy():
            a[key] = b

        def lazy():
            x[key] = y

        # A ComplexWarning is not the point, nor a scalar that the array can't hold: its own error.
        narrows = a.dtype.kind in "iu" and not np.can_cast(b.dtype, a.dtype)
        if not (narrows and isinstance(b, np.generic)) and (
            not np.iscomplexobj(b) or np.iscomplexobj(a)
        ):
            self.both(numpy, lazy)

    def shift(self):
        """Overlapping assignment within one array."""
        a, x = self.pick()
        if a.ndim and len(a) > 1:
            forward = self.draw(st.booleans())
            to, source = (
                (slice(1, None), slice(None, -1)) if forward else (slice(-1), slice(1, None))
            )

            def numpy():
                a[to] = a[source]

            def lazy():
                x[to] = x[source]

            self.both(numpy, lazy)

    def add_transpose(self):
        a, x = self.pick()
        if a.ndim == 2 and a.shape[0] == a.shape[1] and a.dtype.kind != "b":

            def numpy():
                a[...] += a.T

            def lazy():
                x[...] += x.T

            self.both(numpy, lazy)

    def reduce(self):
        a, x = self.pick()
        name = self.draw(st.sampled_from(REDUCE))
        axis = self.draw(st.sampled_from([None, 0, -1, (0, -1), 1]))
        keep = self.draw(st.booleans())
        if name == "mean" and a.size == 0:
            return
        self.both(
            lambda: getattr(np, name)(a, axis=axis, keepdims=keep),
            lambda: getattr(la, name)(x, axis=axis, keepdims=keep),
        )

    def where(self):
        (a, x), (b, y), (c, z) = self.pick(), self.pick(), self.pick()
        self.both(lambda: np.where(a, b, c), lambda: la.where(x, y, z))

    def cast(self):
        a, x = self.pick()
        dtype = self.draw(st.sampled_from(DTYPES))
        if a.dtype.kind == "c" and np.dtype(dtype).kind not in "cb":
            return
        self.both(lambda: a.astype(dtype), lambda: x.astype(dtype))

    def matmul(self):
        (a, x), (b, y) = self.pick(), self.pick()
        if a.dtype.kind in "iu" and b.dtype.kind in "iu":  # BLAS sums in an order of its own
            self.both(lambda: a @ b, lambda: x @ y)

    def fancy(self):
        a, x = self.pick()
        if a.ndim and a.shape[0]:
            index = np.array(self.draw(st.lists(st.integers(0, a.shape[0] - 1), max_size=4)), int)
            self.both(lambda: a[index], lambda: x[la.array(index)])

    def mask(self):
        (a, x) = self.pick()

        def numpy():
            a[a > 0] = 1

        def lazy():
            x[x > 0] = 1

        if a.dtype.kind != "c":
            self.both(numpy, lazy)

    def opaque(self):
        """A Python op in between, slow enough for others to overtake if they could."""
        a, x = self.pick()
        if a.dtype.kind in "fc" and isinstance(a, np.ndarray):

            def slow(ctx):
                time.sleep(2e-4)
                memory(ctx, x)[...] += 1

            a += 1
            engine.get().push_sync(slow, la.current_context(), mutable_vars=[x.var])

    def read(self):
        self.check(*self.pick())

    @staticmethod
    def check(a, x):
        got = x.asnumpy()
        assert got.dtype == a.dtype
        assert got.shape == a.shape
        np.testing.assert_array_equal(got, a)
        if a.dtype.kind in "fc":  # zeros' signs, too
            parts = [(a.real, got.real), (a.imag, got.imag)] if a.dtype.kind == "c" else [(a, got)]
            for p, q in parts:
                ok = ~np.isnan(p)
                np.testing.assert_array_equal(np.signbit(p)[ok], np.signbit(q)[ok])

    STEPS = (
        "binary", "binary", "scalar", "unary", "inplace", "inplace", "view", "view", "transpose",
        "assign", "assign", "shift", "add_transpose", "reduce", "reduce", "where", "cast", "matmul",
        "fancy", "mask", "opaque", "read", "delete",
    )  # fmt: skip

    def run(self):
        for step in self.draw(st.lists(st.sampled_from(self.STEPS), min_size=1, max_size=25)):
            getattr(self, step)()
        for a, x in self.pairs:
            self.check(a, x)


@pytest.mark.parametrize("inline", [False, True], ids=["recorded", "inline"])
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=CHILD,
)
@given(data=st.data())
def test_program(inline, data):
    figures = {name: data.draw(st.sampled_from(values)) for name, values in FIGURES.items()}
    figures["inline_ns"] = 4000 if inline else 0
    old = {name: _set_policy(name, value) for name, value in figures.items()}
    try:
        with engine.bulk(data.draw(st.sampled_from([0, 1, 7, 1000]))):
            Program(data.draw).run()
    finally:
        for name, value in old.items():
            _set_policy(name, value)
        la.waitall()


@pytest.mark.skipif(CHILD, reason="this is the child")
@pytest.mark.parametrize(
    "kind, workers",
    [
        ("NaiveEngine", 1),
        ("ThreadedEnginePooled", 1),
        ("ThreadedEnginePooled", 3),
        ("ThreadedEnginePerDevice", 1),
        ("ThreadedEnginePerDevice", 4),
    ],
)
def test_program_in_another_engine(kind, workers):
    env = dict(
        os.environ,
        LAZYARRAY_TEST_CHILD="1",
        LAZYARRAY_TEST_EXAMPLES="60",
        LAZYARRAY_ENGINE_TYPE=kind,
        LAZYARRAY_CPU_WORKER_NTHREADS=str(workers),
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", __file__],
        env=env,
        capture_output=True,
        text=True,
        timeout=280,
        cwd=os.getcwd(),
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
