"""The classes of ``numpy.polynomial``, which can be evaluated at lazyarrays without a wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from lazyarray._docstrings import told_as
from lazyarray.lazy._lazy import Tensor
from lazyarray.lib.hosted import to_lazy

if TYPE_CHECKING:
    from numpy.polynomial._polybase import ABCPolyBase as _Base

    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike

    _P = TypeVar("_P", bound=_Base)
else:
    _Base = object

__all__ = ["Chebyshev", "Hermite", "HermiteE", "Laguerre", "Legendre", "Polynomial"]


class _Series(_Base):
    """Coefficients, domain and window are small, and NumPy arrays; the rest is lazyarrays.

    Lazyarrays given as coefficients, or to ``fit``, are waited for.
    """

    # NumPy's give its arrays.
    @overload  # type: ignore[override]
    def __call__(self, arg: _P) -> _P: ...
    @overload
    def __call__(self, arg: ArrayLike) -> NDArray: ...
    def __call__(self, arg: Any) -> Any:
        """The values at ``arg``, recorded like any op."""
        me: Any = self
        if isinstance(arg, Tensor):
            off, scl = me.mapparms()
            return me._val(off + scl * arg, me.coef)
        return to_lazy(super().__call__(arg))

    def roots(self) -> NDArray:  # type: ignore[override]
        """Where the series is zero.

        Returns: an array of shape ``(degree,)``, sorted; complex where some are.
        Raises: LinAlgError for coefficients that are not finite.

        >>> import lazyarray as la
        >>> la.polynomial.Polynomial([-4, 0, 1]).roots().asnumpy()
        array([-2.,  2.])
        """
        return to_lazy(super().roots())

    def linspace(self, *args: Any, **kwargs: Any) -> tuple[NDArray, NDArray]:  # type: ignore[override]
        """Points of the domain, evenly spaced, and the series there.

        Args:
            *args: NumPy's: how many points there are (100), and their domain (the series's own).
            **kwargs: the same, by name: ``n``, ``domain``.
        Returns: two arrays of shape ``(n,)``: the points and the values.
        Raises: ValueError for a negative number.

        >>> import lazyarray as la
        >>> x, y = la.polynomial.Polynomial([0, 2]).linspace(3)
        >>> x.asnumpy(), y.asnumpy()
        (array([-1.,  0.,  1.]), array([-2.,  0.,  2.]))
        """
        return to_lazy(super().linspace(*args, **kwargs))


class Polynomial(_Series, np.polynomial.Polynomial):
    """A series of powers: ``numpy.polynomial.Polynomial``.

    Lazyarrays given as coefficients are waited for. Domain and window are kept as NumPy arrays.

    Args:
        coef: the coefficients, the lowest power first.
        domain: two numbers, which are mapped to the window's; None: the window of the class.
        window: two numbers; None: those of the class.
        symbol: the letter that it is printed with.
    Raises: ValueError for no coefficients, for a domain or window that is no pair, or for a symbol
        that is no name; TypeError for a symbol that is no string.

    >>> import lazyarray as la
    >>> la.polynomial.Polynomial([1, 0, 3])(la.array([0.0, 2.0])).asnumpy()
    array([ 1., 13.])
    """


@told_as(Polynomial)
class Chebyshev(_Series, np.polynomial.Chebyshev):
    """A series of Chebyshev polynomials: ``numpy.polynomial.Chebyshev``."""


@told_as(Polynomial)
class Hermite(_Series, np.polynomial.Hermite):
    """A series of Hermite polynomials, the physicists': ``numpy.polynomial.Hermite``."""


@told_as(Polynomial)
class HermiteE(_Series, np.polynomial.HermiteE):
    """A series of Hermite polynomials, the probabilists': ``numpy.polynomial.HermiteE``."""


@told_as(Polynomial)
class Laguerre(_Series, np.polynomial.Laguerre):
    """A series of Laguerre polynomials: ``numpy.polynomial.Laguerre``."""


@told_as(Polynomial)
class Legendre(_Series, np.polynomial.Legendre):
    """A series of Legendre polynomials: ``numpy.polynomial.Legendre``."""
