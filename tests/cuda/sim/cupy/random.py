"""``cupy.random`` of the simulated device: generators, their numbers drawn by NumPy's Philox."""

import numpy as np

from . import _apply


class BitGenerator:
    def __init__(self, seed=None, *, size=-1):
        self._numpy = np.random.Philox(seed)


class XORWOW(BitGenerator):
    pass


class MRG32k3a(BitGenerator):
    pass


class Philox4x3210(BitGenerator):
    pass


class Generator:
    def __init__(self, bit_generator):
        self.bit_generator = bit_generator
        self._numpy = np.random.Generator(bit_generator._numpy)

    def _draw(self, name, *args, size=None, dtype=None, out=None):
        args = [_apply.on_host(a) for a in args]
        more = {} if dtype is None else {"dtype": dtype}
        if out is not None:
            if size is not None and tuple(np.atleast_1d(size)) != out.shape:
                raise ValueError("size must match out.shape when used together")
            size = out.shape
        values = np.asarray(getattr(self._numpy, name)(*args, size=size, **more))
        if out is None:
            return _apply.on_device(values)
        _apply.write(out, values)
        return out

    def random(self, size=None, dtype=np.float64, out=None):
        return self._draw("random", size=size, dtype=dtype, out=out)

    def standard_normal(self, size=None, dtype=np.float64, out=None):
        return self._draw("standard_normal", size=size, dtype=dtype, out=out)

    def standard_exponential(self, size=None, dtype=np.float64, method="inv", out=None):
        return self._draw("standard_exponential", size=size, dtype=dtype, out=out)

    def standard_gamma(self, shape, size=None, dtype=np.float64, out=None):
        return self._draw("standard_gamma", shape, size=size, dtype=dtype, out=out)

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        if high is None:
            low, high = 0, low
        return self._draw("integers", low, high + bool(endpoint), size=size, dtype=dtype)

    def uniform(self, low=0.0, high=1.0, size=None, dtype=np.float64):
        return self._draw("uniform", low, high, size=size).astype(dtype)

    def beta(self, a, b, size=None, dtype=np.float64):
        return self._draw("beta", a, b, size=size).astype(dtype)

    def exponential(self, scale=1.0, size=None):
        return self._draw("exponential", scale, size=size)

    def gamma(self, shape, scale=1.0, size=None):
        return self._draw("gamma", shape, scale, size=size)

    def chisquare(self, df, size=None):
        return self._draw("chisquare", df, size=size)

    def f(self, dfnum, dfden, size=None):
        return self._draw("f", dfnum, dfden, size=size)

    def power(self, a, size=None):
        return self._draw("power", a, size=size)

    def dirichlet(self, alpha, size=None):
        return self._draw("dirichlet", alpha, size=size)

    def poisson(self, lam=1.0, size=None):
        return self._draw("poisson", lam, size=size)

    def binomial(self, n, p, size=None):
        return self._draw("binomial", n, p, size=size)

    def geometric(self, p, size=None):
        return self._draw("geometric", p, size=size)

    def hypergeometric(self, ngood, nbad, nsample, size=None):
        return self._draw("hypergeometric", ngood, nbad, nsample, size=size)

    def logseries(self, p, size=None):
        return self._draw("logseries", p, size=size)


def default_rng(seed=None):
    return seed if isinstance(seed, Generator) else Generator(XORWOW(seed))
