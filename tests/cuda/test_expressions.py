"""Every op of the table at every dtype, as generated code compiled by g++, against NumPy."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import lazyarray.nn  # noqa: F401  # it has rows of its own
from lazyarray.lazy.cuda.expressions import TYPES, Unsupported, expressions
from lazyarray.lazy.cuda.source import Spec
from lazyarray.ops import elementwise
from lazyarray.ops._rows import Row

from .kernels import Kernels

DTYPES = "?bBhHiIlLqQefdFD"
FLOATS, COMPLEX = "efd", "FD"

# What depends on a C library: units in the last place, of the larger part of complex numbers.
ULPS = {
    **dict.fromkeys(
        "exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh "
        "arcsinh arccosh arctanh arctan2 hypot cbrt power float_power logaddexp logaddexp2 erf "
        "deg2rad rad2deg degrees radians".split(),
        4,
    ),
}
# The error of b log(a), which is at most 60 here, is that of its exponential.
ULPS_OF = {
    ("absolute", "F"): 1,
    ("absolute", "D"): 2,
    ("sqrt", "F"): 1,
    ("sqrt", "D"): 1,
    ("power", "F"): 64,
    ("power", "D"): 64,
    ("float_power", "D"): 64,
}

# No kernel: these run on the host.
HOSTED = {
    (name, dtype)
    for name in "arcsin arccos arctan arcsinh arccosh arctanh".split()
    for dtype in COMPLEX
}


def signatures(row: Row) -> list[str]:
    """A row's loops, without long doubles and objects."""
    return [t for t in dict.fromkeys(row.types) if set(t) <= {*DTYPES, *"->"}]


CASES = [(name, t) for name, row in elementwise.TABLE.items() for t in signatures(row)]
CASES += [("relu", t) for t in signatures(elementwise.TABLE["maximum"])]
CASES += [("erf", "f->f"), ("erf", "d->d")]
CASES += [("clip", t) for t in np._core.umath.clip.types if set(t) <= {*DTYPES, *"->"}]
CASES += [("where", f"?{d}{d}->{d}") for d in DTYPES]
CASES += [("copy" if s == t else "cast", f"{s}->{t}") for s in DTYPES for t in DTYPES]


def spec_of(name: str, signature: str) -> Spec:
    """An elementwise kernel of one op on dense vectors."""
    ins, outs = signature.split("->")
    operands = tuple((d, "dense") for d in ins + outs)
    values = tuple(range(len(operands)))
    given, made = values[: len(ins)], values[len(ins) :]
    loads = tuple(("load", v, v) for v in given)
    stores = tuple(("store", v, v) for v in made)
    op = ("op", name, ins, outs, given, made)
    return (1, 0, "", False, operands, "", (*loads, op, *stores))


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Kernels:
    directory: Path = tmp_path_factory.mktemp("kernels")
    return Kernels([spec_of(*c) for c in CASES if (c[0], c[1][0]) not in HOSTED], directory)


def values(dtype: str) -> np.ndarray:
    """Values of a dtype, the odd ones among them."""
    d = np.dtype(dtype)
    if dtype == "?":
        return np.array([False, True])
    if d.kind in "iu":
        top = np.iinfo(d)
        edges = [
            top.min,
            top.min + 1,
            top.max,
            top.max - 1,
            top.max // 2,
            0,
            1,
            2,
            3,
            7,
            31,
            64,
            100,
        ]
        edges += [-1, -2, -7, -31] if d.kind == "i" else []
        return np.array(edges, d)
    if d.kind == "f":
        f = np.finfo(d)
        some = [0.0, 1.0, 0.5, 1.5, 2.5, 3.7, 1e-3, 20.0, 1000.0, float(f.max), float(f.tiny)]
        some += [float(f.smallest_subnormal), np.inf, 0.1, 1 / 3]
        some += [1 + 2**-11 + 2**-40]  # by way of a float it is rounded to another half
        return np.array([*some, *[-x for x in some], np.nan], d)
    parts = [0.0, -0.0, 1.0, -1.5, 0.3, 20.0, -100.0, np.inf, -np.inf, np.nan]
    return np.array([complex(re, im) for re in parts for im in parts], d)


def arguments(name: str, ins: str) -> list[np.ndarray]:
    """All combinations of the operands' values, where NumPy's result means something."""
    columns = [values(d) for d in ins]
    if len(ins) == 3 and ins[-1] in COMPLEX:
        columns = [c[::3] if len(c) > 2 else c for c in columns]
    grid = [np.ascontiguousarray(a).ravel() for a in np.meshgrid(*columns, indexing="ij")]
    if name == "power" and np.dtype(ins[1]).kind == "i":
        grid = [a[grid[1] >= 0] for a in grid]
    if name in ("power", "float_power") and ins[0] in COMPLEX:
        with np.errstate(all="ignore"):
            size = np.abs(grid[1]) * np.abs(np.log(grid[0]))
        grid = [a[(size < 60) | (grid[0] == 0)] for a in grid]
    return grid


