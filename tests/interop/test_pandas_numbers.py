"""pandas: our numbers where it asks for one of Python's or NumPy's, and NumPy's functions of its objects."""

import sys
import warnings

import numpy as np
import pytest

import lazyarray as la

from .calls import cases

pd = pytest.importorskip("pandas", reason="pandas is not installed")

from .test_pandas import alike  # noqa: E402 -- it is not there without pandas

pytestmark = [pytest.mark.host, pytest.mark.filterwarnings("ignore")]


def data(xp):
    """Numbers of one library, and what they meet."""
    x, i = xp.array([1.5, 2.5, 4.0, 8.0, 0.5, 3.5]), xp.array([1, 2, 3, 1, 2])
    two = pd.MultiIndex.from_product([[1, 2], [1, 2]])
    return {
        "xp": xp,
        "pd": pd,
        "x": x,
        "i": i,
        "s": pd.Series([1.5, 2.5, 3.5, np.nan, 0.5]),
        "df": pd.DataFrame({"a": [1.5, 2.5, 3.5, 4.5, np.nan], "b": [1, 1, 2, 2, 1]}),
        "ms": pd.Series([1.0, 2.0, 3.0, 4.0], index=two),
        "ts": pd.Series(np.arange(5.0), index=pd.date_range("2020", periods=5)),
    }


CALLS = [
    "s.replace(x[0], 9)",
    "s.replace({x[0]: 9})",
    "s.replace([x[0], x[1]], 9)",
    "s.rolling(i[1]).sum()",
    "s.rolling(window=i[1], min_periods=i[0]).mean()",
    "s.expanding(i[1]).sum()",
    "pd.Timestamp(i[1])",
    "pd.Timestamp(2020, i[1], i[1])",
    "pd.Timestamp(x[1])",
    'pd.Timestamp(i[1], unit="D")',
    'pd.Timedelta(i[1], unit="D")',
    'pd.Timedelta(x[1], unit="h")',
    "pd.Timedelta(days=i[1])",
    "pd.Timedelta(i[1])",
    "pd.Interval(x[0], x[1])",
    "pd.Interval(i[0], i[1])",
    "pd.array([x[0], x[1]])",
    "pd.array([i[0], i[1]])",
    "pd.array([i[0], None])",
    'pd.Timestamp("2020-01-01") + pd.Timedelta("1D") * i[1]',
    'pd.Timedelta("1D") * i[1]',
    'i[1] * pd.Timedelta("1D")',
    'pd.Timedelta("1D") * x[1]',
    'pd.Timedelta("1D") / x[1]',
    'pd.Timedelta("1D") // i[1]',
    'pd.timedelta_range(0, periods=i[1], freq="D")',
    'pd.period_range("2020", periods=i[1], freq="D")',
    'pd.bdate_range("2020", periods=i[1])',
    "pd.RangeIndex(i[1])",
    "pd.RangeIndex(0, i[1], i[0])",
    "s.diff(i[1])",
    "s.sample(n=i[1], random_state=i[0])",
    "s.agg(lambda v: xp.sum(v))",
    "s.interpolate(limit=i[1])",
    "s.ffill(limit=i[1])",
    "s.bfill(limit=i[1])",
    "df.replace(x[0], 9)",
    'df.replace({"a": x[0]}, 9)',
    'df.replace({"a": {x[0]: 9}})',
    "df.rolling(i[1]).mean()",
    'df.groupby("a").nth(i[0])',
    'df.groupby("a").rolling(i[1]).mean()',
    'df.groupby("b").shift(i[1])',
    "df.diff(i[1])",
    "df.sample(frac=x[0] / 4, random_state=i[1])",
    "df.round(i[1])",
    'df.round({"a": i[1]})',
    "df.eq(x[0])",
    "df.gt(x[0])",
    "df.ne(x[0])",
    "df.interpolate(limit=i[1])",
    "df.ffill(limit=i[1])",
    "pd.to_numeric([x[0], x[1]])",
    'pd.merge_asof(df.sort_values("b"), df.sort_values("b"), on="b", tolerance=i[1])',
    "pd.arrays.IntegerArray(i, i > 1)",
    "pd.arrays.FloatingArray(x, x > 1)",
    "pd.arrays.BooleanArray(x > 1, x > 2)",
    "pd.Series(pd.array([1.5, None])).fillna(x[0])",
    "pd.Series(pd.array([1, None])).fillna(i[1])",
    'pd.Series([1.0, 2.0], dtype="Float64").replace(2.0, x[0])',
    'pd.Series(["a", "b"]).str.repeat(i[1])',
    'pd.Series(["abc", "b"]).str.pad(i[1])',
    'pd.Series(["abc", "b"]).str.zfill(i[1])',
    "pd.Index([1, 2]).delete(i[0])",
    "pd.Index([1, 2]).searchsorted(i[1])",
    "ms.xs(i[1], level=i[0])",
    "ms.swaplevel(i[0] - 1, i[0])",
    "pd.Interval(0, 3).overlaps(pd.Interval(x[0], x[1]))",
    "pd.Interval(0, 3) + x[0]",
    "pd.Interval(0, 3) * x[0]",
    "ts.rolling(i[1]).mean()",
    'ts.index + pd.Timedelta(1, "D") * i[1]',
    "ts.index.shift(i[1])",
    'pd.Timestamp("2020") + i[1] * pd.offsets.Day()',
    'pd.Timestamp("2020").replace(day=i[1])',
    "pd.Timestamp.fromtimestamp(x[1])",
    "pd.api.types.is_float(x[0])",
    "pd.api.types.is_integer(i[0])",
    "pd.api.types.is_bool((x > 1)[0])",
    "pd.api.types.infer_dtype([x[0]])",
    "pd.util.hash_array(x)",
    "df.expanding(i[0]).max()",
    's.rolling(i[1], win_type="gaussian").mean(std=x[0])',
    "s.case_when([(s > x[0], x[1])])",
    "xp.mean(s)",
    "xp.sum(s)",
    "xp.std(s)",
    "xp.var(s)",
    "xp.max(s)",
    "xp.min(s)",
    "xp.argmax(s)",
    "xp.cumsum(s)",
    "xp.cumprod(s)",
    "xp.round(s)",
    "xp.prod(s)",
    "xp.any(s)",
    "xp.squeeze(s)",
    "xp.flip(s)",
    "xp.ptp(s)",
    "xp.argsort(s)",
    "xp.mean(df)",
    "xp.sum(df, axis=0)",
    "xp.std(s, ddof=1)",
    "xp.clip(s, x[0], 3)",
    "xp.mean(df.a)",
    "xp.transpose(df)",
    "xp.searchsorted(s.dropna().sort_values(), x[0])",
]
FAILS = {
    "pd.util.hash_array(x)": "pandas asks for NumPy's array by its type: x.asnumpy()",
}


