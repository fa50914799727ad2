"""The op table is the only place that names an op: what rows say, and that nobody else does."""

import itertools
import pathlib
import re

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy.cpu.jit.expressions import can_compile
from lazyarray.lazy.cuda.expressions import Unsupported, expressions, kind
from lazyarray.lazy.formulas import FORMULAS, JOINS, Formula
from lazyarray.ops import elementwise
from lazyarray.ops._table import aliases, table

ROOT = pathlib.Path(la.__file__).parent.parent
ROWS = elementwise.TABLE
HELD = set("?bBhHiIlLqQefdFD")  # what kernels of a GPU hold
# Of these CuPy's C++ has no complex functions: the host computes them.
HOSTED = {f"arc{name}" for name in "sin cos tan sinh cosh tanh".split()}


def loops(row):
    """The loops of a row on dtypes that a GPU holds, as (inputs, outputs)."""
    pairs = [types.split("->") for types in dict.fromkeys(row.types)]
    return [(ins, outs) for ins, outs in pairs if set(ins + outs) <= HELD]


# ---- what a row says ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROWS)
def test_the_example_is_as_numpys(name):
    args = eval(f"({ROWS[name].example},)")
    got, want = ROWS[name](*args), getattr(np, name)(*args)
    for g, w in zip(*([x] if ROWS[name].nout == 1 else x for x in (got, want)), strict=True):
        assert g.dtype == w.dtype
        np.testing.assert_array_equal(g.asnumpy(), w, strict=True)


@pytest.mark.parametrize("name", ROWS)
def test_the_formula_covers_the_loops(name):
    row = ROWS[name]
    kinds = {kind(ins[0]) for ins, _ in loops(row)}
    given = {k for k in Formula._fields if k != "half" and getattr(row.formula, k)}
    assert given == kinds - ({"complex"} if name in HOSTED else set())
    for ins, outs in loops(row):
        if name in HOSTED and ins[0] in "FD":
            with pytest.raises(Unsupported):
                expressions(name, ins, outs, ["x"])
        else:
            made = expressions(name, ins, outs, ["x", "y"][: row.nin])
            assert len(made) == row.nout


@pytest.mark.parametrize("name", ROWS)
def test_rules_and_intervals_are_one_for_each_input(name):
    row = ROWS[name]
    assert row.gradient is None or len(row.gradient) == row.nin
    assert len(row.smooth) in (0, row.nin)
    assert all(low < high for low, high in row.smooth)


def test_each_formula_belongs_to_somebody():
    import lazyarray.nn  # noqa: F401  # it has some of its own

    own = {"root", "clip", "where", "relu", "erf"}
    assert set(FORMULAS) == own | set(ROWS)
    assert set(JOINS) == {"sum", "prod", "max", "min", "all", "any", "nanmax", "nanmin"}
    assert all(join.op in ROWS for join in JOINS.values())
    assert all(name in table for name in aliases.values())


def test_another_name_has_the_same_loops_and_no_rule():
    row = la.maximum.named("another")
    try:
        assert row.gradient is None and row.formula == la.maximum.formula
        assert row([1.0, 5.0], 3.0).tolist() == [3.0, 5.0]
    finally:
        del FORMULAS["another"]


# ---- what is exact ------------------------------------------------------------------------------

EXACT = sorted(name for name, row in ROWS.items() if row.exact)
ANY_ORDER = "?bBhHiIlLqQfd"


def odd(dtype, n, seed):
    """Numbers of a dtype, those among them for which loops may differ."""
    rng = np.random.default_rng(seed)
    if dtype == "?":
        return rng.random(n) < 0.5
    if dtype in "fd":
        info = np.finfo(dtype)
        some = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, info.max, info.tiny, 0.5, -2.5]
        some.append(info.smallest_subnormal)
        return np.where(rng.random(n) < 0.5, rng.choice(some, n), rng.normal(0, 9, n)).astype(dtype)
    info = np.iinfo(dtype)
    some = np.array([info.min, info.max, 0, 1, 2], dtype)
    return np.where(rng.random(n) < 0.4, rng.choice(some, n), rng.integers(0, 30, n).astype(dtype))


@pytest.mark.parametrize("name", EXACT)
def test_exact_ops_have_the_same_bits_wherever_an_element_lies(name):
    row, ufunc = ROWS[name], getattr(np, name)
    for ins, outs in loops(row):
        if not set(ins + outs) <= set(ANY_ORDER):
            continue
        n = 203
        given = [odd(t, n, i) for i, t in enumerate(ins)]
        with np.errstate(all="ignore"):
            want = np.concatenate([ufunc(*[x[i : i + 1] for x in given]) for i in range(n)])
            for steps in itertools.product((1, -1, 3), repeat=row.nin):
                ours = []
                for x, step in zip(given, steps, strict=True):
                    wide = np.zeros(n * abs(step), x.dtype)
                    wide[::step] = x
                    ours.append(la.array(wide)[::step])
                got = row(*ours).asnumpy()
                same = (got == want) | (got != got) & (want != want)
                if got.dtype.kind == "f":
                    same &= (np.signbit(got) == np.signbit(want)) | (want != want)
                assert same.all(), (ins, steps)


def test_what_is_compiled():
    """All that is exact, and some that imitate NumPy's loops."""
    compiled = {n for n, r in ROWS.items() if any(can_compile(n, "".join(x)) for x in loops(r))}
    predicates = {"isfinite", "isinf", "isnan", "signbit"}
    extrema = {"maximum", "minimum", "fmax", "fmin"}
    assert compiled == set(EXACT) | predicates | extrema | {"sign", "reciprocal"}


