"""Runs a program, a function of ``np``, with NumPy and with lazyarray, and compares its results."""

import contextlib
import inspect
import io
import re
import warnings

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import on_gpu


def programs(module, *others):
    """The programs of a test module: its functions whose first argument is ``np``, less others."""
    return [
        pytest.param(f, marks=getattr(f, "pytestmark", []))
        for f in module.values()
        if inspect.isfunction(f) and [*inspect.signature(f).parameters][:1] == ["np"]
        if f not in others
    ]


NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]\d+)?")


def alike(got, want):
    """Equal; on a GPU the numbers in a text, and numbers, may differ in the last digits."""
    if not on_gpu() or not isinstance(want, (str, float, complex)):
        return got == want
    if isinstance(want, str):
        if NUMBER.split(got) != NUMBER.split(want):
            return False
        got, want = ([*map(float, NUMBER.findall(text))] for text in (got, want))
    return np.allclose(got, want, rtol=1e-12, atol=1e-14)


def same(got, want, at="result"):
    """The same structure and Python values; arrays of one shape and dtype, with equal bits."""
    if isinstance(got, la.NDArray) and isinstance(want, (bool, int, float)):
        want = np.asarray(want)  # NumPy gives a Python number where lazyarray is lazy
    if isinstance(want, (np.ndarray, np.generic)):
        assert isinstance(got, (la.NDArray, np.generic)), f"{at}: {type(got).__name__}"
        assert (got.shape, got.dtype) == (want.shape, want.dtype), at
        np.testing.assert_array_equal(np.asarray(got), want, at)
        assert (
            np.signbit(got).tolist() == np.signbit(want).tolist() if want.dtype.kind == "f" else 1
        )
    elif isinstance(want, dict):
        assert isinstance(got, dict), at
        assert [*got] == [*want], at
        for key in want:
            same(got[key], want[key], f"{at}[{key!r}]")
    elif isinstance(want, (tuple, list)):
        assert type(got).__name__ == type(want).__name__, at
        assert len(got) == len(want), at
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            same(g, w, f"{at}[{i}]")
    elif isinstance(want, float) and want != want:
        assert got != got, at
    else:
        assert type(got) is type(want), f"{at}: {got!r}, not {want!r}"
        assert alike(got, want), f"{at}: {got!r}, not {want!r}"


def run(program, xp):
    """What a program returns, and what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = program(xp)
    return result, printed.getvalue()


def check(program):
    want = run(program, np)
    same(run(program, la), want)
