"""For Dask's own tests: the backend is lazyarray, or lazyarray stands in the place of cupy."""

import functools
import importlib
import json
import os
import pathlib
import re
import sys
import types
from typing import Any

import lazyarray as la

KIND = os.environ.get("DASK_TESTS_KIND")
OUTCOMES: dict[str, str] = {}


def pytest_runtest_logreport(report: Any) -> None:
    """Notes what became of a test: that of its call, unless something else went wrong."""
    what = report.outcome
    if hasattr(report, "wasxfail"):
        what = {"skipped": "xfailed", "passed": "xpassed"}.get(what, what)
    elif what == "failed" and report.when != "call":
        what = "error"
    if report.when == "call" or what != "passed":
        OUTCOMES[re.sub(r"^[^:]*/", "", report.nodeid)] = what


def pytest_sessionfinish() -> None:
    pathlib.Path(os.environ["DASK_TESTS_OUTCOMES"]).write_text(json.dumps(OUTCOMES))


def as_cupy() -> None:
    """Makes ``cupy`` a module with lazyarray's names, and those that only CuPy has."""

    class Cupy(types.ModuleType):
        def __getattr__(self, name: str) -> Any:
            return getattr(la.random if self.__name__ == "cupy.random" else la, name)

    cupy = Cupy("cupy")
    cupy.__version__ = "14.0.0"  # type: ignore[attr-defined]
    cupy.ndarray = la.NDArray  # type: ignore[attr-defined]
    cupy.asnumpy = lambda x, **_: x.asnumpy()  # type: ignore[attr-defined]
    cupy.cuda = types.SimpleNamespace(  # type: ignore[attr-defined]
        runtime=types.SimpleNamespace(CUDARuntimeError=RuntimeError, getDeviceCount=lambda: 0)
    )
    cupy.random = Cupy("cupy.random")  # type: ignore[attr-defined]
    cupy.__path__ = []  # type: ignore[attr-defined]
    sys.modules["cupy"] = cupy  # Dask looks for it
    cupy.random.XORWOW = importlib.import_module("lazyarray.dask.backend").PCG64


if KIND == "cupy":
    as_cupy()

import dask  # noqa: E402
import dask.array  # noqa: E402

if KIND == "backend":
    dask.config.set({"array.backend": "lazyarray"})
    # Values and dtypes are compared; that a result's type is NumPy's is what isn't asked for.
    dask.array.utils.assert_eq = functools.partial(dask.array.utils.assert_eq, check_type=False)
