"""Modules and names of NumPy's that are about what lazyarray does not hold."""

import importlib
import io
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import lazyarray as la


@pytest.mark.parametrize("name", "char ctypeslib dtypes exceptions ma rec strings typing".split())
def test_a_module_is_there_by_each_way(name):
    module = importlib.import_module(f"lazyarray.{name}")
    assert getattr(la, name) is module and name in la.__all__
    theirs = getattr(np, name)
    assert set(theirs.__all__) <= set(dir(module)) and set(theirs.__all__) <= set(module.__all__)
    for part in theirs.__all__:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mine = getattr(module, part)
        if isinstance(mine, type) and part != "NDArray":
            assert mine is getattr(theirs, part)  # classes are NumPy's: isinstance works
    with pytest.raises(AttributeError):
        module.nonsense
    scope = {}
    exec(f"from lazyarray.{name} import *", scope)
    assert set(theirs.__all__) <= set(scope)


def test_they_cost_the_import_nothing():
    told = subprocess.run(
        [sys.executable, "-c", "import numpy, sys; before = set(sys.modules); import lazyarray\n"
         "print(*set(sys.modules) - before)"],
        capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(importlib.util.find_spec("lazyarray").origin).rsplit("/", 2)[0]},
    ).stdout.split()  # fmt: skip
    late = "char dtypes exceptions ma rec strings typing lib random".split()
    assert not {f"lazyarray.{name}" for name in late} & set(told)


def test_masked_arrays():
    x = la.array([1.0, 2.0, 99.0])
    m = la.ma.masked_where(x > 10, x)
    assert isinstance(m, la.ma.MaskedArray) and m.mean() == 1.5
    assert la.ma.masked_array(x, mask=la.array([0, 0, 1])).sum() == 3
    assert la.ma.median(m) == 1.5 and la.ma.count(m) == 2 and la.ma.is_masked(m)
    assert la.ma.nomask is np.ma.nomask and la.ma.masked is np.ma.masked
    assert (x * m).mask.tolist() == [False, False, True] == (m * x).mask.tolist()
    y = la.zeros(3)
    y += m.filled(0)
    assert y.tolist() == [1, 2, 0]
    assert la.ma.getdata(m) is m.data or np.shares_memory(la.ma.getdata(m), m)
    assert la.ma.allclose(m, la.array([1.0, 2.0, 5.0]))


