"""A stand-in for ``cupyx``: whether linear algebra raises what its solvers report."""

import contextlib
import threading


class _State(threading.local):
    linalg = "ignore"


_state = _State()


def geterr():
    return {"divide": None, "over": None, "under": None, "invalid": None, "linalg": _state.linalg}


@contextlib.contextmanager
def errstate(*, divide=None, over=None, under=None, invalid=None, linalg=None, fallback_mode=None):
    if any(x is not None for x in (divide, over, under, invalid)):
        raise NotImplementedError("cupyx.errstate has `linalg` alone")
    if linalg not in (None, "ignore", "raise"):
        raise NotImplementedError(linalg)
    before = _state.linalg
    _state.linalg = linalg or before
    try:
        yield
    finally:
        _state.linalg = before