OLD = (
    int(pd.__version__.partition(".")[0]) < 3
)  # some classes can't be changed, some limits are ints


@pytest.mark.parametrize("call", cases(CALLS, FAILS))
@pytest.mark.skipif(OLD, reason="written for pandas 3")
def test_calls(call):
    alike(eval(call, data(la)), eval(call, data(np)))


def test_functions_of_series_leave_out_what_is_missing():
    s = pd.Series([1.0, np.nan, 3.0])
    assert float(la.mean(s)) == 2.0 == float(np.mean(s)) and float(la.std(s)) == float(np.std(s))
    assert isinstance(la.cumsum(s), pd.Series) and la.argmax(s) == 2
    with pytest.raises(TypeError):
        la.mean(s, nonsense=1)


def test_they_are_constants_of_compiled_functions():
    s = pd.Series([1.0, 2.0, 3.0])
    fast = la.compile(lambda x: x * la.sum(s))
    assert fast(la.ones(2)).tolist() == [6, 6] == fast(la.ones(2)).tolist()


def chained(df):
    """What pandas warns of: each changes a column that nobody has."""
    df["a"][0] = 5
    df["a"].iloc[0] = 5
    df["a"].fillna(0, inplace=True)
    df["a"].replace(1, 2, inplace=True)
    df[["a"]]["a"] = 1
    df["a"].clip(0, 1, inplace=True)
    df["a"].update(pd.Series([9]))
    column = df["a"]
    column[0] = 5
    column.fillna(0, inplace=True)
    column.update(pd.Series([9]))


@pytest.mark.skipif(OLD, reason="pandas 2 asks to be told")
def test_its_warnings_are_told_of_the_users_line():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        chained(pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4]}))
    first = chained.__code__.co_firstlineno
    assert [(w.category, w.filename, w.lineno - first) for w in told] == [
        (pd.errors.ChainedAssignmentError, __file__, line) for line in range(2, 9)
    ]


def test_names_in_its_queries_are_the_callers():
    df = pd.DataFrame({"a": [1, 2, 3]})
    local = la.array([2])[0]  # noqa: F841  what the texts name
    assert df.query("a > @local").a.tolist() == [3]
    assert df.eval("a + @local").tolist() == [3, 4, 5]
    assert pd.eval("local + 1") == 3


def test_errors_show_no_frame_of_ours():
    with pytest.raises(KeyError) as caught:
        pd.DataFrame({"a": [1]}).drop(la.array([7])[0])
    files = [str(entry.path) for entry in caught.traceback]
    assert files[0] == __file__ and not [f for f in files if "_adapters" in f or ".pxi" in f]


def test_they_are_as_they_were_to_who_looks():
    import inspect
    import pickle

    for thing in (pd.DataFrame.shift, pd.Series.replace, pd.to_datetime):
        assert thing.__doc__ and repr(thing).startswith(f"<function {thing.__qualname__}")
        assert (
            len(inspect.signature(thing).parameters) > 3 <= len(inspect.getfullargspec(thing).args)
        )
        assert pickle.loads(pickle.dumps(thing)) is thing
    many = {f"c{k}": k for k in range(40)}  # more arguments than are looked at natively
    assert pd.DataFrame({"a": la.ones(2)}).assign(**many).shape == (2, 41)
    assert sys.getrefcount(many) < 10
