"""Numba: ufuncs take lazyarrays, and compiled functions ``x.data``."""

import pytest

from .calls import agree, cases

pytest.importorskip("numba", reason="numba is not installed")
pytestmark = pytest.mark.host

SETUP = """
import numba; f=numba.njit(lambda a: a.sum()); g=numba.vectorize(['f8(f8)'])(lambda a:a*2)
def _h(a,r): r[0]=a.sum()
h=numba.guvectorize(['(f8[:],f8[:])'],'(n)->()')(_h)
"""
CALLS = [
    "f(v)",
    "g(v)",
    "f(M)",
    "numba.njit(lambda a,i: a[i])(v, idx[0])",
    "g(v[0])",
    "h(M)",
    "numba.typed.List([v,w])[0]",
]
FAILS = {
    "f(v)": "asks for NumPy's own type, or a buffer",
    "f(M)": "asks for NumPy's own type, or a buffer",
    "numba.typed.List([v,w])[0]": "asks for NumPy's own type, or a buffer",
}


@pytest.mark.parametrize("call", cases(CALLS, FAILS))
def test_calls(call, tmp_path):
    agree(SETUP, call, tmp_path)
