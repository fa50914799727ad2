"""``pytest --device gpu:0``: tests make their arrays there; floats within what a GPU rounds."""

import contextlib
import functools
import gc
import os
import pathlib
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, settings

import lazyarray as la
from lazyarray.lazy._lazy import _set_policy

from .lazy.fusing import figures
from .numpys import difference

# What tests compile is compiled anew, and left nowhere.
os.environ.setdefault("LAZYARRAY_CACHE_DIR", "0")
HERE = pathlib.Path(__file__).parent
# Tests that are run as users run things, so that NumPy computes what is small and complete at once
# (`direct_bytes` of the policy). All others are about what we do ourselves, on small arrays.
AS_USERS_DO = (
    "programs",
    "test_docs.py",
    "test_examples.py",
    "interop",
    "protocols",
    "test_array_api.py",
)
DIRECT_BYTES = _set_policy("direct_bytes", 0)
# ... and that loops are compiled beside; tests/lazy/test_jit.py has all of them compiled.
COMPILE_NS = _set_policy("compile_ns", 0)
la.exp(la.sin(la.ones(1_000_000))).wait_to_read()  # from now on plans tell what may be compiled
_set_policy("compile_ns", 1e18)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--device", default=None, help="where arrays are made: gpu:0")


def extended(parameter: Any) -> bool:
    """Whether a test's parameter is a dtype that no GPU has."""
    if not isinstance(parameter, str | type | np.dtype):
        return False
    try:
        return np.dtype(parameter).char in "gG"
    except (TypeError, ValueError):
        return False


class Watch:
    """One thread for the timeouts of all tests; pytest-timeout starts one a test, 0.7 ms each."""

    SECONDS = 5.0  # between two looks; no test is ended so soon

    def __init__(self) -> None:
        self.watched: tuple[float, pytest.Item, Any] | None = None  # (the end, test, settings)
        self.thread: threading.Thread | None = None

    def looks(self) -> None:
        import pytest_timeout

        while True:
            time.sleep(self.SECONDS)
            now = self.watched
            if now is not None and time.monotonic() > now[0]:
                pytest_timeout.timeout_timer(*now[1:])  # says where all threads are, and exits

    def begins(self, item: pytest.Item, settings: Any) -> None:
        if self.thread is None:
            self.thread = threading.Thread(target=self.looks, name="timeouts", daemon=True)
            self.thread.start()
        self.watched = time.monotonic() + settings.timeout, item, settings

    def ends(self) -> None:
        self.watched = None


WATCH = Watch()


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> bool | None:
    if settings.method != "thread":
        return None  # its own
    WATCH.begins(item, settings)
    return True


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_timeout_cancel_timer(item: pytest.Item) -> None:
    WATCH.ends()


def pytest_collection_finish(session: pytest.Session) -> None:
    # 28,000 tests are some million objects, which every gc.collect() of a test would look through.
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def _kept_objects_are_looked_through_once() -> Iterator[None]:
    # So are their reports, of the files that are done, and whatever these imported.
    yield
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--device") is not None:
        config.pluginmanager.register(OnDevice())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Function]) -> None:
    for item in items:
        if why := difference(item.nodeid):
            item.add_marker(pytest.mark.skip(reason=why))
    if not str(config.getoption("--device")).startswith("gpu"):
        return
    for item in items:
        if item.get_closest_marker("host"):
            item.add_marker(pytest.mark.skip(reason="needs host memory or NumPy's own bits"))
        elif hasattr(item, "callspec") and any(map(extended, item.callspec.params.values())):
            item.add_marker(pytest.mark.skip(reason="a GPU has no extended precision"))
        test = getattr(item, "obj", None)
        given = getattr(test, "_hypothesis_internal_use_settings", None)
        if given is not None:  # each new program has kernels to compile
            test._hypothesis_internal_use_settings = settings(
                given,
                max_examples=min(given.max_examples, 25),
                deadline=None,
                phases=[Phase.explicit, Phase.generate],
            )


def close(got: Any, want: Any, *args: Any, **kwargs: Any) -> None:
    """``assert_array_equal`` for another device's results.

    Floats may differ by 1000 units in the last place of the largest element (halves by 30): a GPU
    adds in another order and has its own exponential function. Everything else is equal.
    """
    a, b = np.asarray(got), np.asarray(want)
    if a.dtype.kind not in "fc" or b.dtype.kind not in "fc" or a.dtype != b.dtype:
        exact(a, b, *args, **kwargs)
        return
    eps = 1000 * float(np.finfo(b.dtype).eps)
    if b.dtype.char == "e":
        eps = 30 * float(np.finfo(b.dtype).eps)
        a, b = (np.clip(x, -65504, 65504) for x in (a, b))  # which of them overflows depends, too
    finite = np.abs(b[np.isfinite(b)])
    largest = float(finite.max()) if finite.size else 0.0
    np.testing.assert_allclose(a, b, rtol=eps, atol=eps * largest)


exact = np.testing.assert_array_equal


class OnDevice:
    """A plugin of sessions with ``--device``: in others, a fixture takes each test 0.1 ms."""

    @pytest.fixture(autouse=True)
    def _current_device(
        self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
    ) -> Iterator[None]:
        kind, _, number = request.config.getoption("--device").partition(":")
        if kind == "gpu":
            monkeypatch.setattr(np.testing, "assert_array_equal", close)
        with la.Context(kind, int(number or 0)):
            yield
        with contextlib.suppress(Exception):  # on a CPU small ops' errors are raised at the call
            la.waitall()


@functools.cache
def as_users_do(path: pathlib.Path) -> bool:
    return path.relative_to(HERE).parts[0] in AS_USERS_DO


before_as_users_do = False


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    # No fixture, which takes each test 0.1 ms.
    global before_as_users_do
    users, before = as_users_do(item.path), before_as_users_do
    if users or before:
        _set_policy("direct_bytes", DIRECT_BYTES if users else 0)
        _set_policy("compile_ns", COMPILE_NS if users else 1e18)
        before_as_users_do = users


@pytest.fixture(params=[True, False], ids=["direct", "recorded"])
def direct(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Whether small complete operands are given to NumPy at once."""
    _set_policy("direct_bytes", DIRECT_BYTES if request.param else 0)
    yield request.param
    _set_policy("direct_bytes", 0)


@pytest.fixture
def asked() -> Iterator[None]:
    """No worker takes what is recorded before it is asked for, however long the test is held up."""
    with figures(age_ns=1e15, call_age_ns=1e15):
        yield


@pytest.fixture(params=["alone", "shared"])
def crew(request: pytest.FixtureRequest) -> Iterator[None]:
    """What is recorded runs on one thread, or is shared by several however small it is."""
    with figures(split_ns=0 if request.param == "shared" else 1e15, task_ns=0, inline_ns=0):
        yield
