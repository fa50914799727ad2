# The named types of public signatures: what functions take for an array, a dtype, a shape, ...
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from types import EllipsisType
from typing import IO, Any, Literal, Protocol, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt
from typing_extensions import Buffer

from lazyarray._ndarray import NDArray
from lazyarray.engine import Device
from lazyarray.graph.symbol import Symbol
from lazyarray.ops._rows import Ufunc

# What asarray() takes: arrays, ours and others', numbers, and sequences of them at any depth.
ArrayLike: TypeAlias = npt.ArrayLike | Symbol | Sequence[ArrayLike]
Single: TypeAlias = Array | np.generic | complex  # where a list is several
Arrays: TypeAlias = NDArray | Sequence[NDArray]
Params: TypeAlias = NDArray | Mapping[str, NDArray] | Iterable[NDArray]
DTypeLike: TypeAlias = npt.DTypeLike | None
ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
PartialShape: TypeAlias = SupportsIndex | Sequence[SupportsIndex | None] | None  # None: not known
Axis: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | None  # None: all, or the flat array
DeviceLike: TypeAlias = Device | str | None  # None: that of the arrays, or the current one
Out: TypeAlias = Array | tuple[NDArray | None, ...] | None
# What stands in x[...].
_Entry: TypeAlias = slice | EllipsisType | ArrayLike | None
Index: TypeAlias = _Entry | tuple[object, ...]
Order: TypeAlias = Literal["C", "F", "A", "K"] | None
Mode: TypeAlias = Literal["raise", "wrap", "clip"]  # for indices out of bounds
Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"]
File: TypeAlias = str | PathLike[str] | IO[Any]
MapMode: TypeAlias = Literal[  # of a file on whose memory an array is
    "r", "c", "r+", "w+", "readonly", "copyonwrite", "readwrite", "write"
]
Lines: TypeAlias = File | Iterable[str] | Iterable[bytes]  # of a text file, or given one by one
Memory: TypeAlias = Buffer | Array  # what lends its memory
Array: TypeAlias = NDArray | np.ndarray[Any, Any]  # ours or NumPy's, and nothing else
Bins: TypeAlias = (  # how many, their edges, or the estimator of how many
    ArrayLike | Literal["auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges"]
)
Bounds: TypeAlias = Sequence[ArrayLike] | Array  # (low, high)
Places: TypeAlias = slice | ArrayLike  # of entries along an axis: integers, or a mask
PadWidth: TypeAlias = ArrayLike | Mapping[int, int | tuple[int, int]]
PadMode: TypeAlias = (
    Callable[..., object]
    | Literal[
        "constant",
        "empty",
        "edge",
        "linear_ramp",
        "maximum",
        "mean",
        "median",
        "minimum",
        "reflect",
        "symmetric",
        "wrap",
    ]
)

class Optimizer(Protocol):  # la.nn's, or what has the same
    params: list[NDArray]
    def step(self) -> None: ...
    def zero_grad(self) -> None: ...
    def state_dict(self) -> dict[str, NDArray | float]: ...
    def load_state_dict(self, state: Mapping[str, Array | float]) -> None: ...

EinsumPath: TypeAlias = list[str | tuple[int, ...]]
Optimize: TypeAlias = bool | Literal["greedy", "optimal"] | Sequence[object] | None
Signature: TypeAlias = str | tuple[DTypeLike, ...] | None  # of a ufunc's loop
CoreAxes: TypeAlias = Sequence[SupportsIndex | tuple[SupportsIndex, ...]] | None  # a gufunc's axes=
Polynomial: TypeAlias = ArrayLike | np.poly1d  # its coefficients, or it
Seed: TypeAlias = ArrayLike | np.random.SeedSequence | None  # None: at random
Stream: TypeAlias = np.random.BitGenerator | np.random.Generator | np.random.RandomState
State: TypeAlias = dict[str, Any] | tuple[Any, ...]  # of a bit generator

# Elementwise functions, by how many operands and results they have.
_Into: TypeAlias = Array | None

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
