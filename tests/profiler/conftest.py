"""Fixtures of the profiler's tests."""

import pytest

import lazyarray as la
from lazyarray.profiler import session

from .reading import Trace


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    """Each test begins and ends stopped, with the default settings, in a directory of its own."""
    monkeypatch.chdir(tmp_path)
    before = session.session.config
    la.waitall()
    yield
    if session.session.recording is not None:
        la.profiler.dump()
    session.session.config = before


@pytest.fixture
def profiled(tmp_path):
    """profiled(fn) is the trace of fn(), checked."""

    def profiled(fn, **options):
        path = tmp_path / "trace.json"
        with la.profiler.profile(path, **options):
            fn()
        return Trace(path).check()

    return profiled
