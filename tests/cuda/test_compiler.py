"""How kernels are compiled: what is asked of CuPy's NVRTC, what is kept, what a kernel is given."""

import sys
import time
import types
from concurrent.futures import ThreadPoolExecutor

import pytest

from lazyarray.lazy.cuda import compiler, services, source

from .test_source import AXPY

TEXT = 'extern "C" __global__ void f() {}'


@pytest.fixture
def cupy(monkeypatch, tmp_path):
    """A CuPy that notes what it is asked to compile."""

    def compile_using_nvrtc(text, options=(), cache_in_memory=False):
        assert options == compiler.OPTIONS and cache_in_memory
        made.asked.append(text)
        return f"cubin of {text}\n".encode(), None

    nvrtc = types.SimpleNamespace(getVersion=lambda: made.version)
    made = types.ModuleType("cupy")
    made.__version__, made.version, made.asked, made.capability = "14.2.0", (13, 0), [], "90"
    made.cuda = types.ModuleType("cupy.cuda")
    made.cuda.Device = lambda: types.SimpleNamespace(compute_capability=made.capability)
    made.cuda.compiler = types.SimpleNamespace(compile_using_nvrtc=compile_using_nvrtc)
    made.cuda.nvrtc = nvrtc
    monkeypatch.setitem(sys.modules, "cupy", made)
    monkeypatch.setitem(sys.modules, "cupy.cuda", made.cuda)
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("CUPY_CACHE_IN_MEMORY", raising=False)
    return made


def test_subnormal_numbers_are_kept():
    """CuPy's own kernels have -ftz=true: the last one given holds."""
    assert "--ftz=false" in compiler.OPTIONS and "--fmad=false" in compiler.OPTIONS


def test_what_is_compiled_is_kept(cupy, tmp_path):
    binary = compiler._binary(TEXT)
    assert compiler._binary(TEXT) == binary == f"cubin of {TEXT}\n".encode()
    assert cupy.asked == [TEXT]
    (kept,) = (tmp_path / "cache").iterdir()
    kept.write_bytes(kept.read_bytes()[:-3])  # a disk that was full
    assert compiler._binary(TEXT) == binary and len(cupy.asked) == 2
    for name, value in [("version", (13, 1)), ("capability", "100"), ("__version__", "15.0.0")]:
        setattr(cupy, name, value)
        compiler._binary(TEXT)
    assert len(cupy.asked) == 5 and len(list((tmp_path / "cache").iterdir())) == 4


def test_threads_share_a_module(cupy, monkeypatch):
    """The second one's took the first one's place: it was unloaded, and its kernels launched."""

    class Module:
        def load(self, binary):
            self.binary = binary

    def slowly(text, options=(), cache_in_memory=False):
        cupy.asked.append(text)
        time.sleep(0.01)
        return text.encode(), None

    cupy.cuda.Device = lambda: types.SimpleNamespace(compute_capability="90", id=7)
    cupy.cuda.compiler.compile_using_nvrtc = slowly
    cupy.cuda.function = types.SimpleNamespace(Module=Module)
    monkeypatch.setenv("CUPY_CACHE_IN_MEMORY", "1")
    monkeypatch.setattr(compiler, "_modules", {})
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(compiler.module, [TEXT] * 8))
    assert len(set(map(id, made))) == 1 and cupy.asked == [TEXT]


def test_nothing_is_kept_where_cupy_keeps_nothing(cupy, tmp_path, monkeypatch):
    monkeypatch.setenv("CUPY_CACHE_IN_MEMORY", "1")
    assert compiler._binary(TEXT) == compiler._binary(TEXT)
    assert len(cupy.asked) == 2 and not (tmp_path / "cache").exists()


def test_a_folder_that_takes_nothing_is_no_error(cupy, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "file"))
    assert compiler._binary(TEXT) and compiler._binary(TEXT) and len(cupy.asked) == 2


def test_a_kernel_gets_all_its_words():
    words = source.words(AXPY)
    assert f"struct Args {{ i8 w[{words}]; }};" in source.source(AXPY)
    with pytest.raises(AssertionError, match=f"{words - 1} words"):
        services.compiled(0, AXPY, words - 1)
