"""Arrow: arrays, tables and buffers of lazyarrays."""

import subprocess
import sys

import pytest

from .calls import agree, cases

pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = pytest.mark.host

SETUP = """
import pyarrow as pa, pyarrow.compute as pc
"""
CALLS = [
    "pa.array(v).to_pylist()",
    "pa.table({'a':v,'b':w}).to_pydict()",
    "pa.Tensor.from_numpy(M).to_numpy()",
    "pc.sum(pa.array(v)).as_py()",
    "pa.py_buffer(v).to_pybytes()",
    "pa.scalar(v[0]).as_py()",
    "pa.array(v, mask=v>0).to_pylist()",
    "xp.asarray(pa.array([1.,2.]))",
    "pa.array([v,w]).to_pylist()",
    "pa.table({'a':v}).filter(pa.array(v>0)).to_pydict()",
    "pa.array(v).take(pa.array(idx)).to_pylist()",
    "pa.chunked_array([v]).to_pylist()",
    "pa.array(v, type=pa.float32()).to_pylist()",
    "pa.RecordBatch.from_arrays([pa.array(v)], names=['a']).to_pydict()",
    "pa.FixedSizeListArray.from_arrays(pa.array(M.ravel()), 6).to_pylist()",
    "pa.array([v[0], v[1]]).to_pylist()",
    "pc.add(pa.array(v), v[0]).to_pylist()",
    "pa.table([v,w], names=['a','b']).to_pydict()",
    "pa.array(v).take(idx).to_pylist()",
    "pa.table({'a':v}).filter(v>0).to_pydict()",
]
FAILS = {
    "pa.Tensor.from_numpy(M).to_numpy()": "asks for NumPy's own type",
}


@pytest.mark.parametrize("call", cases(CALLS, FAILS))
def test_calls(call, tmp_path):
    agree(SETUP, call, tmp_path)


BEFORE = """
import importlib, importlib.util
names = "pyarrow cv2 sympy polars networkx skimage.util skimage.transform".split()
there = [n for n in names if importlib.util.find_spec(n.partition(".")[0])]
pa, *rest = map(importlib.import_module, there)
found = dict(zip(there[1:], rest))
if "skimage.util" in found:
    found["skimage.util"].view_as_windows, found["skimage.transform"].hough_line
import lazyarray as la
x = la.arange(16.0).reshape(4, 4)
calls = {
    "cv2": lambda m: m.flip(x, 1),
    "sympy": lambda m: m.sympify(x[0, 1]) * x[0],
    "polars": lambda m: m.Series(x[0]),
    "networkx": lambda m: m.Graph(x),
    "skimage.util": lambda m: m.view_as_windows(x, (2, 2)),
    "skimage.transform": lambda m: m.hough_line(x > 3),
}
assert pa.array(x[0]).to_pylist() == [0, 1, 2, 3] and pa.py_buffer(x).size == 128
for name, module in found.items():
    calls[name](module)
"""


def test_libraries_that_were_imported_before():
    subprocess.run([sys.executable, "-c", BEFORE], check=True)
