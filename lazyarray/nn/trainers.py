"""Optimisers with their state: they read ``grad`` of the arrays that they were given."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.functions.creation import zeros, zeros_like
from lazyarray.lazy._lazy import Tensor, is_capturing, paused
from lazyarray.nn import _native, optimizers
from lazyarray.ops._rows import assign_to

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import Array, Params

__all__ = ["SGD", "Momentum", "Adam"]


class _Trainer:
    """``step()`` changes ``params`` by their gradients, each by the subclass's ``_update``.

    ``params`` is an array, a dict of arrays by name, or any iterable of them; ``lr`` a number or an
    array of one, which may be set anew at any time, also for a compiled function.
    """

    _kept: tuple[str, ...] = ()  # the names of each parameter's arrays of state

    def __init__(self, params: Params, lr: float | NDArray, **options: float) -> None:
        self.names, self.params = _named(type(self).__name__, params)
        for name, p in zip(self.names, self.params, strict=True):
            if p.grad is None:
                raise ValueError(
                    f"{type(self).__name__}: parameter {name!r}, of shape {p.shape}, is an array "
                    "without attach_grad()"
                )
        for key, value in options.items():
            _check_option(type(self).__name__, key, value)
        self.lr, self.options = lr, options
        self._numbers()
        self.state = [[zeros_like(p) for _ in self._kept] for p in self.params]

    def step(self) -> None:
        """Takes one step, in place, in one pass over each parameter.

        Returns: None.
        Raises: ValueError or TypeError, and nothing was changed, if a parameter has no gradient any
            more, or ``lr`` is not a number; a compiled function takes a new ``lr`` as it is.
        """
        # All is checked before anything is written, and once: a step of small weights is short.
        gradients = self._gradients()
        numbers = self._numbers()
        with paused():
            updates = zip(self.params, gradients, self.state, self._terms(numbers), strict=True)
            self._count()
            for p, g, state, terms in updates:
                self._update(p, g, *state, *terms)

    def zero_grad(self) -> None:
        """Sets the gradients to zero: needed only with ``attach_grad("add")``.

        Returns: None.
        Raises: nothing.
        """
        for p in self.params:
            if p.grad is not None:
                p.grad[...] = 0

    def state_dict(self) -> dict[str, NDArray | float]:
        """All that the next steps depend on but the parameters, as it is now: numbers and arrays.

        Returns: a dict by name, of numbers and of copies of arrays, which :meth:`load_state_dict`
            takes, also after :func:`lazyarray.save`.
        Raises: nothing.

        >>> import lazyarray as la
        >>> w = la.array([1.0])
        >>> w.attach_grad()
        >>> la.nn.Momentum({"w": w}, lr=0.1).state_dict()["velocity.w"].asnumpy()
        array([0.])
        """
        every = {**self._settings(), **self._arrays()}
        return {key: x.copy() if isinstance(x, Tensor) else x for key, x in every.items()}

    def load_state_dict(self, state: Mapping[str, Array | float]) -> None:
        """Goes on from what :meth:`state_dict` gave, for parameters of the same names and shapes.

        Waits for numbers that are given as arrays.

        Args:
            state: a dict of numbers and arrays by name.
        Returns: None.
        Raises: ValueError or TypeError, and nothing was changed, for any other keys, shapes or
            dtypes.

        >>> import lazyarray as la
        >>> w = la.array([1.0])
        >>> w.attach_grad()
        >>> trainer = la.nn.Adam(w)
        >>> state = trainer.state_dict()
        >>> trainer.step()
        >>> trainer.load_state_dict(state)
        >>> trainer.steps
        0
        """
        name, settings, arrays = type(self).__name__, self._settings(), self._arrays()
        if not isinstance(state, Mapping):
            raise TypeError(f"{name}: a state is a dict, not a {type(state).__name__}")
        own = settings.keys() | arrays.keys()
        for text, keys in (("lacks", own - state.keys()), ("also has", state.keys() - own)):
            if keys:
                raise ValueError(f"{name}: the state {text} {', '.join(sorted(map(repr, keys)))}")
        for key, x in arrays.items():
            value = state[key]
            if not isinstance(value, (Tensor, np.ndarray)):
                raise TypeError(f"{name}: {key!r} is an array, not a {type(value).__name__}")
            if value.shape != x.shape or value.dtype != x.dtype:
                raise ValueError(
                    f"{name}: {key!r} has shape {x.shape} and {x.dtype}, not {value.shape} and "
                    f"{value.dtype}"
                )
            if not x.flags.writeable:
                raise ValueError(f"{name}: {key!r}, an array of its state, is read-only")
        numbers = {key: _number(name, key, x, state[key]) for key, x in settings.items()}
        for key, x in arrays.items():
            assign_to(x, state[key])
        self._set(numbers)

    # -- what it is made of

    def _settings(self) -> dict[str, Any]:
        """The numbers of its state, by name."""
        return {"lr": self.lr, **self.options}

    def _set(self, settings: dict[str, Any]) -> None:
        lr = settings.pop("lr")
        # In an array where compiled functions read it; a scalar never changes.
        if isinstance(self.lr, Tensor) and self.lr.flags.writeable:
            assign_to(self.lr, lr)
        else:
            self.lr = lr
        self.options = {key: settings[key] for key in self.options}

    def _arrays(self) -> dict[str, NDArray]:
        """The arrays of its state, by name."""
        return {
            f"{kept}.{name}": x
            for name, state in zip(self.names, self.state, strict=True)
            for kept, x in zip(self._kept, state, strict=True)
        }

    def _gradients(self) -> list[NDArray]:
        """The parameters' gradients, once it is known that a step can be taken."""
        found: list[NDArray] | None = _native.gradients_of(self.params, self.state)
        if found is not None:
            return found
        gradients = []  # what is wrong
        for name, p in zip(self.names, self.params, strict=True):
            g = p.grad
            if g is None:
                raise ValueError(
                    f"{type(self).__name__}: parameter {name!r} has no gradient any more: call "
                    "attach_grad()"
                )
            if not p.flags.writeable:
                raise ValueError(f"{type(self).__name__}: parameter {name!r} is read-only")
            gradients.append(g)
        for p, g, state in zip(self.params, gradients, self.state, strict=True):
            optimizers.checked(type(self).__name__, p, g, *state)
        return gradients

    def _numbers(self) -> tuple[Any, ...]:
        """The rate and the options as a step takes them, once it is known that they are numbers."""
        given = self.lr, *self.options.values()
        if optimizers.PLAIN.issuperset(map(type, given)) and given[0] == given[0]:
            return given
        name = type(self).__name__
        found = optimizers.numbers(name, None, ("lr", *self.options), *given)
        lr = found[0]
        if isinstance(lr, Tensor):
            for p in self.params:
                if p.device != lr.device:
                    raise ValueError(
                        f"{name}: lr is on {lr.device!r} and a parameter on {p.device!r}"
                    )
        # By its true type: of a number that changes in a compiled function nothing is asked.
        elif issubclass(type(lr), (float, np.floating)) and lr != lr:
            raise ValueError(f"{name}: lr is NaN")
        return found

    def _terms(self, numbers: tuple[Any, ...]) -> Iterable[tuple[Any, ...]]:
        """What each parameter's update takes besides its arrays."""
        return [numbers] * len(self.params)

    def _count(self) -> None:
        """Counts a step that is about to be taken."""

    _update: Callable[..., None]  # of a weight, its gradient, its state and its terms


