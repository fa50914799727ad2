"""The public names: what is there, its docstrings and their examples, its type stubs."""

import builtins
import doctest
import importlib
import inspect
import pathlib
import pkgutil
import subprocess
import sys
import tomllib

import numpy as np
import pytest

import lazyarray as la
from lazyarray.ops._rows import Public, Row

ROOT = pathlib.Path(__file__).parent.parent
FOUND = {m.name for m in pkgutil.walk_packages(la.__path__, "lazyarray.")}
MODULES = sorted(FOUND - {"lazyarray.liblazyarray"} | {"lazyarray"})  # less a library, no module
NATIVE = (
    "_engine",
    "_storage",
    "_lazy",
    "_share",
    "_rows",
    "_ndarray",
    "_profiler",
    "_walk",
    "_native",
    "_draws",
)
COMPILED = [m for m in MODULES if m.rpartition(".")[2] in NATIVE]
ROOMS = [la.linalg, la.fft, la.nn, la.engine, la.storage, la.lazy, la.context, la.profiler]
SPACES = [la, la.autograd, la.random, *ROOMS]
DOCUMENTED = ("lazyarray", "lazyarray.random", "lazyarray.linalg", "lazyarray.fft", "lazyarray.nn")
PUBLIC = [(space.__name__, name) for space in SPACES for name in space.__all__]


def documented(name):
    """Everything with a docstring that a module defines: functions, classes, methods, rows."""
    module = importlib.import_module(name)
    out = {name: module.__doc__}

    def add(path, thing):
        doc = getattr(thing, "__doc__", None)
        if isinstance(doc, str) and doc != type(thing).__doc__:  # a ParamSpec has its class's
            out[path] = doc

    for key, thing in list(vars(module).items()):  # reading a docstring may import a room
        if getattr(thing, "__module__", None) != name:
            continue
        if isinstance(thing, Public) and thing.op is None:  # NumPy's function: so is its docstring
            continue
        add(f"{name}.{key}", thing)
        if inspect.isclass(thing):
            for part, member in vars(thing).items():
                add(f"{name}.{key}.{part}", member)
    if name == "lazyarray.ops.names":
        out.update({f"{name}.{key}": getattr(module, key).__doc__ for key in module.__all__})
    return out


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.host  # the texts are a CPU's
def test_doctests(name, tmp_path, monkeypatch, asked):
    monkeypatch.chdir(tmp_path)  # some write files
    if name.startswith("lazyarray.dask"):
        pytest.importorskip("dask.array", reason="Dask is not installed")
        pytest.importorskip("distributed", reason="distributed is not installed")
    if name == "lazyarray.lazy.cpu.jit.compiler":
        pytest.importorskip("llvmlite", reason="llvmlite is not installed")
    parser, report = doctest.DocTestParser(), []
    runner = doctest.DocTestRunner(verbose=False)
    for path, doc in documented(name).items():
        test = parser.get_doctest(doc, {}, path, name, 0)
        if test.examples:
            runner.run(test, out=report.append)
    assert not runner.failures, "".join(report)


def test_doctests_of_compiled_modules_are_found():
    assert len(COMPILED) == len(NATIVE)
    found = {path for name in COMPILED for path, doc in documented(name).items() if ">>>" in doc}
    assert {"lazyarray.engine._engine.Engine", "lazyarray.engine._engine.bulk"} <= found
    assert {"lazyarray.lazy._lazy.no_sync", "lazyarray._ndarray.NDArray"} <= found
    assert "lazyarray.storage._storage.pool_stats" in found


@pytest.mark.parametrize(("space", "name"), PUBLIC)
def test_every_public_name_exists_and_is_documented(space, name):
    thing = getattr(importlib.import_module(space), name)
    if isinstance(thing, (float, type(None), type(sys))):
        return  # constants, newaxis, modules
    doc = thing.__doc__
    assert doc and doc.strip(), name
    mine = isinstance(thing, Row) or getattr(thing, "__module__", "").startswith("lazyarray")
    if mine and space in DOCUMENTED:
        assert len(doc.strip().splitlines()[0]) < 120
        if not inspect.isclass(thing) and name not in ("gpu", "waitall"):
            assert ">>>" in doc, f"{name} has no example"


def test_every_method_is_documented():
    for cls in (la.NDArray, la.engine.Engine, la.random.Generator, la.Context):
        for name in dir(cls):
            member = inspect.getattr_static(cls, name)
            if not name.startswith("_"):
                assert getattr(member, "__doc__", None), f"{cls.__name__}.{name}"


def test_all_is_unique_and_complete():
    assert len(set(la.__all__)) == len(la.__all__)
    assert set(la.__all__) <= set(dir(la)) <= set(la.__all__) | {"__version__", "compile", "matlib"}
    namespace = {}
    exec("from lazyarray import *", namespace)
    assert namespace["add"] is la.add and namespace["NDArray"] is la.NDArray
    # DESIGN section 5
    for name in """cpu gpu cpu_pinned Context current_context array zeros ones empty full arange
            linspace eye zeros_like waitall NDArray ndarray from_dlpack save load no_sync
            sync_report random engine""".split():
        assert name in la.__all__, name
    assert set(la.ops.table) | set(la.ops.aliases) <= set(la.__all__)


