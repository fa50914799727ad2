"""RandomState: NumPy's older generator, whose draws are ops."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.context import chosen, current_context
from lazyarray.random.distributions import Distributions
from lazyarray.random.stream import Distribution, Size, at_once, made_outside

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, DeviceLike, DTypeLike, State

_RANDINT = Distribution("randint", "", (0, 1), coupled=True)
RANDOM = Distribution("random_sample", "", ())
NORMAL = Distribution("standard_normal", "", ())
EXPONENTIAL = Distribution("standard_exponential", "", ())
GAMMA = Distribution("standard_gamma", "", (1.0,))
_TOMAXINT = Distribution("tomaxint", "", ())

_judge = np.random.RandomState(0)


class RandomState(Distributions):
    """NumPy's older generator, with the values of ``numpy.random.RandomState(seed)``.

    Its draws are ops, as :class:`Generator`'s are; for a GPU, too, the host makes them. ``seed``
    may be a bit generator.

    Args:
        seed: an integer, an array of them, a bit generator, or a NumPy ``RandomState``, whose
            stream goes on; None: another one in each run.
        ctx: the device; None: :func:`lazyarray.current_context`.
        device: the same as ``ctx``, by the array API's name.
    Raises: ValueError for a seed that is negative or over 2**32 - 1, or if ``ctx`` and ``device``
        are different devices; TypeError for a seed that is no integer.

    >>> import lazyarray as la
    >>> la.random.RandomState(0).rand(2).asnumpy()
    array([0.5488135 , 0.71518937])
    """

    _of_module = False

    def __init__(
        self,
        seed: ArrayLike | np.random.BitGenerator | np.random.RandomState | None = None,
        ctx: DeviceLike = None,
        *,
        device: DeviceLike = None,
    ) -> None:
        if not self._of_module:  # those are made as they are first used
            made_outside("RandomState")
        given: Any = seed
        made = given if isinstance(given, np.random.RandomState) else np.random.RandomState(given)
        super().__init__(made, chosen(ctx, device) or current_context(), _judge)
        self._seeded(given)

    def _bits(self) -> Any:
        return self._source.now()._bit_generator

    # -- its state

    def seed(self, seed: ArrayLike | None = None) -> None:
        """Starts the stream anew, in order with the draws around it.

        >>> import lazyarray as la
        >>> rng = la.random.RandomState(0)
        >>> a = rng.rand()
        >>> rng.seed(0)
        >>> bool(rng.rand() == a)
        True
        """
        given: Any = seed
        bits = self._bits()
        if type(bits) is not np.random.MT19937:
            np.random.RandomState(type(bits)()).seed(given)  # NumPy's error
        self._restart(np.random.RandomState(given))

    def get_state(self, legacy: bool = True) -> State:
        """The state, as ``numpy.random.RandomState.get_state``. Waits for the draws so far.

        Args:
            legacy: whether as a tuple, if the bits are MT19937's, rather than as a dict.
        Returns: a tuple or a dict.
        Raises: nothing of its own.

        >>> import lazyarray as la
        >>> la.random.RandomState(0).get_state()[0]
        'MT19937'
        """
        return self._now("get_state()").get_state(legacy)

    def set_state(self, state: State) -> None:
        """Puts the stream into a state, in order with the draws around it.

        Args:
            state: what ``get_state`` gave, here or in NumPy.
        Returns: None.
        Raises: ValueError or TypeError for what is no state of these bits.

        >>> import numpy as np, lazyarray as la
        >>> rng = la.random.RandomState(0)
        >>> rng.set_state(np.random.RandomState(1).get_state())
        >>> float(rng.rand()) == np.random.RandomState(1).rand()
        True
        """
        anew = np.random.RandomState(type(self._bits())())
        anew.set_state(state)
        self._restart(anew)

    # -- numbers

    def random_sample(self, size: Size = None) -> NDArray:
        """Uniform floats in [0, 1).

        >>> import lazyarray as la
        >>> la.random.RandomState(0).random_sample(2).asnumpy()
        array([0.5488135 , 0.71518937])
        """
        return self._draw(RANDOM, (), size)

    random = random_sample

    def rand(self, *args: int) -> NDArray:
        """Uniform floats in [0, 1), with the lengths of the axes as arguments.

        Args:
            args: the lengths; without them it is one number.
        Raises: ValueError for a negative length, TypeError for one that is no integer.

        >>> import lazyarray as la
        >>> la.random.RandomState(0).rand(2, 3).shape
        (2, 3)
        """
        return self._draw(RANDOM, (), args or None)

    def randn(self, *args: int) -> NDArray:
        """Normal numbers of mean 0 and deviation 1, with the lengths of the axes as arguments.

        Args:
            args: the lengths; without them it is one number.
        Raises: ValueError for a negative length, TypeError for one that is no integer.

        >>> import lazyarray as la
        >>> la.random.RandomState(0).randn(2).asnumpy()
        array([1.76405235, 0.40015721])
        """
        return self._draw(NORMAL, (), args or None)

    def standard_normal(self, size: Size = None) -> NDArray:
        """Normal numbers of mean 0 and deviation 1.

        >>> import lazyarray as la
        >>> la.random.RandomState(0).standard_normal(2).asnumpy()
        array([1.76405235, 0.40015721])
        """
        return self._draw(NORMAL, (), size)

    def standard_exponential(self, size: Size = None) -> NDArray:
        """Exponentially distributed numbers of mean 1.

        >>> import lazyarray as la
        >>> la.random.RandomState(0).standard_exponential(2).asnumpy()
        array([0.79587451, 1.25593076])
        """
        return self._draw(EXPONENTIAL, (), size)

    def standard_gamma(self, shape: ArrayLike, size: Size = None) -> NDArray:
        """Gamma-distributed numbers of scale 1.

        >>> import lazyarray as la
        >>> la.random.RandomState(0).standard_gamma(2.0, 2).shape
        (2,)
        """
        return self._draw(GAMMA, (shape,), size)

    def randint(
        self,
        low: ArrayLike,
        high: ArrayLike | None = None,
        size: Size = None,
        dtype: DTypeLike = np.int64,
    ) -> NDArray:
        """Integers in [low, high), or [0, low) without ``high``.

        >>> import lazyarray as la
        >>> la.random.RandomState(0).randint(10, size=3).asnumpy()
        array([5, 0, 3])
        """
        if high is None:
            low, high = 0, low
        kind: Any = np.dtype(dtype)
        if not kind.isnative:
            _judge.randint(1, dtype=kind)  # NumPy's warning; then it draws native ones, too
            kind = kind.newbyteorder("=")
        return self._draw(_RANDINT, (low, high), size, None, (("dtype", kind),))

    def random_integers(
        self, low: ArrayLike, high: ArrayLike | None = None, size: Size = None
    ) -> NDArray:
        """Integers in [low, high], or [1, low] without ``high``; deprecated, as NumPy's is.

        Args:
            low: the least integer, or, alone, the largest.
            high: the largest integer.
            size: the shape of what is drawn; None: that to which the ends broadcast.
        Returns: an array of the shape ``size``; one integer without one. With a DeprecationWarning.
        Raises: ValueError where no integer lies between the ends.

        >>> import warnings, lazyarray as la
        >>> with warnings.catch_warnings(action="ignore"):
        ...     la.random.RandomState(0).random_integers(6, size=3).asnumpy()
        array([5, 6, 1])
        """
        low, high = as_randint(low, high)
        return self.randint(low, high, size, np.dtype("l"))

    def tomaxint(self, size: Size = None) -> NDArray:
        """Integers from 0 to the largest of the dtype.

        Args:
            size: the shape of what is drawn; None: one number.
        Returns: an array of the shape ``size``; one integer without one.
        Raises: ValueError for a negative length.

        >>> import lazyarray as la
        >>> la.random.RandomState(0).tomaxint(2).shape
        (2,)
        """
        return self._draw(_TOMAXINT, (), size)

    # -- samples, orders, vectors

    def choice(
        self, a: ArrayLike, size: Size = None, replace: bool = True, p: ArrayLike | None = None
    ) -> NDArray:
        """A sample of ``range(a)``, or of vector ``a``, with probabilities ``p``.

        >>> import lazyarray as la
        >>> la.random.RandomState(0).choice(5, 3).asnumpy()
        array([4, 0, 3])
        """
        if np.ndim(a) > 1:  # type: ignore[arg-type]
            raise ValueError("a must be 1-dimensional")
        return self._choice(a, size, replace, p)

    def permutation(self, x: ArrayLike) -> NDArray:
        """``range(x)`` in random order, or a copy of array ``x`` shuffled along its first axis.

        >>> import lazyarray as la
        >>> la.random.RandomState(0).permutation(4).asnumpy()
        array([2, 3, 1, 0])
        """
        return self._permutation(x)

    def shuffle(self, x: ArrayLike) -> None:
        """Puts the elements of ``x`` along its first axis in random order, in place.

        Waits until it is done, if ``x`` is a list or a NumPy array.

        >>> import lazyarray as la
        >>> x = la.arange(4)
        >>> la.random.RandomState(0).shuffle(x)
        >>> x.asnumpy()
        array([2, 3, 1, 0])
        """
        self._shuffle(x)

    def multivariate_normal(
        self,
        mean: ArrayLike,
        cov: ArrayLike,
        size: Size = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
    ) -> NDArray:
        """Normal vectors of a mean and a covariance matrix.

        >>> import lazyarray as la
        >>> la.random.RandomState(0).multivariate_normal([0.0, 5.0], [[2.0, 0.0], [0.0, 1.0]]).shape
        (2,)
        """
        return self._multivariate_normal(mean, cov, size, check_valid, tol, {})


def as_randint(low: Any, high: Any) -> tuple[Any, int]:
    """The arguments that ``randint`` takes for ``random_integers``, which is deprecated."""
    low, high = (1, low) if high is None else (low, high)
    warnings.warn(
        f"This function is deprecated. Please call randint({low}, {high} + 1) instead",
        DeprecationWarning,
        stacklevel=3,
    )
    return low, int(high) + 1


at_once(RandomState, np.random.RandomState)
