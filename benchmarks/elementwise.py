"""Rows of elementwise work: the four-operand chain, Black-Scholes prices, the Mandelbrot set."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy

from benchmarks import numba_loops
from benchmarks.row import Aim, Array, Module, Row, uniform

# ---- the chain ----------------------------------------------------------------------------------


def chain(np: Module, a: Array, b: Array, c: Array, d: Array) -> Array:
    """The four operands' expression: six ops, five arrays."""
    return (a * b + c * d - a) / (b + 1.5)


def chain_numexpr(ne: Module, a: Array, b: Array, c: Array, d: Array) -> Array:
    """The chain, with its number of the arrays' own type."""
    shift = a.dtype.type(1.5)  # a literal would make the whole expression float64
    return ne.evaluate(
        "(a * b + c * d - a) / (b + shift)",
        local_dict={"a": a, "b": b, "c": c, "d": d, "shift": shift},
    )


@functools.cache
def _chain_kernel(numba: Module) -> Callable[..., None]:
    """One parallel loop over memory, which is what the chain can at best be."""

    @numba.njit(parallel=True, error_model="numpy")
    def kernel(a: Array, b: Array, c: Array, d: Array, out: Array) -> None:
        shift = out.dtype.type(1.5)
        for i in numba.prange(a.size):
            out[i] = (a[i] * b[i] + c[i] * d[i] - a[i]) / (b[i] + shift)

    return kernel


@functools.cache
def _out(size: int, dtype: numpy.dtype[Any]) -> numpy.ndarray:
    """An output made once: a loop into fresh memory would also measure the page faults."""
    return numpy.zeros(size, dtype)


def chain_numba(numba: Module, a: Array, b: Array, c: Array, d: Array) -> Array:
    """The chain as a compiled parallel loop that writes over the same output each time."""
    out = _out(a.size, a.dtype)
    _chain_kernel(numba)(a, b, c, d, out)
    return out


def _chains() -> list[Row]:
    aims = {("4M", "float64"): (Aim(0.28, ("numpy",)), Aim(1.5, ("numba",)))}
    rows = []
    for size, n in (("4k", 4_000), ("64k", 64_000), ("4M", 4_000_000)):
        for dtype in ("float32", "float64"):
            rows.append(
                Row(
                    f"(a*b + c*d - a) / (b + 1.5), {size} {dtype}",
                    chain,
                    functools.partial(uniform, *[(n,)] * 4, dtype=dtype),
                    {"numexpr": chain_numexpr, "numba": chain_numba if size == "4M" else None},
                    aims.get((size, dtype), ()),
                    unit="ms" if size == "4M" else "us",
                    rtol=1e-3 if dtype == "float32" else 1e-6,
                )
            )
    return rows


# ---- Black-Scholes ------------------------------------------------------------------------------

RATE, VOLATILITY = 0.02, 0.3
# Abramowitz and Stegun 26.2.17
A1, A2, A3, A4, A5 = 0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429
K, NORM = 0.2316419, 1 / math.sqrt(2 * math.pi)


def normal_cdf(np: Module, d: Array) -> Array:
    """The standard normal distribution function."""
    k = 1.0 / (1.0 + K * np.abs(d))
    polynomial = k * (A1 + k * (A2 + k * (A3 + k * (A4 + k * A5))))
    tail = NORM * np.exp(-0.5 * d * d) * polynomial
    return np.where(d > 0, 1.0 - tail, tail)


def black_scholes(np: Module, price: Array, strike: Array, years: Array) -> tuple[Array, Array]:
    """The prices of the calls and of the puts."""
    root = VOLATILITY * np.sqrt(years)
    d1 = (np.log(price / strike) + (RATE + 0.5 * VOLATILITY**2) * years) / root
    n1, n2 = normal_cdf(np, d1), normal_cdf(np, d1 - root)
    discounted = strike * np.exp(-RATE * years)
    call = price * n1 - discounted * n2
    put = discounted * (1.0 - n2) - price * (1.0 - n1)
    return call, put


def black_scholes_numexpr(
    ne: Module, price: Array, strike: Array, years: Array
) -> tuple[Array, Array]:
    """The prices in five passes: what is shared is computed once."""
    names: dict[str, Any] = {"price": price, "strike": strike, "years": years}
    names |= {"rate": RATE, "v": VOLATILITY}

    def evaluate(text: str) -> Array:
        return ne.evaluate(text, local_dict=names)

    def cdf(d: str) -> Array:
        k = f"(1.0 / (1.0 + {K} * abs({d})))"
        polynomial = f"{k} * ({A1} + {k} * ({A2} + {k} * ({A3} + {k} * ({A4} + {k} * {A5}))))"
        tail = f"{NORM} * exp(-0.5 * ({d}) * ({d})) * {polynomial}"
        return evaluate(f"where({d} > 0, 1.0 - {tail}, {tail})")

    names["d1"] = evaluate("(log(price / strike) + (rate + 0.5*v*v) * years) / (v * sqrt(years))")
    names["n1"], names["n2"] = cdf("d1"), cdf("(d1 - v * sqrt(years))")
    call = evaluate("price * n1 - strike * exp(-rate * years) * n2")
    put = evaluate("strike * exp(-rate * years) * (1.0 - n2) - price * (1.0 - n1)")
    return call, put


