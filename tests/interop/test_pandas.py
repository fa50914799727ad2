"""pandas: frames, series and indexes of lazyarrays, and arithmetic between the two."""

import subprocess
import sys

import numpy as np
import pytest

import lazyarray as la

from .calls import same

pd = pytest.importorskip("pandas", reason="pandas is not installed")

pytestmark = [pytest.mark.host, pytest.mark.filterwarnings("ignore")]


def data(xp):
    """Sample arrays of one library, frames and series, by the names that the calls have for them."""
    return {
        "xp": xp,
        "pd": pd,
        "x": xp.array([3.0, 1.0, 2.0, 5.0]),
        "i": xp.array([2, 0, 1, 2]),
        "m": xp.array([True, False, True, False]),
        "z": xp.arange(8.0).reshape(4, 2),
        "df": pd.DataFrame(
            {"a": [1.0, 2.0, 3.0, 4.0], "b": [4, 3, 2, 1], "g": ["u", "v", "u", "v"]}
        ),
        "s": pd.Series([1.0, 2.0, 3.0, 4.0]),
    }


CALLS = {
    "DataFrame of columns": "pd.DataFrame({'x': x, 'i': i, 'm': m})",
    "DataFrame of a table": "pd.DataFrame(z, columns=['p','q'])",
    "DataFrame index": "pd.DataFrame({'x': x}, index=i)",
    "DataFrame of scalars": "pd.DataFrame([{'loss': xp.mean(x), 'n': i[0], 'ok': m[0]}, {'loss': xp.mean(x*2), 'n': i[1], 'ok': m[1]}])",
    "DataFrame of scalar lists": "pd.DataFrame({'loss': [x.mean(), x[1]], 'n': [i[0], i[1]]})",
    "DataFrame list rows": "pd.DataFrame([[x[0], i[0]], [x[1], i[1]]])",
    "DataFrame scalar broadcast": "pd.DataFrame({'a': x, 'b': x.mean()})",
    "Series of scalars": "pd.Series([x[0], x.sum()])",
    "Series of dict": "pd.Series({'a': x[0], 'b': x.sum()})",
    "Series": "pd.Series(x)",
    "Series of a scalar": "pd.Series(x.sum(), index=[1,2])",
    "Series index": "pd.Series(x, index=i)",
    "Series name": "pd.Series(i, dtype='float32')",
    "Index": "pd.Index(i)",
    "Index floats": "pd.Index(x)",
    "MultiIndex": "pd.MultiIndex.from_arrays([i, x])",
    "df[mask]": "df[m]",
    "df.loc[mask]": "df.loc[m]",
    "df.loc[mask, col]": "df.loc[m, 'a']",
    "df.loc[mask]=": "(df.loc.__setitem__((m, 'a'), x[m]), df)[1]",
    "df.loc[scalar]": "df.loc[i[0]]",
    "df.loc[ints]": "df.loc[i]",
    "df.iloc[argmax]": "df.iloc[xp.argmax(x)]",
    "df.iloc[ints]": "df.iloc[i]",
    "df.iloc[slice]": "df.iloc[i[1]:i[0]]",
    "df.iloc[mask]": "df.iloc[m]",
    "df.iloc[i,j]": "df.iloc[i[0], i[2]]",
    "df.at": "df.at[i[0], 'a']",
    "df.iat": "df.iat[i[0], i[1]]",
    "df.take": "df.take(i)",
    "s[mask]": "s[m]",
    "s[scalar]": "s[i[0]]",
    "s.iloc[scalar]": "s.iloc[i[0]]",
    "s.iloc[ints]": "s.iloc[i]",
    "s.loc[mask]": "s.loc[m]",
    "assign": "df.assign(c=x, d=x.mean())",
    "column": "(df.__setitem__('c', x), df)[1]",
    "column scalar": "(df.__setitem__('c', x.mean()), df)[1]",
    "column index array": "(df.__setitem__(['a','b'], z), df)[1]",
    "at set": "(df.at.__setitem__((1,'a'), x.mean()), df)[1]",
    "loc set scalar": "(df.loc.__setitem__((1,'a'), x.mean()), df)[1]",
    "loc row set": "(df.loc.__setitem__(9, [x[0], i[0], 'w']), df)[1]",
    "iloc set": "(df.iloc.__setitem__((i[0], 0), x[0]), df)[1]",
    "s set": "(s.__setitem__(i[0], x[0]), s)[1]",
    "s mask set": "(s.__setitem__(m, x[m]), s)[1]",
    "groupby array": "df[['a','b']].groupby(i).sum()",
    "groupby agg": "df.groupby('g')['a'].agg(lambda v: xp.mean(xp.array(v)))",
    "groupby apply": "df.groupby('g')[['a']].apply(lambda d: xp.asarray(d['a']).sum())",
    "unique": "pd.unique(i)",
    "unique f": "pd.unique(x)",
    "factorize": "pd.factorize(i)",
    "cut": "pd.cut(x, 3)",
    "cut bins": "pd.cut(x, xp.array([0., 2., 6.]))",
    "qcut": "pd.qcut(x, 2)",
    "isin": "s.isin(x)",
    "isna": "pd.isna(x)",
    "isna scalar": "pd.isna(x[0])",
    "notna": "pd.notna(x)",
    "to_numeric": "pd.to_numeric(x)",
    "to_datetime": "pd.to_datetime(i, unit='D')",
    "to_timedelta": "pd.to_timedelta(i, unit='s')",
    "value_counts": "pd.Series(i).value_counts()",
    "crosstab": "pd.crosstab(i, m)",
    "get_dummies": "pd.get_dummies(pd.Series(i))",
    "concat": "pd.concat([pd.Series(x), pd.Series(i)], axis=1)",
    "merge": "pd.merge(df, pd.DataFrame({'b': i, 'y': x}), on='b')",
    "s + x": "s + x",
    "x + s": "x + s",
    "x * s": "x * s",
    "s - x": "s - x",
    "x - s": "x - s",
    "s ** x": "s ** x",
    "x / s": "x / s",
    "s // x[0]": "s // x[0]",
    "x[0] * s": "x[0] * s",
    "s * x.mean()": "s * x.mean()",
    "x.mean() - s": "x.mean() - s",
    "s > x": "s > x",
    "x > s": "x > s",
    "s == x": "s == x",
    "s > x[0]": "s > x[0]",
    "x[0] < s": "x[0] < s",
    "m & s": "m & (s > 1)",
    "s & m": "(s > 1) & m",
    "df + x": "df[['a','b']] + z",
    "z + df": "z + df[['a','b']]",
    "df * x[0]": "df[['a','b']] * x[0]",
    "x[0] * df": "x[0]*df[['a','b']]",
    "df @": "df[['a','b']] @ z.T",
    "x @ df": "x @ df[['a','b']]",
    "s @": "s @ x",
    "x @ s": "x @ s",
    "s.dot": "s.dot(x)",
    "s.where": "s.where(m, x)",
    "s.mask": "s.mask(m, x[0])",
    "s.clip": "s.clip(x[1], x[0])",
    "s.fillna": "pd.Series([1.0, None]).fillna(x[0])",
    "s.replace": "s.replace(s[0], x[0])",
    "s.map": "s.map(lambda v: xp.sqrt(v))",
    "s.apply": "s.apply(lambda v: xp.sin(v))",
    "df.apply": "df[['a','b']].apply(xp.sum)",
    "df.apply axis1": "df[['a','b']].apply(lambda r: xp.mean(xp.array(r)), axis=1)",
    "df.transform": "df[['a','b']].transform(xp.sqrt)",
    "rolling.apply": "s.rolling(2).apply(lambda v: xp.mean(xp.asarray(v)), raw=True)",
    "s.quantile": "s.quantile(xp.array([0.25,0.5]))",
    "searchsorted": "s.searchsorted(x)",
    "np.sqrt(series)": "xp.sqrt(s)",
    "xp.sum(s)": "xp.sum(s)",
    "xp.mean(df)": "xp.mean(df[['a','b']])",
    "xp.array(s)": "xp.array(s)",
    "xp.array(df)": "xp.array(df[['a','b']])",
    "xp.asarray(index)": "xp.asarray(df.index)",
    "xp.where(s>2, s, x)": "xp.where(s > 2, s, x)",
    "xp.concatenate": "xp.concatenate([s, x])",
    "xp.stack": "xp.stack([s,x])",
    "xp.corrcoef": "xp.corrcoef(s, x)",
    "xp.maximum": "xp.maximum(s,x)",
    "xp.exp(df)": "xp.exp(df[['a','b']])",
    "x[s index]": "x[pd.Series([0,1])]",
    "x[s mask]": "x[s > 2]",
    "x[...]=s": "(x.__setitem__(slice(None), s), x)[1]",
    "to_dict": "df.assign(c=x).to_dict()",
    "describe": "pd.DataFrame({'x': x}).describe()",
    "to_csv": "pd.DataFrame({'x': x, 'l': [x.sum()]*4}).to_csv()",
    "to_json": "pd.DataFrame({'x': x, 'l': [x.sum()]*4}).to_json()",
    "date_range": "pd.date_range('2020', periods=i[0])",
    "interp": "xp.interp(s, x, x)",
    "Categorical": "pd.Categorical(i)",
    "Categorical.from_codes": "pd.Categorical.from_codes(i, ['a','b','c'])",
    "Timedelta": "pd.Timedelta(i[0], unit='D')",
    "nlargest": "pd.Series(x).nlargest(i[0])",
    "head": "df.head(i[0])",
    "sample weights": "df.sample(2, weights=x, random_state=0)",
    "ewm": "pd.Series(x).ewm(alpha=0.5).mean()",
    "shift": "s.shift(i[1])",
    "repeat": "s.repeat(i)",
    "insert": "(df.insert(0,'n',x), df)[1]",
    "pivot": "pd.DataFrame({'i': i, 'm': m, 'x': x}).pivot_table(index='i', columns='m', values='x')",
    "sort": "pd.DataFrame({'x': x}).sort_values('x')",
    "reindex": "s.reindex(i)",
    "drop": "s.drop(i[:2])",
    "eval": "df.eval('a + @x')",
    "query": "df.query('a > @t', local_dict={'t': x.mean()})",
    "idx arith": "pd.Index(i) + x",
    "x + idx": "x + pd.Index(i)",
    "iterrows": "[r['x'] for _, r in pd.DataFrame({'x': x}).iterrows()]",
    "arrow": "pd.DataFrame({'x':x}).convert_dtypes()",
    "melt": "pd.DataFrame(z).melt()",
    "corrwith": "df[['a']].corrwith(pd.Series(x))",
    "np.array_equal": "xp.array_equal(s, x)",
    "itertuples": "list(pd.DataFrame({'x': x}).itertuples())",
    "agg": "pd.DataFrame({'x':x}).agg(['mean', xp.max])",
    "datetime freq": "pd.Timestamp('2020') + pd.Timedelta(days=x[0])",
    "fill index": "s.index[i]",
    "idx get": "s.index[i[0]]",
    "columns get": "df.columns[i[0]]",
    "values set": "(df.loc.__setitem__((slice(None), 'a'), x), df)[1]",
    "isin scalars": "s.isin([x[0], x[1]])",
    "df isin": "df.isin({'a': x})",
    "in": "x[0] in s.values",
    "len": "s.iloc[:i[0]]",
    "between": "s.between(x[1], x[0])",
}
_ASSERT = {
    "DataFrame": pd.testing.assert_frame_equal,
    "Series": pd.testing.assert_series_equal,
    "Index": pd.testing.assert_index_equal,
}


