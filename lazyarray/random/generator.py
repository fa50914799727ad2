"""Generator: NumPy's random generator, whose draws are ops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazyarray.context import chosen, current_context
from lazyarray.lazy._lazy import Tensor, once, returned
from lazyarray.ops import _rows, hosts
from lazyarray.random._draws import Sharing, many
from lazyarray.random.distributions import Distributions
from lazyarray.random.stream import (
    Call,
    Distribution,
    Size,
    Stream,
    at_once,
    made_outside,
    shape_or_none,
)

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, DeviceLike, DTypeLike, Out

_INTEGERS = Distribution("integers", "", (0, 1), coupled=True)
_RANDOM = Distribution("random", "", ())
_NORMAL = Distribution("standard_normal", "", ())
_EXPONENTIAL = Distribution("standard_exponential", "", ())
_GAMMA = Distribution("standard_gamma", "", (1.0,))
_COLORS = "colors must be a one-dimensional sequence of nonnegative integers not exceeding {}."

_judge = np.random.Generator(np.random.PCG64(0))


def _pythons(drawn: NDArray) -> NDArray:
    """One number, of any precision, as NumPy gives it: a Python float."""
    return returned(drawn.astype(np.float64, copy=False))


class _Into(Call):
    """A draw straight into the memory of the result."""

    in_place = True

    def __call__(self, rng: Any, out: np.ndarray, ins: Sequence[np.ndarray]) -> None:
        if once(many, rng, self.name, (), self.kwargs, out) is None:
            once(getattr(rng, self.name), out=out, **self.kwargs)


class Generator(Distributions):
    """A stream of random numbers on one device; mostly made by :func:`default_rng`.

    It is NumPy's ``Generator``, run inside ops: each draw writes the generator's variable, so
    draws happen in the order in which they were written, and give NumPy's values. Parameters may
    be arrays of this package; what is wrong with others is raised at the call. A draw that fails
    poisons its own result only. ``bit_generator`` is one of NumPy's (``la.random.PCG64(0)``), or
    a NumPy ``Generator``.

    On a GPU most distributions are drawn by CuPy's Philox generator, whose key two words of the
    bit generator make in each draw. The numbers are not NumPy's then, but the same for the same
    seed and draws on every GPU. All others are NumPy's, drawn on the host.

    Args:
        bit_generator: one of NumPy's, or a NumPy ``Generator``, whose stream goes on.
        ctx: the device; None: :func:`lazyarray.current_context`.
        device: the same as ``ctx``, by the array API's name.
    Raises: ValueError if ``ctx`` and ``device`` are different devices; AttributeError for what is
        no bit generator.

    >>> import numpy as np, lazyarray as la
    >>> x = la.random.default_rng(7).normal(size=3)
    >>> bool((x.asnumpy() == np.random.default_rng(7).normal(size=3)).all())
    True
    """

    def __init__(
        self,
        bit_generator: np.random.BitGenerator | np.random.Generator,
        ctx: DeviceLike = None,
        *,
        device: DeviceLike = None,
    ) -> None:
        made_outside("Generator")
        if not isinstance(bit_generator, np.random.Generator):
            bit_generator = np.random.Generator(bit_generator)
        super().__init__(bit_generator, chosen(ctx, device) or current_context(), _judge)

    # -- its state

    @property
    def bit_generator(self) -> np.random.BitGenerator:
        """NumPy's bit generator itself. Waits for the draws so far.

        Its state may be read and set until the next draw.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).bit_generator.state["bit_generator"]
        'PCG64'
        """
        found: np.random.BitGenerator = self._lent("bit_generator").bit_generator
        return found

    def spawn(self, n_children: int) -> list[Generator]:
        """New generators on the same device, independent of this one and of each other.

        Args:
            n_children: how many.
        Returns: a list of generators.
        Raises: TypeError for a bit generator that can't be spawned from: one of no seed sequence.

        >>> import lazyarray as la
        >>> [float(g.random()) for g in la.random.default_rng(0).spawn(2)]
        [0.9429375528828794, 0.6771968569751019]
        """
        return [Generator(g, self._device) for g in self._source.now().spawn(n_children)]

    # -- numbers of two precisions

    def random(self, size: Size = None, dtype: DTypeLike = np.float64, out: Out = None) -> NDArray:
        """Uniform floats in [0, 1).

        Args:
            dtype: float64 or float32.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).random(2).asnumpy()
        array([0.63696169, 0.26978671])
        """
        return self._standard(_RANDOM, size, dtype, out)

    def standard_normal(
        self, size: Size = None, dtype: DTypeLike = np.float64, out: Out = None
    ) -> NDArray:
        """Normal numbers of mean 0 and deviation 1.

        Args:
            dtype: float64 or float32.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).standard_normal(2).asnumpy()
        array([ 0.12573022, -0.13210486])
        """
        return self._standard(_NORMAL, size, dtype, out)

    def standard_exponential(
        self, size: Size = None, dtype: DTypeLike = np.float64, method: str = "zig", out: Out = None
    ) -> NDArray:
        """Exponentially distributed numbers of mean 1.

        Args:
            dtype: float64 or float32.
            method: "zig" (Ziggurat) or "inv" (by the inverse distribution function).

        >>> import lazyarray as la
        >>> la.random.default_rng(0).standard_exponential(2).asnumpy()
        array([0.6799319, 1.0195971])
        """
        return self._standard(_EXPONENTIAL, size, dtype, out, (("method", method),))

    def standard_gamma(
        self, shape: ArrayLike, size: Size = None, dtype: DTypeLike = np.float64, out: Out = None
    ) -> NDArray:
        """Gamma-distributed numbers of scale 1.

        Args:
            dtype: float64 or float32.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).standard_gamma(2.0, 2).asnumpy()
        array([1.83431007, 2.63769797])
        """
        options = (("dtype", np.dtype(dtype)),)
        if out is not None:
            size = self._into(out, size, options[0][1], rows=True)
        drawn = self._draw(_GAMMA, (shape,), size, None, options, out)
        return _pythons(drawn) if size is None and not drawn.ndim else drawn

    def _standard(
        self, row: Distribution, size: Size, dtype: Any, out: Any, options: tuple[Any, ...] = ()
    ) -> NDArray:
        """A draw without parameters, straight into the memory of the result."""
        name, dtype = row.name, np.dtype(dtype)
        self._draws(name, dtype)
        if out is None:
            shape = shape_or_none(size) or ()
            target: Any = (shape, dtype)
        else:
            shape, target = self._into(out, size, dtype), out
        run = _Into(name, (), {"dtype": dtype, **dict(options)})
        drawn = self._op(name, run, [], target, 5.0 * math.prod(shape))
        return drawn if size is not None or out is not None else _pythons(drawn)

    def _draws(self, name: str, dtype: np.dtype[Any]) -> None:
        """Raises NumPy's error if a dtype is none that ``name`` draws."""
        if dtype.char not in "df" or not dtype.isnative:
            getattr(self._judge, name)(dtype=dtype)

    # -- integers

    def integers(
        self,
        low: ArrayLike,
        high: ArrayLike | None = None,
        size: Size = None,
        dtype: DTypeLike = np.int64,
        endpoint: bool = False,
    ) -> NDArray:
        """Integers in [low, high), or [0, low) without ``high``; ``endpoint`` includes ``high``.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).integers(10, size=3).asnumpy()
        array([8, 6, 5])
        """
        if high is None:
            low, high = 0, low
        options = (("dtype", np.dtype(dtype)), ("endpoint", bool(endpoint)))
        return self._draw(_INTEGERS, (low, high), size, None, options)

    # -- samples and orders

    def choice(
        self,
        a: ArrayLike,
        size: Size = None,
        replace: bool = True,
        p: ArrayLike | None = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> NDArray:
        """A sample of ``range(a)`` or, along ``axis``, of array ``a``, with probabilities ``p``.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).choice(5, 3).asnumpy()
        array([4, 3, 2])
        """
        return self._choice(a, size, replace, p, axis, (axis, shuffle))

    def permutation(self, x: ArrayLike, axis: int = 0) -> NDArray:
        """``range(x)`` in random order, or a copy of array ``x`` shuffled along ``axis``.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).permutation(4).asnumpy()
        array([2, 0, 1, 3])
        """
        return self._permutation(x, axis)

    def permuted(self, x: ArrayLike, *, axis: int | None = None, out: Out = None) -> NDArray:
        """A copy of array ``x``, each of whose slices along ``axis`` is shuffled by itself.

        Without ``axis`` all elements are shuffled. ``out``, which may be ``x``, is written to.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).permuted([[1, 2, 3], [4, 5, 6]], axis=1).asnumpy()
        array([[3, 1, 2],
               [6, 5, 4]])
        """
        source: Any = self._array_or_numpys(x)
        if source.ndim == 0:
            raise TypeError("len() of unsized object")
        if axis is not None:
            axis = normalize_axis_index(axis, source.ndim)
        if out is not None:
            out = out if isinstance(out, np.ndarray) else _rows.out_array(out)
            if out.shape != source.shape:
                raise ValueError("out must have the same shape as x")
            if not np.can_cast(source.dtype, out.dtype, "safe"):
                raise TypeError(
                    f"Cannot cast array data from {source.dtype!r} to {out.dtype!r} according to "
                    "the rule 'safe'"
                )

        if isinstance(source, np.ndarray):
            places: Any = self.permuted(np.arange(source.size).reshape(source.shape), axis=axis)
            found = np.asarray(source).reshape(-1).take(places._fetched("permuted()"))
            found = found if source is x else hosts.given(found)
            if out is not None:
                out[...] = found
            given: Any = found if out is None else out
            return given

        def run(rng: Any, to: np.ndarray, ins: list[np.ndarray]) -> None:
            to[...] = once(rng.permuted, ins[0], axis=axis)

        target = (source.shape, source.dtype) if out is None else out
        return self._op("permuted", run, [source], target, 10.0 * source.size)

    def shuffle(self, x: ArrayLike, axis: int = 0) -> None:
        """Puts the elements of ``x`` along ``axis`` in random order, in place.

        Waits until it is done, if ``x`` is a list or a NumPy array.

        >>> import lazyarray as la
        >>> x = la.arange(4)
        >>> la.random.default_rng(0).shuffle(x)
        >>> x.asnumpy()
        array([2, 0, 1, 3])
        """
        self._shuffle(x, axis)

    # -- vectors

    def multivariate_hypergeometric(
        self, colors: ArrayLike, nsample: ArrayLike, size: Size = None, method: str = "marginals"
    ) -> NDArray:
        """How many of each colour are among ``nsample`` items, drawn without replacement.

        ``colors`` tells how many there are of each; ``method`` is "marginals" or "count".

        >>> import lazyarray as la
        >>> la.random.default_rng(0).multivariate_hypergeometric([4, 6], 5, 2).asnumpy()
        array([[3, 2],
               [2, 3]])
        """
        pool = self._parameter(colors)
        if pool.shape == (0,):  # as NumPy, whatever an empty list is taken for
            pool = pool.astype(np.int64)
        if pool.ndim != 1 or pool.dtype.kind not in "biu":
            raise ValueError(_COLORS.format(np.iinfo(np.int64).max))
        given: Any = self._parameter(nsample)
        if given.ndim:
            raise TypeError("nsample is a number, not an array")
        given = given if isinstance(given, Tensor) else given[()]
        options = {"method": method}
        self._judge.multivariate_hypergeometric([1], 1, **options)
        return self._vectors(
            "multivariate_hypergeometric",
            (pool, given),
            size,
            (),
            pool.shape,
            np.dtype(np.int64),
            options,
        )

    def multivariate_normal(
        self,
        mean: ArrayLike,
        cov: ArrayLike,
        size: Size = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        *,
        method: str = "svd",
    ) -> NDArray:
        """Normal vectors of a mean and a covariance matrix.

        What is wrong with the covariance's values is raised, or warned of, when the draw runs.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).multivariate_normal([0.0, 5.0], [[2.0, 0.0], [0.0, 1.0]]).shape
        (2,)
        """
        return self._multivariate_normal(mean, cov, size, check_valid, tol, {"method": method})


def on_bits_of(stream: Stream) -> Generator:
    """A generator on the bits of a stream of NumPy's older kind, which both go on from."""
    made = Generator.__new__(Generator)
    made._hold(Sharing(stream._source), stream._resource, stream._device)
    made._judge = _judge
    return made


at_once(Generator, np.random.Generator)
