"""The rows' work as loops written by hand for Numba, on all cores.

Each function compiles its kernel at its first call. Results are new arrays, but for what the row
changes in place.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy

from benchmarks.row import Array, Module

Kernel = Callable[..., Any]


def _compiled(numba: Module, kernel: Kernel) -> Kernel:
    """The kernel, with NumPy's rules for division; ``fastmath`` stays off."""
    compiled: Kernel = numba.njit(kernel, parallel=True, error_model="numpy")
    return compiled


def black_scholes(
    numba: Module, price: Array, strike: Array, years: Array, *, constants: tuple[float, ...]
) -> tuple[Array, Array]:
    """The prices of the calls and of the puts."""
    call, put = numpy.empty_like(price), numpy.empty_like(price)
    _black_scholes(numba)(price, strike, years, call, put, constants)
    return call, put


@functools.cache
def _black_scholes(numba: Module) -> Kernel:
    @numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]
    def cdf(d, a1, a2, a3, a4, a5, k1, norm):  # type: ignore[no-untyped-def]
        k = 1.0 / (1.0 + k1 * abs(d))
        polynomial = k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5))))
        tail = norm * math.exp(-0.5 * d * d) * polynomial
        return 1.0 - tail if d > 0 else tail

    def kernel(price, strike, years, call, put, constants):  # type: ignore[no-untyped-def]
        rate, volatility, a1, a2, a3, a4, a5, k, norm = constants
        for i in numba.prange(price.size):
            root = volatility * math.sqrt(years[i])
            growth = (rate + 0.5 * volatility**2) * years[i]
            d1 = (math.log(price[i] / strike[i]) + growth) / root
            n1 = cdf(d1, a1, a2, a3, a4, a5, k, norm)
            n2 = cdf(d1 - root, a1, a2, a3, a4, a5, k, norm)
            discounted = strike[i] * math.exp(-rate * years[i])
            call[i] = price[i] * n1 - discounted * n2
            put[i] = discounted * (1.0 - n2) - price[i] * (1.0 - n1)

    return _compiled(numba, kernel)


def mandelbrot(numba: Module, cx: Array, cy: Array, *, iterations: int) -> Array:
    """How long each point stays within 2 of the origin."""
    count = numpy.empty_like(cx)
    _mandelbrot(numba)(cx.ravel(), cy.ravel(), count.ravel(), iterations)
    return count


@functools.cache
def _mandelbrot(numba: Module) -> Kernel:
    def kernel(cx, cy, count, iterations):  # type: ignore[no-untyped-def]
        for i in numba.prange(cx.size):
            x = y = n = 0.0
            for _ in range(iterations):
                x2, y2 = x * x, y * y
                if x2 + y2 > 4.0:  # it stays outside
                    break
                x, y = x2 - y2 + cx[i], 2.0 * x * y + cy[i]
                n += 1.0
            count[i] = n

    return _compiled(numba, kernel)


def jacobi(numba: Module, a: Array, b: Array) -> tuple[Array, Array]:
    """Ten sweeps between two arrays."""
    kernel = _jacobi(numba)
    for _ in range(5):
        kernel(a, b)
        kernel(b, a)
    return a, b


@functools.cache
def _jacobi(numba: Module) -> Kernel:
    def kernel(a, b):  # type: ignore[no-untyped-def]
        for i in numba.prange(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = 0.2 * (
                    b[i, j] + b[i - 1, j] + b[i + 1, j] + b[i, j - 1] + b[i, j + 1]
                )  # fmt: skip

    return _compiled(numba, kernel)


def reaction(numba: Module, u: Array, v: Array) -> tuple[Array, Array]:
    """Five steps of reaction and diffusion on a torus."""
    for _ in range(5):
        p, q = numpy.empty_like(u), numpy.empty_like(v)
        _reaction(numba)(u, v, p, q)
        u, v = p, q
    return u, v


@functools.cache
def _reaction(numba: Module) -> Kernel:
    def kernel(u, v, p, q):  # type: ignore[no-untyped-def]
        n, m = u.shape
        for i in numba.prange(n):
            north, south = (i + n - 1) % n, (i + 1) % n
            for j in range(m):
                west, east = (j + m - 1) % m, (j + 1) % m
                du = u[north, j] + u[south, j] + u[i, west] + u[i, east] - 4 * u[i, j]
                dv = v[north, j] + v[south, j] + v[i, west] + v[i, east] - 4 * v[i, j]
                react = u[i, j] * v[i, j] * v[i, j]
                p[i, j] = u[i, j] + (0.16 * du - react + 0.06 * (1 - u[i, j]))
                q[i, j] = v[i, j] + (0.08 * dv + react - 0.122 * v[i, j])

    return _compiled(numba, kernel)


def nearest(numba: Module, x: Array, centres: Array) -> Array:
    """The nearest centre of each point."""
    found = numpy.empty(len(x), numpy.int64)
    _nearest(numba)(x, centres, found)
    return found


@functools.cache
def _nearest(numba: Module) -> Kernel:
    def kernel(x, centres, found):  # type: ignore[no-untyped-def]
        for i in numba.prange(x.shape[0]):
            least, at = math.inf, 0
            for k in range(centres.shape[0]):
                distance = 0.0
                for j in range(x.shape[1]):
                    distance += (x[i, j] - centres[k, j]) ** 2
                if distance < least:
                    least, at = distance, k
            found[i] = at

    return _compiled(numba, kernel)


def bodies(
    numba: Module, x: Array, y: Array, z: Array, vx: Array, vy: Array, vz: Array, mass: Array
) -> tuple[Array, ...]:
    """Five steps of all bodies; changes them in place."""
    dt, kernel = 1e-3, _bodies(numba)
    for _ in range(5):
        kernel(x, y, z, vx, vy, vz, mass, dt)
        x += dt * vx
        y += dt * vy
        z += dt * vz
    return x, y, z, vx, vy, vz


@functools.cache
def _bodies(numba: Module) -> Kernel:
    def kernel(x, y, z, vx, vy, vz, mass, dt):  # type: ignore[no-untyped-def]
        for i in numba.prange(x.size):
            ax = ay = az = 0.0
            for j in range(x.size):
                dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
                r2 = dx * dx + dy * dy + dz * dz + 0.05
                pull = mass[j] / (r2 * math.sqrt(r2))
                ax += pull * dx
                ay += pull * dy
                az += pull * dz
            vx[i] += dt * ax
            vy[i] += dt * ay
            vz[i] += dt * az

    return _compiled(numba, kernel)


def softmax(numba: Module, x: Array) -> Array:
    """The softmax of each row."""
    out = numpy.empty_like(x)
    _softmax(numba)(x, out)
    return out


@functools.cache
def _softmax(numba: Module) -> Kernel:
    def kernel(x, out):  # type: ignore[no-untyped-def]
        for i in numba.prange(x.shape[0]):
            most = x[i, 0]
            for j in range(x.shape[1]):
                most = max(most, x[i, j])
            total = x.dtype.type(0)
            for j in range(x.shape[1]):
                out[i, j] = math.exp(x[i, j] - most)
                total += out[i, j]
            for j in range(x.shape[1]):
                out[i, j] /= total

    return _compiled(numba, kernel)
