"""Random numbers: NumPy's generators as resources of the engine, drawn from in push order."""

from __future__ import annotations

import math
import operator
import threading
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.context import chosen, current_context
from lazyarray.engine import Device
from lazyarray.lazy import _share
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import _rows

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray.engine import Var

__all__ = [
    "Generator",
    "default_rng",
    "seed",
    "random",
    "rand",
    "uniform",
    "normal",
    "standard_normal",
    "randn",
    "integers",
    "randint",
    "exponential",
    "gamma",
    "beta",
    "poisson",
    "binomial",
    "choice",
    "permutation",
    "shuffle",
]

Size = int | Sequence[int] | None


def _shape(size: Size) -> tuple[int, ...] | None:
    if size is None:
        return None
    try:
        dims = (operator.index(size),)  # type: ignore[arg-type]
    except TypeError:
        dims = tuple([operator.index(n) for n in size])  # type: ignore[union-attr]
    if any(n < 0 for n in dims):
        raise ValueError("negative dimensions are not allowed")
    return dims


# What is drawn here is thrown away: it raises, at the call, what is wrong with the parameters, and
# shows the result's dtype.
_probe = np.random.Generator(np.random.PCG64(0))


@lru_cache(maxsize=1024, typed=True)
def _probed(method: str, parameters: tuple[Hashable, ...], kwargs: tuple[Any, ...]) -> np.dtype[Any]:
    return np.asarray(getattr(_probe, method)(*parameters, **dict(kwargs))).dtype


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
        return f"<lazyarray Generator({type(self._state[0].bit_generator).__name__}) on {self._device!r}>"

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
            name, draw, ins, [out, self._resource], cost=1500 + cost * size, overwrites=False,
            device=self._device,
        )
        return results[0]

    def _draw(
        self,
        name: str,
        parameters: tuple[Any, ...],
        neutral: tuple[Any, ...],
        size: Size,
        dtype: Any = None,
        **kwargs: Any,
    ) -> NDArray:
        """A draw from a distribution whose parameters broadcast; ``neutral`` ones are always right."""
        shape = _shape(size)
        ins: list[NDArray] = []
        given: list[Any] = []  # parameters; a number stands for one of `ins`
        shown: list[Any] = []
        hashable = True
        for value, plain in zip(parameters, neutral, strict=True):
            if isinstance(value, Tensor):
                array: NDArray = value  # type: ignore[assignment]
                if array.device != self._device:
                    raise ValueError(
                        f"a parameter of {name} is on {array.device!r} and the generator on "
                        f"{self._device!r}: move one with copyto, as_in_context or to_device"
                    )
                given.append(_Input(len(ins)))
                shown.append(plain)
                ins.append(array)
                continue
            if not isinstance(value, (int, float, np.generic)) and value is not None:
                value = np.array(value)
                hashable = False
            given.append(value)
            shown.append(value)
        if hashable:
            drawn = _probed(name, tuple(shown), tuple(kwargs.items()))
        else:
            drawn = np.asarray(getattr(_probe, name)(*shown, **kwargs)).dtype
        broadcast = np.broadcast_shapes(*[i.shape for i in ins], *[np.shape(v) for v in shown])
        if shape is None:
            shape = broadcast
        elif broadcast and np.broadcast_shapes(shape, broadcast) != shape:
            raise ValueError(
                f"Output size {shape} is not compatible with broadcast dimensions of inputs "
                f"{broadcast}."
            )
        if dtype is not None and not np.can_cast(drawn, dtype, "same_kind"):
            raise TypeError(f"Unsupported dtype {np.dtype(dtype)!r} for {name}")
        method = name

        def run(rng: np.random.Generator, out: np.ndarray, inputs: list[np.ndarray]) -> None:
            values = [inputs[v.index] if isinstance(v, _Input) else v for v in given]
            out[...] = getattr(rng, method)(*values, size=shape, **kwargs)

        return self._op(name, run, ins, (shape, dtype or drawn), math.prod(shape))

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
        _probed(name, (), (("dtype", dtype),))

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
        array([10.25146044,  9.73579028])
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
        if not isinstance(low, Tensor) and not isinstance(high, Tensor):
            return self._draw("integers", (low, high), (0, 1), size, None, **kwargs)
        if high is None:
            low, high = 0, low
        # Nothing is known of bounds that are still to come: any pair is shown in their place.
        arrays = [_rows.array(v, None, self._device, False) for v in (low, high)]
        return self._draw("integers", tuple(arrays), (0, 1), size, None, **kwargs)

    def exponential(self, scale: Any = 1.0, size: Size = None, dtype: Any = None) -> NDArray:
        """Exponentially distributed numbers of mean ``scale``.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).exponential(2.0, 2).asnumpy()
        array([1.35986144, 2.04070516])
        """
        return self._draw("exponential", (scale,), (1.0,), size, dtype)

    def gamma(self, shape: Any, scale: Any = 1.0, size: Size = None, dtype: Any = None) -> NDArray:
        """Gamma-distributed numbers.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).gamma(2.0, 1.0, 2).asnumpy()
        array([1.89022698, 1.45653377])
        """
        return self._draw("gamma", (shape, scale), (1.0, 1.0), size, dtype)

    def beta(self, a: Any, b: Any, size: Size = None, dtype: Any = None) -> NDArray:
        """Beta-distributed numbers.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).beta(2.0, 3.0, 2).asnumpy()
        array([0.4160386 , 0.06785303])
        """
        return self._draw("beta", (a, b), (1.0, 1.0), size, dtype)

    def poisson(self, lam: Any = 1.0, size: Size = None, dtype: Any = None) -> NDArray:
        """Poisson-distributed counts of mean ``lam``.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).poisson(4.0, 3).asnumpy()
        array([7, 2, 5])
        """
        return self._draw("poisson", (lam,), (1.0,), size, dtype)

    def binomial(self, n: Any, p: Any, size: Size = None, dtype: Any = None) -> NDArray:
        """How many of ``n`` trials of probability ``p`` succeed.

        >>> import lazyarray as la
        >>> la.random.default_rng(0).binomial(10, 0.5, 3).asnumpy()
        array([6, 4, 3])
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
            if population < 0 or population == 0 and shape is None:
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
            _probe.choice(population, size=0, p=p)
            if not replace and np.count_nonzero(p > 0) < count:
                raise ValueError("Fewer non-zero entries in p than size")
        elif p is not None and p.shape != (population,):
            raise ValueError("a and p must have same size" if p.ndim == 1 else "p must be 1-dimensional")
        if not replace and count > population:
            raise ValueError("Cannot take a larger sample than population when replace is False")
        ins = [] if source is None else [source]
        if isinstance(p, Tensor):
            ins.append(p)  # type: ignore[arg-type]
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

            return self._op("permutation", of_range, [], (_shape(n), np.int64), n)
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
        return x if isinstance(x, Tensor) else _rows.array(x, None, self._device)  # type: ignore[return-value]


class _Input:
    """The place of a parameter among the inputs of the op."""

    def __init__(self, index: int) -> None:
        self.index = index


def default_rng(seed: Any = None, ctx: Any = None, *, device: Any = None) -> Generator:
    """A generator of its own, equal to ``numpy.random.default_rng(seed)`` value for value.

    >>> import lazyarray as la
    >>> la.random.default_rng(42).integers(100, size=3).asnumpy()
    array([ 8, 77, 65])
    """
    if isinstance(seed, Generator):
        return seed
    place = chosen(ctx, device) or current_context()
    return Generator(np.random.default_rng(seed), place)


# ---- the generators of the devices --------------------------------------------------------------

_generators: dict[Device, Generator] = {}
_lock = threading.Lock()
_base_seed: Any = None  # of the last seed() for all devices


def _seeded(seed: Any, device: Device) -> np.random.Generator:
    """The stream of a device: NumPy's own on device 0, another on each other one."""
    if seed is None or device.device_id == 0:
        return np.random.default_rng(seed)
    entropy = seed if isinstance(seed, (int, np.integer)) else [int(n) for n in np.ravel(seed)]
    return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(device.device_id,)))


