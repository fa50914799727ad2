"""Each wait raises a copy of an op's exception: alike in all that the type keeps."""

import numpy as np
import pytest

from lazyarray.engine import Device, ThreadedEnginePerDevice


class Odd(Exception):
    """Its __init__ can't be called with its args."""

    def __init__(self, a, b):
        super().__init__(f"odd {a}")
        self.b = b

    def __str__(self):
        return f"{self.args[0]} {self.b}"


class Slots(ValueError):
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x

    def __str__(self):
        return f"x={self.x}"


class Keyword(Exception):
    """It can't be made from its args."""

    def __new__(cls, a, *, k):
        return super().__new__(cls, a)

    def __init__(self, a, *, k):
        self.k = k


def with_cause():
    error = ValueError("v")
    error.__cause__ = ZeroDivisionError("c")
    return error


@pytest.mark.parametrize(
    "error",
    [
        Odd(1, 2),
        Slots(5),
        Keyword(3, k=4),
        with_cause(),
        OSError(2, "no", "file"),
        OSError("disk"),
        SystemExit(3),
        StopIteration(4),
        ImportError("m", name="n", path="p"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
        ExceptionGroup("g", [ValueError(1)]),
        np.exceptions.AxisError(3, 2),
        np.exceptions.AxisError("text"),
    ],
    ids=lambda e: type(e).__name__,
)
def test_a_raised_copy_is_like_the_original(error):
    def fail(ctx):
        raise error

    e = ThreadedEnginePerDevice()
    v = e.new_variable()
    text = str(error)
    e.push_sync(fail, Device("cpu"), mutable_vars=[v])
    for _ in range(2):
        with pytest.raises(type(error)) as caught:
            e.wait_for_var(v)
        got = caught.value
        assert got is not error and error.__traceback__ is not got.__traceback__
        assert (str(got), repr(got), got.args) == (text, repr(error), error.args)
        assert repr(got.__cause__) == repr(error.__cause__)
        for name in ("code", "value", "name", "errno", "filename", "start", "b", "x", "k"):
            assert getattr(got, name, None) == getattr(error, name, None)
        assert len(got.__notes__) == 1 and "op 'fail' pushed at" in got.__notes__[0]
        assert not hasattr(error, "__notes__")
