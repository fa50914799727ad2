"""Protocols: what Python, NumPy and other libraries ask of arrays.

* ``dispatch``: ``__array_ufunc__``, ``__array_function__``; ``ufunc_methods`` has ``np.add.at``.
* ``dlpack``: ``__dlpack__`` and ``from_dlpack``.
* ``interfaces``: ``__array__(copy=False)``, ``__array_interface__``, ``__cuda_array_interface__``.
* ``pickling``: what pickles call, and JSON.
* ``awaiting``: ``__await__``.

The buffer and the methods that call these are native (``_ndarray.pyx``).
"""

from __future__ import annotations

from lazyarray.protocols import awaiting, dispatch, dlpack, interfaces, pickling

SECTIONS = [awaiting, dlpack, pickling]

__all__ = ["SECTIONS", "awaiting", "dispatch", "dlpack", "interfaces", "pickling"]
