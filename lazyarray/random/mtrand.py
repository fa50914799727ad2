"""``numpy.random.mtrand``: NumPy's older stream by its older name.

>>> import lazyarray as la
>>> la.random.seed(0)
>>> la.random.mtrand.rand(2).asnumpy()
array([0.5488135 , 0.71518937])
>>> isinstance(la.random.mtrand._rand, la.random.RandomState)
True
"""

from __future__ import annotations

from numpy.random import mtrand as _numpys

from lazyarray import _public
from lazyarray.random.devices import first as _rand  # noqa: F401

_random = _public.namespace.random  # which imports this file as its last
__all__ = [name for name in _numpys.__all__ if name in _random.__all__]
globals().update({name: getattr(_random, name) for name in __all__})
