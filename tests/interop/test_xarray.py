"""Xarray: arrays with names for their axes."""

import pytest

from .calls import agree, cases

pytest.importorskip("xarray", reason="xarray is not installed")
pytestmark = pytest.mark.host

SETUP = """
import xarray as xr
"""
CALLS = [
    "xr.DataArray(M,dims=('a','b')).mean('a')",
    "xr.DataArray(M,dims=('a','b'),coords={'a':idx6}).sel(a=idx6[2])",
    "xr.DataArray(v,dims='t').rolling(t=3).mean()",
    "xr.Dataset({'m':(('a','b'),M)}).sum()",
    "xr.DataArray(M,dims=('a','b')).where(xr.DataArray(M,dims=('a','b'))>0)",
    "xr.concat([xr.DataArray(v,dims='t')]*2,'t')",
    "xr.DataArray(v,dims='t',coords={'t':xp.arange(len(v))}).interp(t=2.5)",
    "xr.DataArray(M,dims=('a','b')).isel(a=idx[:2])",
    "xr.DataArray(M,dims=('a','b')).groupby(xr.DataArray(idx6%2,dims='a',name='g')).mean()",
    "xr.DataArray(M,dims=('a','b'))*xr.DataArray(M[0],dims='b')",
    "xr.DataArray(M,dims=('a','b')).to_pandas().values",
    "xr.DataArray(M,dims=('a','b')).std('a')",
    "xr.apply_ufunc(np.sqrt, xr.DataArray(abs(v),dims='t'))",
    "xr.DataArray(v,dims='t').cumsum('t')",
    "xr.DataArray(M,dims=('a','b')).transpose('b','a')",
    "xr.DataArray(M,dims=('a','b')).stack(z=('a','b'))",
    "xr.DataArray(v,dims='t').shift(t=1)",
    "xr.dot(xr.DataArray(M,dims=('a','b')),xr.DataArray(M[0],dims='b'))",
    "xr.DataArray(M,dims=('a','b')).quantile(.5,'a')",
    "xr.DataArray(v,dims='t').diff('t')",
    "xr.DataArray(M,dims=('a','b')).argmax('a')",
    "xr.DataArray(v,dims='t').fillna(0)",
    "xr.DataArray(v,dims='t').clip(0,1)",
    "xr.DataArray(M,dims=('a','b')).coarsen(a=2).mean()",
    "xr.DataArray(M,dims=('a','b')).pad(a=1)",
    "xr.DataArray(v,dims='t').sortby(xr.DataArray(-w,dims='t'))",
    "xr.DataArray(M,dims=('a','b')).median()",
    "xr.corr(xr.DataArray(v,dims='t'),xr.DataArray(w,dims='t'))",
    "xr.DataArray(v,dims='t',coords={'t':xp.arange(len(v))*1.}).differentiate('t')",
    "xr.DataArray(v,dims='t',coords={'t':xp.arange(len(v))*1.}).integrate('t')",
    "xr.DataArray(M,dims=('a','b')).weighted(xr.DataArray(abs(M[0]),dims='b')).mean('b')",
    "xr.DataArray(v,dims='t').isnull().any()",
    "(lambda d:(d.to_netcdf(T+'/x.nc'),0)[1])(xr.Dataset({'m':(('a','b'),M)}))",
    "xr.DataArray(v,dims='t').copy(deep=True)",
    "xr.DataArray(v,dims='t').equals(xr.DataArray(v,dims='t'))",
    "xr.align(xr.DataArray(v,dims='t',coords={'t':xp.arange(len(v))}),xr.DataArray(v[:4],dims='t',coords={'t':xp.arange(4)}))[0]",
]
FAILS: dict[str, str] = {}


@pytest.mark.parametrize("call", cases(CALLS, FAILS))
def test_calls(call, tmp_path):
    agree(SETUP, call, tmp_path)