def _named(name: str, params: Any) -> tuple[list[str], list[NDArray]]:
    """The parameters with their names: those in a dict, else their numbers."""
    if isinstance(params, Tensor):
        params = [params]
    if isinstance(params, Mapping):
        names, arrays = list(params), list(params.values())
    elif isinstance(params, Iterable) and not isinstance(params, (str, bytes)):
        arrays = list(params)
        names = [str(i) for i in range(len(arrays))]
    else:
        raise TypeError(
            f"{name} trains an array, a dict of arrays or an iterable of them, not a "
            f"{type(params).__name__}: la.nn's layers are functions, whose arrays are yours"
        )
    for x in arrays:
        if not isinstance(x, Tensor):
            raise TypeError(f"{name} trains NDArrays, not a {type(x).__name__} among them")
    for key in names:
        if not isinstance(key, str):
            raise TypeError(f"{name}: the names of parameters are strings, not {key!r}")
    if not arrays:
        raise ValueError(f"{name}: no arrays to train")
    if len({id(x) for x in arrays}) != len(arrays):
        raise ValueError(f"{name}: an array is given twice")
    return names, arrays


def _check_option(name: str, key: str, value: Any) -> None:
    """That it is a number, not negative, and below 1 where it is the share of a mean that stays."""
    if not isinstance(value, optimizers.REAL):
        raise TypeError(f"{name}: {key} is a number, not {value!r}")
    most = 1 if key.startswith("beta") else math.inf
    if not 0 <= value < most:
        limit = f", below {most}" if most == 1 else ""
        raise ValueError(f"{name}: {key} is 0 or more{limit}, not {value!r}")


def _number(name: str, key: str, own: Any, value: Any) -> Any:
    """``value``, which may be an array of one, as a number that the trainer can have there."""
    if isinstance(value, (Tensor, np.ndarray)) and value.size == 1:
        value = value.item()
    kinds = bool if isinstance(own, bool) else int if key == "steps" else optimizers.REAL
    if not isinstance(value, kinds) or isinstance(value, bool) != isinstance(own, bool):
        raise TypeError(f"{name}: {key!r} is {own!r} here and {value!r} in the state")
    if value != value or (key == "steps" and not 0 <= value < 1 << 63):
        raise ValueError(f"{name}: {key!r} is {value!r} in the state")
    if key not in ("lr", "steps"):
        _check_option(name, key, value)
    return value


