# The methods that the table of distributions makes. Written by tools/make_stubs.py.
from lazyarray._ndarray import NDArray
from lazyarray._types import ArrayLike, DTypeLike
from lazyarray.random.samples import Samples
from lazyarray.random.stream import Size

class Distributions(Samples):
    def beta(
        self, a: ArrayLike, b: ArrayLike, size: Size = None, dtype: DTypeLike = None
    ) -> NDArray: ...
    def binomial(
        self, n: ArrayLike, p: ArrayLike, size: Size = None, dtype: DTypeLike = None
    ) -> NDArray: ...
    def chisquare(self, df: ArrayLike, size: Size = None, dtype: DTypeLike = None) -> NDArray: ...
    def exponential(
        self, scale: ArrayLike = 1.0, size: Size = None, dtype: DTypeLike = None
    ) -> NDArray: ...
    def f(
        self, dfnum: ArrayLike, dfden: ArrayLike, size: Size = None, dtype: DTypeLike = None
    ) -> NDArray: ...
    def gamma(
        self, shape: ArrayLike, scale: ArrayLike = 1.0, size: Size = None, dtype: DTypeLike = None
    ) -> NDArray: ...
    def geometric(self, p: ArrayLike, size: Size = None, dtype: DTypeLike = None) -> NDArray: ...
    def gumbel(
        self,
        loc: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        size: Size = None,
        dtype: DTypeLike = None,
    ) -> NDArray: ...
    def hypergeometric(
        self,
        ngood: ArrayLike,
        nbad: ArrayLike,
        nsample: ArrayLike,
        size: Size = None,
        dtype: DTypeLike = None,
    ) -> NDArray: ...
    def laplace(
        self,
        loc: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        size: Size = None,
        dtype: DTypeLike = None,
    ) -> NDArray: ...
    def logistic(
        self,
        loc: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        size: Size = None,
        dtype: DTypeLike = None,
    ) -> NDArray: ...
    def lognormal(
        self,
        mean: ArrayLike = 0.0,
        sigma: ArrayLike = 1.0,
        size: Size = None,
        dtype: DTypeLike = None,
    ) -> NDArray: ...
    def logseries(self, p: ArrayLike, size: Size = None, dtype: DTypeLike = None) -> NDArray: ...
    def negative_binomial(
        self, n: ArrayLike, p: ArrayLike, size: Size = None, dtype: DTypeLike = None
    ) -> NDArray: ...
    def noncentral_chisquare(
        self, df: ArrayLike, nonc: ArrayLike, size: Size = None, dtype: DTypeLike = None
    ) -> NDArray: ...
    def noncentral_f(
        self,
        dfnum: ArrayLike,
        dfden: ArrayLike,
        nonc: ArrayLike,
        size: Size = None,
        dtype: DTypeLike = None,
    ) -> NDArray: ...
    def normal(
        self,
        loc: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        size: Size = None,
        dtype: DTypeLike = None,
    ) -> NDArray: ...
    def pareto(self, a: ArrayLike, size: Size = None, dtype: DTypeLike = None) -> NDArray: ...
    def poisson(
        self, lam: ArrayLike = 1.0, size: Size = None, dtype: DTypeLike = None
    ) -> NDArray: ...
    def power(self, a: ArrayLike, size: Size = None, dtype: DTypeLike = None) -> NDArray: ...
    def rayleigh(
        self, scale: ArrayLike = 1.0, size: Size = None, dtype: DTypeLike = None
    ) -> NDArray: ...
    def standard_cauchy(self, size: Size = None, dtype: DTypeLike = None) -> NDArray: ...
    def standard_t(self, df: ArrayLike, size: Size = None, dtype: DTypeLike = None) -> NDArray: ...
    def triangular(
        self,
        left: ArrayLike,
        mode: ArrayLike,
        right: ArrayLike,
        size: Size = None,
        dtype: DTypeLike = None,
    ) -> NDArray: ...
    def uniform(
        self,
        low: ArrayLike = 0.0,
        high: ArrayLike = 1.0,
        size: Size = None,
        dtype: DTypeLike = None,
    ) -> NDArray: ...
    def vonmises(
        self, mu: ArrayLike, kappa: ArrayLike, size: Size = None, dtype: DTypeLike = None
    ) -> NDArray: ...
    def wald(
        self, mean: ArrayLike, scale: ArrayLike, size: Size = None, dtype: DTypeLike = None
    ) -> NDArray: ...
    def weibull(self, a: ArrayLike, size: Size = None, dtype: DTypeLike = None) -> NDArray: ...
    def zipf(self, a: ArrayLike, size: Size = None, dtype: DTypeLike = None) -> NDArray: ...
