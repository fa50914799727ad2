"""Stream: a NumPy random generator as a resource of the engine, drawn from in push order."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import lru_cache
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from lazyarray.functions._checks import whole
from lazyarray.functions.creation import shape_of
from lazyarray.lazy import _share
from lazyarray.lazy._lazy import Giving, Tensor, TracingError, is_capturing, once, returned
from lazyarray.lazy.cuda import draws
from lazyarray.ops import _rows
from lazyarray.random._draws import Drawn, Method, Source, many, parameters_of

if TYPE_CHECKING:
    from threading import Lock

    from typing_extensions import CapsuleType

    from lazyarray._ndarray import NDArray
    from lazyarray.engine import Device, Var

    Numpys = np.random.Generator | np.random.RandomState

Size = int | Sequence[int] | None
Draw = Callable[[Any, np.ndarray, list[np.ndarray]], None]  # of (generator, output, inputs)


class Distribution(NamedTuple):
    """What a generator draws from, and how the table tells it."""

    name: str
    spec: str  # the parameters, as a signature has them
    neutral: tuple[Any, ...]  # parameters that are right
    text: str = ""
    example: str = ""  # arguments
    drawn: str = ""  # what default_rng(0) draws with them, ...
    older: str = ""  # ... and what RandomState(0) does
    coupled: bool = False  # whether a parameter may be wrong because of another one


class _Plan(NamedTuple):
    """A draw that was judged."""

    run: Draw
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    cost: float  # nanoseconds


_NUMBERS = (int, float, str, np.generic)
# What tells itself apart in the cache of plans, and what does so within a tuple.
_PLAIN = frozenset([int, float, bool, type(None)])
_INT = frozenset([int])


def shape_or_none(size: Size) -> tuple[int, ...] | None:
    """A draw's ``size`` as a shape; NumPy's errors."""
    return None if size is None else shape_of(size, np.dtype(np.float64))


def sized(size: Size, inner: tuple[int, ...], several: bool) -> tuple[int, ...]:
    """The shape of a draw of ``size`` whose parameters broadcast to ``inner``."""
    shape = shape_or_none(size)
    if shape is None:
        return inner
    if several and np.broadcast_shapes(shape, inner) != shape:
        raise ValueError(
            f"Output size {shape} is not compatible with broadcast dimensions of inputs {inner}."
        )
    return shape


class Made:
    """The draw of what a function of the generator and the inputs makes.

    ``in_place``: it is the output itself that NumPy fills.
    """

    in_place = False

    def __init__(self, function: Callable[[Any, Sequence[np.ndarray]], Any]) -> None:
        self._function = function

    def drawn(self, rng: Any, ins: Sequence[np.ndarray]) -> Any:
        """The numbers."""
        return self._function(rng, ins)

    def __call__(self, rng: Any, out: np.ndarray, ins: Sequence[np.ndarray]) -> None:
        out[...] = self.drawn(rng, ins)


class Call(Made):
    """The draw that calls a method of NumPy's generator, or on a GPU one of CuPy's that is like it.

    With ``late``, each None among the parameters ``given`` stands for the next of the inputs.
    """

    def __init__(self, name: str, given: Any, kwargs: dict[str, Any], late: bool = False) -> None:
        self.name, self.given, self.kwargs, self.late = name, given, kwargs, late

    def _arguments(self, ins: Sequence[Any]) -> Any:
        if not self.late:
            return self.given
        rest = iter(ins)
        return [next(rest) if v is None else v for v in self.given]

    def drawn(self, rng: Any, ins: Sequence[np.ndarray]) -> Any:
        """What NumPy's generator gives."""
        arguments = self._arguments(ins)
        found = once(many, rng, self.name, arguments, self.kwargs)
        return once(getattr(rng, self.name), *arguments, **self.kwargs) if found is None else found

    def on_gpu(self, rng: np.random.Generator, out: Any, ins: list[Any]) -> bool:
        """Does it there, with CuPy's arrays; False if the host has to."""
        arguments = tuple(self._arguments(ins))
        return draws.draw(self.name, rng.bit_generator, out, arguments, self.kwargs)


