"""SymPy's numbers, and a backend for einops."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazyarray.lazy._lazy import Tensor

__all__: list[str] = []


def teach_sympy(sympify: Any) -> None:
    # Scalars are numbers to SymPy, as NumPy's are; to arrays its operators leave the turn.
    numpys = sympify._is_numpy_instance
    sympify._is_numpy_instance = lambda a: isinstance(a, Tensor) or numpys(a)


def make_backend(backends: Any) -> None:
    from lazyarray import _public

    class LazyarrayBackend(backends.NumpyBackend):
        framework_name = "lazyarray"  # einops finds it by this

        def __init__(self) -> None:
            self.np = _public.namespace

        def is_appropriate_type(self, tensor: Any) -> bool:
            return isinstance(tensor, Tensor)

        def from_numpy(self, x: np.ndarray) -> Any:
            return self.np.array(x)

        def to_numpy(self, x: Any) -> np.ndarray:
            values: np.ndarray = x.asnumpy()
            return values

    backends._lazyarray = LazyarrayBackend  # subclasses are looked up, and not kept
