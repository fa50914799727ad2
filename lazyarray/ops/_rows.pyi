# Types of the op table's rows, and of the functions that other ops are composed of.
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lazyarray._ndarray import NDArray
from lazyarray.engine import Device

class Row:
    @property
    def name(self) -> str: ...
    @property
    def section(self) -> str: ...
    @property
    def ufunc(self) -> np.ufunc: ...
    @property
    def __name__(self) -> str: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class Ufunc(Row):
    def __init__(
        self,
        ufunc: np.ufunc,
        *,
        name: str | None = None,
        section: str = "",
        doc: str = "",
        cost: float = 0.5,
    ) -> None: ...
    @property
    def nin(self) -> int: ...
    @property
    def nout(self) -> int: ...
    def __call__(
        self,
        *args: Any,
        out: Any = None,
        where: Any = True,
        dtype: Any = None,
        casting: str | None = None,
    ) -> Any: ...

class Reduction(Row):
    def __init__(
        self,
        ufunc: np.ufunc,
        *,
        name: str,
        section: str = "",
        doc: str = "",
        first: bool = False,
        cost: float = 0.4,
    ) -> None: ...
    def __call__(
        self,
        x: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        *,
        initial: Any = None,
        where: Any = None,
    ) -> NDArray: ...

class Gufunc(Row):
    def __init__(
        self,
        ufunc: np.ufunc,
        *,
        name: str,
        section: str = "",
        doc: str = "",
        invalid: str | None = None,
        cost: float = 1.0,
    ) -> None: ...
    def __call__(self, *arrays: NDArray) -> NDArray: ...

class MatMul(Row):
    def __init__(self, ufunc: np.ufunc, *, section: str = "", doc: str = "") -> None: ...
    def __call__(self, a: Any, b: Any, /, out: NDArray | None = None) -> NDArray: ...

def call(
    name: str,
    fn: Callable[[list[np.ndarray], list[np.ndarray]], object],
    ins: list[Any],
    outs: list[Any],
    *,
    device: Device | None = None,
    cost: float = 5000.0,
    overwrites: bool = True,
) -> list[NDArray]: ...
def empty(shape: tuple[int, ...], dtype: Any, device: Device | None = None) -> NDArray: ...
def full(
    shape: tuple[int, ...], value: Any, dtype: Any, device: Device | None = None
) -> NDArray: ...
def array(
    obj: Any, dtype: Any = None, device: Device | None = None, copy: bool = True
) -> NDArray: ...
def astype(x: NDArray, dtype: Any, copy: bool = True) -> NDArray: ...
def asarray(o: Any) -> NDArray: ...
def assign_to(to: NDArray, value: Any) -> None: ...
def contiguous_signature(x: NDArray) -> tuple[Any, ...] | None: ...
def strided(
    x: NDArray, shape: tuple[int, ...], strides: tuple[int, ...], offset: int
) -> NDArray: ...
def probe(x: NDArray, contiguous: bool = False) -> np.ndarray: ...
def seen(x: NDArray, r: np.ndarray) -> NDArray: ...
def retype(x: NDArray, dtype: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> NDArray: ...
def normalize_axes(axis: Any, ndim: int) -> tuple[int, ...]: ...
def reduced_shape(
    shape: tuple[int, ...], axes: Sequence[int], keepdims: bool
) -> tuple[int, ...]: ...
def fill_where(x: NDArray, mask: NDArray, value: Any) -> None: ...
def select(condition: Any, x: Any, y: Any) -> NDArray: ...
def clamp(x: NDArray, low: Any, high: Any) -> NDArray: ...