class _Instruction:
    """What the engine runs of a draw: the function of its outputs and inputs."""

    def __init__(self, run: Draw, source: Source) -> None:
        self._run, self._source = run, source

    def __call__(self, outs: list[np.ndarray], ins: list[np.ndarray]) -> None:
        self._run(self._source.now(), outs[0], ins)

    @property
    def on_gpu(self) -> Callable[[list[Any], list[Any]], bool] | None:
        """The same with CuPy's arrays, see :mod:`lazyarray.lazy.cuda.calls`; None: on the host.

        RandomState's numbers are NumPy's wherever they are drawn.
        """
        run, rng = self._run, self._source.now()
        if not isinstance(run, Call) or not isinstance(rng, np.random.Generator):
            return None
        return lambda outs, ins: run.on_gpu(rng, outs[0], ins)


class _Drawing(Giving):
    """The same of what is :class:`Made`: NumPy's array may become the output's memory."""

    def __init__(self, run: Made, source: Source) -> None:
        # The stream's state is the second output, and is no array's.
        super().__init__(lambda *ins: (run.drawn(source.now(), ins), None))
        self._run, self._source = run, source

    on_gpu = _Instruction.on_gpu


_OF_LIMITS = ("integers", "randint")  # whose parameters are integers of any size


def _planned(
    row: Distribution, judge: Any, size: Size, cast: Any, options: Any, *parameters: Any
) -> _Plan:
    """Judges a draw whose parameters broadcast, by drawing from ``judge``.

    Parameters that are arrays of this package are judged when the draw runs, the others here, with
    neutral ones in the arrays' places.
    """
    name, kwargs = row.name, dict(options)
    given: list[Any] = []  # to draw with; None stands for the next of the inputs
    shown: list[Any] = []  # to judge
    shapes: list[tuple[int, ...]] = []
    late, limits = False, name in _OF_LIMITS
    for value, plain in zip(parameters, row.neutral, strict=True):
        if isinstance(value, Tensor):
            late = True
            given.append(None)
            shown.append(plain)
            shapes.append(value.shape)
            continue
        shown.append(value)
        if not isinstance(value, _NUMBERS):
            value = np.array(value)  # a copy: it is read when the draw runs
            if value.dtype == object and not isinstance(shown[-1], np.ndarray):
                # NumPy converts any objects alone or in lists; limits of integers it keeps.
                value = value if limits else value.astype(type(plain))
            else:
                shown[-1] = value
        given.append(value)
        shapes.append(np.shape(value))
    right = row.neutral if late and row.coupled else shown
    example = np.asarray(getattr(judge, name)(*right, **kwargs))
    drawn = kwargs.get("dtype", example.dtype)  # a float32 scalar is a Python float
    inner = np.broadcast_shapes(*shapes)
    shape = sized(size, inner, bool(inner))
    if cast is None:
        dtype = drawn
    else:
        dtype = np.dtype(cast)
        if not np.can_cast(drawn, dtype, "same_kind"):
            raise TypeError(f"Unsupported dtype {dtype!r} for {name}")
    if shape:
        kwargs["size"] = shape
    return _Plan(Call(name, given, kwargs, late), shape, dtype, 10.0 * math.prod(shape))


_plan = lru_cache(maxsize=1024, typed=True)(_planned)


_NUMPYS = (np.random.BitGenerator, np.random.Generator, np.random.RandomState)


def made_outside(what: str) -> None:
    """TracingError where ops are captured: a generator made there would go on from run to run."""
    if is_capturing():
        raise TracingError(f"a {what} is made while it is traced: a replay would not make it anew")


