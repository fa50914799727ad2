"""JSON and the standard library's numbers: statistics, math, fractions, decimal."""

import datetime
import decimal
import fractions
import io
import json
import marshal
import math
import pathlib
import select
import sqlite3
import statistics
import time

import numpy as np
import pytest

import lazyarray as la

pytestmark = pytest.mark.host

X = [1.0, 2.5, 4.0]
MODULES = {"math": math, "statistics": statistics, "decimal": decimal}
CALLS = {
    "statistics.mean": "statistics.mean(list(x))",
    "statistics.mean of an array": "statistics.mean(x)",
    "statistics.fmean": "statistics.fmean(x)",
    "statistics.median": "statistics.median(x)",
    "statistics.stdev": "statistics.stdev(list(x))",
    "statistics.mode": "statistics.mode(list(i))",
    "statistics.quantiles": "statistics.quantiles(x)",
    "statistics.mean of losses": "statistics.mean([x.mean(), (x * 2).mean()])",
    "statistics.mean of a mixture": "statistics.mean([x.mean(), 1.5, 2, x[0]])",
    "statistics.stdev of a mixture": "statistics.stdev([0.5, x[1], 2])",
    "sum": "sum(x)",
    "min, max, sorted": "(min(x), max(x), sorted(x, reverse=True))",
    "math.sqrt": "math.sqrt(x[2])",
    "math.fsum": "math.fsum(x)",
    "math.isclose": "math.isclose(x[0], x[0])",
    "math.floor": "math.floor(x[1])",
    "math.comb": "math.comb(i[2], 2)",
    "decimal.Decimal": "decimal.Decimal(float(x[1]))",
    "range": "list(range(i[2]))",
    "list index": "[10, 20, 30, 40][i[1]]",
    "round": "round(x[1])",
    "divmod": "divmod(x[2], 3)",
    "int, float, complex": "(int(x[0]), float(i[1]), complex(x[1]))",
    "format": "f'{x[1]:.3e} {i[2]:x} {x.mean():>8.2f}'",
    "hex": "hex(i[2])",
    "chr": "chr(i[2] + 65)",
    "enumerate and zip": "[(k, float(a), int(b)) for k, (a, b) in enumerate(zip(x, i))]",
    "set": "len({float(a) for a in x} | set(i.tolist()))",
    "a key of a dict": "{1: 'a', 2: 'b'}[i[1]]",
    "string times": "'ab' * i[1]",
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    def value(xp):
        names = {"x": xp.array(X), "i": xp.array([1, 2, 3])}
        return eval(CALLS[name], MODULES | names)

    got, want = value(la), value(np)
    assert got == want and str(got) == str(want)


def test_json():
    rows = {
        "x": la.arange(4).reshape(2, 2),
        "loss": la.array(X).mean(),
        "n": la.arange(3)[1],
        "ok": la.array(X).any(),
        "numpy": [np.float32(0.5), np.arange(2)],
    }
    text = json.dumps(rows, default=la.to_json)
    assert json.loads(text) == {
        "x": [[0, 1], [2, 3]],
        "loss": 2.5,
        "n": 1,
        "ok": True,
        "numpy": [0.5, [0, 1]],
    }
    assert json.dumps(la.array([math.nan]), default=la.to_json) == "[NaN]"
    with pytest.raises(TypeError, match="type object is not JSON"):
        json.dumps({"a": object()}, default=la.to_json)
    with pytest.raises(TypeError, match="complex"):
        json.dumps(la.array([1j]), default=la.to_json)
    with pytest.raises(ValueError, match="negative integer powers"):
        json.dumps(la.array([1, 2]) ** la.array([-1, 2]), default=la.to_json)
    with la.no_sync(), pytest.raises(RuntimeError, match="tolist"):
        json.dumps(la.ones(2), default=la.to_json)


@pytest.mark.parametrize("name", ["allclose", "array_equal", "array_equiv"])
def test_truths_of_numpys_functions_are_pythons(name):
    x, y = la.array(X), la.array([1.0, 2.0, 4.0])
    assert getattr(np, name)(x, x) is True and getattr(np, name)(x, y) is False
    assert getattr(la, name)(x, x) is True and getattr(la, name)(x, y) is False
    with la.no_sync(), pytest.raises(RuntimeError):
        getattr(np, name)(x, x)


def test_the_decimal_module_knows_scalars_as_it_knows_numpys():
    with pytest.raises(TypeError):
        decimal.Decimal(np.float32(1))
    with pytest.raises(TypeError):
        decimal.Decimal(la.array(X)[0])
    assert fractions.Fraction(la.arange(3)[2]) == 2


def test_json_writes_what_is_a_float():
    x = la.array(X)
    assert json.loads(json.dumps({"mean": x.mean(), "first": [x[0]]})) == {
        "mean": 2.5,
        "first": [1.0],
    }
    file = io.StringIO()
    json.dump({"mean": x.mean()}, file)  # by Python's own encoder
    assert file.getvalue() == '{"mean": 2.5}'
    assert json.loads(json.dumps({x[0]: [x[1] * math.inf]}, indent=2)) == {"1.0": [math.inf]}
    text = json.dumps({"x": x, "n": la.arange(3)[1]}, default=la.to_json, indent=1)
    assert json.loads(text) == {"x": X, "n": 1}
    for other in (x, la.arange(3)[1], x.astype("f4")[0], x.any(), object()):
        for indent in (None, 1):
            with pytest.raises(TypeError, match="not JSON serializable"):
                json.dumps(other, indent=indent)


class Own:
    """An object of a program's whose ``__array__`` makes an array of the library that it imported."""

    def __init__(self, xp, values):
        self.make = lambda: xp.array(values)

    def __array__(self, dtype=None, copy=None):
        return self.make()


@pytest.mark.parametrize("values", [2.0, [1.0, 2.0]])
@pytest.mark.parametrize("call", [
    lambda xp, x, own: x == own,
    lambda xp, x, own: x[0] + own,
    lambda xp, x, own: xp.sin(own),
    lambda xp, x, own: xp.full(2, own),
    lambda xp, x, own: [xp.ndim(own), xp.size(own), *xp.shape(own)],
    lambda xp, x, own: xp.isclose(own, own),
    lambda xp, x, own: xp.testing.assert_allclose(own, own) or 0,
])  # fmt: skip
def test_objects_that_make_arrays(call, values):
    want, got = (np.asarray(call(xp, xp.ones(2), Own(xp, values))) for xp in (np, la))
    np.testing.assert_array_equal(got, want)
    assert got.dtype == want.dtype


def test_sqlite():
    x, i = la.array(X), la.array([1, 2])
    row = (x[1], x.mean(), i[1], (x > 2)[0])
    assert sqlite3.connect(":memory:").execute("select ?, ?, ?, ?", row).fetchone() == (
        2.5,
        2.5,
        2,
        0,
    )


@pytest.mark.parametrize(
    "call",
    [
        "datetime.timedelta(days=x[0])",
        "datetime.datetime.fromtimestamp(x[0])",
        "time.sleep(x[0] * 0)",
        "time.localtime(x[0])",
        "select.select([], [], [], x[0] * 0)",
        "decimal.Decimal(x[0])",
        "np.timedelta64(i[0], 'D')",
        "marshal.dumps(x[0])",
    ],
)
def test_what_asks_for_a_float_is_told_in_the_docs(call):
    modules = (datetime, decimal, marshal, select, time)
    names = {module.__name__: module for module in modules}
    names |= {"np": np, "x": la.array(X), "i": la.array([1])}
    with pytest.raises((TypeError, ValueError)):
        eval(call, names)
    eval(call.replace("x[0]", "float(x[0])").replace("i[0]", "int(i[0])"), names)
    with la.set_scalars("numpy"):
        eval(call, names)
    page = pathlib.Path(__file__).parents[2] / "docs" / "interop.md"
    assert call.partition("(")[0].removeprefix("datetime.datetime.") in page.read_text()