# The array API standard (2024.12), less what is not built yet.
STANDARD = """
e inf nan newaxis pi arange asarray empty empty_like eye from_dlpack full full_like linspace
meshgrid ones ones_like tril triu zeros zeros_like astype broadcast_arrays broadcast_to can_cast
finfo iinfo isdtype result_type bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32
float64 complex64 complex128 abs acos acosh add asin asinh atan atan2 atanh bitwise_and
bitwise_left_shift bitwise_invert bitwise_or bitwise_right_shift bitwise_xor ceil clip conj
copysign cos cosh divide equal exp expm1 floor floor_divide greater greater_equal hypot imag
isfinite isinf isnan less less_equal log log1p log2 log10 logaddexp logical_and logical_not
logical_or logical_xor maximum minimum multiply negative nextafter not_equal positive pow real
reciprocal remainder round sign signbit sin sinh square sqrt subtract tan tanh trunc take
take_along_axis matmul matrix_transpose tensordot vecdot concat expand_dims flip moveaxis
permute_dims repeat reshape roll squeeze stack tile unstack argmax argmin count_nonzero nonzero
searchsorted where argsort sort cumulative_prod cumulative_sum max mean min prod std sum var all
any diff
""".split()
STANDARD_LINALG = """
cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank
matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm
""".split()


def test_the_array_api_standards_names():
    assert [name for name in STANDARD if name not in la.__all__] == []
    assert [name for name in STANDARD_LINALG if name not in la.linalg.__all__] == []


def test_dtypes_and_constants():
    assert la.float32 is np.float32 and la.bool is np.bool and la.dtype is np.dtype
    assert (la.pi, la.e, la.inf, la.newaxis) == (np.pi, np.e, np.inf, None)
    assert np.isnan(la.nan) and la.finfo(la.float32).eps == np.finfo("f4").eps
    assert la.result_type(la.ones(1, "float32"), 1.0) == np.float32
    assert la.result_type(la.array(1, "int8"), la.int16) == np.int16
    assert la.promote_types("int8", "uint8") == np.int16 and la.isdtype(la.int8, "integral")
    with pytest.raises(TypeError, match=r"Python|can_cast"):
        la.can_cast(1, "int8")
    x = la.ones(2)
    assert la.astype(x, "float64", copy=False) is x and la.astype(x, "int8").dtype == np.int8
    moved = la.astype(x, "int8", device=la.cpu(1))
    assert (moved.device, moved.dtype, moved.asnumpy().tolist()) == (la.cpu(1), "int8", [1, 1])
    assert not la.shares_memory(x, la.ones(2)) and not la.may_share_memory(x, [1, 2])


@pytest.mark.host  # a GPU's kernels raise no flags
def test_errstate_holds_for_ops():
    with la.errstate(divide="raise"), pytest.raises(FloatingPointError):
        (la.ones(2) / la.zeros(2)).asnumpy()
    with la.errstate(divide="ignore"):
        assert la.geterr()["divide"] == "ignore"
        assert (la.ones(1) / 0).item() == np.inf


def test_a_wrong_name_is_answered_with_a_near_one():
    with pytest.raises(
        AttributeError, match="no attribute 'concatenat': did you mean 'concatenate'"
    ):
        la.concatenat
    with pytest.raises(AttributeError, match=r"no attribute 'qqqqqq'$"):
        la.qqqqqq
    assert not hasattr(la, "ndarrays_")


def test_version_is_the_projects():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert la.__version__ == project["version"]


def test_the_stub_of_the_table_is_up_to_date():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import make_stubs
    finally:
        sys.path.pop(0)
    assert make_stubs.TARGET.read_text() == make_stubs.stub(), "run: python tools/make_stubs.py"


def test_stubs_match_the_compiled_modules(tmp_path):
    pytest.importorskip("mypy")
    allowed = tmp_path / "allowed"
    allowed.write_text(
        "\n".join(
            [
                r".*\.__(reduce|setstate)_cython__",  # Cython's own
                r".*\.__(test__|pyx_capi__|init__)",
                r"lazyarray\.lazy\._lazy\.Tensor.*",  # NDArray to a type checker
                r"lazyarray\.ops\._rows\.Row\.(__call__|__signature__)",
                # An unknown argument is taken, and refused by its function's name.
                r"lazyarray\.ops\._rows\.(Ufunc|Reduction|Choice|MatMul)\.__call__",
                r"lazyarray\._ndarray\.NDArray\.__new__",  # for who calls it by name
                r"lazyarray\._ndarray\.NDArray\.__array_wrap__",  # when a class is derived
                r"lazyarray\._ndarray\.(op|hinted|opmap|Operators|Methods|Values|Array)",  # bases
            ]
        )
    )
    command = [sys.executable, "-m", "mypy.stubtest", "--concise", "--ignore-disjoint-bases"]
    command += ["--mypy-config-file", "mypy.ini", "--ignore-unused-allowlist"]
    command += ["--allowlist", str(allowed), *COMPILED]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_import_beside_modules_that_are_none():
    # Cython puts an object without a name where a module would be.
    code = "import sys; sys.modules['odd'] = object(); import lazyarray"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_star_import_hides_no_more_of_pythons_names_than_numpys():
    ours, numpys = {}, {}
    exec("from lazyarray import *", ours)
    exec("from numpy import *", numpys)
    assert not (ours.keys() - numpys.keys()) & set(dir(builtins))
    assert callable(la.compile)
