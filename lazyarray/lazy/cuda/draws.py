"""Draws on a device, by CuPy's generator: Philox4x32-10, whose key a stream gives for each draw.

A stream's state is that of NumPy's bit generator, on a GPU too. A draw takes two words of it, makes
as many states of them as suit its size, and lets go of these: nothing on the device outlives a
draw. So the same seed and the same draws in the same order give the same numbers on every GPU, and
states are kept, put back, pickled and spawned from as NumPy's. The numbers are not NumPy's.

Whether a distribution's parameters are right is checked here as NumPy does, where they are arrays
on the device; all others were when the draw was recorded.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Array = Any  # a CuPy array
Draw = Callable[..., Array]  # of the generator, the shape and the parameters

# A state is of 64 bytes, and its thread makes this many of a draw's numbers, or more in a draw that
# has enough of them to fill any GPU. CuPy launches whole blocks.
_NUMBERS = 8
_STATES = 1 << 18
_BLOCK = 256


def cupy() -> Any:
    """CuPy, which is imported when it is first needed."""
    return importlib.import_module("cupy")


class _Seed(np.random.SeedSequence):
    """Gives CuPy 64 bits, where it asks for 32: those of many draws would meet."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> np.ndarray:
        return super().generate_state(n_words, np.uint64)


def generator(bits: np.random.BitGenerator, count: int) -> Any:
    """A generator of CuPy's on the current device, for a draw of ``count`` numbers."""
    random = cupy().random
    seed = _Seed(bits.random_raw(2))
    blocks = -(-min(count // _NUMBERS + 1, _STATES) // _BLOCK)
    return random.Generator(random.Philox4x3210(seed, size=blocks * _BLOCK))


class _Row(NamedTuple):
    """How a distribution is drawn, and what its parameters have to be."""

    draw: Draw
    checks: dict[int, Callable[[Array], str | None]] = {}  # noqa: RUF012  # never changed


# ---- what parameters have to be, as numpy/random/_common.pyx ------------------------------------


def _check(name: str, test: Callable[[Array], Array], text: str) -> Callable[[Array], str | None]:
    return lambda v: None if bool(test(v).all()) else text.format(name)


def _not_negative(name: str) -> Callable[[Array], str | None]:
    return _check(name, lambda v: (v != v) | ~cupy().signbit(v), "{0} < 0")


def _positive(name: str) -> Callable[[Array], str | None]:
    return _check(name, lambda v: ~(v <= 0), "{0} <= 0")


def _share(name: str) -> Callable[[Array], str | None]:
    return _check(name, lambda v: (v >= 0) & (v <= 1), "{0} < 0, {0} > 1 or {0} contains NaNs")


def _share_above_0(name: str) -> Callable[[Array], str | None]:
    return _check(name, lambda v: (v > 0) & (v <= 1), "{0} <= 0, {0} > 1 or {0} contains NaNs")


# ---- distributions ------------------------------------------------------------------------------


def _own(name: str) -> Draw:
    """CuPy's method of that name, which takes arrays and a shape."""

    def draw(g: Any, size: tuple[int, ...], *parameters: Any) -> Array:
        return getattr(g, name)(*[cupy().asarray(p, np.float64) for p in parameters], size=size)

    return draw


def _binomial(g: Any, size: tuple[int, ...], n: Any, p: Any) -> Array:
    whole, share = cupy().asarray(n, np.int64), cupy().asarray(p, np.float64)
    return g.binomial(whole, share, size=size)


def _uniform(g: Any, size: tuple[int, ...], low: Any, high: Any) -> Array:
    return low + (high - low) * g.random(size)


def _inside(g: Any, size: tuple[int, ...]) -> Array:
    """Uniform numbers without 0: the formulas below take logarithms."""
    return cupy().maximum(g.random(size), 2.0**-54)


def _laplace(g: Any, size: tuple[int, ...], loc: Any, scale: Any) -> Array:
    u, log = _inside(g, size), cupy().log
    return loc + scale * cupy().where(u < 0.5, log(u + u), -log(2.0 - u - u))


def _logistic(g: Any, size: tuple[int, ...], loc: Any, scale: Any) -> Array:
    u = _inside(g, size)
    return loc + scale * cupy().log(u / (1.0 - u))


def _gumbel(g: Any, size: tuple[int, ...], loc: Any, scale: Any) -> Array:
    return loc - scale * cupy().log(_exponential(g, size, 1.0))


def _exponential(g: Any, size: tuple[int, ...], scale: Any) -> Array:
    return -scale * cupy().log(_inside(g, size))


def _normal(g: Any, size: tuple[int, ...], loc: Any, scale: Any) -> Array:
    return loc + scale * g.standard_normal(size)


def _lognormal(g: Any, size: tuple[int, ...], mean: Any, sigma: Any) -> Array:
    return cupy().exp(_normal(g, size, mean, sigma))


def _gamma(g: Any, size: tuple[int, ...], shape: Any, scale: Any) -> Array:
    return scale * _own("standard_gamma")(g, size, shape)


def _cauchy(g: Any, size: tuple[int, ...]) -> Array:
    return g.standard_normal(size) / g.standard_normal(size)


def _rayleigh(g: Any, size: tuple[int, ...], scale: Any) -> Array:
    return scale * cupy().sqrt(2.0 * _exponential(g, size, 1.0))


def _weibull(g: Any, size: tuple[int, ...], a: Any) -> Array:
    if not hasattr(a, "shape"):
        return _exponential(g, size, 1.0) ** (1.0 / a) if a else cupy().zeros(size)
    return cupy().where(a == 0, 0.0, _exponential(g, size, 1.0) ** (1.0 / a))


def _pareto(g: Any, size: tuple[int, ...], a: Any) -> Array:
    return cupy().expm1(_exponential(g, size, 1.0) / a)


_BOTH = {1: _not_negative("scale")}

_TABLE: dict[str, _Row] = {
    "uniform": _Row(_uniform),
    "normal": _Row(_normal, _BOTH),
    "lognormal": _Row(_lognormal, {1: _not_negative("sigma")}),
    "exponential": _Row(_exponential, {0: _not_negative("scale")}),
    "gamma": _Row(_gamma, {0: _not_negative("shape"), **_BOTH}),
    "laplace": _Row(_laplace, _BOTH),
    "logistic": _Row(_logistic, _BOTH),
    "gumbel": _Row(_gumbel, _BOTH),
    "rayleigh": _Row(_rayleigh, {0: _not_negative("scale")}),
    "pareto": _Row(_pareto, {0: _positive("a")}),
    "weibull": _Row(_weibull, {0: _not_negative("a")}),
    "standard_cauchy": _Row(_cauchy),
    "beta": _Row(_own("beta"), {0: _positive("a"), 1: _positive("b")}),
    "chisquare": _Row(_own("chisquare"), {0: _positive("df")}),
    "f": _Row(_own("f"), {0: _positive("dfnum"), 1: _positive("dfden")}),
    "power": _Row(_own("power"), {0: _positive("a")}),
    "geometric": _Row(_own("geometric"), {0: _share_above_0("p")}),
    "binomial": _Row(_binomial, {0: _not_negative("n"), 1: _share("p")}),
}

_STANDARD = frozenset(["random", "standard_normal", "standard_exponential"])


def draw(
    name: str,
    bits: np.random.BitGenerator,
    out: Array,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> bool:
    """Fills ``out`` with a draw of a generator's method ``name``; False if the host has to draw.

    ``bits`` is the stream's: two words are taken of it; none if the host has to draw, nothing is
    drawn or a parameter is wrong. ``args`` and ``kwargs`` are those of NumPy's method; parameters
    may be arrays on the device: ValueError and OverflowError, as NumPy's, for wrong values in them.
    """
    dtype = np.dtype(kwargs.get("dtype", np.float64))
    if name in _STANDARD:
        return not args and dtype.char in "fd" and _standard(name, bits, out, dtype)
    if name == "integers":
        return _integers(bits, out, args, kwargs)
    if name == "standard_gamma":
        name, args = "gamma", (*args, 1.0)
    row = _TABLE.get(name)
    if row is None:
        return False
    there = {i: a for i, a in enumerate(args) if isinstance(a, cupy().ndarray)}
    if any(a.dtype.kind not in "biuf" for a in there.values()):
        return False  # NumPy tells what is wrong with it
    if name == "binomial" and 0 in there and not np.can_cast(there[0].dtype, np.int64):
        return False
    parameters = [_parameter(p) for p in args]
    for i in there:
        wrong = row.checks[i](parameters[i]) if i in row.checks else None
        if wrong is not None:
            raise ValueError(wrong)
    if name == "uniform" and there:
        _check_range(parameters[1] - parameters[0])
    if out.size:
        out[...] = row.draw(generator(bits, out.size), out.shape, *parameters)
    return True


def _parameter(value: Any) -> Any:
    """A number as Python's, an array as CuPy's, of doubles as NumPy makes them."""
    if isinstance(value, cupy().ndarray):
        return value.astype(np.float64, copy=False)
    if isinstance(value, np.ndarray) and value.shape:
        return cupy().asarray(value.astype(np.float64))
    return float(value)


def _check_range(width: Array) -> None:
    if not bool(cupy().isfinite(width).all()):
        raise OverflowError(f"{'Range' if width.ndim else 'high - low range'} exceeds valid bounds")
    wrong = _not_negative("high - low")(width)
    if wrong is not None:
        raise ValueError(wrong)


def _standard(name: str, bits: np.random.BitGenerator, out: Array, dtype: np.dtype[Any]) -> bool:
    if out.size:
        g = generator(bits, out.size)
        if name == "standard_exponential":
            out[...] = _exponential(g, out.shape, 1.0)
        else:
            out[...] = getattr(g, name)(out.shape, dtype=dtype)
    return True


def _integers(
    bits: np.random.BitGenerator, out: Array, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> bool:
    dtype = np.dtype(kwargs.get("dtype", np.int64))
    if dtype.kind not in "iu" or not all(isinstance(v, (int, np.integer)) for v in args):
        return False
    low, high = args
    endpoint = kwargs.get("endpoint", False)
    if out.size:
        g = generator(bits, out.size)
        out[...] = g.integers(int(low), int(high), out.shape, dtype, endpoint)
    return True
