"""Whether this thread records, and whether it trains: ``record``, ``pause`` and their kin."""

from __future__ import annotations

from contextlib import ContextDecorator

from lazyarray.lazy._lazy import (
    RecordingScope,
    TracingError,
    is_noting,
    is_recording,
    is_training,
    set_recording,
    set_training,
)

__all__ = [
    "is_recording",
    "is_training",
    "pause",
    "predict_mode",
    "record",
    "set_recording",
    "set_training",
    "train_mode",
]


class _Scope(RecordingScope, ContextDecorator):
    """Sets what is not None within a block (or a function, as a decorator), and puts it back."""

    def _recreate_cm(self) -> _Scope:
        return self.again()


def record(train_mode: bool = True) -> _Scope:
    """A scope in which ops on arrays with gradients are recorded for :func:`backward`.

    Args:
        train_mode: whether ops that differ in training (dropout, batch norm) run so.
    Returns: a scope, for ``with``.
    Raises: nothing.

    >>> import lazyarray as la
    >>> with la.autograd.record():
    ...     la.autograd.is_recording(), la.autograd.is_training()
    (True, True)
    """
    return _Scope(True, bool(train_mode))


def pause(train_mode: bool = False) -> _Scope:
    """A scope in which nothing is recorded: what it computes is a constant to :func:`backward`.

    Args:
        train_mode: whether ops that differ in training run so.
    Returns: a scope, for ``with``.
    Raises: ``TracingError`` where a graph is traced, which keeps no pause, but ``x.detach()``.

    >>> import lazyarray as la
    >>> with la.autograd.record(), la.autograd.pause():
    ...     la.autograd.is_recording()
    False
    """
    if is_noting():
        raise TracingError("a graph keeps no pause(): use x.detach() for what is to be a constant")
    return _Scope(False, bool(train_mode))


def train_mode() -> _Scope:
    """A scope in which ops run as in training, recorded or not.

    Returns: a scope, for ``with``.
    Raises: nothing.

    >>> import lazyarray as la
    >>> with la.autograd.train_mode():
    ...     la.autograd.is_training()
    True
    """
    return _Scope(None, True)


def predict_mode() -> _Scope:
    """A scope in which ops run as in inference, recorded or not.

    Returns: a scope, for ``with``.
    Raises: nothing.

    >>> import lazyarray as la
    >>> with la.autograd.record(), la.autograd.predict_mode():
    ...     la.autograd.is_training()
    False
    """
    return _Scope(None, False)
