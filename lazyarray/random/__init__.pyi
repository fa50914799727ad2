# Random numbers: what lazyarray.random offers. Written by tools/make_stubs.py.
import builtins
from typing import Any

from numpy.random import MT19937 as MT19937
from numpy.random import PCG64 as PCG64
from numpy.random import PCG64DXSM as PCG64DXSM
from numpy.random import SFC64 as SFC64
from numpy.random import BitGenerator as BitGenerator
from numpy.random import Philox as Philox
from numpy.random import SeedSequence as SeedSequence

from lazyarray._ndarray import NDArray
from lazyarray.random import mtrand as mtrand
from lazyarray.random.devices import default_rng as default_rng
from lazyarray.random.devices import get_state as get_state
from lazyarray.random.devices import rand as rand
from lazyarray.random.devices import randint as randint
from lazyarray.random.devices import randn as randn
from lazyarray.random.devices import random_integers as random_integers
from lazyarray.random.devices import seed as seed
from lazyarray.random.devices import set_state as set_state
from lazyarray.random.generator import Generator as Generator
from lazyarray.random.legacy import RandomState as RandomState
from lazyarray.random.stream import Size

FUNCTIONS: list[str]
ALIASES: dict[str, str]

def beta(
    a: Any, b: Any, size: Size = None, dtype: Any = None, ctx: Any = None, *, device: Any = None
) -> NDArray: ...
def binomial(
    n: Any, p: Any, size: Size = None, dtype: Any = None, ctx: Any = None, *, device: Any = None
) -> NDArray: ...
def chisquare(
    df: Any, size: Size = None, dtype: Any = None, ctx: Any = None, *, device: Any = None
) -> NDArray: ...
def exponential(
    scale: Any = 1.0, size: Size = None, dtype: Any = None, ctx: Any = None, *, device: Any = None
) -> NDArray: ...
def f(
    dfnum: Any,
    dfden: Any,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray: ...
def gamma(
    shape: Any,
    scale: Any = 1.0,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray: ...
def geometric(
    p: Any, size: Size = None, dtype: Any = None, ctx: Any = None, *, device: Any = None
) -> NDArray: ...
def gumbel(
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray: ...
def hypergeometric(
    ngood: Any,
    nbad: Any,
    nsample: Any,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray: ...
def laplace(
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray: ...
def logistic(
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray: ...
def lognormal(
    mean: Any = 0.0,
    sigma: Any = 1.0,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray: ...
def logseries(
    p: Any, size: Size = None, dtype: Any = None, ctx: Any = None, *, device: Any = None
) -> NDArray: ...
def negative_binomial(
    n: Any, p: Any, size: Size = None, dtype: Any = None, ctx: Any = None, *, device: Any = None
) -> NDArray: ...
def noncentral_chisquare(
    df: Any, nonc: Any, size: Size = None, dtype: Any = None, ctx: Any = None, *, device: Any = None
) -> NDArray: ...
def noncentral_f(
    dfnum: Any,
    dfden: Any,
    nonc: Any,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray: ...
def normal(
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray: ...
def pareto(
    a: Any, size: Size = None, dtype: Any = None, ctx: Any = None, *, device: Any = None
) -> NDArray: ...
def poisson(
    lam: Any = 1.0, size: Size = None, dtype: Any = None, ctx: Any = None, *, device: Any = None
) -> NDArray: ...
def power(
    a: Any, size: Size = None, dtype: Any = None, ctx: Any = None, *, device: Any = None
) -> NDArray: ...
def rayleigh(
    scale: Any = 1.0, size: Size = None, dtype: Any = None, ctx: Any = None, *, device: Any = None
) -> NDArray: ...
def standard_cauchy(
    size: Size = None, dtype: Any = None, ctx: Any = None, *, device: Any = None
) -> NDArray: ...
def standard_t(
    df: Any, size: Size = None, dtype: Any = None, ctx: Any = None, *, device: Any = None
) -> NDArray: ...
def triangular(
    left: Any,
    mode: Any,
    right: Any,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray: ...
def uniform(
    low: Any = 0.0,
    high: Any = 1.0,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray: ...
def vonmises(
    mu: Any,
    kappa: Any,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray: ...
def wald(
    mean: Any,
    scale: Any,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray: ...
def weibull(
    a: Any, size: Size = None, dtype: Any = None, ctx: Any = None, *, device: Any = None
) -> NDArray: ...
def zipf(
    a: Any, size: Size = None, dtype: Any = None, ctx: Any = None, *, device: Any = None
) -> NDArray: ...
def random(
    size: Size = None, dtype: Any = ..., out: Any = None, ctx: Any = None, *, device: Any = None
) -> NDArray: ...
def standard_normal(
    size: Size = None, dtype: Any = ..., out: Any = None, ctx: Any = None, *, device: Any = None
) -> NDArray: ...
def standard_exponential(
    size: Size = None,
    dtype: Any = ...,
    method: str = "zig",
    out: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray: ...
def standard_gamma(
    shape: Any,
    size: Size = None,
    dtype: Any = ...,
    out: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray: ...
def integers(
    low: Any,
    high: Any = None,
    size: Size = None,
    dtype: Any = ...,
    endpoint: bool = False,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray: ...
def bytes(length: int, ctx: Any = None, *, device: Any = None) -> builtins.bytes: ...
def choice(
    a: Any,
    size: Size = None,
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
    shuffle: bool = True,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray: ...
def permutation(x: Any, axis: int = 0, ctx: Any = None, *, device: Any = None) -> NDArray: ...
def permuted(
    x: Any, ctx: Any = None, *, axis: int | None = None, out: Any = None, device: Any = None
) -> NDArray: ...
def shuffle(x: Any, axis: int = 0, ctx: Any = None, *, device: Any = None) -> None: ...
def dirichlet(alpha: Any, size: Size = None, ctx: Any = None, *, device: Any = None) -> NDArray: ...
def multinomial(
    n: Any, pvals: Any, size: Size = None, ctx: Any = None, *, device: Any = None
) -> NDArray: ...
def multivariate_hypergeometric(
    colors: Any,
    nsample: Any,
    size: Size = None,
    method: str = "marginals",
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray: ...
def multivariate_normal(
    mean: Any,
    cov: Any,
    size: Size = None,
    check_valid: str = "warn",
    tol: float = 1e-08,
    ctx: Any = None,
    *,
    method: str = "svd",
    device: Any = None,
) -> NDArray: ...

random_sample = random
ranf = random
sample = random

__all__ = [
    "Generator",
    "RandomState",
    "default_rng",
    "BitGenerator",
    "MT19937",
    "PCG64",
    "PCG64DXSM",
    "Philox",
    "SFC64",
    "SeedSequence",
    "seed",
    "get_state",
    "set_state",
    "rand",
    "randn",
    "randint",
    "random_integers",
    "beta",
    "binomial",
    "bytes",
    "chisquare",
    "choice",
    "dirichlet",
    "exponential",
    "f",
    "gamma",
    "geometric",
    "gumbel",
    "hypergeometric",
    "integers",
    "laplace",
    "logistic",
    "lognormal",
    "logseries",
    "multinomial",
    "multivariate_hypergeometric",
    "multivariate_normal",
    "negative_binomial",
    "noncentral_chisquare",
    "noncentral_f",
    "normal",
    "pareto",
    "permutation",
    "permuted",
    "poisson",
    "power",
    "random",
    "rayleigh",
    "shuffle",
    "standard_cauchy",
    "standard_exponential",
    "standard_gamma",
    "standard_normal",
    "standard_t",
    "triangular",
    "uniform",
    "vonmises",
    "wald",
    "weibull",
    "zipf",
    "random_sample",
    "ranf",
    "sample",
    "mtrand",
]
