"""Random programs of views, slices and writes in place: gradients against central differences."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lazyarray as la
from lazyarray import engine

from .check import check

CHILD = bool(os.environ.get("LAZYARRAY_TEST_CHILD"))
SHAPE = (3, 4)

VIEWS = {
    "all": lambda x: x,
    "rows": lambda x: x[::2],
    "columns": lambda x: x[:, 1:3],
    "reversed": lambda x: x[::-1, ::-1],
    "transposed": lambda x: x.T,
    "row": lambda x: x[1],
    "column": lambda x: x[:, 2:3],
    "flat": lambda x: x.reshape(-1)[2:9],
    "diagonal": lambda x: (
        la.lib.stride_tricks.as_strided(x, (3,), (x.strides[0] + x.strides[1],))
        if x.flags.c_contiguous
        else x[0, :3]
    ),
    "element": lambda x: x[2, 3, ...],
}
UNARY = {
    "sin": la.sin,
    "tanh": la.tanh,
    "square": la.square,
    "negative": la.negative,
    "sum": lambda x: la.sum(x, axis=-1, keepdims=True) if x.ndim else x * 2,
    "max": lambda x: la.max(x),
    "cumsum": lambda x: la.cumsum(x, axis=-1) if x.ndim else x,
    "gather": lambda x: x[la.array([0, -1, 0])] if x.ndim else x + 1,
}
BINARY = {"add": la.add, "multiply": la.multiply, "subtract": la.subtract, "hypot": la.hypot}

MASK = np.arange(12).reshape(SHAPE) % 3 == 0
KINDS = [*("unary", "binary", "assign", "update", "scatter", "fill"), "mask", "where", "at", "sort"]
STEP = st.tuples(
    st.sampled_from(KINDS),
    st.sampled_from(sorted(UNARY)),
    st.sampled_from(sorted(BINARY)),
    st.integers(0, 9),  # which array is written or read first
    st.integers(0, 9),
    st.sampled_from(sorted(VIEWS)),
    st.sampled_from(sorted(VIEWS)),
)


def seen(x, name):
    return VIEWS[name](x) if x.shape == SHAPE else x


def fitted(x, shape):
    """x, or something of it that can be broadcast to the shape."""
    try:
        if np.broadcast_shapes(x.shape, shape) == shape:
            return x
    except ValueError:
        pass
    return la.sum(x)


def run(steps, a, b):
    """The program on two arrays; each value that it makes may be read and written later."""
    arrays = [a * 1, b * 1]  # the leaves themselves are not written
    for kind, unary, binary, i, j, first, second in steps:
        x, y = arrays[i % len(arrays)], arrays[j % len(arrays)]
        to, value = seen(x, first), seen(y, second)
        if kind == "unary":
            arrays.append(UNARY[unary](value))
        elif kind == "binary":
            other = fitted(value, to.shape)
            arrays.append(BINARY[binary](to, other))
        elif kind == "assign" and x.shape == SHAPE:
            to[...] = fitted(value * 1, to.shape)
        elif kind == "update" and x.shape == SHAPE:
            to += fitted(la.sin(value * 1), to.shape)
        elif kind == "scatter" and x.shape == SHAPE:
            x[la.array([2, 0, 2])] = fitted(value * 1, (3, 4))
        elif kind == "fill" and x.shape == SHAPE:
            to[...] = 0.5
        elif kind == "mask" and x.shape == SHAPE:
            x[la.array(MASK)] = fitted(value * 1, (4,))
        elif kind == "where" and x.shape == SHAPE:
            la.multiply(x, fitted(value, SHAPE), where=la.array(MASK), out=x)
        elif kind == "at" and x.shape == SHAPE:
            la.add.at(x, la.array([0, 2, 0]), fitted(la.sin(value), (3, 4)))
        elif kind == "sort" and x.shape == SHAPE:
            to.sort(axis=-1) if to.ndim else None
    return [la.tanh(x.sum() * 0.3) + (x * 0.1).sum() for x in arrays]


@settings(
    max_examples=60 if CHILD else 150,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(
    steps=st.lists(STEP, min_size=1, max_size=12),
    bulk=st.sampled_from([0, 1, 7, 1000]),
    seed=st.integers(0, 1000),
)
def test_programs(steps, bulk, seed):
    rng = np.random.default_rng(seed)
    with engine.bulk(bulk):
        try:
            arrays = rng.uniform(-1, 1, (2, *SHAPE))
            check(lambda a, b: run(steps, a, b), *arrays, seed=seed, least=1e-3)
        except RuntimeError as exc:
            # A value was needed that the program overwrote: refused, not wrong.
            assert "overwritten" in str(exc)


@pytest.mark.skipif(CHILD, reason="this is the child")
@pytest.mark.parametrize("kind", ["NaiveEngine", "ThreadedEnginePooled", "ThreadedEnginePerDevice"])
def test_in_each_engine(kind):
    here = os.path.dirname(__file__)
    files = [
        os.path.join(here, f"test_{name}.py") for name in ("random_programs", "tape", "selecting")
    ]
    env = dict(os.environ, LAZYARRAY_TEST_CHILD="1", LAZYARRAY_ENGINE_TYPE=kind)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "--no-header",
            "-p",
            "no:cacheprovider",
            *files,
        ],
        env=env,
        capture_output=True,
        text=True,
        timeout=250,
        cwd=os.getcwd(),
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