def alike(got, want):
    """``same``, of frames, series and indexes, too."""
    kind = next((k for k in _ASSERT if isinstance(want, getattr(pd, k))), None)
    if kind is not None:
        _ASSERT[kind](got, want)
    elif type(want) in (tuple, list):
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            alike(a, b)
    elif isinstance(want, pd.Categorical):
        pd.testing.assert_series_equal(pd.Series(got), pd.Series(want))
    else:
        same(got, want)


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    alike(eval(CALLS[name], data(la)), eval(CALLS[name], data(np)))


def test_a_log_of_losses_is_numeric():
    x = la.linspace(0, 1, 1000)
    rows = []
    for step in range(3):
        rows.append({"step": step, "loss": la.mean(x * step), "worst": x.max()})
    log = pd.DataFrame(rows)
    assert [str(d) for d in log.dtypes] == ["int64", "float64", "float64"]
    assert log["loss"].sum() == pytest.approx(1.5)


def test_arrays_change_in_place_by_series():
    for xp in (np, la):
        x = same = xp.arange(4.0)
        x += pd.Series([1.0, 2.0, 3.0, 4.0])
        assert type(x) is pd.Series and same.tolist() == x.tolist() == [1, 3, 5, 7]


MISSING = """
x[:3] = missing
x[[0, 1, 2]] = missing
x[xp.arange(6) < 3] = missing
x.flat[:3] = missing
xp.put(x, [1, 2, 3], missing)
xp.put(x, [1, 2, 9], missing, mode="clip")
xp.putmask(x, xp.arange(6) > 2, missing)
xp.place(x, xp.arange(6) > 2, missing)
xp.put_along_axis(x, xp.array([1, 2, 3]), missing, 0)
xp.insert(x, [1, 2, 3], missing)
""".strip().splitlines()


