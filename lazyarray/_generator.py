"""Generator: NumPy's random generator as a resource of the engine, drawn from in push order."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.lazy import _share
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import _rows
from lazyarray.ops.creation import shape_of

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray.engine import Device, Var

Size = int | Sequence[int] | None


def _shape(size: Size) -> tuple[int, ...] | None:
    return None if size is None else shape_of(size, np.dtype(np.float64))


# What is drawn here is thrown away: it raises, at the call, what is wrong with the parameters, and
# shows the result's dtype.
_judge = np.random.Generator(np.random.PCG64(0))


@lru_cache(maxsize=1024, typed=True)
def _judged(
    method: str, parameters: tuple[Hashable, ...], kwargs: tuple[Any, ...]
) -> np.dtype[Any]:
    return np.asarray(getattr(_judge, method)(*parameters, **dict(kwargs))).dtype


class Generator:
    """A stream of random numbers on one device; made by :func:`default_rng`.

    It is NumPy's ``Generator``, run inside ops: each draw writes the generator's variable, so
    draws happen in the order in which they were written, and give NumPy's values. Parameters may
    be arrays of this package; what is wrong with others is raised at the call. A draw that fails
    poisons its own result only.

    >>> import numpy as np, lazyarray as la
    >>> x = la.random.default_rng(7).normal(size=3)
    >>> bool((x.asnumpy() == np.random.default_rng(7).normal(size=3)).all())
    True
    """

    def __init__(self, generator: np.random.Generator, device: Device) -> None:
        self._state = [generator]  # read and replaced only inside ops, which the resource orders
        self._device = device
        self._resource = _share.resource(device)

    def __repr__(self) -> str:
        kind = type(self._state[0].bit_generator).__name__
        return f"<lazyarray Generator({kind}) on {self._device!r}>"

    def __reduce__(self) -> Any:
        self._resource.wait_to_write()
        return Generator, (self._state[0], self._device)

    @property
    def device(self) -> Device:
        """The device that the numbers are drawn on.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).device
        cpu(0)
        """
        return self._device

    @property
    def var(self) -> Var:
        """The engine variable that stands for the generator's state: every draw writes it.

        >>> import lazyarray as la
        >>> rng = la.random.default_rng(0)
        >>> x = rng.random(3).asnumpy()
        >>> rng.var.version
        1
        """
        return self._resource.var

    # -- how it draws

    def _op(
        self,
        name: str,
        run: Callable[[np.random.Generator, np.ndarray, list[np.ndarray]], None],
        ins: list[NDArray],
        out: Any,
        size: int,
        cost: float = 10.0,
    ) -> NDArray:
        """Records ``run(generator, out, ins)`` as a write of ``out`` and of the generator."""
        state = self._state

        def draw(outs: list[np.ndarray], inputs: list[np.ndarray]) -> None:
            run(state[0], outs[0], inputs)

        # Neither output is a full overwrite: the state goes on from what it was.
        results = _rows.call(
            name,
            draw,
            ins,
            [out, self._resource],
            cost=1500 + cost * size,
            overwrites=False,
            device=self._device,
        )
        return results[0]

    def _draw(
        self,
        name: str,
        parameters: tuple[Any, ...],
        neutral: tuple[Any, ...],
        size: Size,
        cast: Any = None,
        **kwargs: Any,
    ) -> NDArray:
        """A draw whose parameters broadcast; ``neutral`` ones are right for any distribution.

        Parameters that are arrays are judged when the draw runs, the others here, with neutral
        ones in the arrays' places.
        """
        shape = _shape(size)
        ins: list[NDArray] = []
        given: list[Any] = []  # to draw with; None stands for the next of `ins`
        shown: list[Any] = []  # to judge
        only_numbers = True
        for value, plain in zip(parameters, neutral, strict=True):
            if isinstance(value, Tensor):
                array: NDArray = value
                if array.device != self._device:
                    raise ValueError(
                        f"a parameter of {name} is on {array.device!r} and the generator on "
                        f"{self._device!r}: move one with copyto, as_in_context or to_device"
                    )
                ins.append(array)
                given.append(None)
                shown.append(plain)
                continue
            if not isinstance(value, (int, float, str, np.generic)):
                value = np.array(value)  # a copy: it is read when the draw runs
                only_numbers = False
            given.append(value)
            shown.append(value)
        if ins and name == "integers":  # each bound is right only beside the other
            drawn = _judged(name, neutral, tuple(kwargs.items()))
        elif only_numbers:
            drawn = _judged(name, tuple(shown), tuple(kwargs.items()))
        else:
            drawn = np.asarray(getattr(_judge, name)(*shown, **kwargs)).dtype
        broadcast: tuple[int, ...] = ()
        if ins or not only_numbers:
            broadcast = np.broadcast_shapes(*[i.shape for i in ins], *[np.shape(v) for v in shown])
        if shape is None:
            shape = broadcast
        elif broadcast and np.broadcast_shapes(shape, broadcast) != shape:
            raise ValueError(
                f"Output size {shape} is not compatible with broadcast dimensions of inputs "
                f"{broadcast}."
            )
        if cast is not None and not np.can_cast(drawn, cast, "same_kind"):
            raise TypeError(f"Unsupported dtype {np.dtype(cast)!r} for {name}")

        def run(rng: np.random.Generator, out: np.ndarray, inputs: list[np.ndarray]) -> None:
            rest = iter(inputs)
            values = [next(rest) if v is None else v for v in given]
            out[...] = getattr(rng, name)(*values, size=shape, **kwargs)

        return self._op(name, run, ins, (shape, cast or drawn), math.prod(shape))

    # -- numbers

    def random(self, size: Size = None, dtype: Any = np.float64) -> NDArray:
        """Uniform floats in [0, 1); ``dtype`` is float64 or float32.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).random(2).asnumpy()
        array([0.63696169, 0.26978671])
        """
        return self._standard("random", size, dtype)

    def standard_normal(self, size: Size = None, dtype: Any = np.float64) -> NDArray:
        """Normal numbers of mean 0 and deviation 1; ``dtype`` is float64 or float32.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).standard_normal(2).asnumpy()
        array([ 0.12573022, -0.13210486])
        """
        return self._standard("standard_normal", size, dtype)

    def _standard(self, name: str, size: Size, dtype: Any) -> NDArray:
        shape = _shape(size) or ()
        dtype = np.dtype(np.float64 if dtype is None else dtype)
        _judged(name, (), (("dtype", dtype),))

        def run(rng: np.random.Generator, out: np.ndarray, inputs: list[np.ndarray]) -> None:
            getattr(rng, name)(dtype=dtype, out=out)

        return self._op(name, run, [], (shape, dtype), math.prod(shape), 5.0)

    def uniform(
        self, low: Any = 0.0, high: Any = 1.0, size: Size = None, dtype: Any = None
    ) -> NDArray:
        """Uniform floats in [low, high).

        >>> import lazyarray as la
        >>> la.random.default_rng(0).uniform(-1, 1, 2).asnumpy()
        array([ 0.27392337, -0.46042657])
        """
        return self._draw("uniform", (low, high), (0.0, 1.0), size, dtype)

    def normal(
        self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, dtype: Any = None
    ) -> NDArray:
        """Normal numbers of mean ``loc`` and deviation ``scale``.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).normal(10, 2, 2).asnumpy()
        array([10.25146044,  9.73579027])
        """
        return self._draw("normal", (loc, scale), (0.0, 1.0), size, dtype)

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Size = None,
        dtype: Any = np.int64,
        endpoint: bool = False,
    ) -> NDArray:
        """Integers in [low, high), or [0, low) without ``high``; ``endpoint`` includes ``high``.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).integers(10, size=3).asnumpy()
        array([8, 6, 5])
        """
        kwargs = {"dtype": np.dtype(dtype), "endpoint": bool(endpoint)}
        if high is None:
            low, high = 0, low
        return self._draw("integers", (low, high), (0, 1), size, None, **kwargs)

    def exponential(self, scale: Any = 1.0, size: Size = None, dtype: Any = None) -> NDArray:
        """Exponentially distributed numbers of mean ``scale``.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).exponential(2.0, 2).asnumpy()
        array([1.35986381, 2.0391942 ])
        """
        return self._draw("exponential", (scale,), (1.0,), size, dtype)

    def gamma(self, shape: Any, scale: Any = 1.0, size: Size = None, dtype: Any = None) -> NDArray:
        """Gamma-distributed numbers.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).gamma(2.0, 1.0, 2).asnumpy()
        array([1.83431007, 2.63769797])
        """
        return self._draw("gamma", (shape, scale), (1.0, 1.0), size, dtype)

    def beta(self, a: Any, b: Any, size: Size = None, dtype: Any = None) -> NDArray:
        """Beta-distributed numbers.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).beta(2.0, 3.0, 2).asnumpy()
        array([0.32240531, 0.16457302])
        """
        return self._draw("beta", (a, b), (1.0, 1.0), size, dtype)

    def poisson(self, lam: Any = 1.0, size: Size = None, dtype: Any = None) -> NDArray:
        """Poisson-distributed counts of mean ``lam``.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).poisson(4.0, 3).asnumpy()
        array([2, 0, 7])
        """
        return self._draw("poisson", (lam,), (1.0,), size, dtype)

    def binomial(self, n: Any, p: Any, size: Size = None, dtype: Any = None) -> NDArray:
        """How many of ``n`` trials of probability ``p`` succeed.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).binomial(10, 0.5, 3).asnumpy()
        array([6, 4, 2])
        """
        return self._draw("binomial", (n, p), (1, 0.5), size, dtype)

    # -- samples and orders

    def choice(
        self,
        a: Any,
        size: Size = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> NDArray:
        """A sample of ``range(a)`` or, along ``axis``, of array ``a``, with probabilities ``p``.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).choice(5, 3).asnumpy()
        array([4, 3, 2])
        """
        shape = _shape(size)
        source = None if isinstance(a, (int, np.integer)) else self._array(a)
        if source is None:
            population = operator.index(a)
            if population < 0:
                raise ValueError("a must be a positive integer unless no samples are taken")
        else:
            if source.ndim == 0:
                raise ValueError("a must be a sequence or an integer, not an array without axes")
            axis = _rows.normalize_axes(axis, source.ndim)[0]
            population = source.shape[axis]
        count = 1 if shape is None else math.prod(shape)
        if population == 0 and count:
            raise ValueError(
                "a must be a positive integer unless no samples are taken"
                if source is None
                else "a cannot be empty unless no samples are taken"
            )
        if p is not None and not isinstance(p, Tensor):
            p = np.array(p, dtype=np.float64)
            _judge.choice(population, size=0, p=p)
            if not replace and np.count_nonzero(p > 0) < count:
                raise ValueError("Fewer non-zero entries in p than size")
        elif p is not None and p.shape != (population,):
            raise ValueError(
                "a and p must have same size" if p.ndim == 1 else "p must be 1-dimensional"
            )
        if not replace and count > population:
            raise ValueError("Cannot take a larger sample than population when replace is False")
        ins = [] if source is None else [source]
        if isinstance(p, Tensor):
            ins.append(p)
        weights, late = p, isinstance(p, Tensor)

        def run(rng: np.random.Generator, out: np.ndarray, inputs: list[np.ndarray]) -> None:
            out[...] = rng.choice(
                population if source is None else inputs[0],
                shape,
                replace,
                inputs[-1] if late else weights,
                axis,
                shuffle,
            )

        picked = shape or ()
        result: tuple[tuple[int, ...], Any]
        if source is None:
            result = (picked, np.int64)
        else:
            result = (source.shape[:axis] + picked + source.shape[axis + 1 :], source.dtype)
        return self._op("choice", run, ins, result, math.prod(result[0]) + population)

    def permutation(self, x: Any, axis: int = 0) -> NDArray:
        """``range(x)`` in random order, or a copy of array ``x`` shuffled along ``axis``.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).permutation(4).asnumpy()
        array([2, 0, 1, 3])
        """
        if isinstance(x, (int, np.integer)):
            n = operator.index(x)

            def of_range(rng: np.random.Generator, out: np.ndarray, ins: list[np.ndarray]) -> None:
                out[...] = rng.permutation(n)

            return self._op("permutation", of_range, [], ((max(n, 0),), np.int64), max(n, 0))
        source = self._array(x)
        axis = _rows.normalize_axes(axis, source.ndim)[0]

        def run(rng: np.random.Generator, out: np.ndarray, ins: list[np.ndarray]) -> None:
            out[...] = rng.permutation(ins[0], axis)

        return self._op("permutation", run, [source], (source.shape, source.dtype), source.size)

    def shuffle(self, x: NDArray, axis: int = 0) -> None:
        """Puts the elements of ``x`` along ``axis`` in random order, in place.

        >>> import lazyarray as la
        >>> x = la.arange(4)
        >>> la.random.default_rng(0).shuffle(x)
        >>> x.asnumpy()
        array([2, 0, 1, 3])
        """
        if not isinstance(x, Tensor):
            raise TypeError(f"shuffle changes an NDArray in place, not a {type(x).__name__}")
        if x.ndim == 0:
            raise TypeError("shuffle needs an array with at least one axis")
        axis = _rows.normalize_axes(axis, x.ndim)[0]

        def run(rng: np.random.Generator, out: np.ndarray, ins: list[np.ndarray]) -> None:
            rng.shuffle(out, axis)

        self._op("shuffle", run, [], x, x.size)

    def _array(self, x: Any) -> NDArray:
        return x if isinstance(x, Tensor) else _rows.array(x, None, self._device)