def test_functions_that_numpy_runs_are_looked_up_once():
    upper = la.char.upper
    assert vars(la.char)["upper"] is upper is pickle.loads(pickle.dumps(upper))
    names = np.array(["ada", "bob"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that they give strings is no news
        assert upper(names).tolist() == ["ADA", "BOB"]
        assert la.char.add("a", names).tolist() == ["aada", "abob"]
    assert type(la.char.str_len(names)) is la.NDArray
    assert type(la.char.str_len(["a"])) is la.NDArray


def test_characters_and_strings():
    names = np.array(["ada", "bob"])
    lengths = la.char.str_len(names)
    assert isinstance(lengths, la.NDArray) and lengths.tolist() == [3, 3]
    assert la.char.multiply(names, la.array([1, 2])).tolist() == ["ada", "bobbob"]
    assert la.strings.ljust(names, la.array([4, 5])).tolist() == ["ada ", "bob  "]
    assert la.char.array(["a"]).upper().tolist() == ["A"]  # a chararray
    (x,) = la.array([1.0, 2.0])[la.char.startswith(names, "b")]
    assert x.item() == 2


def test_records():
    r = la.rec.array([(1, "a"), (2, "b")], dtype=[("n", int), ("k", "U1")])
    assert isinstance(r, la.recarray) and r.n.tolist() == [1, 2]
    made = la.rec.fromarrays([la.arange(2), la.ones(2)], names="n,x")
    assert made.x.tolist() == [1, 1] and isinstance(made[0], la.record)


def test_functions_of_records():
    from lazyarray.lib.recfunctions import append_fields, structured_to_unstructured

    r = np.array([(1, 2.5), (2, 3.5)], dtype=[("n", int), ("x", float)])
    plain = structured_to_unstructured(r)
    assert isinstance(plain, la.NDArray) and plain.tolist() == [[1, 2.5], [2, 3.5]]
    more = append_fields(r, "y", la.array([5.0, 6.0]), usemask=False)
    assert isinstance(more, np.ndarray) and more["y"].tolist() == [5, 6]


@pytest.mark.parametrize(
    "name", "lib.array_utils lib.format lib.introspect lib.mixins lib.npyio lib.scimath "
    "lib.stride_tricks lib.recfunctions polynomial.polyutils ctypeslib".split()
)  # fmt: skip
def test_parts_are_modules(name):
    ours = importlib.import_module(f"lazyarray.{name}")
    theirs = importlib.import_module(f"numpy.{name}")
    public = getattr(theirs, "__all__", [n for n in dir(theirs) if n[0] != "_"])
    assert [n for n in public if not hasattr(ours, n)] == []


def test_ctypes_share_memory():
    for x in (la.arange(3.0), la.ones((2, 3)), la.ones((2, 3))[1]):
        shared = la.ctypeslib.as_ctypes(x)
        first = shared if x.ndim == 1 else shared[0]
        first[1] = 7.0
        assert x.ravel()[1].item() == 7
        assert np.array_equal(la.ctypeslib.as_array(shared), x.asnumpy())
    with pytest.raises(TypeError):
        la.ctypeslib.as_ctypes(la.ones((2, 3)).T)
    assert la.ones((2, 3)).__array_interface__["strides"] is None
    assert la.ones((2, 3)).T.__array_interface__["strides"] == (8, 24)


@pytest.mark.filterwarnings("ignore:numpy.core is deprecated")
def test_the_older_name_of_numpys_core():
    assert la.core.umath.clip(la.arange(5), 1, 3).tolist() == [1, 1, 2, 3, 3]


def test_files_by_the_format_itself():
    file = io.BytesIO()
    la.lib.format.write_array(file, la.arange(4.0))
    file.seek(0)
    assert la.lib.format.read_array(file).tolist() == [0, 1, 2, 3]


def test_matrices():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        m = la.asmatrix([[1, 2], [3, 4]])
        assert isinstance(m, la.matrix)
        x = la.array([[1, 0], [1, 1]])
        for got, want in (
            (x * m, x.asnumpy() * m),
            (m * x, m * x.asnumpy()),
            (x @ m, x.asnumpy() @ m),
            (la.dot(m, x), np.dot(m, x.asnumpy())),
            (x + m, x.asnumpy() + m),
        ):
            assert type(got) is np.matrix and got.tolist() == want.tolist()
        assert la.asmatrix(x).tolist() == x.tolist()


def test_classes_of_a_user_keep_what_they_know():
    class Tagged(np.ndarray):
        pass

    t = np.arange(3.0).view(Tagged)
    assert type(la.ones(3) + t) is Tagged and type(la.sqrt(t)) is Tagged
    assert type(la.array(t)) is la.NDArray  # as np.array makes it a plain one


def test_times_are_asked_for_of_numbers():
    x = la.ones(2)
    for value in (x, x[0], x[0] * 2):
        with pytest.raises(TypeError):
            np.isnat(value)
    np.testing.assert_equal(x[0], 1.0)


def test_dates():
    days = np.array(["2024-01-05", "2024-01-06"], "M8[D]")
    assert la.is_busday(days).tolist() == [True, False]
    assert la.busday_offset("2024-01-05", la.array([0, 1])).astype(str).tolist() == [
        "2024-01-05", "2024-01-08"]  # fmt: skip
    assert la.datetime_as_string(days).tolist() == ["2024-01-05", "2024-01-06"]
    assert la.datetime_data(days.dtype) == ("D", 1) and la.isnat(la.datetime64("NaT"))
    assert la.busday_count("2024-01-01", "2024-01-08") == 5


def test_typing():
    from lazyarray.typing import ArrayLike, DTypeLike, NDArray

    def f(x: ArrayLike, dtype: DTypeLike = None) -> NDArray[la.float64]:
        return la.asarray(x, dtype)

    assert f([1]).tolist() == [1] and NDArray[la.float64].__origin__ is la.NDArray


def test_the_older_names_of_random():
    la.random.mtrand.seed(3)
    np.random.mtrand.seed(3)
    assert la.random.mtrand.rand(3).tolist() == np.random.mtrand.rand(3).tolist()
    assert la.random.mtrand.RandomState is la.random.RandomState
    first = la.random.mtrand._rand  # what scikit-learn's check_random_state gives for None
    assert first.rand() == np.random.mtrand._rand.rand()
    assert la.random.mtrand.choice is la.random.choice
    from lazyarray.random.mtrand import normal

    assert normal is la.random.normal


def test_python_functions_as_ufuncs():
    calls = []

    def f(a, b):
        calls.append((a, b))
        return f"{a}{b}"

    u = la.frompyfunc(f, 2, 1)
    assert u(la.array([1, 2]), la.array([3, 4])).tolist() == ["13", "24"]
    assert calls == [(1, 3), (2, 4)]  # of these values alone


def test_functions_are_equal_to_themselves():
    def function(x):
        return x

    np.testing.assert_equal(function, function)
    np.testing.assert_equal({"f": function}, {"f": function})
    with pytest.raises(AssertionError):
        np.testing.assert_equal(function, len)
