"""Sources of kernels compiled and loaded by CuPy, for its current device; kept on disk.

Not by ``cupy.RawModule``: that adds ``-ftz=true``, by which subnormal floats are zeros, and looks
for CUDA's headers, of which no source of ours has need.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import threading
from pathlib import Path
from typing import Any

__all__ = ["OPTIONS", "module"]

# Bits as NumPy's: no product and sum in one rounding, no approximate division, subnormal numbers.
OPTIONS = ("-std=c++17", "--fmad=false", "--ftz=false")


class _Module:
    """A source's module on one device, once it is loaded."""

    def __init__(self) -> None:
        self.lock = threading.Lock()  # held by who compiles: other threads want the same module
        self.loaded: Any = None


# Modules stay until the process ends: CuPy unloads one that nobody holds, and kernels of it are
# launched by address. Entries are added by setdefault alone, so that all threads get the same.
_modules: dict[tuple[int, str], _Module] = {}


def module(text: str) -> Any:
    """The loaded module of a source, a ``cupy.cuda.function.Module``, on CuPy's current device."""
    import cupy
    from cupy.cuda import function

    key = cupy.cuda.Device().id, text
    entry = _modules.get(key) or _modules.setdefault(key, _Module())
    if entry.loaded is None:
        with entry.lock:
            if entry.loaded is None:
                made = function.Module()
                made.load(_binary(text))
                entry.loaded = made
    return entry.loaded


def _binary(text: str) -> bytes:
    """What NVRTC makes of it, now or before: CuPy's variables say where, and if, that is kept."""
    import cupy
    from cupy.cuda import compiler, nvrtc

    capability = cupy.cuda.Device().compute_capability
    key = repr((text, OPTIONS, capability, nvrtc.getVersion(), cupy.__version__))
    folder = Path(os.environ.get("CUPY_CACHE_DIR") or "~/.cupy/kernel_cache").expanduser()
    path = folder / f"lazyarray-{hashlib.sha256(key.encode()).hexdigest()[:40]}.cubin"
    on_disk = os.environ.get("CUPY_CACHE_IN_MEMORY", "0") != "1"
    if on_disk:
        with contextlib.suppress(OSError):
            digest, binary = path.read_bytes().split(b"\n", 1)
            if digest == _digest(binary):
                return binary
    binary, _ = compiler.compile_using_nvrtc(text, OPTIONS, cache_in_memory=True)
    if on_disk:
        with contextlib.suppress(OSError):  # it is compiled again next time
            _keep(path, _digest(binary) + b"\n" + binary)
    return binary


def _digest(binary: bytes) -> bytes:
    return hashlib.sha256(binary).hexdigest().encode()


def _keep(path: Path, data: bytes) -> None:
    """Whoever reads it meanwhile finds all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = tempfile.NamedTemporaryFile(dir=path.parent, delete=False)
    try:
        with made:
            made.write(data)
        os.replace(made.name, path)
    except OSError:
        os.unlink(made.name)
        raise
