"""ModuleStream: what the functions of ``la.random`` draw from on a CPU.

That is NumPy's older stream, as ``numpy.random``'s own functions draw it, with the arguments which
these functions have besides NumPy's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.random.generator import Generator, on_bits_of
from lazyarray.random.legacy import EXPONENTIAL, GAMMA, NORMAL, RANDOM, RandomState
from lazyarray.random.stream import Distribution, Size, at_once

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, DTypeLike, Out
    from lazyarray.engine import Device


class ModuleStream(RandomState):
    """The stream of a CPU device, with the values of ``numpy.random``'s functions.

    ``dtype`` casts what is drawn, ``out`` is written to. What NumPy's older functions
    don't know is drawn by a ``Generator`` on the same bits: ``integers``, an ``axis``.
    """

    _of_module = True

    def __init__(self, generator: np.random.RandomState, device: Device) -> None:
        super().__init__(generator, device=device)
        self._seeded(None)  # it was made for this stream
        self.newer: Generator = on_bits_of(self)

    # -- numbers of two precisions

    def random(self, size: Size = None, dtype: DTypeLike = np.float64, out: Out = None) -> NDArray:
        """Uniform floats in [0, 1); drawn as float64, and cast to ``dtype``.

        Args:
            size: the shape of what is drawn; None: one number.
            dtype: float64, float32 or another float.
        Returns: an array of the shape ``size``, or of out's.

        >>> import lazyarray as la
        >>> la.random.seed(0)
        >>> la.random.random(2).asnumpy()
        array([0.5488135 , 0.71518937])
        """
        return self._cast(RANDOM, (), size, dtype, out)

    def standard_normal(
        self, size: Size = None, dtype: DTypeLike = np.float64, out: Out = None
    ) -> NDArray:
        """Normal numbers of mean 0 and deviation 1; drawn as float64, and cast to ``dtype``.

        Args:
            size: the shape of what is drawn; None: one number.
            dtype: float64, float32 or another float.
        Returns: an array of the shape ``size``, or of out's.

        >>> import lazyarray as la
        >>> la.random.seed(0)
        >>> la.random.standard_normal(2).asnumpy()
        array([1.76405235, 0.40015721])
        """
        return self._cast(NORMAL, (), size, dtype, out)

    def standard_exponential(
        self, size: Size = None, dtype: DTypeLike = np.float64, method: str = "zig", out: Out = None
    ) -> NDArray:
        """Exponentially distributed numbers of mean 1; drawn as float64, and cast to ``dtype``.

        ``method`` is for a GPU's stream: NumPy's older functions draw by the inverse distribution
        function.

        Args:
            size: the shape of what is drawn; None: one number.
            dtype: float64, float32 or another float.
            method: for a GPU's stream, "zig" or "inv": NumPy's older functions draw by the inverse
                distribution function.
        Returns: an array of the shape ``size``, or of out's.

        >>> import lazyarray as la
        >>> la.random.seed(0)
        >>> la.random.standard_exponential(2).asnumpy()
        array([0.79587451, 1.25593076])
        """
        return self._cast(EXPONENTIAL, (), size, dtype, out)

    def standard_gamma(
        self, shape: ArrayLike, size: Size = None, dtype: DTypeLike = np.float64, out: Out = None
    ) -> NDArray:
        """Gamma-distributed numbers of scale 1; drawn as float64, and cast to ``dtype``.

        Args:
            shape: the shape of the density, not negative.
            size: the shape of what is drawn; None: that of ``shape``.
            dtype: float64, float32 or another float.
        Returns: an array of the shape ``size``, or of out's.
        Raises: ValueError for a negative ``shape``: at the wait if it is an NDArray.

        >>> import lazyarray as la
        >>> la.random.seed(0)
        >>> la.random.standard_gamma(2.0, 2).asnumpy()
        array([5.13882958, 2.23848091])
        """
        return self._cast(GAMMA, (shape,), size, dtype, out)

    def _cast(
        self, row: Distribution, parameters: tuple[Any, ...], size: Size, dtype: Any, out: Any
    ) -> NDArray:
        dtype = np.dtype(dtype)
        if dtype.kind != "f":
            raise TypeError(f"Unsupported dtype {dtype!r} for {row.name}")
        if out is not None:
            size = self._into(out, size, dtype)
        return self._draw(row, parameters, size, dtype, (), out)

    # -- samples, orders, vectors

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

        Args:
            a: an array, or how many integers from 0 on.
            size: the shape of the sample; None: one.
            replace: whether the same may come twice.
            p: the probabilities, a vector whose sum is 1; None: equal ones.
            axis: the axis along which entries are taken.
            shuffle: whether a sample without replacement is in random order.
        Returns: an array of the shape ``size``, with the other axes of ``a``.
        Raises: IndexError if there is no such axis; ValueError for probabilities that do not fit,
            or a sample that is larger than what there is.

        >>> import lazyarray as la
        >>> la.random.seed(0)
        >>> la.random.choice(5, 3).asnumpy()
        array([4, 0, 3])
        """
        if axis != 0 or not shuffle:
            return self.newer.choice(a, size, replace, p, axis, shuffle)
        return super().choice(a, size, replace, p)

    def permutation(self, x: ArrayLike, axis: int = 0) -> NDArray:
        """``range(x)`` in random order, or a copy of array ``x`` shuffled along ``axis``.

        Args:
            x: an array, or how many integers from 0 on.
            axis: the axis that is shuffled.
        Returns: an array of x's shape, or a vector.

        >>> import lazyarray as la
        >>> la.random.seed(0)
        >>> la.random.permutation(4).asnumpy()
        array([2, 3, 1, 0])
        """
        return super().permutation(x) if axis == 0 else self.newer.permutation(x, axis)

    def shuffle(self, x: ArrayLike, axis: int = 0) -> None:
        """Puts the elements of ``x`` along ``axis`` in random order, in place.

        Waits until it is done, if ``x`` is a list or a NumPy array.

        Args:
            x: the array that is changed.
            axis: the axis that is shuffled.
        Returns: None.
        Raises: TypeError for what can't be changed, or has no axes.

        >>> import lazyarray as la
        >>> x = la.arange(4)
        >>> la.random.seed(0)
        >>> la.random.shuffle(x)
        >>> x.asnumpy()
        array([2, 3, 1, 0])
        """
        if axis == 0:
            super().shuffle(x)
        else:
            self.newer.shuffle(x, axis)

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

        Args:
            mean: a vector (n,).
            cov: a matrix (n, n), symmetric, without negative eigenvalues.
            size: how many vectors: a shape; None: one.
            check_valid: what is done about a wrong ``cov``: "warn", "raise" or "ignore".
            tol: how far ``cov`` may be off.
            method: "svd", "eigh" or "cholesky".
        Returns: an array: ``size``, then n.
        Raises: ValueError for other shapes, and when it runs with ``check_valid="raise"``.

        >>> import lazyarray as la
        >>> la.random.seed(0)
        >>> la.random.multivariate_normal([0.0, 5.0], [[2.0, 0.0], [0.0, 1.0]]).shape
        (2,)
        """
        if method != "svd":
            return self.newer.multivariate_normal(mean, cov, size, check_valid, tol, method=method)
        return super().multivariate_normal(mean, cov, size, check_valid, tol)

    # -- what only Generator has

    def integers(
        self,
        low: ArrayLike,
        high: ArrayLike | None = None,
        size: Size = None,
        dtype: DTypeLike = np.int64,
        endpoint: bool = False,
    ) -> NDArray:
        """Integers in [low, high), or [0, low) without ``high``; ``endpoint`` includes ``high``.

        Other ones than ``randint``'s, drawn from the same bits.

        Args:
            low: the least integer, or, alone, the upper end.
            high: the upper end.
            size: the shape of what is drawn; None: that to which the ends broadcast.
            dtype: the dtype of the integers.
            endpoint: whether ``high`` may be drawn.
        Returns: an array of the shape ``size``; one integer without one.
        Raises: ValueError where no integer lies between the ends, or they are beyond the dtype: at
            the wait if they are NDArrays.

        >>> import lazyarray as la
        >>> la.random.seed(0)
        >>> la.random.integers(10, size=3).asnumpy()
        array([5, 5, 7])
        """
        return self.newer.integers(low, high, size, dtype, endpoint)

    def permuted(self, x: ArrayLike, *, axis: int | None = None, out: Out = None) -> NDArray:
        """A copy of array ``x``, each of whose slices along ``axis`` is shuffled by itself.

        Without ``axis`` all elements are shuffled. ``out``, which may be ``x``, is written to.

        Args:
            x: an array.
            axis: the axis; None: all elements are shuffled.
            out: an array of x's shape, which is written and returned; it may be ``x``.
        Returns: an array of x's shape.

        >>> import lazyarray as la
        >>> la.random.seed(0)
        >>> la.random.permuted([[1, 2, 3], [4, 5, 6]], axis=1).asnumpy()
        array([[3, 2, 1],
               [6, 4, 5]])
        """
        return self.newer.permuted(x, axis=axis, out=out)

    def multivariate_hypergeometric(
        self, colors: ArrayLike, nsample: ArrayLike, size: Size = None, method: str = "marginals"
    ) -> NDArray:
        """How many of each colour are among ``nsample`` items, drawn without replacement.

        ``colors`` tells how many there are of each; ``method`` is "marginals" or "count".

        Args:
            colors: how many there are of each colour: a vector (n,).
            nsample: how many items are drawn.
            size: how many vectors: a shape; None: one.
            method: "marginals" or "count".
        Returns: an array of integers: ``size``, then n.
        Raises: ValueError for negative numbers, or more items than there are.

        >>> import lazyarray as la
        >>> la.random.seed(0)
        >>> la.random.multivariate_hypergeometric([4, 6], 5, 2).asnumpy()
        array([[1, 4],
               [2, 3]])
        """
        return self.newer.multivariate_hypergeometric(colors, nsample, size, method)


at_once(ModuleStream, np.random.RandomState, RandomState)
