"""Generated kernels through NVIDIA's own compiler, where its library is installed."""

from __future__ import annotations

import ctypes
import importlib.util
import os
from pathlib import Path

import pytest

from lazyarray.lazy.cuda.compiler import OPTIONS
from lazyarray.lazy.cuda.library import kernels
from lazyarray.lazy.cuda.source import Spec, prelude, source

from . import test_expressions, test_reductions, test_source
from .kernels import body

ANY_COMPLEX: Spec = (1, 0, "", False, (("F", "dense"),), "", ())


def _library() -> ctypes.CDLL | None:
    if path := os.environ.get("LAZYARRAY_NVRTC"):
        return ctypes.CDLL(path)
    for folder in _folders():
        for path in sorted(folder.glob("libnvrtc.so*")):
            for other in folder.glob(
                "libnvrtc-builtins.so*"
            ):  # found by its name, once it is loaded
                ctypes.CDLL(str(other))
            return ctypes.CDLL(str(path))
    return None


def _folders() -> list[Path]:
    """Where NVIDIA's packages have libraries: CUDA 12's one folder each, later ones' all in one."""
    found = importlib.util.find_spec("nvidia")
    roots = [Path(p) for p in found.submodule_search_locations or ()] if found else []
    return [p for root in roots for p in (root / "cuda_nvrtc/lib", *root.glob("cu[0-9]*/lib"))]


NVRTC = _library()
pytestmark = pytest.mark.skipif(
    NVRTC is None, reason="no NVRTC: neither NVIDIA's package nor LAZYARRAY_NVRTC"
)


def supported() -> list[int]:
    """Which architectures this NVRTC compiles for, from the oldest: CUDA 13 has left out some."""
    if NVRTC is None:
        return [70]
    count = ctypes.c_int()
    assert NVRTC.nvrtcGetNumSupportedArchs(ctypes.byref(count)) == 0
    numbers = (ctypes.c_int * count.value)()
    assert NVRTC.nvrtcGetSupportedArchs(numbers) == 0
    return sorted(numbers)


OLDEST = max(supported()[0], 70)


def compiled(text: str, architecture: str) -> str:
    """The PTX."""
    assert NVRTC is not None
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    name = b"kernel.cu"
    NVRTC.nvrtcCreateProgram(ctypes.byref(program), text.encode(), name, 0, None, None)
    texts = *OPTIONS, f"--gpu-architecture={architecture}", "--device-as-default-execution-space"
    options = [text.encode() for text in texts]  # the last one is CuPy's
    given = (ctypes.c_char_p * len(options))(*options)
    code = NVRTC.nvrtcCompileProgram(program, len(options), given)
    NVRTC.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    NVRTC.nvrtcGetProgramLog(program, log)
    assert code == 0, log.value.decode()[:4000]
    NVRTC.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    NVRTC.nvrtcGetPTX(program, ptx)
    NVRTC.nvrtcDestroyProgram(ctypes.byref(program))
    return ptx.value.decode()


def together(specs: list[Spec]) -> str:
    """Many kernels in one source."""
    text = [prelude(ANY_COMPLEX)]
    for n, spec in enumerate(specs):
        code = body(spec).replace("void kernel(", f"void kernel_{n}(")
        code = code.replace("void combine(", f"void combine_{n}(")
        text.append(f"namespace n{n} {{\n{code}}}\n")
    return "".join(text)


@pytest.mark.parametrize("part", range(8))
def test_every_op(part: int) -> None:
    cases = [c for c in test_expressions.CASES if (c[0], c[1][0]) not in test_expressions.HOSTED]
    specs = [test_expressions.spec_of(*c) for c in cases[part::8]]
    compiled(together(specs), f"compute_{OLDEST}")


@pytest.mark.parametrize("lanes", ["reduced", "kept"])
def test_every_reduction(lanes: str) -> None:
    specs = [test_reductions.reduction(*c, lanes) for c in test_reductions.CASES]
    compiled(together([*specs, test_reductions.SOFTMAX]), "compute_90")


def test_every_layout() -> None:
    specs = [test_source.sums(*layout) for layout in test_source.LAYOUTS]
    compiled(together([*specs, test_source.IN_PLACE, *test_source.FILLS]), "compute_80")


@pytest.mark.parametrize("architecture", [f"sm_{OLDEST}", "sm_80", "sm_90"])
def test_one_source_as_it_is(architecture: str) -> None:
    ptx = compiled(source(test_source.AXPY), architecture)
    assert ".entry kernel(" in ptx
    assert "fma" not in ptx and "f64" not in ptx and ".local" not in ptx and ".ftz" not in ptx
    ptx = compiled(source(test_reductions.SOFTMAX), architecture)
    assert ".entry kernel(" in ptx and ".entry combine(" in ptx and ".local" not in ptx


def test_rows_stay_in_registers() -> None:
    ptx = compiled(source(test_reductions.KEPT_ROWS), "sm_90")
    assert ".entry kernel(" in ptx and ".entry combine(" not in ptx and ".local" not in ptx
    assert ptx.count("ld.global.f32") == ptx.count("st.global.f32") - 1 == 16


def test_loads_come_first() -> None:
    ptx = compiled(source(test_source.AXPY), "sm_80")
    loads = [n for n, line in enumerate(ptx.splitlines()) if "ld.global" in line]
    stores = [n for n, line in enumerate(ptx.splitlines()) if "st.global" in line]
    assert len(loads) == 5 and len(stores) == 4 and max(loads) < min(stores)


@pytest.mark.parametrize("index", ["i", "l"])
@pytest.mark.parametrize("element", ["f", "d", "i", "l"])
def test_the_library(element: str, index: str) -> None:
    ptx = compiled(kernels.source(element, index), "sm_90")
    assert ptx.count(".entry ") == 7 and "fma" not in ptx and ".ftz" not in ptx
