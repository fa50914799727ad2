"""Numbers that change from call to call: what a capture does with them, each call does again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from lazyarray.lazy._lazy import Number, number_array, veiled
from lazyarray.ops._layout import new

__all__ = ["Numbers", "Mistaken"]


# Of a number that nobody but us holds: the list it is in, and what goes over that.
_REFERENCES = 3


class Mistaken(Exception):
    """The numbers of a call are of other types, or out of range: the function runs op by op."""


class Numbers:
    """The numbers of one capture: those given, those that are made of them, and arrays of them.

    >>> from lazyarray._compile.numbers import Numbers
    >>> numbers = Numbers([0.5])
    >>> half = numbers.numbers[0]
    >>> more = 1 - half * 0.5
    >>> numbers.values([2.0])
    [2.0, 1.0, 0.0]
    >>> numbers.looked, more > 0, numbers.looked
    (False, True, True)
    """

    def __init__(self, values: list[Any]) -> None:
        self.looked = False
        self.closed = False
        self.given = len(values)
        self.values_given = values
        self._all = [Number(value, self, i) for i, value in enumerate(values)]
        self._made: list[tuple[Callable[..., Any], tuple[Any, ...], type]] = []
        self._arrays: dict[tuple[int, Any, Any], Any] = {}

    def derive(self, op: Callable[..., Any], operands: tuple[Any, ...]) -> Any:
        """The number that ``op`` makes of numbers."""
        value = op(*[o.value if type(o) is Number else o for o in operands])
        if type(value) not in (int, float) or self.closed:
            self.looked = True
            return value
        places = tuple([(o.index, None) if type(o) is Number else (-1, o) for o in operands])
        made = Number(value, self, len(self._all))
        self._all.append(made)
        self._made.append((op, places, type(value)))
        return made

    def array(self, number: Number, dtype: Any, device: Any) -> Any:
        """What stands for the number as an operand of ``dtype``."""
        key = (number.index, dtype, device)
        if key not in self._arrays:
            self._arrays[key] = veiled(new((), dtype, device=device))
        return self._arrays[key]

    @property
    def numbers(self) -> list[Number]:
        """What stands for those given."""
        return self._all[: self.given]

    def close(self) -> None:
        """Ends the capture. A number that is kept, by an instruction say, counts as looked at."""
        self.closed = True
        held = [sys.getrefcount(x) for x in self._all]
        if max(held, default=0) > _REFERENCES:
            self.looked = True

    @property
    def arrays(self) -> list[Any]:
        """The arrays that the program takes after those given."""
        return [*self._arrays.values()]

    def values(self, given: list[Any]) -> list[Any]:
        """The numbers of a call, given the first of them."""
        values = [*given]
        for op, operands, kind in self._made:
            value = op(*[values[i] if i >= 0 else o for i, o in operands])
            if type(value) is not kind:
                raise Mistaken
            values.append(value)
        return values

    def arrays_of(self, values: list[Any]) -> list[Any]:
        """The arrays of a call."""
        try:
            return [number_array(values[i], dtype, on) for i, dtype, on in self._arrays]
        except OverflowError:
            raise Mistaken from None
