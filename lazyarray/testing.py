"""``numpy.testing``, whose assertions take lazyarrays: they wait for the values and compare those.

>>> import lazyarray as la
>>> la.testing.assert_allclose(la.ones(2) / 3, [0.333333, 0.333333], rtol=1e-5)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy import testing as _testing

from lazyarray.lazy._lazy import Tensor
from lazyarray.ops._layout import values
from lazyarray.ops._rows import holds_scalar, own_array


def _host(o: Any) -> Any:
    o = own_array(o)
    if isinstance(o, Tensor):
        host = values(o, "an assertion")
        return host[()] if holds_scalar(o) else host  # numbers are compared by other rules
    if isinstance(o, dict):
        return {key: _host(value) for key, value in o.items()}
    return type(o)(map(_host, o)) if type(o) in (list, tuple) else o


def _of_values(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def assertion(*args: Any, **kwargs: Any) -> Any:
        return function(*_host(args), **_host(kwargs))

    return assertion


_CALLERS = ("assert_raises", "assert_warns", "assert_no_")  # their arguments are a call's


if TYPE_CHECKING:
    from numpy.testing import *  # noqa: F403
    from numpy.testing import __all__ as __all__
else:

    def __getattr__(name: str) -> Any:
        found = getattr(_testing, name)
        compares = name.startswith("assert_") and not name.startswith(_CALLERS)
        return _of_values(found) if compares else found


def __dir__() -> list[str]:
    return list(_testing.__all__)
