"""What an array's ``flat`` and ``flags`` are."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.functions.editing import resize
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import _rows

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import DTypeLike

_KINDS = (
    "only integers, slices (`:`), ellipsis (`...`) and integer or boolean arrays are valid indices"
)
_BOOLS = (
    "boolean indices for iterators are not supported because of previous behavior that was "
    "confusing (valid boolean indices are expected to work in the future)"
)


class flatiter(_rows.FlatOf):
    """The elements of an array in C order, as one vector: ``x.flat``.

    It can be indexed, assigned to (values that are too few are taken over and over) and iterated
    over. Nothing of that waits.

    >>> import lazyarray as la
    >>> x = la.arange(6).reshape(2, 3).T
    >>> x.flat[1:] = [7, 8]
    >>> x.asnumpy()
    array([[0, 7],
           [8, 7],
           [8, 7]])
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    @property
    def base(self) -> NDArray:
        """The array that is iterated over."""
        return self._x

    @property
    def coords(self) -> tuple[int, ...]:
        """The indices, along each axis, of the element that comes next."""
        found, rest = [], self.index
        for n in self._x.shape[:0:-1]:
            rest, at = divmod(rest, n)
            found.append(at)
        return (rest, *found[::-1]) if self._x.ndim else ()

    def __len__(self) -> int:
        return self._x.size

    def copy(self) -> NDArray:
        """A vector of copies of the elements."""
        return self._x.flatten()

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return self.copy().__array__(dtype)

    def _item(self, key: Any) -> NDArray:
        x = self._x
        if type(key) is not int or not 0 <= key < x.size:
            key = self._key(key)
        if isinstance(key, int):
            return x[self._place(key)]
        found = x.ravel()[key]
        return found.copy() if isinstance(key, slice) else found

    def _store(self, key: Any, value: Any) -> None:
        if isinstance(key, tuple) and not key:
            raise IndexError("Assigning to a flat iterator with a 0-D index is not supported")
        x, key = self._x, self._key(key)
        if not _rows.probe(x).flags.writeable:
            raise ValueError("underlying array is read-only")
        if isinstance(key, int):
            try:
                _rows.assign_item(self._element(key), self._values(value).reshape(()))
            except (TypeError, ValueError, OverflowError) as exc:
                raise ValueError("Error setting single item of array.") from exc
            return
        vector, is_view = x.ravel(), _rows.lies_in(x, "C")  # else a copy that is written back
        if type(value) in (float, int):
            vector[key] = value
        else:
            values = self._values(value)
            if not values.size:
                return
            shape = vector[key].shape
            vector[key] = values.reshape(()) if values.size == 1 else resize(values, shape)
        if not is_view:
            _rows.assign_to(x, vector.reshape(x.shape))

    def _values(self, value: Any) -> NDArray:
        if isinstance(value, Tensor):
            return value
        return _rows.array(np.asarray(value, self._x.dtype), None, self._x.device)

    def _key(self, key: Any) -> Any:
        """An index as an int in bounds, a slice, or an array of integers; NumPy's errors."""
        if isinstance(key, tuple):
            if len(key) > 1:
                raise IndexError(
                    "too many indices for flat iterator: flat iterator is 1-dimensional, but "
                    f"{len(key)} were indexed"
                )
            key = key[0] if key else ...
        if key is ...:
            return slice(None)
        if isinstance(key, slice):
            return key
        if not isinstance(key, Tensor):
            if isinstance(key, str) or key is None:
                raise IndexError(_KINDS)
            if hasattr(key, "__index__") and not isinstance(key, (bool, np.ndarray, np.generic)):
                key = operator.index(key)
            key = np.array(key) if np.size(key) else np.zeros(np.shape(key), np.intp)
        if key.dtype.kind == "b":
            raise IndexError(_BOOLS)
        if key.dtype.kind not in "iu":
            raise IndexError(_KINDS)
        if isinstance(key, Tensor):
            return key
        n = self._x.size
        beyond = key[(key < -n) | (key >= n)]
        if beyond.size:
            raise IndexError(f"index {beyond.flat[0]} is out of bounds for size {n}")
        return key if key.ndim else int(key) % n

    def _place(self, at: int) -> Any:
        """The index of one element along each axis."""
        shape = self._x.shape
        if len(shape) == 1:
            return at
        return tuple([int(i) for i in np.unravel_index(at, shape)]) if shape else ()

    def _element(self, at: int) -> NDArray:
        """A view of one element, without axes."""
        x, place = self._x, self._place(at)
        where = place if isinstance(place, tuple) else (place,)
        return _rows.strided(x, (), (), sum(map(operator.mul, where, x.strides)))


def _compared(name: str) -> Callable[[flatiter, Any], Any]:
    compare = getattr(operator, name)

    def method(self: flatiter, other: Any) -> Any:
        return compare(self.copy(), other.copy() if isinstance(other, flatiter) else other)

    return method


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(flatiter, f"__{_name}__", _compared(_name))


# ---- flags --------------------------------------------------------------------------------------


_ORDERS = {
    **dict.fromkeys(("C_CONTIGUOUS", "CONTIGUOUS", "C"), "C"),
    **dict.fromkeys(("F_CONTIGUOUS", "FORTRAN", "F"), "F"),
}


class flagsobj(_rows.FlagsOf):
    """How an array lies in memory: ``x.flags``. ``WRITEABLE`` can be set.

    The flags are attributes, and by NumPy's names and their letters items.

    >>> import lazyarray as la
    >>> flags = la.ones((2, 3)).T.flags
    >>> flags.c_contiguous, flags["F"]
    (False, True)
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    @property
    def owndata(self) -> bool:
        """Whether the array is all of its memory, which is no other library's."""
        return self._x.base is None

    @property
    def writeable(self) -> bool:
        """Whether the array may be written to; may be set."""
        return _rows.probe(self._x).flags.writeable and not _rows.holds_scalar(self._x)

    @writeable.setter
    def writeable(self, value: bool) -> None:
        self._x.setflags(write=value)

    @property
    def num(self) -> int:
        """The flags as bits."""
        return _rows.probe(self._x).flags.num | (4 if self.owndata else 0)

    def _item(self, key: str) -> bool:
        if key in _ORDERS:
            return _rows.lies_in(self._x, _ORDERS[key])
        if key in ("OWNDATA", "O"):
            return self.owndata
        if key in ("WRITEABLE", "W"):
            return self.writeable
        return _rows.probe(self._x).flags[key]  # type: ignore[index]

    def __setitem__(self, key: str, value: bool) -> None:
        if key not in ("WRITEABLE", "W"):
            raise KeyError("Unknown flag")
        self.writeable = value

    def __eq__(self, other: object) -> Any:
        return self.num == other.num if isinstance(other, flagsobj) else NotImplemented

    def __repr__(self) -> str:
        names = "C_CONTIGUOUS F_CONTIGUOUS OWNDATA WRITEABLE ALIGNED WRITEBACKIFCOPY"
        return "".join(f"  {name} : {self[name]}\n" for name in names.split())


def _asked(name: str) -> property:
    def get(self: flagsobj) -> bool:
        return getattr(_rows.probe(self._x).flags, name)

    return property(get, doc=f"As ``numpy.ndarray.flags.{name}``.")


for _name in "forc fnc carray farray aligned behaved writebackifcopy".split():
    setattr(flagsobj, _name, _asked(_name))
