"""Optimisers with their state: they read ``grad`` of the arrays that they were given."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from lazyarray.lazy._lazy import is_capturing
from lazyarray.nn import optimizers
from lazyarray.ops.creation import zeros, zeros_like

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

__all__ = ["SGD", "Momentum", "Adam"]


class _Trainer:
    """``step()`` changes ``params`` by their gradients, each by the subclass's ``_update``.

    ``lr`` is a number or an array of one, and may be set anew, also for a compiled function.
    """

    _states = 0  # arrays of state for each parameter

    def __init__(self, params: Iterable[NDArray], lr: Any, **options: Any) -> None:
        self.params = list(params)
        if not self.params:
            raise ValueError(f"{type(self).__name__}: no arrays to train")
        for p in self.params:
            if p.grad is None:
                raise ValueError(f"{type(self).__name__}: an array without attach_grad()")
        self.lr = lr
        self.options = options
        self.state = [[zeros_like(p) for _ in range(self._states)] for p in self.params]

    def step(self) -> None:
        """Takes one step, in place, in one pass over each parameter."""
        for p, state in zip(self.params, self.state, strict=True):
            self._update(p, p.grad, *state)

    def zero_grad(self) -> None:
        """Sets the gradients to zero: needed only with ``attach_grad("add")``."""
        for p in self.params:
            if p.grad is not None:
                p.grad[...] = 0

    def _update(self, weight: NDArray, grad: Any, *state: NDArray) -> None:
        raise NotImplementedError


class SGD(_Trainer):
    """:func:`sgd` on several arrays.

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

    def __init__(self, params: Iterable[NDArray], lr: Any, weight_decay: float = 0.0) -> None:
        super().__init__(params, lr, weight_decay=weight_decay)

    def _update(self, weight: NDArray, grad: Any, *state: NDArray) -> None:
        optimizers.sgd(weight, grad, self.lr, **self.options)


class Momentum(_Trainer):
    """:func:`momentum` on several arrays.

    >>> import lazyarray as la
    >>> w = la.array([1.0])
    >>> w.attach_grad()
    >>> la.nn.Momentum([w], lr=0.1, nesterov=True).options["nesterov"]
    True
    """

    _states = 1

    def __init__(
        self,
        params: Iterable[NDArray],
        lr: Any,
        momentum: float = 0.9,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        super().__init__(
            params, lr, momentum=momentum, weight_decay=weight_decay, nesterov=nesterov
        )

    def _update(self, weight: NDArray, grad: Any, *state: NDArray) -> None:
        optimizers.momentum(weight, grad, state[0], self.lr, **self.options)


class Adam(_Trainer):
    """:func:`adam` on several arrays, or :func:`adamw` if ``decoupled``; it counts ``steps``.

    Once :func:`lazyarray.compile` has captured a step, asking for ``steps`` waits.

    >>> import lazyarray as la
    >>> w = la.array([1.0])
    >>> w.attach_grad()
    >>> trainer = la.nn.Adam([w], lr=0.1)
    >>> trainer.step()
    >>> trainer.steps, w.item()
    (1, 1.0)
    """

    _states = 2

    def __init__(
        self,
        params: Iterable[NDArray],
        lr: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        decoupled: bool = False,
    ) -> None:
        super().__init__(params, lr, beta1=beta1, beta2=beta2, eps=eps, weight_decay=weight_decay)
        self.decoupled = decoupled
        # Replays count in arrays, as they run no Python; the integer is cheaper while it is known.
        self._counts = {p.device: zeros((), "int64", device=p.device) for p in self.params}
        self._known: int | None = 0

    @property
    def steps(self) -> int:
        """How many steps were taken; set it to go on from a saved state."""
        if self._known is None:
            return int(self._counts[self.params[0].device])
        return self._known

    @steps.setter
    def steps(self, steps: int) -> None:
        self._known = operator.index(steps)
        for count in self._counts.values():
            count[...] = self._known

    def step(self) -> None:
        """Takes one step, in place, in one pass over each parameter."""
        for count in self._counts.values():
            count += 1
        if is_capturing():
            self._known = None
        elif self._known is not None:
            self._known += 1
        super().step()

    def _update(self, weight: NDArray, grad: Any, *state: NDArray) -> None:
        update = optimizers.adamw if self.decoupled else optimizers.adam
        step = self._counts[weight.device] if self._known is None else self._known
        update(weight, grad, state[0], state[1], self.lr, step, **self.options)
