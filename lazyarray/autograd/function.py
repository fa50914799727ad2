"""Function: an op with a gradient rule of the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.autograd.scopes import is_recording, is_training, pause
from lazyarray.lazy._lazy import Tensor, TracingError, is_noting, note_call, tracked

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, Arrays

__all__ = ["Function"]


class Function:
    """An op that computes its own gradient: override ``forward`` and ``backward``, then call it.

    ``forward(*inputs)`` gives an array or a tuple of them; ``backward(*gradients)``, given the
    gradients of these, an array (or None: zero) for each input. ``save_for_backward`` keeps what
    ``backward`` needs, as ``saved_tensors``; it is checked that nobody overwrites it meanwhile. (An
    output kept as an attribute instead is only freed by a backward pass: it holds what holds it.)
    An instance is for one call.

    >>> import lazyarray as la
    >>> class Sigmoid(la.autograd.Function):
    ...     def forward(self, x):
    ...         y = 1 / (1 + la.exp(-x))
    ...         self.save_for_backward(y)
    ...         return y
    ...     def backward(self, dy):
    ...         y, = self.saved_tensors
    ...         return dy * y * (1 - y)
    >>> x = la.zeros(2)
    >>> x.attach_grad()
    >>> with la.autograd.record():
    ...     y = Sigmoid()(x)
    >>> y.backward()
    >>> x.grad.asnumpy()
    array([0.25, 0.25])
    """

    saved_tensors: tuple[NDArray, ...] = ()
    _called = False
    _shapes: Sequence[tuple[int, ...] | None] = ()

    def save_for_backward(self, *arrays: NDArray) -> None:
        """Keeps arrays for ``backward``, as ``saved_tensors``.

        Args:
            *arrays: inputs, outputs, or any others.
        Returns: None.
        Raises: TypeError for what is no array. The backward pass raises RuntimeError if one of them
            was overwritten meanwhile.
        """
        for x in arrays:
            if not isinstance(x, Tensor):
                raise TypeError(f"save_for_backward takes NDArrays, not {type(x).__name__}")
        self.saved_tensors = arrays

    def forward(self, *inputs: Any) -> Arrays:
        """Computes the outputs; nothing of it is recorded.

        Args:
            *inputs: what the instance is called with.
        Returns: an array, or a tuple of arrays.
        Raises: NotImplementedError unless a class overrides it.
        """
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def backward(self, *gradients: Any) -> ArrayLike | Sequence[ArrayLike | None] | None:
        """The inputs' gradients for those of the outputs.

        Args:
            *gradients: the gradient of each output, an array of its shape.
        Returns: an array of its shape for each input, or None for zeros: one, or a tuple of them.
        Raises: NotImplementedError unless a class overrides it.
        """
        raise NotImplementedError(f"{type(self).__name__} has no backward()")

    def __call__(self, *inputs: object) -> Any:
        """Runs ``forward`` and records the call.

        Args:
            *inputs: arrays, and what else ``forward`` takes.
        Returns: what ``forward`` gives.
        Raises: RuntimeError for a second call, and where ``forward`` has written to an input of
            which gradients are recorded; TypeError unless it gives arrays; ``TracingError`` where a
            graph is traced, which would not keep the gradient; what ``forward`` raises.
        """
        if self._called:
            raise RuntimeError("an autograd.Function is for one call: make another instance")
        if is_noting():
            raise TracingError(
                f"{type(self).__name__} has a gradient of its own, which a graph would not keep"
            )
        self._called = True
        recorded = is_recording() and any(map(tracked, inputs))
        watched = [x.var for x in inputs if isinstance(x, Tensor)] if recorded else []
        before = [var._issued for var in watched]
        with pause(train_mode=is_training()):
            outputs = self.forward(*inputs)
        if [var._issued for var in watched] != before:
            raise RuntimeError(
                f"{type(self).__name__}.forward has written to an input, of which a gradient "
                "may be taken: give a new array"
            )
        several = isinstance(outputs, (tuple, list))
        results = list(outputs) if several else [outputs]
        self._shapes = [x.shape if isinstance(x, Tensor) else None for x in inputs]
        for i, y in enumerate(results):
            if not isinstance(y, Tensor):
                raise TypeError(
                    f"{type(self).__name__}.forward gives NDArrays, not {type(y).__name__}"
                )
            if any(isinstance(x, Tensor) and y.var == x.var for x in inputs):
                results[i] = y.copy()
        saved, self.saved_tensors = self.saved_tensors, ()
        note_call(type(self).__name__, self._gradients, inputs, results, saved)
        return tuple(results) if several else results[0]

    def _gradients(self, gradients: list[Any], saved: list[Any]) -> list[Any]:
        self.saved_tensors = tuple(saved)
        try:
            found: Any = self.backward(*gradients)
        finally:
            self.saved_tensors = ()
        found = list(found) if isinstance(found, (tuple, list)) else [found]
        for i, (g, shape) in enumerate(zip(found, self._shapes, strict=False)):
            if g is not None and shape is not None and np.shape(g) != shape:
                raise ValueError(
                    f"{type(self).__name__}.backward gives a gradient of shape {np.shape(g)} for "
                    f"input {i}, which is of shape {shape}"
                )
        return found
