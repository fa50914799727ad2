"""la.show_config(): what the library runs with."""

import os
import subprocess
import sys

import numpy as np
import pytest

import lazyarray as la


def test_it_prints_and_gives_the_same(capsys):
    assert la.show_config() is None
    printed = capsys.readouterr().out
    found = la.show_config(mode="dicts")
    assert capsys.readouterr().out == ""
    for title, entries in found.items():
        assert f"{title}:" in printed
        assert all(f"  {name}: " in printed for name in entries)
    assert found["lazyarray"]["version"] == la.__version__
    assert found["NumPy"]["version"] == np.__version__ and found["NumPy"]["blas threads"] >= 1
    assert found["Engine"]["type"] == type(la.engine.get()).__name__
    assert found["Engine"]["bulk size"] == la.engine.get().bulk_size
    assert found["CUDA"]["devices"] >= 0
    with pytest.raises(AttributeError) as theirs:
        np.show_config("x")
    with pytest.raises(AttributeError) as mine:
        la.show_config("x")
    assert str(mine.value) == str(theirs.value)


@pytest.mark.host  # it tells of the CPU's memory
def test_memory_is_that_of_now():
    before = la.show_config("dicts")["Memory"]["in use"]
    x = la.ones(200000)
    x.wait_to_read()
    assert la.show_config("dicts")["Memory"]["in use"] >= before + x.nbytes


def test_settings_are_those_of_the_environment():
    given = {
        "LAZYARRAY_ENGINE_TYPE": "ThreadedEnginePooled",
        "LAZYARRAY_CPU_WORKER_NTHREADS": "3",
        "LAZYARRAY_BULK_SIZE": "7",
        "LAZYARRAY_MEM_LIMIT": "100000000",
        "OPENBLAS_NUM_THREADS": "1",
    }
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LAZYARRAY_", "O", "MKL_"))}
    code = "import lazyarray as la; print(la.show_config('dicts')); la.show_config()"
    done = subprocess.run([sys.executable, "-c", code], env={**kept, **given}, text=True,
                          capture_output=True, check=True)  # fmt: skip
    found = eval(done.stdout.split("\n")[0])
    assert found["Environment"] == dict(sorted(given.items()))
    assert (found["Engine"]["type"], found["Engine"]["workers"]) == ("ThreadedEnginePooled", 3)
    assert (found["Engine"]["bulk size"], found["Memory"]["limit"]) == (7, 100000000)
    assert found["NumPy"]["blas threads"] in (1, 2)  # 2 where the BLAS can't be asked
    code = "import lazyarray as la; print(la.show_config('dicts')['Engine']['workers'])"
    env = {**kept, "LAZYARRAY_ENGINE_TYPE": "NaiveEngine"}
    done = subprocess.run([sys.executable, "-c", code], env=env, text=True, capture_output=True,
                          check=True)  # fmt: skip
    assert done.stdout == "0\n"


@pytest.mark.parametrize("works", [True, False])
def test_cupy_is_told_of(works, tmp_path):
    (tmp_path / "cupy.py").write_text(
        "__version__ = '99.1'\n"
        "class cuda:\n    class runtime:\n        getDeviceCount = staticmethod(lambda: 3)\n"
        if works
        else "raise ImportError('no driver')\n"
    )
    code = "import lazyarray as la; print(la.show_config('dicts')['CUDA'])"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    done = subprocess.run([sys.executable, "-c", code], env=env, text=True, capture_output=True,
                          check=True)  # fmt: skip
    want = {"cupy": "99.1", "devices": 3} if works else {
        "cupy": "does not work: no driver", "devices": 0}  # fmt: skip
    assert eval(done.stdout) == want


def test_the_command_takes_no_arguments():
    """Not a program to be run, for one: it would seem to have run."""
    for given, status in ((["-h"], 0), (["train.py"], 2)):
        done = subprocess.run(
            [sys.executable, "-m", "lazyarray", *given],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status
        assert "usage: python -m lazyarray" in done.stdout + done.stderr
        assert "Engine:" not in done.stdout