class SGD(_Trainer):
    """:func:`sgd` on several arrays.

    Args:
        params: an array, a dict of arrays by name, or any iterable of them, each with
            ``attach_grad()``.
        lr: the rate of learning: a number or an array of one, which may be set anew at any time.
        weight_decay: what times the weight is added to the gradient.
    Raises: ValueError for a parameter without ``attach_grad()``, and TypeError for what is no
        array; both for an ``lr`` or another option that is not a number, or out of its range.

    >>> import lazyarray as la
    >>> w = la.array([1.0])
    >>> w.attach_grad()
    >>> trainer = la.nn.SGD([w], lr=0.25)
    >>> with la.autograd.record():
    ...     loss = (w * w).sum()
    >>> loss.backward()
    >>> trainer.step()
    >>> w.item()
    0.5
    """

    def __init__(self, params: Params, lr: float | NDArray, weight_decay: float = 0.0) -> None:
        super().__init__(params, lr, weight_decay=weight_decay)

    _update = staticmethod(optimizers.sgd_step)


class Momentum(_Trainer):
    """:func:`momentum` on several arrays.

    Args:
        params: an array, a dict of arrays by name, or any iterable of them, each with
            ``attach_grad()``.
        lr: the rate of learning: a number or an array of one, which may be set anew at any time.
        momentum: the share of the velocity that stays.
        weight_decay: what times the weight is added to the gradient.
        nesterov: whether to look ahead.
    Raises: ValueError for a parameter without ``attach_grad()``, and TypeError for what is no
        array; both for an ``lr`` or another option that is not a number, or out of its range.

    >>> import lazyarray as la
    >>> w = la.array([1.0])
    >>> w.attach_grad()
    >>> la.nn.Momentum([w], lr=0.1, nesterov=True).options["nesterov"]
    True
    """

    _kept = ("velocity",)

    def __init__(
        self,
        params: Params,
        lr: float | NDArray,
        momentum: float = 0.9,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        super().__init__(
            params, lr, momentum=momentum, weight_decay=weight_decay, nesterov=nesterov
        )

    _update = staticmethod(optimizers.momentum_step)


class Adam(_Trainer):
    """:func:`adam` on several arrays, or :func:`adamw` if ``decoupled``; it counts ``steps``.

    Once :func:`lazyarray.compile` has captured a step, asking for ``steps`` waits.

    Args:
        params: an array, a dict of arrays by name, or any iterable of them, each with
            ``attach_grad()``.
        lr: the rate of learning: a number or an array of one, which may be set anew at any time.
        beta1: the share of the mean of gradients that stays.
        beta2: the share of the mean of their squares that stays.
        eps: what is added to the denominator.
        weight_decay: what times the weight is added to the gradient; ``decoupled``: the share of
            the weight, times lr, that goes.
        decoupled: whether the decay is apart from the gradient, as :func:`adamw` has it.
    Raises: ValueError for a parameter without ``attach_grad()``, and TypeError for what is no
        array; both for an ``lr`` or another option that is not a number, or out of its range.

    >>> import lazyarray as la
    >>> w = la.array([1.0])
    >>> w.attach_grad()
    >>> trainer = la.nn.Adam([w], lr=0.1)
    >>> trainer.step()
    >>> trainer.steps, w.item()
    (1, 1.0)
    """

    _kept = ("mean", "var")

    def __init__(
        self,
        params: Params,
        lr: float | NDArray = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        decoupled: bool = False,
    ) -> None:
        super().__init__(params, lr, beta1=beta1, beta2=beta2, eps=eps, weight_decay=weight_decay)
        self.decoupled = decoupled
        # Replays count in arrays, as they run no Python; the integer is cheaper while it is known.
        self._counts = {p.device: zeros(1, "int64", device=p.device) for p in self.params}
        self._known: int | None = 0

    @property
    def steps(self) -> int:
        """How many steps were taken; set it to go on from a saved state."""
        if self._known is None:
            return int(self._counts[self.params[0].device].item())
        return self._known

    @steps.setter
    def steps(self, steps: int) -> None:
        steps = operator.index(steps)
        if not 0 <= steps < 1 << 63:
            raise ValueError(f"{type(self).__name__}: {steps} steps")
        if self._known is not None:  # else replays count on, unseen
            self._known = steps
        for count in self._counts.values():
            count[...] = steps

    def _count(self) -> None:
        for count in self._counts.values():
            count += 1
        if is_capturing():
            self._known = None
        elif self._known is not None:
            self._known += 1

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "decoupled": self.decoupled, "steps": self.steps}

    def _set(self, settings: dict[str, Any]) -> None:
        self.steps, self.decoupled = settings.pop("steps"), settings.pop("decoupled")
        super()._set(settings)

    def _terms(self, numbers: tuple[Any, ...]) -> Iterable[tuple[Any, ...]]:
        lr, beta1, beta2, eps, decay = numbers
        known = None if is_capturing() else self._known
        found = {}
        for device, count in self._counts.items():
            step = known + 1 if known is not None else (count + 1).reshape(()).astype("float64")
            both = optimizers.rates(lr, step, beta1, beta2, eps)
            found[device] = (lr, *both, beta1, beta2, decay, self.decoupled)
        if len(found) == 1:
            return [found[self.params[0].device]] * len(self.params)
        return [found[p.device] for p in self.params]

    _update = staticmethod(optimizers.adam_step)
