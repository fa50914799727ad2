# The named types of public signatures: what functions take for an array, a dtype, a shape, ...
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from types import EllipsisType
from typing import IO, Any, Literal, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

from lazyarray._ndarray import NDArray
from lazyarray.engine import Device
from lazyarray.graph.symbol import Symbol
from lazyarray.ops._rows import Ufunc

# What asarray() takes: arrays, ours and others', numbers, and sequences of them at any depth.
ArrayLike: TypeAlias = npt.ArrayLike | Symbol | Sequence[ArrayLike]
Arrays: TypeAlias = NDArray | Sequence[NDArray]
Params: TypeAlias = NDArray | Mapping[str, NDArray] | Iterable[NDArray]
DTypeLike: TypeAlias = npt.DTypeLike | None
ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
Axis: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | None  # None: all, or the flat array
DeviceLike: TypeAlias = Device | str | None  # None: that of the arrays, or the current one
Out: TypeAlias = NDArray | np.ndarray[Any, Any] | tuple[NDArray | None, ...] | None
# What stands in x[...].
_Entry: TypeAlias = slice | EllipsisType | ArrayLike | None
Index: TypeAlias = _Entry | tuple[object, ...]
Order: TypeAlias = Literal["C", "F", "A", "K"] | None
Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"]
File: TypeAlias = str | PathLike[str] | IO[Any]

# Elementwise functions, by how many operands and results they have.
_Into: TypeAlias = NDArray | np.ndarray[Any, Any] | None

class Unary(Ufunc):
    def __call__(  # type: ignore[override]
        self,
        x: ArrayLike,
        /,
        out: Out = None,
        *,
        where: ArrayLike = True,
        dtype: DTypeLike = None,
        casting: Casting | None = None,
        order: Order = ...,
        subok: bool = ...,
        signature: object = ...,
        sig: object = ...,
    ) -> NDArray: ...

class Binary(Ufunc):
    def __call__(  # type: ignore[override]
        self,
        x1: ArrayLike,
        x2: ArrayLike,
        /,
        out: Out = None,
        *,
        where: ArrayLike = True,
        dtype: DTypeLike = None,
        casting: Casting | None = None,
        order: Order = ...,
        subok: bool = ...,
        signature: object = ...,
        sig: object = ...,
    ) -> NDArray: ...

class UnaryPair(Ufunc):
    def __call__(  # type: ignore[override]
        self,
        x: ArrayLike,
        out1: _Into = None,
        out2: _Into = None,
        /,
        *,
        out: tuple[_Into, _Into] | None = None,
        where: ArrayLike = True,
        dtype: DTypeLike = None,
        casting: Casting | None = None,
        order: Order = ...,
        subok: bool = ...,
        signature: object = ...,
        sig: object = ...,
    ) -> tuple[NDArray, NDArray]: ...

class BinaryPair(Ufunc):
    def __call__(  # type: ignore[override]
        self,
        x1: ArrayLike,
        x2: ArrayLike,
        out1: _Into = None,
        out2: _Into = None,
        /,
        *,
        out: tuple[_Into, _Into] | None = None,
        where: ArrayLike = True,
        dtype: DTypeLike = None,
        casting: Casting | None = None,
        order: Order = ...,
        subok: bool = ...,
        signature: object = ...,
        sig: object = ...,
    ) -> tuple[NDArray, NDArray]: ...