def reference(name: str, ins: str, outs: str, given: list[np.ndarray]) -> list[np.ndarray]:
    if name in ("cast", "copy"):
        if outs == "I":  # out of range, NumPy's result depends on the element's place
            return [np.concatenate([x.astype(outs) for x in given[0][:, None]])]
        return [given[0].astype(outs)]
    if name == "erf":
        from math import erf

        return [np.array([erf(x) for x in given[0]], outs)]
    call = {"relu": np.maximum, "clip": np._core.umath.clip, "where": np.where}.get(name)
    if call is None:
        call = getattr(np, name)
    if name == "where":
        return [call(*given)]
    if name == "power" and outs == "F":  # NumPy's own is off by far more
        return [call(*(x.astype("D") for x in given)).astype("F")]
    made = call(*given, signature=(*ins, *outs))
    if name == "expm1" and ins in COMPLEX:  # NumPy's own has NaNs where C99 has limits
        made = np.where(np.isfinite(given[0]), made, np.exp(given[0]) - 1)
    return list(made) if isinstance(made, tuple) else [made]


def ordered(x: np.ndarray) -> np.ndarray:
    """Numbers that count floats: neighbours differ by one."""
    bits = x.view(f"i{x.itemsize}")
    return np.where(bits < 0, np.iinfo(bits.dtype).min - bits, bits)


def apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Units in the last place between floats; 0 for two NaNs."""
    gap = np.abs(ordered(a).astype("g") - ordered(b).astype("g"))
    return np.where(np.isnan(a) & np.isnan(b), 0, gap)


def complex_apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Units in the last place of the larger part; by parts if they are not finite."""
    re, im = apart(a.real.copy(), b.real.copy()), apart(a.imag.copy(), b.imag.copy())
    unit = np.spacing(np.maximum(np.abs(b.real), np.abs(b.imag)))
    gap = np.maximum(np.abs(a.real - b.real) / unit, np.abs(a.imag - b.imag) / unit)
    return np.where(np.isfinite(a) & np.isfinite(b), gap, np.maximum(re, im))


def check(
    a: np.ndarray, b: np.ndarray, ulps: float, given: list[np.ndarray], zeros: bool = True
) -> None:
    assert a.dtype == b.dtype
    with np.errstate(all="ignore"):
        if a.dtype.kind == "c" and ulps:
            off = ~(complex_apart(a, b) <= ulps)
        elif a.dtype.kind in "fc":
            part = np.dtype(a.dtype.char.lower())
            x, y = a.view(part), b.view(part)
            parts = ~(apart(x, y) <= ulps)
            if zeros and not ulps:
                parts |= (x == 0) & (y == 0) & (np.signbit(x) != np.signbit(y))
            off = parts.reshape(len(a), -1).any(axis=1)
        else:
            off = a != b
    places = np.flatnonzero(off)
    shown = [(*(g[i] for g in given), "gives", a[i], "not", b[i]) for i in places[:12]]
    assert not len(places), f"{len(places)} of {len(a)}: {shown}"


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize(("name", "signature"), CASES)
def test_op(kernels: Kernels, name: str, signature: str) -> None:
    ins, outs = signature.split("->")
    if (name, ins[0]) in HOSTED:
        with pytest.raises(Unsupported, match=name):
            expressions(name, ins, outs, ["v0"])
        return
    given = arguments(name, ins)
    made = [np.zeros(len(given[0]), d) for d in outs]
    with np.errstate(all="ignore"):
        expected = reference(name, ins, outs, given)
    kernels.elementwise(spec_of(name, signature), [*given, *made])
    for a, b in zip(made, expected, strict=True):
        ulps = ULPS_OF.get((name, ins[0]), ULPS.get(name, 0))
        # Which of two zeros is taken depends on their place, in NumPy; in nextafter of halves on
        # the version: the first before 2.5, then the second, as of other floats.
        zeros = name not in ("fmax", "fmin", "clip") and (name, ins[0]) != ("nextafter", "e")
        check(a, b, ulps, given, zeros=zeros)


def test_names_of_types() -> None:
    assert set(TYPES) == set(DTYPES)


def test_unknown_ops_and_dtypes_are_unsupported() -> None:
    for name, ins, outs in itertools.product(["add", "nonsense"], ["gg", "GG"], ["g"]):
        with pytest.raises(Unsupported):
            expressions(name, ins, outs, ["v0", "v1"])