class Stream(Drawn):
    """A stream of random numbers on one device: what Generator and RandomState have in common.

    Each draw is an op that writes the stream's variable, so draws happen in the order in which
    they were written; small ones on which nothing waits are made at once (``_draws``). A draw that
    fails poisons its own result only.
    """

    def __init__(self, generator: Numpys, device: Device, judge: Numpys) -> None:
        self._hold(Source(generator), _share.resource(device), device)
        # What is drawn from it is thrown away: it raises, at the call, what is wrong with a draw.
        self._judge: Any = judge

    def _bits(self) -> np.random.BitGenerator:
        return self._source.now().bit_generator

    def _seeded(self, seed: Any) -> Self:
        """Notes whether the bit generator was made of a seed: nobody else draws from it then."""
        self._source.own = not isinstance(seed, _NUMPYS)
        return self

    def __repr__(self) -> str:
        kind = type(self._bits()).__name__
        return f"<lazyarray {type(self).__name__}({kind}) on {self._device!r}>"

    def __copy__(self) -> Self:
        return deepcopy(self)  # two streams on one state would not know of each other's draws

    def __reduce__(self) -> tuple[object, ...]:
        self._resource.wait_to_write()
        return _rebuilt, (type(self), self._source.now(), self._device)

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

    # -- for those who draw from NumPy's generators

    def _lent(self, what: str) -> Any:
        """NumPy's generator itself, after the draws so far: others may draw from it from now on."""
        found = self._now(what)
        self._source.own = False
        return found

    @property
    def capsule(self) -> CapsuleType:
        """As a bit generator's: so ``numpy.random.default_rng(rng)`` draws from the same stream.

        Waits for the draws so far.

        >>> import numpy as np, lazyarray as la
        >>> rng = la.random.default_rng(0)
        >>> float(rng.random()), np.random.default_rng(rng).random()
        (0.6369616873214543, 0.2697867137638703)
        """
        self._lent("capsule")
        return self._bits().capsule

    @property
    def lock(self) -> Lock:
        """The bit generator's lock: whoever draws from it holds it."""
        return self._bits().lock

    # -- how it draws

    def _op(self, name: str, run: Draw, ins: list[NDArray], out: Any, cost: float) -> NDArray:
        """Records ``run(generator, out, ins)`` as a write of ``out`` and of the stream.

        Waits if ``out`` is one of NumPy's arrays.
        """
        if isinstance(out, np.ndarray):
            held = out

            def fill(rng: Any, _: np.ndarray, ins: list[np.ndarray]) -> None:
                run(rng, held, ins)

            done = self._op(name, fill, ins, ((0,), np.dtype(np.bool_)), cost)
            done._fetched(f"{name}()")  # type: ignore[attr-defined]
            return out  # type: ignore[return-value]
        made: Any = _Drawing if isinstance(run, Made) and not run.in_place else _Instruction
        # The state goes on from what it was, and so does an array that is shuffled.
        return _rows.call(
            name,
            made(run, self._source),
            ins,
            [out, self._resource],
            device=self._device,
            cost=1500 + cost,
            overwrites=(type(out) is tuple, False),
        )[0]

    def _restart(self, anew: Any, shared: bool = False) -> None:
        """Replaces NumPy's generator, in order with the draws around it.

        By a copy where it is an op, unless others draw from it, too (``shared``).
        """
        if self._at_once(anew):
            return
        source = self._source

        def run(outs: list[np.ndarray], ins: list[np.ndarray]) -> None:
            # A captured program starts it again and again.
            source.generator = anew if shared else deepcopy(anew)

        _rows.call("seed", run, [], [self._resource], cost=1000, overwrites=False)

    def _now(self, what: str) -> Any:
        """NumPy's generator after the draws so far, which are waited for, by ``what``."""
        self._resource._fetched(what)  # type: ignore[attr-defined]
        return self._source.now()

    def _draw(
        self,
        row: Distribution,
        parameters: tuple[Any, ...],
        size: Size,
        cast: Any = None,
        options: tuple[Any, ...] = (),
        out: Any = None,
    ) -> NDArray:
        """A draw whose parameters broadcast."""
        plain = type(size) in _PLAIN or (type(size) is tuple and _INT.issuperset(map(type, size)))
        for value in parameters:
            # To a cache -0.0 is 0.0, but no scale to NumPy.
            plain = plain and type(value) in _PLAIN and (value != 0 or math.copysign(1, value) > 0)
        if plain:
            plan, ins = _plan(row, self._judge, size, cast, options, *parameters), []
        else:
            if row.name not in _OF_LIMITS:
                pairs = zip(parameters, row.neutral, strict=True)
                parameters = tuple([whole(v) if type(one) is int else v for v, one in pairs])
            ins = self._inputs(row.name, *parameters)
            plan = _planned(row, self._judge, size, cast, options, *parameters)
        target = (plan.shape, plan.dtype) if out is None else out
        drawn = self._op(row.name, plan.run, ins, target, plan.cost)
        return returned(drawn) if size is None and out is None else drawn

    def _into(
        self, out: Any, size: Size, dtype: np.dtype[Any], rows: bool = False
    ) -> tuple[int, ...]:
        """The shape of what is drawn into ``out``, ours or NumPy's; NumPy's errors.

        ``rows``: it has to be C-contiguous.
        """
        shown = _rows.probe(_rows.out_array(out)) if isinstance(out, Tensor) else out
        right = isinstance(shown, np.ndarray) and shown.flags.forc and shown.flags.behaved
        if not right or not shown.dtype.isnative or (rows and not shown.flags.c_contiguous):
            raise ValueError(
                f"Supplied output array must be {'C-' * rows}contiguous, writable, aligned, and in "
                "machine byte-order."
            )
        if out.dtype != dtype:
            raise TypeError(
                f"Supplied output array has the wrong type. Expected {dtype}, got {out.dtype}"
            )
        shape: tuple[int, ...] = out.shape
        if size is not None and shape_or_none(size) != shape:
            raise ValueError("size must match out.shape when used together")
        return shape

    def _inputs(self, name: str, *parameters: Any) -> list[NDArray]:
        """Those of the parameters that are arrays of this package."""
        ins: list[NDArray] = [p for p in parameters if isinstance(p, Tensor)]
        for array in ins:
            if array.device != self._device:
                raise ValueError(
                    f"a parameter of {name} is on {array.device!r} and the generator on "
                    f"{self._device!r}: move one with copyto, as_in_context or to_device"
                )
        return ins

    def _array(self, x: Any) -> NDArray:
        return x if isinstance(x, Tensor) else _rows.array(x, None, self._device)

    # -- bits

    def bytes(self, length: int) -> bytes:
        """Random bytes. Waits for them.

        Args:
            length: how many.
        Returns: a bytes object of that length.
        Raises: ValueError for a negative length, TypeError for what is no integer.

        >>> import lazyarray as la
        >>> len(la.random.default_rng(0).bytes(3))
        3
        """
        n = int(length) if isinstance(length, (float, np.floating)) else operator.index(length)
        if n < 0:
            raise ValueError("negative dimensions are not allowed")

        def run(rng: Any, out: np.ndarray, ins: list[np.ndarray]) -> None:
            out[...] = np.frombuffer(once(rng.bytes, n), np.uint8)

        drawn = self._op("bytes", run, [], ((n,), np.dtype(np.uint8)), float(n))
        return drawn._fetched("bytes()").tobytes()  # type: ignore[attr-defined]


