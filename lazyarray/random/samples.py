"""Samples: what a stream draws that is no independent numbers: choices, orders, random vectors."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazyarray.functions._checks import whole
from lazyarray.lazy._lazy import Tensor, Unheld, once, returned
from lazyarray.ops import hosts
from lazyarray.random._draws import many
from lazyarray.random.stream import Call, Made, Size, Stream, shape_or_none, sized

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike

_F8, _I8 = np.dtype(np.float64), np.dtype(np.int64)


def _taken(of: Any, source: np.ndarray, places: Any, axis: int) -> Any:
    """Elements of what lazyarray can't hold; noted where they came of a list; one object."""
    picked = source.take(places, axis)
    array = isinstance(picked, (np.ndarray, np.generic))
    return hosts.given(picked) if array and of is not source else picked


class Samples(Stream):
    """The part of a stream that its samples, orders and vectors are."""

    # -- choices and orders

    def _array_or_numpys(self, x: Any) -> Any:
        """``x`` as an array; as one of NumPy's where ours can't hold it (strings, objects, ...)."""
        try:
            return self._array(x)
        except Unheld:
            return np.asanyarray(x)

    def _choice(
        self, a: Any, size: Size, replace: bool, p: Any, axis: int = 0, more: tuple[Any, ...] = ()
    ) -> NDArray:
        """``choice``; ``more`` are the arguments after ``p``, for NumPy."""
        shape = shape_or_none(size)
        number = getattr(a, "shape", ()) == () and hasattr(a, "__index__")
        number = number and getattr(a, "dtype", _I8).kind in "iu"
        source = None if number else self._array_or_numpys(a)
        if isinstance(source, np.ndarray):
            axis = normalize_axis_index(axis, source.ndim)
            rest = (0, *more[1:]) if more else ()
            places = self._choice(source.shape[axis], size, replace, p, 0, rest)
            return _taken(a, source, places._fetched("choice()"), axis)  # type: ignore[attr-defined]
        if source is None:
            population = operator.index(a)
            if population < 0:
                raise ValueError("a must be a positive integer unless no samples are taken")
        else:
            if source.ndim == 0:
                raise ValueError("a must be a sequence or an integer, not an array without axes")
            axis = normalize_axis_index(axis, source.ndim)
            population = source.shape[axis]
        count = 1 if shape is None else math.prod(shape)
        if population == 0 and count:
            raise ValueError(
                "a must be a positive integer unless no samples are taken"
                if source is None
                else "a cannot be empty unless no samples are taken"
            )
        if isinstance(p, Tensor):
            if p.shape != (population,):
                raise ValueError(
                    "a and p must have same size" if p.ndim == 1 else "p must be 1-dimensional"
                )
        elif p is not None:
            # An array keeps its dtype: NumPy allows a sum of float32 to be further from 1.
            p = np.array(p, dtype=None if isinstance(p, np.ndarray) else np.float64)
            self._judge.choice(max(population, 1), size=0, p=p)
            if not replace and np.count_nonzero(p > 0) < count:
                raise ValueError("Fewer non-zero entries in p than size")
        if not replace and count > population:
            raise ValueError("Cannot take a larger sample than population when replace is False")
        given = [population if source is None else None, shape, replace, p, *more]
        arrays = [x for x in (source, p) if isinstance(x, Tensor)]
        if isinstance(p, Tensor):
            given[3] = None
        late = [i for i, x in ((0, source), (3, p)) if isinstance(x, Tensor)]

        def choose(rng: Any, ins: Sequence[np.ndarray]) -> Any:
            if replace and p is None and shape:
                places = once(many, rng, "choice", [population], {"size": shape})
                if places is not None:
                    return places if source is None else ins[0][places]
            arguments = list(given)
            for place, value in zip(late, ins, strict=True):
                arguments[place] = value
            return once(rng.choice, *arguments)

        picked = shape or ()
        if source is None:
            result: Any = (picked, _I8)
        else:
            result = (source.shape[:axis] + picked + source.shape[axis + 1 :], source.dtype)
        cost = 10.0 * math.prod(result[0])
        if p is not None or not replace:
            cost += 10.0 * population
        drawn = self._op("choice", Made(choose), self._inputs("choice", *arrays), result, cost)
        return drawn if shape == () else returned(drawn)

    def _permutation(self, x: Any, *axis: int) -> NDArray:
        if isinstance(x, Integral):
            n = operator.index(x)

            def of_range(rng: Any, ins: Sequence[np.ndarray]) -> Any:
                found = once(many, rng, "permutation", (), {"size": n}) if n > 0 else None
                return once(rng.permutation, n) if found is None else found

            return self._op(
                "permutation", Made(of_range), [], ((max(n, 0),), _I8), 10.0 * max(n, 0)
            )
        source = self._array_or_numpys(x)
        if isinstance(source, np.ndarray):
            at = normalize_axis_index(axis[0] if axis else 0, source.ndim)
            places = self._permutation(source.shape[at])
            return _taken(x, source, places._fetched("permutation()"), at)  # type: ignore[attr-defined]
        normalize_axis_index(axis[0] if axis else 0, source.ndim)
        run = Call("permutation", [None, *axis], {}, True)
        return self._op(
            "permutation", run, [source], (source.shape, source.dtype), 10.0 * source.size
        )

    def _shuffle(self, x: Any, *axis: int) -> None:
        if not isinstance(x, Tensor):
            self._shuffle_object(x, *axis)
            return
        if x.ndim == 0:
            raise TypeError("shuffle needs an array with at least one axis")
        normalize_axis_index(axis[0] if axis else 0, x.ndim)

        def run(rng: Any, out: np.ndarray, ins: list[np.ndarray]) -> None:
            once(rng.shuffle, out, *axis)

        self._op("shuffle", run, [], x, 10.0 * x.size)

    def _shuffle_object(self, x: Any, *axis: int) -> None:
        """Shuffles what is no array of this package, and waits till it is done."""
        if not (hasattr(x, "__setitem__") and hasattr(x, "__len__")):
            raise TypeError(
                f"shuffle changes an array or a list in place, not a {type(x).__name__}"
            )

        def run(rng: Any, out: np.ndarray, ins: list[np.ndarray]) -> None:
            once(rng.shuffle, x, *axis)

        done = self._op("shuffle", run, [], ((0,), _F8), 10.0 * len(x))
        done._fetched("shuffle()")  # type: ignore[attr-defined]

    # -- vectors

    def dirichlet(self, alpha: ArrayLike, size: Size = None) -> NDArray:
        """Vectors of the Dirichlet distribution: positive, with the sum 1.

        Args:
            alpha: the parameters, a vector (n,) of positive numbers.
            size: how many vectors: a shape; None: one.
        Returns: an array: ``size``, then n.
        Raises: ValueError unless ``alpha`` is a vector, or for a negative one: at the wait if it is
            an NDArray.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).dirichlet([1.0, 2.0], 2).sum(axis=1).round(9).asnumpy()
        array([1., 1.])
        """
        alpha = self._parameter(alpha, True)
        if alpha.ndim != 1:
            raise ValueError(f"alpha must be 1-dimensional, not of shape {alpha.shape}")
        return self._vectors("dirichlet", (alpha,), size, (), alpha.shape, _F8)

    def multinomial(self, n: ArrayLike, pvals: ArrayLike, size: Size = None) -> NDArray:
        """How often each of several outcomes, of probabilities ``pvals``, comes in ``n`` trials.

        The outcomes are the last axis; ``n`` and the other axes of ``pvals`` broadcast.

        Args:
            n: how many trials, not negative.
            pvals: the probabilities: an array (..., k) whose sums are at most 1.
            size: how many vectors: a shape; None: that to which ``n`` and ``pvals`` broadcast.
        Returns: an array of integers: ``size``, then k.
        Raises: ValueError for probabilities that do not fit: at the wait if they are an NDArray.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).multinomial(10, [0.2, 0.3, 0.5], 2).sum(axis=1).asnumpy()
        array([10, 10])
        """
        n, pvals = self._parameter(whole(n)), self._parameter(pvals, True)
        if pvals.ndim == 0 or pvals.shape[-1] == 0:
            raise ValueError(
                "pvals must have at least 1 dimension and the last dimension of pvals must be "
                "greater than 0."
            )
        batch = np.broadcast_shapes(n.shape, pvals.shape[:-1])
        if not n.ndim and not isinstance(n, Tensor):
            n = n.item()  # RandomState takes a number only
        return self._vectors("multinomial", (n, pvals), size, batch, pvals.shape[-1:], _I8)

    def _multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: Size,
        check_valid: str,
        tol: float,
        options: dict[str, Any],
    ) -> NDArray:
        mean, cov = self._parameter(mean), self._parameter(cov)
        if mean.ndim != 1:
            raise ValueError("mean must be 1 dimensional")
        if cov.ndim != 2 or cov.shape[0] != cov.shape[1]:
            raise ValueError("cov must be 2 dimensional and square")
        if mean.shape[0] != cov.shape[0]:
            raise ValueError("mean and cov must have same length")
        if mean.dtype.kind == "c" or cov.dtype.kind == "c":
            raise TypeError("mean and cov must not be complex")
        # Of the rest, what a tiny draw shows.
        options = {"check_valid": check_valid, "tol": tol} | options
        if (check_valid, tol, options.get("method", "svd")) != ("warn", 1e-8, "svd"):
            self._judge.multivariate_normal([0.0], [[1.0]], **options)
        return self._vectors(
            "multivariate_normal", (mean, cov), size, (), mean.shape, _F8, options, judged=True
        )

    def _parameter(self, value: Any, floats: bool = False) -> Any:
        """A parameter as an array: of this package if it was one, else a NumPy copy.

        ``floats``: as NumPy has them, which makes floats of a list of any numbers.
        """
        if isinstance(value, Tensor):
            return value
        copy = np.array(value)
        objects = copy.dtype == object and not isinstance(value, np.ndarray)
        return copy.astype(float) if floats and objects else copy

    def _vectors(
        self,
        name: str,
        parameters: tuple[Any, ...],
        size: Size,
        batch: tuple[int, ...],
        vector: tuple[int, ...],
        dtype: np.dtype[Any],
        options: dict[str, Any] | None = None,
        judged: bool = False,
    ) -> NDArray:
        """A draw of vectors of shape ``vector``; its parameters' shapes are right.

        If all of them are at hand they are judged here, unless they were.
        """
        ins = self._inputs(name, *parameters)
        given = [None if isinstance(p, Tensor) else p for p in parameters]
        kwargs = options or {}
        if not ins and not judged:
            getattr(self._judge, name)(*given, **kwargs)
        shape = sized(size, batch, bool(batch))
        if size is not None:
            kwargs = {**kwargs, "size": shape}
        whole = shape + vector
        run = Call(name, given, kwargs, True)
        return self._op(name, run, ins, (whole, dtype), 20.0 * math.prod(whole))