# ---- nobody else names an op --------------------------------------------------------------------

# By files and folders: the names that are there, and what they mean.
ELSEWHERE = {
    "_derived.py": (
        {"all", "any", "clip", "conj", "conjugate", "max", "min", "prod", "sum", "take", "where"},
        "NumPy's functions and methods whose results are of a derived class; a parameter",
    ),
    "_direct.py": (
        {"take", "where"},
        "functions and methods for which NumPy's way is the faster one",
    ),
    "_docstrings.py": ({"where"}, "a parameter"),
    "_hints.py": (
        {"abs", "add", "cos", "exp", "log", "matmul", "sin", "sqrt", "square", "tanh"},
        "what MXNet and others call their functions",
    ),
    "_types.pyi": ({"clip", "maximum", "minimum", "sqrt"}, "modes; how many bins"),
    "autograd/": ({"add"}, "grad_req"),
    "distributed/": ({"max", "min", "prod", "sum"}, "what MPI and NCCL call their reductions"),
    "distributed/ledger.py": ({"where"}, "where a rank waits"),
    "distributed/_task.pyx": ({"where"}, "where a rank waits"),
    "functions/nanfunctions.py": ({"where"}, "a parameter"),
    "functions/padding.py": ({"maximum", "minimum"}, "modes"),
    "functions/rounding.py": ({"clip"}, "its own name, for `deliver`"),
    "functions/selecting.py": ({"clip", "take"}, "its own name, for `deliver`; a mode"),
    "functions/statistics.py": ({"where"}, "a parameter"),
    "graph/binding.py": ({"add"}, "grad_req"),
    "graph/lift.py": ({"take"}, "the kernel of gathers, which is no row's"),
    "graph/values.py": ({"take"}, "the kernel of gathers, which is no row's"),
    "lazy/python_ops.pxi": ({"log"}, "np.errstate"),
    "lazy/record.pxi": ({"divide", "log"}, "np.errstate"),
    "lazy/arithmetic.pxi": ({"take"}, "taking a number"),
    "lazy/cpu/jit/": (
        {"abs", "add", "ceil", "copysign", "fabs", "floor", "rint", "sqrt", "trunc"},
        "LLVM's instructions",
    ),
    "lazy/cuda/draws.py": ({"power"}, "the distribution"),
    "lazy/cuda/library/": (
        {"clip", "take"},
        "modes; which kernels' functions are known to call nothing but NumPy's",
    ),
    "linalg/norms.py": ({"power"}, "a call of Python's operator"),
    "nn/activations.py": ({"tanh"}, "an approximation"),
    "nn/inputs.py": ({"sum"}, "a parameter's value"),
    "ops/gather.pxi": ({"take"}, "the kernel of gathers, which is no row's"),
    "ops/gradients.py": ({"clip", "where"}, "gradients of what is no row"),
    "ops/others.pxi": (
        {"add", "all", "any", "max", "min", "prod", "sum", "take"},
        "methods that a class may have of its own; what tells a module that stands for NumPy",
    ),
    "ops/product.pxi": ({"matmul"}, "a hook's name"),
    "ops/select.pxi": ({"clip", "where"}, "kernels that are no row's"),
    "ops/direct_calls.pxi": ({"take", "where"}, "functions with indices; of values alone"),
    "ops/quick.pxi": ({"clip", "take", "where"}, "native ways of functions"),
    "ops/reduction.pxi": ({"where"}, "a parameter"),
    "ops/ufunc.pxi": ({"where"}, "a parameter"),
    "ops/ufunc_methods.pxi": ({"where"}, "a parameter"),
    "profiler/tables.py": ({"max", "min"}, "columns"),
    "protocols/": ({"where"}, "a parameter"),
    "random/table.py": ({"power"}, "the distribution"),
}
TABLE = {"ops/names.pyi", "ops/_table.py", "ops/reductions.py"}  # and the folder

NAMES = {*table, *aliases, "where", "clip", "take"}  # of rows, and of kernels that are no row's


def names_in(path):
    """Those in quotes, and in lists that are split; not what docstrings and ``__all__`` say."""
    text = path.read_text()
    lists = re.findall(r"\"([^\"]*)\"+\)?\.split\(", text)
    code = re.sub(r"\"\"\"[\s\S]*?\"\"\"|__all__ = \[[^\]]*\]", "", text)
    return {*re.findall(r"[\"'](\w+)[\"']", code), *" ".join(lists).split()} & NAMES


def reason_for(name, op):
    """Where ``ELSEWHERE`` allows an op's name in a file: its entry for the file or for a folder."""
    places = [name, *[f"{p}/" for p in pathlib.PurePosixPath(name).parents]]
    return next((p for p in places if p in ELSEWHERE and op in ELSEWHERE[p][0]), None)


def test_no_other_file_names_an_op():
    package = ROOT / "lazyarray"
    found = {}
    for path in package.rglob("*"):
        name = path.relative_to(package).as_posix()
        if path.suffix not in (".py", ".pyx", ".pxi", ".pyi", ".pxd", ".h", ".cpp", ".cuh"):
            continue
        if name not in TABLE and not name.startswith("ops/elementwise/"):
            for op in names_in(path):
                found.setdefault(reason_for(name, op) or name, set()).add(op)
    assert found == {place: there for place, (there, _) in ELSEWHERE.items()}


def test_a_name_is_found(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("x = table['add'] if \"hypot\" else adding")
    assert names_in(path) == {"add", "hypot"}