@pytest.mark.parametrize("dtype", ["float64", "int64", "int8", "bool"])
@pytest.mark.parametrize("call", MISSING)
def test_what_is_missing_is_no_integer(call, dtype):
    found = []
    for xp in (np, la):
        x = xp.arange(6).astype(dtype)
        try:
            exec(call, {"xp": xp, "x": x, "missing": pd.array([1, None, 3])})
        except ValueError as error:
            found.append((x.tolist(), str(error)))
        else:
            found.append(str(x))
    assert found[0] == found[1]


def test_a_series_is_written_into():
    for add in (np.add, la.add):
        x, s = la.array([1.0, 2.0, 3.0]), pd.Series([0.0, 0.0, 0.0])
        assert type(add(x, 1, out=s)) is pd.Series and s.tolist() == [2, 3, 4]


def test_a_failed_array_raises_its_error():
    bad = la.array([1, 2]) ** la.array([-1, 2])
    df = pd.DataFrame({"a": [1.0, 2.0]})
    for use in (lambda: df[bad > 0], lambda: pd.Series(bad), lambda: pd.unique(bad)):
        with pytest.raises(ValueError, match="negative integer powers"):
            use()


def test_waits_are_seen():
    df = pd.DataFrame({"a": [1.0, 2.0]})
    with la.no_sync(), pytest.raises(RuntimeError, match="another library"):
        df[la.array([1.0, 2.0]) > 1]


@pytest.mark.parametrize("first", ["pandas", "lazyarray"])
def test_either_may_be_imported_first(first):
    second = {"pandas": "lazyarray", "lazyarray": "pandas"}[first]
    code = f"""if True:
        import {first}, {second}
        import sys, pandas as pd, lazyarray as la
        df = pd.DataFrame({{"a": [1, 2]}})
        assert df.iloc[la.array([False, True])]["a"].tolist() == [2]
        assert type(pd.__loader__).__module__ != "lazyarray._others", pd.__loader__
        assert pd.DataFrame.head.__doc__ and pd.DataFrame.head.__name__ == "head"
    """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=250)
