"""``numpy.typing``: types for annotations; ``NDArray[dtype]`` is lazyarray's.

>>> import lazyarray as la
>>> def double(x: la.typing.ArrayLike) -> la.typing.NDArray[la.float64]:
...     return la.asarray(x) * 2
>>> double([1, 2]).tolist()
[2, 4]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy.typing as _numpys

from lazyarray._ndarray import NDArray

if TYPE_CHECKING:
    from lazyarray._types import ArrayLike, DTypeLike
else:
    from numpy.typing import ArrayLike, DTypeLike

__all__ = ["ArrayLike", "DTypeLike", "NBitBase", "NDArray"]  # noqa: F822  see __getattr__


def __getattr__(name: str) -> Any:
    return getattr(_numpys, name)  # NBitBase, with NumPy's warning


def __dir__() -> list[str]:
    return [*__all__]
