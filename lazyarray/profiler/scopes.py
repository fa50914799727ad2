"""What a program names itself: tasks, frames, events, counters, markers."""

from __future__ import annotations

import numbers
import threading
from types import TracebackType
from typing import ClassVar, Self

from lazyarray.profiler import _profiler as native

__all__ = ["counter", "event", "frame", "marker", "task"]


class _Scope:
    """A stretch of time with a name: a ``with`` block, or from :meth:`start` to :meth:`stop`."""

    __slots__ = {
        "_begun": "In nanoseconds; 0: not.",
        "_site": "The line that did.",
        "domain": "The word that groups names.",
        "name": "What it is called.",
    }
    _kind: ClassVar[int]

    def __init__(self, name: str, domain: str = "") -> None:
        self.name, self.domain = _texts(name, domain)
        self._begun = 0

    def start(self) -> Self:
        """Begins, or begins again.

        Returns: the object itself.
        Raises: nothing.
        """
        self._site = native.here()
        self._begun = native.now()
        return self

    def stop(self) -> None:
        """Ends, and is recorded if the profiler runs.

        Returns: None.
        Raises: RuntimeError before :meth:`start`.
        """
        if not self._begun:
            raise RuntimeError(f"{type(self).__name__} {self.name!r} was not started")
        begun, self._begun = self._begun, 0
        native.note_span(self._kind, self.name, self.domain, begun, native.now(), self._site)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"


class task(_Scope):
    """A piece of work, such as an epoch; it may end in another thread than it began in.

    It has a track of its own. ``domain`` is as MXNet's ``Domain``.

    Args:
        name: what it is called.
        domain: a word that groups names.
    Raises: TypeError for a name or domain that is no string.

    >>> import lazyarray as la
    >>> with la.profiler.task("epoch", domain="training"):
    ...     x = la.ones(10) + 1
    >>> validation = la.profiler.task("validation").start()
    >>> validation.stop()
    """

    __slots__ = ()
    _kind = native.TASK


class frame(_Scope):
    """One of many pieces that follow each other, such as a step; else as :class:`task`.

    Args:
        name: what it is called.
        domain: a word that groups names.
    Raises: TypeError for a name or domain that is no string.

    >>> import lazyarray as la
    >>> for step in range(3):
    ...     with la.profiler.frame("step"):
    ...         x = la.ones(10) * step
    """

    __slots__ = ()
    _kind = native.FRAME


class event(_Scope):
    """A stretch of the calling thread's time, shown on that thread's track.

    Events of a thread nest, like calls: one that began inside another ends inside it.

    Args:
        name: what it is called.
        domain: a word that groups names.
    Raises: TypeError for a name or domain that is no string.

    >>> import lazyarray as la
    >>> with la.profiler.event("load a batch"):
    ...     x = la.array([1, 2, 3])
    """

    __slots__ = ()
    _kind = native.EVENT


class counter:
    """A number that is drawn over time. Setting it records it, if the profiler runs.

    Values are recorded at once: an array has to be asked for its own first. Safe to use from
    several threads.

    Args:
        name: what it is called.
        value: a real number to begin with; None: 0, which is not recorded.
        domain: a word that groups names.
    Raises: TypeError for a name or domain that is no string, or a value that is no real number.

    >>> import lazyarray as la
    >>> loss = la.profiler.counter("loss", 0.5)
    >>> loss.set_value(0.25)
    >>> seen = la.profiler.counter("samples", 0)
    >>> seen += 32
    >>> seen.decrement()
    >>> loss.value, seen.value
    (0.25, 31)
    """

    __slots__ = {
        "_lock": "Of its value.",
        "_value": "What it was set to last.",
        "domain": "The word that groups names.",
        "name": "What it is called.",
    }

    def __init__(self, name: str, value: float | None = None, domain: str = "") -> None:
        self.name, self.domain = _texts(name, domain)
        self._lock = threading.Lock()
        self._value: float = 0
        if value is not None:
            self.set_value(value)

    @property
    def value(self) -> float:
        """What it was set to last."""
        return self._value

    def set_value(self, value: float) -> None:
        """Sets it.

        Args:
            value: a real number.
        Returns: None.
        Raises: TypeError for anything else; an array has to be asked for its value first.
        """
        with self._lock:
            self._set(_real(value))

    def increment(self, delta: float = 1) -> None:
        """Adds to it.

        Args:
            delta: a real number.
        Returns: None.
        Raises: TypeError for anything else.
        """
        with self._lock:
            self._set(self._value + _real(delta))

    def decrement(self, delta: float = 1) -> None:
        """Takes from it.

        Args:
            delta: a real number.
        Returns: None.
        Raises: TypeError for anything else.
        """
        with self._lock:
            self._set(self._value - _real(delta))

    def __iadd__(self, delta: float) -> Self:
        self.increment(delta)
        return self

    def __isub__(self, delta: float) -> Self:
        self.decrement(delta)
        return self

    def __repr__(self) -> str:
        return f"<counter {self.name!r}: {self._value}>"

    def _set(self, value: float) -> None:
        native.note_counter(self.name, self.domain, float(value))
        self._value = value


def marker(name: str, domain: str = "") -> None:
    """Marks this moment, if the profiler runs.

    Args:
        name: what it is called.
        domain: a word that groups names.
    Returns: None.
    Raises: TypeError for a name that is no string.

    >>> import lazyarray as la
    >>> la.profiler.marker("here")
    """
    name, domain = _texts(name, domain)
    now = native.now()
    native.note_span(native.MARKER, name, domain, now, now, native.here())


def _texts(name: object, domain: object) -> tuple[str, str]:
    if not isinstance(name, str):
        raise TypeError(f"name is a string, not {type(name).__name__}")
    if not isinstance(domain, str):
        raise TypeError(f"domain is a string, not {type(domain).__name__}")
    return name, domain


def _real(value: object) -> float:
    # An array without axes is one, too, but its value would be waited for.
    if hasattr(value, "wait_to_read"):
        raise TypeError("a counter counts in numbers, not arrays: float(x), which waits")
    if not isinstance(value, numbers.Real):
        raise TypeError(f"a counter counts in real numbers, not {type(value).__name__}")
    return value  # type: ignore[return-value]
