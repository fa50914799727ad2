"""What lazyarray runs with: versions, engine, memory, settings."""

from __future__ import annotations

import importlib.util
import os
import platform
import warnings
from typing import Any, Literal, overload

import numpy as np

from lazyarray import _public, engine, storage
from lazyarray.engine.settings import int_env
from lazyarray.lazy._lazy import blas_threads
from lazyarray.lazy.cpu.jit._tier import compiled_loops, jit_mode

__all__ = ["show_config"]

# As the engine read it, when it was made.
_WORKERS = int_env("LAZYARRAY_CPU_WORKER_NTHREADS", max(2, os.cpu_count() or 2))


# As this package is installed: "lazyarray" on PyPI is another one, a single module.
_DISTRIBUTION = "lazyarray-engine"
# A package goes before a module of its name, so beside ours the other one can't be imported.
_HIDDEN = f"{os.path.dirname(__file__)}.py"


def _stranger() -> str | None:
    """What to say where the other package is installed, too: one may be taken for the other."""
    import importlib.metadata

    try:
        version = importlib.metadata.version("lazyarray")
    except importlib.metadata.PackageNotFoundError:
        if not os.path.exists(_HIDDEN):
            return None
        found = _HIDDEN
    else:
        found = f"the distribution 'lazyarray' {version}"
    return (
        f"{found} is another distribution, imported by the same name: keep one of them. This is "
        f"{_DISTRIBUTION!r}; `pip uninstall lazyarray` takes the other away"
    )


if os.path.exists(_HIDDEN):  # one look at the disk: metadata would make the import slower
    warnings.warn(f"lazyarray: {_stranger()}", RuntimeWarning, stacklevel=3)


@overload
def show_config(mode: Literal["stdout"] = ...) -> None: ...
@overload
def show_config(mode: Literal["dicts"]) -> dict[str, dict[str, object]]: ...
def show_config(mode: str = "stdout") -> dict[str, dict[str, object]] | None:
    """Prints versions, BLAS, engine, memory, devices, settings; as a dict with ``mode="dicts"``.

    ``numpy.show_config`` tells how NumPy itself was built.

    Args:
        mode: "stdout" prints, "dicts" returns.
    Returns: None, or a dict of dicts: a title's entries by their names.
    Raises: AttributeError for another ``mode``, as NumPy's.

    >>> import lazyarray as la
    >>> config = la.show_config("dicts")
    >>> list(config)
    ['lazyarray', 'NumPy', 'Python', 'Engine', 'Memory', 'Compiler', 'CUDA', 'Environment']
    >>> config["lazyarray"]["version"] == la.__version__
    True
    """
    if mode not in ("stdout", "dicts"):
        raise AttributeError("Invalid `mode`, use one of: stdout, dicts")
    found = _config()
    if mode == "dicts":
        return found
    print("\n".join(_lines(found)))
    return None


def _config() -> dict[str, Any]:
    here = engine.get()
    naive = isinstance(here, engine.NaiveEngine)
    pool = storage.pool_stats()
    package = _public.namespace
    mine = {"version": package.__version__, "path": package.__path__[0]}
    stranger = _stranger()
    return {
        "lazyarray": mine | ({"beware": stranger} if stranger else {}),
        "NumPy": {"version": np.__version__, "blas": _blas(), "blas threads": blas_threads()},
        "Python": {"version": platform.python_version(), "platform": platform.platform()},
        "Engine": {
            "type": type(here).__name__,
            "workers": 0 if naive else _WORKERS,
            "cores": os.cpu_count(),
            "bulk size": here.bulk_size,
        },
        "Memory": {name.replace("_", " "): pool[name] for name in _BYTES},
        "Compiler": _compiler(),
        "CUDA": _cuda(),
        "Environment": {k: v for k, v in sorted(os.environ.items()) if k.startswith(_SETTINGS)},
    }


_BYTES = ("limit", "in_use", "cached", "peak")  # of cpu(0); a limit of 0 is none
# What sets how lazyarray, and the BLAS that it calls, run.
_SETTINGS = ("LAZYARRAY_", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def _blas() -> str:
    # An empty dict where NumPy was built without one.
    built: Any = np.show_config(mode="dicts")
    blas = built.get("Build Dependencies", {}).get("blas", {})
    return f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()


def _compiler() -> dict[str, Any]:
    """Whether LLVM is there for the compiled tier, and what it has done."""
    import importlib.metadata

    try:
        version = importlib.metadata.version("llvmlite")
    except importlib.metadata.PackageNotFoundError:
        version = None
    return {"llvmlite": version, "mode": jit_mode(), "loops": compiled_loops()["ready"]}


def _cuda() -> dict[str, Any]:
    """Whether CuPy is installed, and how many devices it finds."""
    if importlib.util.find_spec("cupy") is None:
        return {"cupy": None, "devices": 0}
    try:
        import cupy

        return {"cupy": cupy.__version__, "devices": cupy.cuda.runtime.getDeviceCount()}
    except Exception as exc:  # no driver, a library that is missing: what CuPy says
        return {"cupy": f"does not work: {exc}", "devices": 0}


def _lines(found: dict[str, Any]) -> list[str]:
    lines = []
    for title, entries in found.items():
        lines.append(f"{title}:" if entries else f"{title}: nothing set")
        lines += [f"  {name}: {value}" for name, value in entries.items()]
    return lines
