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
    """All that is exact, but for shifts; and some that imitate NumPy's loops."""
    compiled = {n for n, r in ROWS.items() if any(can_compile(n, "".join(x)) for x in loops(r))}
    shifts = {"left_shift", "right_shift"}
    predicates = {"isfinite", "isinf", "isnan", "signbit"}
    extrema = {"maximum", "minimum", "fmax", "fmin"}
    assert compiled == set(EXACT) - shifts | predicates | extrema | {"sign", "reciprocal"}


# ---- nobody else names an op --------------------------------------------------------------------

# By files: the names that are there, and what they mean.
ELSEWHERE = {
    "_hints.py": ({"add", "abs"}, "what MXNet calls its functions"),
    "_ndarray.pyx": ({"add"}, "grad_req"),
    "autograd/_walk.pyx": ({"add"}, "grad_req"),
    "autograd/gradients.py": ({"add"}, "grad_req"),
    "distributed/parallel.py": ({"add"}, "grad_req"),
    "nn/trainers.py": ({"add"}, "grad_req"),
    "functions/padding.py": ({"maximum", "minimum"}, "modes"),
    "lazy/cpu/jit/expressions.py": ({"add", "abs", "fabs"}, "LLVM's instructions"),
    "lazy/cpu/jit/rows.py": ({"add"}, "LLVM's instruction"),
    "lazy/record.pxi": ({"divide", "log"}, "np.errstate"),
    "lazy/python_ops.pxi": ({"log"}, "np.errstate"),
    "lazy/cuda/draws.py": ({"power"}, "the distribution"),
    "random/table.py": ({"power"}, "the distribution"),
    "random/__init__.pyi": ({"power"}, "the distribution"),
    "linalg/norms.py": ({"power"}, "a call of Python's operator"),
    "nn/activations.py": ({"tanh"}, "an approximation"),
    "profiler/tables.py": ({"multiply"}, "an example"),
}
TABLE = {"ops/names.pyi", "ops/_table.py"}  # and the folder


def names_in(path):
    found = set(re.findall(r"[\"'](\w+)[\"']", path.read_text()))
    return found & {*ROWS, *elementwise.ALIASES}


def test_no_other_file_names_an_op():
    package = ROOT / "lazyarray"
    found = {}
    for path in package.rglob("*"):
        name = path.relative_to(package).as_posix()
        if path.suffix not in (".py", ".pyx", ".pxi", ".pyi", ".pxd", ".h", ".cpp", ".cuh"):
            continue
        # A graph's nodes have the names of ops: they are written to files.
        if name not in TABLE and not name.startswith(("ops/elementwise/", "graph/")):
            found[name] = names_in(path)
    assert {name: there for name, there in found.items() if there} == {
        name: there for name, (there, _) in ELSEWHERE.items()
    }


def test_a_name_is_found(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("x = table['add'] if \"hypot\" else adding")
    assert names_in(path) == {"add", "hypot"}
