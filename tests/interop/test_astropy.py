"""Astropy: quantities, tables, statistics, models."""

import pytest

from .calls import agree, cases

pytest.importorskip("astropy", reason="astropy is not installed")
pytestmark = pytest.mark.host

SETUP = """
import astropy.units as u, astropy.table, astropy.stats, astropy.coordinates, astropy.io.fits as fits, astropy.modeling
"""
CALLS = [
    "(v*u.m).value",
    "u.Quantity(v,'m').to('km').value",
    "astropy.table.Table({'a':v,'b':w})['a'].data",
    "astropy.stats.sigma_clip(v).data",
    "fits.PrimaryHDU(F).data",
    "(v[0]*u.m).value",
    "astropy.coordinates.SkyCoord(ra=abs(v)*u.deg, dec=w*u.deg).ra.value",
    "astropy.modeling.models.Gaussian1D()(v)",
    "astropy.stats.mad_std(v)",
    "(u.m*v).value",
    "(lambda q: (q+v*u.m).value)(np.ones(len(v))*u.m)",
    "fits.PrimaryHDU(F).writeto(T+'/x.fits', overwrite=True)",
    "astropy.stats.sigma_clipped_stats(v)",
    "astropy.modeling.fitting.LinearLSQFitter()(astropy.modeling.models.Polynomial1D(1), v, w).parameters",
    "astropy.stats.biweight_location(v)",
    "(v*u.m > 0*u.m)",
]
FAILS: dict[str, str] = {}


@pytest.mark.parametrize("call", cases(CALLS, FAILS))
def test_calls(call, tmp_path):
    agree(SETUP, call, tmp_path)
