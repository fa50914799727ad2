"""NumPy's bit generators and seeds, which take lazyarrays as seeds, too."""

from __future__ import annotations

from typing import Any

import numpy.random as _numpys

from lazyarray.ops.hosts import to_host

__all__ = ["MT19937", "PCG64", "PCG64DXSM", "SFC64", "Philox", "SeedSequence"]


class _NumPys(type):
    """NumPy's own objects are instances: what is derived here differs in the arguments alone."""

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, cls.__mro__[1])

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, cls.__mro__[1])


def _taking(kind: type) -> type:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, *to_host(args, "a seed"), **to_host(kwargs, "a seed"))

    begin: Any = vars(kind)["__init__"]
    __init__.__doc__ = begin.__doc__
    name = kind.__name__
    told = (kind.__doc__ or "").partition(">>>")[0].rstrip()  # its examples are NumPy's to test
    doc = f"NumPy's :class:`{name}`. Waits for a seed that is a lazyarray.\n\n{told}"
    body = {"__init__": __init__, "__doc__": doc, "__module__": __name__}
    return _NumPys(name, (kind,), body)


MT19937 = _taking(_numpys.MT19937)
PCG64 = _taking(_numpys.PCG64)
PCG64DXSM = _taking(_numpys.PCG64DXSM)
SFC64 = _taking(_numpys.SFC64)
Philox = _taking(_numpys.Philox)
SeedSequence = _taking(_numpys.SeedSequence)