def _rebuilt(kind: Callable[[Any, Device], Stream], generator: Any, device: Device) -> Stream:
    """What pickle calls."""
    return kind(generator, device)


def at_once(kind: type[Stream], numpys: type, like: type[Stream] | None = None) -> None:
    """Has the methods of a stream call those of NumPy's class where they can, see ``_draws``.

    NumPy's have the parameters of those of ``like``, which is the class itself if not given.
    """
    for name in dir(numpys):
        way = getattr(kind, name, None)
        if name[0] != "_" and name not in _NEVER_AT_ONCE and isinstance(way, FunctionType):
            names = names_of(getattr(like or kind, name))
            made = Method(way, getattr(numpys, name), names)
            made.__module__, made.__qualname__ = kind.__module__, f"{kind.__qualname__}.{name}"
            setattr(kind, name, made)


# These are waits, or no draws.
_NEVER_AT_ONCE = frozenset(["bytes", "get_state", "set_state", "spawn", "random_integers"])


def names_of(way: Any) -> list[str]:
    """The parameters of a stream's method that NumPy's has, too."""
    extra = {"self", "out", "method", "dtype", "ctx", "device"}
    # The module's functions cast to any dtype; NumPy's older ones draw float64.
    if way.__name__ in ("randint", "integers") or way.__qualname__.startswith("Generator."):
        extra.remove("dtype")
    by_place, several, alone = parameters_of(way)
    return [name for name in (*by_place, *several, *alone) if name not in extra]
