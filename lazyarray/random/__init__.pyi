# fmt: off
# Random numbers: what lazyarray.random offers. Written by tools/make_stubs.py.
import builtins

from numpy.random import MT19937 as MT19937
from numpy.random import PCG64 as PCG64
from numpy.random import PCG64DXSM as PCG64DXSM
from numpy.random import SFC64 as SFC64
from numpy.random import BitGenerator as BitGenerator
from numpy.random import Philox as Philox
from numpy.random import SeedSequence as SeedSequence

from lazyarray._ndarray import NDArray
from lazyarray._types import ArrayLike, DeviceLike, DTypeLike, Out
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
    a: ArrayLike, b: ArrayLike, size: Size = None, dtype: DTypeLike = None, ctx: DeviceLike = None,
    *, device: DeviceLike = None
) -> NDArray: ...
def binomial(
    n: ArrayLike, p: ArrayLike, size: Size = None, dtype: DTypeLike = None, ctx: DeviceLike = None,
    *, device: DeviceLike = None
) -> NDArray: ...
def chisquare(
    df: ArrayLike, size: Size = None, dtype: DTypeLike = None, ctx: DeviceLike = None, *,
    device: DeviceLike = None
) -> NDArray: ...
def exponential(
    scale: ArrayLike = 1.0, size: Size = None, dtype: DTypeLike = None, ctx: DeviceLike = None, *,
    device: DeviceLike = None
) -> NDArray: ...
def f(
    dfnum: ArrayLike, dfden: ArrayLike, size: Size = None, dtype: DTypeLike = None,
    ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def gamma(
    shape: ArrayLike, scale: ArrayLike = 1.0, size: Size = None, dtype: DTypeLike = None,
    ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def geometric(
    p: ArrayLike, size: Size = None, dtype: DTypeLike = None, ctx: DeviceLike = None, *,
    device: DeviceLike = None
) -> NDArray: ...
def gumbel(
    loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None, dtype: DTypeLike = None,
    ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def hypergeometric(
    ngood: ArrayLike, nbad: ArrayLike, nsample: ArrayLike, size: Size = None,
    dtype: DTypeLike = None, ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def laplace(
    loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None, dtype: DTypeLike = None,
    ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def logistic(
    loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None, dtype: DTypeLike = None,
    ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def lognormal(
    mean: ArrayLike = 0.0, sigma: ArrayLike = 1.0, size: Size = None, dtype: DTypeLike = None,
    ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def logseries(
    p: ArrayLike, size: Size = None, dtype: DTypeLike = None, ctx: DeviceLike = None, *,
    device: DeviceLike = None
) -> NDArray: ...
def negative_binomial(
    n: ArrayLike, p: ArrayLike, size: Size = None, dtype: DTypeLike = None, ctx: DeviceLike = None,
    *, device: DeviceLike = None
) -> NDArray: ...
def noncentral_chisquare(
    df: ArrayLike, nonc: ArrayLike, size: Size = None, dtype: DTypeLike = None,
    ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def noncentral_f(
    dfnum: ArrayLike, dfden: ArrayLike, nonc: ArrayLike, size: Size = None, dtype: DTypeLike = None,
    ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def normal(
    loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None, dtype: DTypeLike = None,
    ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def pareto(
    a: ArrayLike, size: Size = None, dtype: DTypeLike = None, ctx: DeviceLike = None, *,
    device: DeviceLike = None
) -> NDArray: ...
def poisson(
    lam: ArrayLike = 1.0, size: Size = None, dtype: DTypeLike = None, ctx: DeviceLike = None, *,
    device: DeviceLike = None
) -> NDArray: ...
def power(
    a: ArrayLike, size: Size = None, dtype: DTypeLike = None, ctx: DeviceLike = None, *,
    device: DeviceLike = None
) -> NDArray: ...
def rayleigh(
    scale: ArrayLike = 1.0, size: Size = None, dtype: DTypeLike = None, ctx: DeviceLike = None, *,
    device: DeviceLike = None
) -> NDArray: ...
def standard_cauchy(
    size: Size = None, dtype: DTypeLike = None, ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def standard_t(
    df: ArrayLike, size: Size = None, dtype: DTypeLike = None, ctx: DeviceLike = None, *,
    device: DeviceLike = None
) -> NDArray: ...
def triangular(
    left: ArrayLike, mode: ArrayLike, right: ArrayLike, size: Size = None, dtype: DTypeLike = None,
    ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def uniform(
    low: ArrayLike = 0.0, high: ArrayLike = 1.0, size: Size = None, dtype: DTypeLike = None,
    ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def vonmises(
    mu: ArrayLike, kappa: ArrayLike, size: Size = None, dtype: DTypeLike = None,
    ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def wald(
    mean: ArrayLike, scale: ArrayLike, size: Size = None, dtype: DTypeLike = None,
    ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def weibull(
    a: ArrayLike, size: Size = None, dtype: DTypeLike = None, ctx: DeviceLike = None, *,
    device: DeviceLike = None
) -> NDArray: ...
def zipf(
    a: ArrayLike, size: Size = None, dtype: DTypeLike = None, ctx: DeviceLike = None, *,
    device: DeviceLike = None
) -> NDArray: ...
def random(
    size: Size = None, dtype: DTypeLike = ..., out: Out = None, ctx: DeviceLike = None, *,
    device: DeviceLike = None
) -> NDArray: ...
def standard_normal(
    size: Size = None, dtype: DTypeLike = ..., out: Out = None, ctx: DeviceLike = None, *,
    device: DeviceLike = None
) -> NDArray: ...
def standard_exponential(
    size: Size = None, dtype: DTypeLike = ..., method: str = "zig", out: Out = None,
    ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def standard_gamma(
    shape: ArrayLike, size: Size = None, dtype: DTypeLike = ..., out: Out = None,
    ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def integers(
    low: ArrayLike, high: ArrayLike | None = None, size: Size = None, dtype: DTypeLike = ...,
    endpoint: bool = False, ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def bytes(length: int, ctx: DeviceLike = None, *, device: DeviceLike = None) -> builtins.bytes: ...
def choice(
    a: ArrayLike, size: Size = None, replace: bool = True, p: ArrayLike | None = None,
    axis: int = 0, shuffle: bool = True, ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def permutation(
    x: ArrayLike, axis: int = 0, ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def permuted(
    x: ArrayLike, ctx: DeviceLike = None, *, axis: int | None = None, out: Out = None,
    device: DeviceLike = None
) -> NDArray: ...
def shuffle(
    x: ArrayLike, axis: int = 0, ctx: DeviceLike = None, *, device: DeviceLike = None
) -> None: ...
def dirichlet(
    alpha: ArrayLike, size: Size = None, ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def multinomial(
    n: ArrayLike, pvals: ArrayLike, size: Size = None, ctx: DeviceLike = None, *,
    device: DeviceLike = None
) -> NDArray: ...
def multivariate_hypergeometric(
    colors: ArrayLike, nsample: ArrayLike, size: Size = None, method: str = "marginals",
    ctx: DeviceLike = None, *, device: DeviceLike = None
) -> NDArray: ...
def multivariate_normal(
    mean: ArrayLike, cov: ArrayLike, size: Size = None, check_valid: str = "warn",
    tol: float = 1e-08, ctx: DeviceLike = None, *, method: str = "svd", device: DeviceLike = None
) -> NDArray: ...

random_sample = random
ranf = random
sample = random

__all__ = [
    "Generator", "RandomState", "default_rng", "BitGenerator", "MT19937", "PCG64", "PCG64DXSM",
    "Philox", "SFC64", "SeedSequence", "seed", "get_state", "set_state", "rand", "randn", "randint",
    "random_integers", "beta", "binomial", "bytes", "chisquare", "choice", "dirichlet",
    "exponential", "f", "gamma", "geometric", "gumbel", "hypergeometric", "integers", "laplace",
    "logistic", "lognormal", "logseries", "multinomial", "multivariate_hypergeometric",
    "multivariate_normal", "negative_binomial", "noncentral_chisquare", "noncentral_f", "normal",
    "pareto", "permutation", "permuted", "poisson", "power", "random", "rayleigh", "shuffle",
    "standard_cauchy", "standard_exponential", "standard_gamma", "standard_normal", "standard_t",
    "triangular", "uniform", "vonmises", "wald", "weibull", "zipf", "random_sample", "ranf",
    "sample", "mtrand",
]