def _of(device: Device) -> Generator:
    with _lock:
        found = _generators.get(device)
        if found is None:
            found = _generators[device] = Generator(_seeded(_base_seed, device), device)
    return found


def _here(ctx: Any, device: Any, *parameters: Any) -> Generator:
    """The generator of the device asked for, or else of the arrays, or else of this thread."""
    place = chosen(ctx, device)
    if place is None:
        place = next((x.device for x in parameters if isinstance(x, Tensor)), None)  # type: ignore[attr-defined]
    return _of(place or current_context())


def seed(seed: Any = None, ctx: Any = None, *, device: Any = None) -> None:
    """Starts the streams of the module's functions anew, in order with the draws around it.

    On ``cpu(0)`` they then give the values of ``numpy.random.default_rng(seed)``; on each other
    device a stream of its own that depends on the seed. With ``ctx`` only that device's stream
    starts anew, with ``default_rng(seed)``. None: at random.

    >>> import numpy as np, lazyarray as la
    >>> la.random.seed(5)
    >>> float(la.random.random()) == np.random.default_rng(5).random()
    True
    """
    global _base_seed
    place = chosen(ctx, device)
    np.random.default_rng(seed)  # raises, here, what is wrong with the seed
    if place is not None:
        _restart(_of(place), np.random.default_rng(seed))
        return
    with _lock:
        _base_seed = seed
        everything = list(_generators.items())
    for where, generator in everything:
        _restart(generator, _seeded(seed, where))


def _restart(generator: Generator, anew: np.random.Generator) -> None:
    state = generator._state

    def run(outs: list[np.ndarray], ins: list[np.ndarray]) -> None:
        state[0] = anew

    _rows.call("seed", run, [], [generator._resource], cost=1000, overwrites=False)


def random(
    size: Size = None, dtype: Any = np.float64, ctx: Any = None, *, device: Any = None
) -> NDArray:
    """Uniform floats in [0, 1); see :meth:`Generator.random`.

    >>> import lazyarray as la
    >>> la.random.random((2, 3)).shape
    (2, 3)
    """
    return _here(ctx, device).random(size, dtype)


def rand(*shape: int, dtype: Any = np.float64, ctx: Any = None, device: Any = None) -> NDArray:
    """Uniform floats in [0, 1), with the lengths of the axes as arguments.

    >>> import lazyarray as la
    >>> la.random.rand(2, 3).shape
    (2, 3)
    """
    return _here(ctx, device).random(shape, dtype)


def uniform(
    low: Any = 0.0,
    high: Any = 1.0,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray:
    """Uniform floats in [low, high); see :meth:`Generator.uniform`.

    >>> import lazyarray as la
    >>> bool((la.random.uniform(2, 3, 100) < 3).all())
    True
    """
    return _here(ctx, device, low, high).uniform(low, high, size, dtype)


def normal(
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray:
    """Normal numbers; see :meth:`Generator.normal`.

    >>> import lazyarray as la
    >>> la.random.normal(la.zeros((3, 1)), 1, (3, 2), dtype="float32").dtype
    dtype('float32')
    """
    return _here(ctx, device, loc, scale).normal(loc, scale, size, dtype)
