"""The calls that ``benchmarks.calls`` times, and the operands that they name, at any size.

Most are the sample calls of the surface tests (tests/surface): of each public function the first
one that NumPy can run on operands of the size asked for. Here are only those in whose place a
better one stands, and what isn't a function: operators, indexing, loops, conversions.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy

from tests.surface import samples
from tests.surface.calls.random import DRAWS, METHODS

# Arrays whose size is the one asked for, as in tests/surface/samples.py, and besides:
# u in (0, 1), k a permutation of indices, z zeros to write to, y three columns, g as long as a side
# of the matrices; p positive definite.
SIZED = frozenset("v w m q t i j b c n s f u k z y g p".split())

# What costs the cube of a side gets smaller matrices, else it takes seconds.
CUBIC = re.compile(
    r"linalg\.(inv|p?inv|solve|lstsq|det|slogdet|cholesky|qr|svd|eig|cond|matrix_rank|matrix_power"
    r"|multi_dot|tensor(inv|solve))|einsum\('ij,jk,kl"
)
CUBIC_SIZES = {10**5: 10**4, 10**6: 4 * 10**4}

# A function's call where the first sample has another size, computes its operands or leaves the
# function's domain. A None: its time does not depend on operands, or it is about files.
INSTEAD: dict[str, str | None] = {
    **{name: f"xp.{name}(shape)" for name in ("empty", "zeros", "ones")},
    **{name: f"xp.{name}(u)" for name in ("arcsin", "asin", "arccos", "acos", "arctanh", "atanh")},
    **{name: f"xp.{name}(w, v)" for name in ("power", "pow", "float_power")},
    **{name: f"xp.{name}(N)" for name in ("arange", "bartlett", "blackman", "hamming", "hanning")},
    **{name: f"xp.{name}(side)" for name in ("eye", "identity", "tri", "diag_indices",
                                             "tril_indices", "triu_indices")},
    **{f"fft.{name}": f"xp.fft.{name}(N)" for name in ("fftfreq", "rfftfreq")},
    **{name: f"xp.{name}(v, u[:8])" for name in ("convolve", "correlate", "kron", "polydiv")},
    "full": "xp.full(shape, 2.5)",
    "linspace": "xp.linspace(0, 1, N)",
    "logspace": "xp.logspace(0, 1, N)",
    "geomspace": "xp.geomspace(1, 1000, N)",
    "kaiser": "xp.kaiser(N, 5.0)",
    "indices": "xp.indices((side, side))",
    "fromfunction": "xp.fromfunction(lambda x, y: x + y, (side, side))",
    "fromiter": "xp.fromiter(range(N), float)",
    "frombuffer": "xp.frombuffer(data)",
    "ndindex": "list(xp.ndindex(side, side))",
    "ndenumerate": "[e for at, e in xp.ndenumerate(m)]",
    "mgrid": "xp.mgrid[0:side, 0:side]",
    "ogrid": "xp.ogrid[0:side, 0:side]",
    "r_": "xp.r_[v, 1, w]",
    "s_": None,
    "index_exp": None,
    "ix_": "xp.ix_(k, k)",
    "mask_indices": "xp.mask_indices(side, xp.triu)",
    "meshgrid": "xp.meshgrid(g, g)",
    "outer": "xp.outer(g, g)",
    "linalg.outer": "xp.linalg.outer(g, g)",
    "diag": "xp.diag(g)",
    "diagflat": "xp.diagflat(g)",
    "poly": "xp.poly(v)",
    "polymul": "xp.polymul(v, u[:8])",
    "polyval": "xp.polyval([1.0, 2.0, 3.0], v)",
    "cov": "xp.cov(v, w)",
    "corrcoef": "xp.corrcoef(v, w)",
    "digitize": "xp.digitize(v, [-1.0, 0.0, 1.0])",
    "histogramdd": "xp.histogramdd(y, bins=3)[0]",
    "take": "xp.take(v, k)",
    "put": "xp.put(v, k, w)",
    "choose": "xp.choose(b.astype(int), [v, w])",
    "take_along_axis": "xp.take_along_axis(v, k)",
    "unravel_index": "xp.unravel_index(k, (side, 2 * side))",
    "cross": "xp.cross(y, y)",
    "linalg.cross": "xp.linalg.cross(y, y)",
    "matvec": "xp.matvec(q, g)",
    "vecmat": "xp.vecmat(g, q)",
    "linalg.solve": "xp.linalg.solve(q, g)",
    "linalg.lstsq": "xp.linalg.lstsq(q, g)",
    "linalg.tensorinv": "xp.linalg.tensorinv(q.reshape(1, side, side))",
    "linalg.tensorsolve": "xp.linalg.tensorsolve(q.reshape(1, side, side), g[None])",
    "linalg.cholesky": "xp.linalg.cholesky(p)",
    "linalg.eigh": "xp.linalg.eigh(p)",
    "linalg.eigvalsh": "xp.linalg.eigvalsh(p)",
    "allclose": "xp.allclose(v, v)",
    "isclose": "xp.isclose(v, w)",
    "isneginf": "xp.isneginf(v)",
    "isposinf": "xp.isposinf(v)",
    "isin": "xp.isin(i, k)",
    "intersect1d": "xp.intersect1d(i, k)",
    "union1d": "xp.union1d(i, k)",
    "fix": "xp.fix(v)",
    "unwrap": "xp.unwrap(s)",
    "partition": "xp.partition(v, 1)",
    "argpartition": "xp.argpartition(v, 1)",
    "trim_zeros": "xp.trim_zeros(z)",
    "squeeze": "xp.squeeze(v)",
    "reshape": "xp.reshape(v, (-1, 1))",
    "broadcast_to": "xp.broadcast_to(v, (2, N))",
    "broadcast_arrays": "xp.broadcast_arrays(m, g)",
    "broadcast": "xp.broadcast(m, g).shape",
    "unpackbits": "xp.unpackbits(data8)",
    "resize": "xp.resize(v, (2, N))",
    "block": "xp.block([[m, m], [m, m]])",
    "vectorize": "xp.vectorize(lambda x, y: x + y)(v, 3)",
    "ndarray.argpartition": "v.argpartition(1)",
    "ndarray.choose": "b.astype(int).choose([v, w])",
    "ndarray.compress": "v.compress(b)",
    "ndarray.flat": "v.flat[1]",
    "ndarray.flatten": "m.flatten()",
    "ndarray.item": "v.item(1)",
    "ndarray.partition": "i.partition(1)",
    "ndarray.put": "v.put(k, w)",
    "ndarray.reshape": "v.reshape(-1, 1)",
    "ndarray.squeeze": "v.squeeze()",
    "ndarray.take": "v.take(k)",
    "ndarray.setflags": None,
    "ndarray.device": None,
    "format_float_positional": "xp.format_float_positional(x)",
    "format_float_scientific": "xp.format_float_scientific(x)",
}  # fmt: skip

# The parameters of each distribution; one number is drawn at 0-d, else an array of the size.
PARAMETERS = {
    "beta": "2.0, 3.0", "binomial": "10, 0.5", "chisquare": "3.0", "exponential": "1.0",
    "f": "2.0, 8.0", "gamma": "2.0, 1.0", "geometric": "0.3", "gumbel": "0.0, 1.0",
    "hypergeometric": "15, 10, 5", "laplace": "0.0, 1.0", "logistic": "0.0, 1.0",
    "lognormal": "0.0, 1.0", "logseries": "0.6", "negative_binomial": "3, 0.5",
    "noncentral_chisquare": "3.0, 2.0", "noncentral_f": "3.0, 8.0, 2.0", "normal": "0.0, 1.0",
    "pareto": "3.0", "poisson": "4.0", "power": "5.0", "rayleigh": "2.0", "standard_cauchy": "",
    "standard_t": "5.0", "triangular": "0.0, 1.0, 3.0", "uniform": "0.0, 1.0",
    "vonmises": "0.0, 4.0", "wald": "3.0, 2.0", "weibull": "5.0", "zipf": "2.5", "random": "",
    "standard_normal": "", "standard_exponential": "", "standard_gamma": "2.0", "choice": "9",
    "dirichlet": "[1.0, 2.0]", "multinomial": "9, [0.2, 0.8]", "integers": "10", "randint": "10",
    "multivariate_normal": "[0.0, 5.0], [[2.0, 0.5], [0.5, 1.0]]",
    "multivariate_hypergeometric": "[4, 6], 5", "random_sample": "", "ranf": "", "sample": "",
}  # fmt: skip
OF_ARRAYS = {"permutation": "v", "shuffle": "v", "permuted": "v"}
BY_SHAPE = ("rand", "randn")

# What ordinary programs do with one number, 0-d only: x is an element of an array.
SCALARS = """
x + x; x - 1.0; 1.0 - x; x * x; 2 * x; x / 3.0; x // 1; x % 1.0; x ** 2; -x; abs(x); +x; h + 1;
h // 2; h % 3; h & 1; x < 2; x > x; x == x; x != 1.0; h == 3; 0 < x < 1; bool(x > 0);
x if x > 0 else -x; not x; float(x); int(x); complex(x); round(x); round(x, 2); str(x); repr(x);
hash(x); f'{x:.3f}'; f'{x}'; '%.3f' % x; math.sqrt(x * x); math.floor(x); math.exp(x);
math.isnan(x); D[h]; h in D; L[h]; range(h); max(x, 0.0); min(x, x); sum([x, x]);
sorted([x, w, x]); isinstance(x, float); isinstance(x, xp.floating); x.item(); x.shape; x.dtype;
x.ndim; x is None; x.real; x.round(2); x.astype(int); x.sum(); divmod(x, 1.0); xp.float64(2.0);
xp.int64(3); xp.float32(2.0); xp.bool_(True); xp.array(2.0); xp.asarray(2.0); xp.sqrt(2.0);
xp.sin(0.5); xp.exp(1.0); xp.abs(-1.0); xp.maximum(1.0, 2.0); xp.floor(2.5); xp.sign(-2);
xp.random.rand(); xp.random.randn(); xp.random.random(); xp.random.randint(0, 10);
xp.random.choice(5); xp.random.choice([1, 2, 3]); xp.random.uniform(-1, 1); xp.random.normal(0, 1);
rng.random(); rng.normal(); rng.integers(10); rng.choice(5); rng.uniform(); rng.standard_normal();
xp.pi * x; xp.random.seed(0); xp.random.default_rng(0); xp.interp(2.5, [1, 2, 3], [4, 5, 6]);
xp.isscalar(x); xp.mean([x, x, x]); xp.sum([x, x]); xp.array([x, x]); xp.array([x, 1.0, 2]);
xp.array([[x, x], [x, x]])
"""

# The same with very short arrays and what lists of numbers become.
SHORT = """
xp.array([1.0, 2.0, 3.0]); xp.array([1, 2, 3]); xp.asarray([1.0, 2.0, 3.0]);
xp.array([[1.0, 2], [3, 4]]); xp.array([v, v]); xp.array((v, w, v)); xp.array([v[0], w[1]]);
xp.mean([1.0, 2.0, 3.0]); xp.sum([1, 2, 3]); xp.max([1, 2, 3]); xp.argmax([1, 3, 2]);
xp.dot([1.0, 2.0], [3.0, 4.0]); xp.std([1.0, 2.0, 4.0]); xp.linalg.norm([3.0, 4.0]);
xp.array_equal([1, 2], [1, 2]); xp.concatenate([v, [1.0]]); xp.zeros((3, 3)); xp.linspace(0, 1, 5);
xp.eye(3); xp.where(v > 0, 1, -1); a, b_, c_ = v; a = v[0] + v[1] * v[2]
"""

# Operators, indexing, loops, methods: at every size where NumPy can run them.
ARRAYS = """
v + w; v - w; v * w; v / w; v ** 2; v ** 0.5; v // w; v % w; -v; abs(v); v + 1; 2 * v; 1 - v;
1.0 / w; v + x; x * v; v + g; m + g; m * m; v < w; v > 0; v == w; v != w; (v > 0) & (w > 1);
(v > 0) | b; ~b; i + 1; i * 2; i // 2; i % 2; i == 3; i & 1; i << 1; f + f; f * 2; c * c; m @ m;
v @ w; m @ g; m.T @ m; z[:] = v; z += v; z -= v; z *= 1.0; z += 1.0; z[1] = 2.0; z[1] += 1.0;
z[1:] = 2.0; z[k] = v; z[b] = 1.0; z[k] += 1.0; m[1, 2] = 5.0; m[1] = 0.0; m[:, 1] = g;
m[1, :] += g; z[1:] = z[:-1]; z[...] = 0; v[0]; v[-1]; v[h]; v[1:]; v[:-1]; v[::2]; v[::-1];
v[1:-1]; v[k]; v[b]; v[v > 0]; v[[0, 1]]; v[...]; v[None]; v[:, None]; v[xp.newaxis, :]; m[1];
m[1, 2]; m[h, h]; m[1][2]; m[1:, :]; m[:, 1]; m[:-1, 1:]; m[1:3, 1:3]; m[:, [0, 2]]; m[[0, 2]];
m[m > 0]; t[0]; t[..., 0]; t[0, 0, 1]; len(v); v.shape; v.size; m.shape[0]; m.T; v.copy();
v.tolist(); list(v); [e for e in v]; sum(v); max(v); min(v); sorted(v); 2.0 in v; any(v > 9);
all(w > 0); v.any(); v.all(); v.sum() > 0; float(v.sum()); (v > 0).sum(); (v > 0).any();
(v == w).all(); float(v[0]); int(i[0]); v.max(); v.min(); v.argmax(); v.mean(); v.std(); v.sum();
v.var(); v.cumsum(); v.dot(w); v.astype(int); v.ravel(); v.flatten(); v.item(0); str(v); repr(v);
m.sum(axis=0); m.sum(axis=1); m.mean(axis=0); m.max(axis=1); m.argmax(axis=1);
m.sum(axis=1, keepdims=True); m.std(axis=0); m.flatten(); m.reshape(-1); m.transpose(); m.dot(m);
m.min(axis=0); m.any(axis=1); xp.sum(v); xp.sum(m, axis=0); xp.sum(m, axis=1); xp.mean(v);
xp.mean(m, axis=0); xp.max(v); xp.std(v); xp.var(v); xp.any(v); xp.all(v > 0); xp.sum(v > 0);
xp.sum((v - w) ** 2); xp.sqrt(xp.sum((v - w) ** 2)); xp.mean((v - w) ** 2); xp.abs(v).max();
xp.argmax(m, axis=1); xp.argsort(v)[::-1]; xp.sort(v)[::-1]; xp.where(v > 0)[0];
xp.where(v > 0, v, 0.0); xp.nonzero(v > 0)[0]; xp.maximum(0, v); xp.clip(v, 0, 1);
1 / (1 + xp.exp(-v)); xp.exp(v) / xp.sum(xp.exp(v)); xp.linalg.norm(v - w);
xp.linalg.norm(m, axis=1); xp.linalg.norm(m); xp.append(v, 1.0); xp.hstack([v, 1.0]);
xp.vstack([m, g]); xp.dot(m, g); xp.dot(v, w); xp.dot(m, m); xp.einsum('i,i->', v, w);
xp.einsum('ij,j->i', m, g); xp.einsum('ij->i', m); xp.zeros((side, side)); xp.zeros_like(v);
xp.ones(shape); xp.array(v); xp.array(m); xp.asarray(v); xp.array(values); xp.asarray(values);
xp.arange(0, N, 1.0); xp.arange(1, N + 1); xp.diff(v); xp.cumsum(v) / xp.arange(1, N + 1);
xp.percentile(v, [25, 75]); xp.bincount(i); xp.unique(i, return_counts=True);
xp.histogram(v, bins=20); xp.searchsorted(s, 0.5); xp.add.at(z, k, 1.0); xp.add.reduce(v);
xp.add.outer(g, g); xp.maximum.accumulate(v); xp.multiply.reduce(u); xp.add(v, w, out=z);
xp.exp(v, out=z); xp.random.rand(N); xp.random.randn(N); xp.random.randn(side, side);
xp.random.randint(0, 10, N); xp.random.permutation(N); xp.random.choice(N, 10);
xp.random.choice(v); rng.random(N); rng.normal(size=N); rng.integers(0, 10, N);
xp.polyfit(s, v, 1); xp.isnan(v).any(); xp.ndim(v); xp.shape(v); xp.size(v);
xp.argmin(xp.abs(v - 0.5)); xp.roll(m, 1, axis=0); xp.gradient(v, 0.1); xp.count_nonzero(v > 0);
xp.array_equal(v, w); xp.trace(m); xp.outer(g, g); xp.flip(v); xp.round(v, 2)
"""


@dataclass(frozen=True)
class Call:
    """A call of the table: its text, compiled, and what it names."""

    text: str
    statement: bool
    names: frozenset[str]

    @property
    def writes(self) -> frozenset[str]:
        """The names that a statement binds, as ``z += v`` does ``z``."""
        return frozenset(re.findall(r"^(\w+) \W*=", self.text)) if self.statement else frozenset()

    @property
    def draws(self) -> bool:
        """Whether it draws random numbers."""
        return "rng" in self.names or "random" in self.names

    @property
    def unknown(self) -> bool:
        """Whether only shape and dtype of its result are promised."""
        return self.draws or "xp.empty" in self.text

    def code(self) -> CodeType:
        """To be run or, if it is an expression, evaluated."""
        return compile(self.text, self.text, "exec" if self.statement else "eval")


@functools.cache
def call(text: str) -> Call:
    """The call that a text is."""
    try:
        return Call(text, False, frozenset(compile(text, text, "eval").co_names))
    except SyntaxError:
        return Call(text, True, frozenset(compile(text, text, "exec").co_names))


def _split(rows: str) -> list[str]:
    return [row.strip() for row in rows.split(";")]


def _draw(name: str, size: int) -> str | None:
    _, _, last = name.rpartition(".")
    if last in BY_SHAPE:
        arguments = "N" if size else ""
    elif last in OF_ARRAYS:
        arguments = OF_ARRAYS[last]
    elif last in PARAMETERS:
        arguments = ", ".join(filter(None, [PARAMETERS[last], f"size={'N'}" if size else ""]))
    else:
        return None
    place = "rng" if "Generator" in name else "xp.random"
    return f"{place}.{last}({arguments})"


def candidates(size: int) -> Iterator[list[Call]]:
    """For each row of the table, the calls of which the first that NumPy can run is timed."""
    calls, _ = samples.load()
    assert set(PARAMETERS) | set(OF_ARRAYS) | set(BY_SHAPE) >= {*DRAWS, *METHODS} - {"bytes"}
    for name, texts in calls.items():
        if name.startswith("random"):
            text = _draw(name, size)
            texts = [text] if text else []
        elif name in INSTEAD:
            instead = INSTEAD[name]
            texts = [instead] if instead else []
        else:  # the arguments of the other samples are about dtypes and axes, not sizes
            texts = [e for e in texts if "tmp" not in e and "io." not in e]
            texts = [e for e in texts if call(e).names & SIZED]
        if texts:
            yield [call(e) for e in texts]
    rows = {0: SCALARS, 3: SHORT}.get(size)
    for text in [*(_split(rows) if rows else ()), *_split(ARRAYS)]:
        yield [call(text)]


def operands(size: int) -> dict[str, Any]:
    """NumPy's arrays by name, and host values; at size 0 each array is one of NumPy's scalars."""
    rng = numpy.random.default_rng(0)
    n = size or 1
    side = 3 if n == 3 else max(1, math.isqrt(n))
    v, w = rng.standard_normal((2, n))
    m = rng.standard_normal((side, side))
    q = rng.standard_normal((side, side)) / math.sqrt(side) + 4 * numpy.eye(side)
    holes = m.copy()
    holes.flat[1::7] = numpy.nan
    found: dict[str, Any] = {
        "v": v, "w": numpy.abs(w) + 1, "m": m, "q": q, "p": q @ q.T,
        "t": rng.standard_normal((2, max(1, side // 2), side)), "i": rng.integers(0, 6, n),
        "j": rng.integers(-9, 10, (side, side)), "b": rng.random(n) < 0.5,
        "c": rng.standard_normal(n) + 1j * rng.standard_normal(n), "n": holes,
        "s": numpy.sort(rng.standard_normal(n)), "f": v.astype("f4"), "u": rng.random(n),
        "k": rng.permutation(n), "z": numpy.zeros(n), "g": rng.standard_normal(side),
        "y": rng.standard_normal((max(1, n // 3), 3)),
    }  # fmt: skip
    host = {
        "values": v.tolist() if size else float(v[0]),
        "data": v.tobytes(),
        "data8": rng.integers(0, 256, max(1, n // 8), dtype="u1"),
        "N": n,
        "side": side,
        "shape": n if size else (),
        "D": {1: "one", 2: "two", 3: "three"},
        "L": [1, 2, 3, 4],
    }
    found["data8"] = host.pop("data8")
    if not size:  # as NumPy gives them, when an element is read
        found = {name: a.reshape(-1)[0] for name, a in found.items()}
    found |= {"x": numpy.float64(0.75), "h": numpy.int64(1)}
    return found | host
