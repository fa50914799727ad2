"""polars: series and frames of lazyarrays."""

import pytest

from .calls import agree, cases

pytest.importorskip("polars", reason="polars is not installed")
pytestmark = pytest.mark.host

SETUP = """
import polars as pl
"""
CALLS = [
    "pl.Series('a',v).to_list()",
    "pl.DataFrame({'a':v,'b':w}).to_dict(as_series=False)",
    "pl.DataFrame(M).to_numpy()",
    "pl.Series(v).filter(pl.Series(v>0)).to_list()",
    "pl.DataFrame({'a':v}).with_columns(b=pl.Series(w)).to_numpy()",
    "pl.DataFrame({'a':v}).with_columns(pl.lit(w[0]).alias('b')).to_numpy()",
    "xp.asarray(pl.Series([1.,2.]))",
    "pl.Series(v)[idx].to_list()",
    "(pl.Series(v)+w[0]).to_list()",
    "pl.from_numpy(M).to_numpy()",
    "pl.DataFrame({'a':v}).filter(pl.col('a')>v[0]).to_numpy()",
    "pl.Series([v[0],v[1]]).to_list()",
    "pl.DataFrame([{'a':v[0]}]).to_numpy()",
    "pl.DataFrame({'a':v})[idx].to_numpy()",
    "xp.sqrt(abs(pl.Series(v))).to_list()",
    "(pl.Series(v)+w).to_list()",
    "pl.Series(v).is_in(w).to_list()",
    "pl.DataFrame({'m':[v,w]}).to_dicts()",
    "pl.DataFrame({'a':v}).filter(v>0).to_numpy()",
    "pl.DataFrame({'a':v}).with_columns(b=w).to_numpy()",
    "pl.DataFrame(M, schema=list('abcdef')).to_numpy()",
    "pl.Series(v).search_sorted(w[0])",
    "pl.DataFrame({'a': v, 'b': 1}).to_numpy()",
    "pl.Series('x', M).to_numpy()",
    "pl.Series(v, dtype=pl.Float32).to_list()",
]
FAILS: dict[str, str] = {}


@pytest.mark.parametrize("call", cases(CALLS, FAILS))
def test_calls(call, tmp_path):
    agree(SETUP, call, tmp_path)
