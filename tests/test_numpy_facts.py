"""What is said of NumPy's versions is so of the one that runs here, and each has its errors."""

import inspect
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

from lazyarray import _numpy_facts as facts

from .numpys import DIFFERENT

HERE = pathlib.Path(__file__).parent


def in_parts(a):
    """A sum of the parts of a row that older NumPys make of it."""
    total = a.dtype.type(0)
    for start in range(0, len(a), np.getbufsize()):
        total += np.add.reduce(a[start : start + np.getbufsize()])
    return total


def reduced(x):
    out = np.zeros(x.shape[1:])
    np.maximum.reduce(x, out=out)
    return out


def from_the_last(x):
    half = np.fft.rfft(x, axis=2)
    last, first = (np.fft.fft(np.fft.fft(half, axis=a), axis=1 - a) for a in (1, 0))
    assert not np.array_equal(last, first)
    return np.array_equal(np.fft.rfftn(x), last)


class Exporter:
    """What speaks DLPack, and only that."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **kwargs):
        return self._array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


ROW = np.random.default_rng(0).random(300_000).astype("f4")
CUBE = np.random.default_rng(1).random((5, 6, 7))
PROBES = {
    "BUFFERS_WHERE_IT_PAYS": lambda: np.add.reduce(ROW) != in_parts(ROW),
    "POWERS_KEEP_DTYPES": lambda: (np.ones(2, "f4") ** np.float64(2)).dtype == "f8",
    "REDUCES_INTO_OUT": lambda: np.array_equal(reduced(CUBE[::-1]), CUBE.max(0)),
    "RFFTN_FROM_THE_LAST": lambda: from_the_last(CUBE),
    "EIG_IS_COMPLEX": lambda: np.linalg.eigvals(np.eye(2)).dtype == "c16",
    "SAVEZ_ALLOWS_PICKLE": lambda: "allow_pickle" in inspect.signature(np.savez).parameters,
    "UNIQUE_UNSORTED": lambda: "sorted" in inspect.signature(np.unique).parameters,
    "RESHAPE_COPY": lambda: np.ones(2).reshape(2, 1, copy=False).shape == (2, 1),
    "CROSS_OF_THREE": lambda: np.cross([1, 0], [0, 1]) is None,
    "TAKES_INTO_ANY": lambda: np.take(np.ones(1, "i4"), [0], out=np.zeros(1)) == [1],
    "DLPACK_VERSIONS": lambda: np.ones(2).__dlpack__(max_version=(1, 0)) is not None,
    "DLPACK_WRITABLE": lambda: np.from_dlpack(Exporter(np.ones(2))).flags.writeable,
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", PROBES)
def test_facts(name):
    try:
        found = bool(PROBES[name]())
    except (TypeError, ValueError):
        found = name == "CROSS_OF_THREE"  # it refuses vectors of two
    assert found is getattr(facts, name)


def test_each_fact_has_its_probe():
    assert {name for name in vars(facts) if name.isupper()} == {"VERSION", *PROBES}


def test_a_numpy_that_is_too_old_is_told():
    code = (
        "import numpy; numpy.__version__ = '1.26.4'\n"
        "try: import lazyarray\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("lazyarray needs NumPy 2.0 or newer, and this is 1.26.4")


def test_what_is_skipped_exists():
    sources = [(p.name, p.read_text()) for p in HERE.rglob("test_*.py")]
    for _, _, name in DIFFERENT:
        file, _, test = name.rpartition("::")
        found = [text for n, text in sources if not file or n == file]
        function = test.partition("[")[0]
        assert any(re.search(rf"^def \w*{function}", text, re.M) for text in found), name
