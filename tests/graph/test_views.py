"""Views said as steps: of random views of dense arrays, the steps give the same elements."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazyarray.graph.views import find
from lazyarray.lazy.captured import Layout, c_layout


def layout(a, memory):
    start = a.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
    return Layout(a.dtype, start, a.shape, a.strides)


def followed(x, path):
    """The steps of a path, by NumPy."""
    if path.part in ("real", "imag"):
        x = getattr(x, path.part)
    if path.order is not None:
        x = x.transpose(path.order)
    if path.part not in (None, "real", "imag"):
        x = x.reshape(-1).view(path.part)
    if path.shape is not None:
        x = x.reshape(path.shape)
    if path.key is not None:
        x = x[path.key]
    return x if path.axes is None else x.transpose(path.axes)


@st.composite
def views(draw):
    """Memory, a dense array of it, and a view of that."""
    shape = draw(st.lists(st.integers(1, 5), max_size=4))
    order = draw(st.permutations(range(len(shape))))
    dtype = draw(st.sampled_from(["f8", "c16", "i2"]))
    memory = np.arange(math.prod(shape)).astype(dtype)
    base = memory.reshape([shape[i] for i in order]).transpose(np.argsort(order))
    view = base
    steps = st.sampled_from("transpose slice reshape none part".split())
    for step in draw(st.lists(steps, max_size=3)):
        if step == "transpose":
            view = view.transpose(draw(st.permutations(range(view.ndim))))
        elif step == "slice":
            ends = st.none() | st.integers(-3, 3)
            by = st.sampled_from([1, 1, 2, -1, -2])
            view = view[tuple([slice(draw(ends), draw(ends), draw(by)) for _ in view.shape])]
        elif step == "reshape":
            flat = view.reshape(-1)
            view = flat if np.shares_memory(flat, memory) else view
        elif step == "none":
            view = view[None]
        elif view.dtype.kind == "c":
            view = draw(st.sampled_from([view.real, view.imag]))
    return memory, base, view


@settings(max_examples=300, deadline=None)
@given(views())
def test_the_steps_make_the_view(drawn):
    memory, base, view = drawn
    if not view.size:
        return
    path = find(layout(base, memory), layout(view, memory))
    if path is None:  # only strides can say it
        return
    got = followed(base, path)
    assert got.shape == path.lengths
    rank = [math.prod(group) for group in path.groups]
    assert np.array_equal(got.reshape(rank), view)


F8 = np.dtype(float)


@pytest.mark.parametrize(
    ("view", "key", "axes", "shape"),
    [
        (lambda x: x[1:], (slice(1, None), slice(None)), None, None),
        (lambda x: x[2], (2, slice(None)), None, None),
        (lambda x: x.T, None, (1, 0), None),
        (lambda x: x[::-1, 1::2], (slice(None, None, -1), slice(1, None, 2)), None, None),
        (lambda x: x.reshape(2, 6)[:, 1:], (slice(None), slice(1, None)), None, (2, 6)),
        (lambda x: x.reshape(-1)[3:9], (slice(3, 9),), None, (12,)),
        (lambda x: x.reshape(-1), None, None, None),
    ],
)
def test_common_views_have_simple_steps(view, key, axes, shape):
    memory = np.zeros((3, 4))
    path = find(c_layout((3, 4), F8), layout(view(memory), memory))
    assert (path.key, path.axes, path.shape, path.order) == (key, axes, shape, None)


def test_what_only_strides_can_say():
    windows = Layout(F8, 0, (4, 3), (8, 8))
    assert find(c_layout((6,), F8), windows) is None
    assert find(c_layout((6,), F8), Layout(F8, 48, (1,), (8,))) is None  # outside
