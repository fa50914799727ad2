"""pint and uncertainties: units and errors of arrays and their elements, in calculations and as text."""

import pytest

from .calls import agree, cases

pytestmark = pytest.mark.host

SETUPS = {
    "pint": "import pint; U = pint.UnitRegistry(); Q = U.Quantity; q = Q(v[:3], 'm')",
    "uncertainties": "from uncertainties import ufloat, unumpy; u = ufloat(2, 0.1)",
}
CALLS = [
    "pint: str(q)",
    "pint: f'{q:.2f~P}'",
    "pint: f'{q:.3eL}'",
    "pint: f'{q:Lx}'",
    "pint: f'{q:.1f~H}'",
    "pint: f'{q:C}'",
    "pint: f'{Q(v[0], \"m\"):.2f~}'",
    "pint: str(v[:3] * U.m)",
    "pint: str(U.m * v[0])",
    "pint: q.to('km').magnitude",
    "pint: xp.where(v[:3] > 0.5, q, Q(1, 'cm')).to('m').magnitude",
    "pint: xp.concatenate([q, q.to('cm')]).magnitude",
    "uncertainties: str(u * v[0])",
    "uncertainties: str(v[0] * u)",
    "uncertainties: str(u - v.mean())",
    "uncertainties: str(u / xp.arange(3)[2])",
    "uncertainties: str(xp.arange(3)[2] ** u)",
    "uncertainties: u < v[0]",
    "uncertainties: str((u * v)[1])",
    "uncertainties: str((v * u)[1])",
    "uncertainties: str(ufloat(v[0], abs(v[1])))",
    "uncertainties: str((unumpy.uarray(v, abs(v)) * v).sum())",
]
FAILS: dict[str, str] = {}


@pytest.mark.parametrize("call", cases(CALLS, FAILS))
def test_calls(call, tmp_path):
    library, call = call.split(": ", 1)
    pytest.importorskip(library, reason=f"{library} is not installed")
    agree(SETUPS[library], call, tmp_path)
