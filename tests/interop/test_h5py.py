"""h5py: data sets and attributes."""

import pytest

from .calls import agree, cases

pytest.importorskip("h5py", reason="h5py is not installed")
pytestmark = pytest.mark.host

SETUP = """
import h5py
f=h5py.File(T+'/x.h5','w')
out=xp.zeros((6,6))
"""
CALLS = [
    "(f.create_dataset('a',data=M), f['a'][:])[1]",
    "(f.__setitem__('a',M), f['a'][()])[1]",
    "(f.create_dataset('a',(6,6)), f['a'].__setitem__(slice(None),M), f['a'][:])[2]",
    "(f.create_dataset('a',data=v), f['a'][idx])[1]",
    "(f.create_dataset('a',data=v), f['a'][v>0])[1]",
    "(f.attrs.__setitem__('a',v), f.attrs['a'])[1]",
    "(f.attrs.__setitem__('a',v[0]), f.attrs['a'])[1]",
    "(f.create_dataset('a',data=M), xp.asarray(f['a']))[1]",
    "(f.create_dataset('a',data=M), f['a'].read_direct(out), out)[2]",
    "(f.create_dataset('a',data=M,compression='gzip',chunks=(2,2)), f['a'][1:3])[1]",
    "(f.create_dataset('a',data=M), M+f['a'])[1]",
    "(f.create_dataset('a',data=v[0]), f['a'][()])[1]",
    "(f.create_dataset('a',data=v), f['a'][idx[0]])[1]",
    "(f.create_dataset('a',(6,6)), f['a'].write_direct(M), f['a'][:])[2]",
    "(f.create_dataset('a',data=v), f['a'].__setitem__(idx, v[idx]*2), f['a'][:])[2]",
]
FAILS: dict[str, str] = {}


@pytest.mark.parametrize("call", cases(CALLS, FAILS))
def test_calls(call, tmp_path):
    agree(SETUP, call, tmp_path)