def options() -> list[numpy.ndarray]:
    """Prices, strikes and times to maturity of a million options."""
    price, strike, years = uniform(*[(1_000_000,)] * 3)
    return [100 * price, 100 * strike, 2 * years]


# ---- the Mandelbrot set -------------------------------------------------------------------------

ITERATIONS = 30


def grid() -> tuple[numpy.ndarray, numpy.ndarray]:
    """The real and imaginary parts of 500 x 500 points of the plane."""
    # Not quite symmetric, so that no point lies on the set's tips, where rounding decides.
    x, y = numpy.linspace(-2.01, 0.62, 500), numpy.linspace(-1.31, 1.29, 500)
    cx, cy = numpy.meshgrid(x, y)
    return cx, cy


def mandelbrot(np: Module, cx: Array, cy: Array) -> Array:
    """How long each point stays within 2 of the origin, on real and imaginary parts."""
    x, y, count = np.zeros_like(cx), np.zeros_like(cx), np.zeros_like(cx)
    for _ in range(ITERATIONS):
        x2, y2 = x * x, y * y
        inside = x2 + y2 <= 4.0
        x, y = np.where(inside, x2 - y2 + cx, x), np.where(inside, 2.0 * x * y + cy, y)
        count = np.where(inside, count + 1.0, count)
    return count


def mandelbrot_numexpr(ne: Module, cx: Array, cy: Array) -> Array:
    """The same in four expressions an iteration."""
    x, y, count = numpy.zeros_like(cx), numpy.zeros_like(cx), numpy.zeros_like(cx)
    for _ in range(ITERATIONS):
        names = {"x": x, "y": y, "cx": cx, "cy": cy, "count": count}
        names["inside"] = ne.evaluate("x*x + y*y <= 4.0", local_dict=names)
        count = ne.evaluate("where(inside, count + 1.0, count)", local_dict=names)
        x = ne.evaluate("where(inside, x*x - y*y + cx, x)", local_dict=names)
        y = ne.evaluate("where(inside, 2.0 * x * y + cy, y)", local_dict=names)
    return count


def mandelbrot_complex(np: Module, c: Array) -> Array:
    """How long each point stays within 2 of the origin, on complex numbers."""
    z, count = np.zeros_like(c), np.zeros(c.shape, dtype=np.float64)
    for _ in range(ITERATIONS):
        inside = np.abs(z) <= 2.0
        z = np.where(inside, z * z + c, z)
        count = np.where(inside, count + 1.0, count)
    return count


def mandelbrot_complex_numexpr(ne: Module, c: Array) -> Array:
    """The same in three expressions an iteration."""
    z, count = numpy.zeros_like(c), numpy.zeros(c.shape)
    for _ in range(ITERATIONS):
        names = {"z": z, "c": c, "count": count}
        names["inside"] = ne.evaluate("real(abs(z)) <= 2.0", local_dict=names)
        count = ne.evaluate("where(inside, count + 1.0, count)", local_dict=names)
        z = ne.evaluate("where(inside, z*z + c, z)", local_dict=names)
    return count


def complex_grid() -> list[numpy.ndarray]:
    """The same points as complex numbers."""
    cx, cy = grid()
    return [cx + 1j * cy]


# ---- a formula with many names ------------------------------------------------------------------


def polynomials(np: Module, s: Array, t: Array, p: Array) -> Array:
    """Some 300 operations, of which 48 have names until the end: as models of oceans have them.

    ``p`` is a row that is broadcast.
    """
    named = []
    for k in range(1, 13):
        a = k + t * (0.1 * k + t * (0.01 + t * 0.001))
        b = a + s * (k - 0.3 * t) + np.sqrt(s) * (0.2 + 0.05 * t)
        c = b + p * (0.4 * k + 0.02 * t + p * 0.001)
        named += [a, b, c, c / (1.0 + a * 0.01)]
    total = named[3]
    for term in named[7::4]:
        total = total * 0.5 + term
    return total


ROWS = [
    *_chains(),
    Row(
        "polynomials: 300 ops, 48 of them with names, 1M float64",
        polynomials,
        functools.partial(uniform, (40_000, 26), (40_000, 26), (26,)),
        {},
    ),
    Row(
        "Black-Scholes, calls and puts of 1M options, float64",
        black_scholes,
        options,
        {
            "numexpr": black_scholes_numexpr,
            "numba": functools.partial(
                numba_loops.black_scholes,
                constants=(RATE, VOLATILITY, A1, A2, A3, A4, A5, K, NORM),
            ),
        },
        (Aim(0.35, ("numpy",)),),
    ),
    Row(
        "Mandelbrot, 500 x 500, 30 iterations, two float64 arrays",
        mandelbrot,
        grid,
        {
            "numexpr": mandelbrot_numexpr,
            "numba": functools.partial(numba_loops.mandelbrot, iterations=ITERATIONS),
        },
        (Aim(0.35, ("numpy",)),),
        rtol=1e-4,  # on the set's edge the last bit decides, and compilers fuse multiply-adds
    ),
    Row(
        "Mandelbrot, 500 x 500, 30 iterations, complex128",
        mandelbrot_complex,
        complex_grid,
        {"numexpr": mandelbrot_complex_numexpr},
        rtol=1e-4,
    ),
]
