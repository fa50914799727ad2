"""Arrow: arrays, tables and buffers of lazyarrays."""

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
