"""Which public functions run at once where their arrays are small and complete (direct.pxi)."""

from __future__ import annotations

import importlib
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, ItemsView
from functools import cache, lru_cache
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy._core import multiarray

from lazyarray import functions
from lazyarray._ndarray import NDArray
from lazyarray.ops import _rows
from lazyarray.ops._rows import LIGHT_TIMES, Direct, Public, set_method, tell_methods

# NumPy's own is run for these: what we do for large arrays costs more for small ones. Those that
# are as fast either way are not listed (`python -m benchmarks.calls` tells), nor what gives views,
# writes to its arguments, reads no values, calls a function of the user's, or gives Python's own
# numbers. (Nor unique_values, whose order NumPy leaves open; ours is sorted.)
_BY_NUMPY = """
    allclose angle append argmax argmin argpartition argsort argwhere around array array_equiv
    ascontiguousarray asfortranarray average bincount column_stack compress concatenate convolve
    copy correlate cross cumprod cumsum cumulative_prod cumulative_sum delete digitize dot
    dstack ediff1d einsum extract flatnonzero format_float_positional format_float_scientific
    geomspace gradient histogram histogram_bin_edges hstack i0 inner insert interp intersect1d
    isclose iscomplex isin isreal lexsort linspace logspace matvec median nanargmax nanargmin
    nanmedian nanpercentile nanquantile nonzero packbits partition percentile poly polyadd
    polyfit polyint polymul polysub quantile ravel_multi_index repeat round searchsorted select
    setdiff1d setxor1d sort sort_complex take take_along_axis tensordot trace tril
    tril_indices_from triu triu_indices_from union1d unique unique_all unique_counts
    unique_inverse unravel_index vdot vecdot vecmat vstack where"""
# Of these a result may be as large as the square of the operands, or the product of numbers.
_SQUARES = """
    asanyarray asarray cov diagflat empty full kron meshgrid ones pad tensordot vander zeros"""
# The same of numbers alone: NumPy makes them in the time that recording them takes.
_OF_NUMBERS = "eye identity indices tri tril_indices triu_indices"
_WINDOWS = "bartlett blackman hamming hanning kaiser"
_TO_A_LENGTH = "unpackbits"  # (of nothing NumPy leaves the result unwritten)
# As large as an operand times a number.
_MULTIPLES = "block choose full_like histogramdd ones_like resize tile"
# ... or two numbers, of large operands as well.
_TABLES = "histogram2d"
# NumPy's way is the faster one for lists alone.
_OF_LISTS = "array_equal"
_LINALG = """
    cholesky cond cross det eig eigh eigvals eigvalsh inv lstsq matrix_power matrix_rank
    multi_dot norm pinv qr slogdet solve svd svdvals tensordot tensorinv tensorsolve trace vecdot
    vector_norm"""
_LINALG_NATIVE = "diagonal"
_FFT = """
    fft fft2 fftn fftshift ifft ifft2 ifftn ifftshift ihfft rfft rfft2 rfftn"""
_FREQUENCIES = "fftfreq rfftfreq"
_FFT_TO_REAL = "hfft irfft irfft2 irfftn"  # (of nothing they read beyond it)
# By native ways of ours, or recorded: most give views.
_NATIVE = """
    arange atleast_1d atleast_2d atleast_3d clip count_nonzero diag diagonal diff empty_like
    expand_dims frombuffer fromiter imag isfortran may_share_memory mean moveaxis ravel real reshape
    result_type rollaxis shares_memory squeeze stack std transpose trapezoid var zeros_like"""

# What we record for these is a call of NumPy's, too, or takes more layers of Python than NumPy's:
# larger arrays had better go NumPy's way as well, up to what is work for a worker
# (FlushPolicy::hosted_bytes).
_HOSTED = frozenset(
    f"""{_FFT} {_FFT_TO_REAL}
    append argmax argmin argpartition argwhere around ascontiguousarray asfortranarray bincount
    byteswap choose compress delete diagflat digitize ediff1d extract flatnonzero gradient histogram
    histogram2d histogram_bin_edges hstack insert interp intersect1d isin matvec median nanargmax
    nanargmin nanmedian nanpercentile nanquantile nonzero norm packbits partition percentile
    quantile ravel_multi_index round searchsorted setdiff1d setxor1d take trace tril
    tril_indices_from triu triu_indices_from union1d unique unique_all unique_counts unique_inverse
    unravel_index vdot vecdot vecmat vector_norm vstack where""".split()
)
# ... with so many arguments alone: `where`, `round` and `norm` of others are loops of ours.
_HOSTED_OF = {"around": 2, "norm": 1, "round": 2, "vector_norm": 1, "where": 1}
# ... which take some 0.1 ns for each byte: 1.6 MB are no work for a worker.
_LIGHT = frozenset(
    """
    append argmax argmin byteswap compress convolve correlate delete diagflat ediff1d einsum extract
    fftshift histogram_bin_edges hstack ifftshift insert matvec nonzero norm packbits
    ravel_multi_index round trace tril_indices_from triu_indices_from vdot vecdot vecmat
    vector_norm vstack""".split()
)
# Which arguments are tables, in which it looks up places: a bit for each.
_TABLES_OF = {"interp": 0b110, "searchsorted": 0b1}
# The same for what takes more than a moment for each element: 64 KB are no work for a worker.
_HOSTED_PRODUCTS = frozenset(
    "argsort convolve correlate cond det einsum i0 matrix_rank qr slogdet sort".split()
)
_PRODUCTS_BYTES = 1 << 16
_SHORT_KERNEL = 11  # NumPy has a loop for these


def _convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    if not type(a) is type(v) is np.ndarray or not a.ndim == v.ndim == 1 or not a.size * v.size:
        return np.convolve(a, v, mode)
    a, v = (v, a) if v.size > a.size else (a, v)
    return multiarray.correlate(a, v[::-1], mode)


# NumPy's own without the layers of Python, which take as long, for calls without keywords.
_BARE: dict[str, Any] = {
    "convolve": _convolve,
    "correlate": multiarray.correlate2,
    "einsum": multiarray.c_einsum,
    "format_float_positional": _rows.format_float_positional,
    "format_float_scientific": _rows.format_float_scientific,
}

# What is called in the place of NumPy's functions, with the same arguments.
_OURS: dict[str, Any] = {
    "argwhere": _rows.argwhere,
    "bincount": _rows.bincount,
    "digitize": _rows.digitize,
    "flatnonzero": _rows.flatnonzero,
    "interp": _rows.interp,
    "nonzero": _rows.nonzero,
    "searchsorted": _rows.searchsorted,
    "unravel_index": _rows.unravel_index,
}

# NumPy's functions are called without asking the classes of their arguments, which has been done.
# But of these the question refuses what is no operand.
_ASKING = frozenset(["histogramdd"])

# What NumPy's function does is to call the array's method.
_BY_METHOD = frozenset(
    """
    argmax argmin argpartition argsort choose cumprod cumsum put repeat round searchsorted
    take""".split()
)
# What these change is their first argument.
_WRITERS = "copyto fill_diagonal place put put_along_axis putmask"
# ... of which we record a call of NumPy's.
_HOSTED_WRITERS = frozenset("place put put_along_axis putmask".split())
# Methods of arrays, by NumPy's of the same name.
_METHODS = """
    argmax argmin argpartition argsort byteswap choose compress copy cumprod cumsum dot nonzero
    repeat round searchsorted take trace"""
_WRITING_METHODS = "partition put sort"
_NATIVE_METHODS = "clip mean std"  # `var` calls the function

# What shares memory, or asks for no values, and so can do with whatever it is given.
_BY_THEMSELVES = frozenset("from_dlpack isscalar iterable ndim shape size".split())

# Bytes of the operands, and the largest integer among them.
_SMALL = (512, 64)
_SMALL_NUMBERS = (128, 180)
_LENGTHS = (sys.maxsize, 100_000)
_SHORT_LENGTHS = (sys.maxsize, 1000)


# Each puts functions that may run at once in the place of those that always record; the namespaces
# ask for it as they are imported.


def in_lazyarray(space: ModuleType) -> None:
    """Also the methods of arrays."""
    places = _places(space)
    _replace(places, space, np, np, _BY_NUMPY)
    _replace(places, space, np, np, _SQUARES, _SMALL)
    _replace(places, space, np, np, _OF_NUMBERS, _SMALL_NUMBERS)
    _replace(places, space, np, np, _WINDOWS, _SHORT_LENGTHS)
    _replace(places, space, np, np, _TO_A_LENGTH, some=True)
    _replace(places, space, np, np, _MULTIPLES, (1 << 15, _SMALL[1]))
    _replace(places, space, np, np, _TABLES, (sys.maxsize, _SMALL[1]))
    _replace(places, space, np, np, _OF_LISTS, of_lists=True)
    _replace(places, space, np, None, _NATIVE)
    _replace(places, space, np, np, _WRITERS, writes=True)
    register(space, np)
    for name in _METHODS.split():
        set_method(NDArray, name, **_hosted(name))
    for name in _WRITING_METHODS.split():
        set_method(NDArray, name, writes=True, **_hosted(name))
    for name in _NATIVE_METHODS.split():
        set_method(NDArray, name, native=True)
    tell_methods(NDArray)


def in_linalg(space: ModuleType) -> None:
    _replace(_places(space), space, np.linalg, np.linalg, _LINALG)
    _replace(_places(space), space, np.linalg, None, _LINALG_NATIVE)
    register(space, np.linalg)


def _transform(name: str, even: str, odd: str) -> Callable[..., Any] | None:
    """NumPy's loops of a transform, as it calls them for a vector of doubles or complex ones."""
    plain = getattr(np.fft, name)
    try:
        pocketfft = importlib.import_module("numpy.fft._pocketfft_umath")
    except ImportError:  # another NumPy
        return None
    loops: list[Any] = [getattr(pocketfft, one, None) for one in (odd, even)]
    if any(getattr(loop, "signature", None) != "(n),()->(m)" for loop in loops):
        return None
    kinds = "dD" if even == odd else "d"

    def transform(a: Any, *more: Any) -> Any:
        if more or type(a) is not np.ndarray or a.ndim != 1 or a.dtype.char not in kinds:
            return plain(a, *more)
        n = a.size
        if n == 0:
            return plain(a)
        out = np.empty(n if even == odd else n // 2 + 1, "D")
        return loops[n % 2 == 0](a, 1.0 / n if name == "ifft" else 1, out=out)

    return transform


def in_fft(space: ModuleType) -> None:
    _BARE["fft"] = _transform("fft", "fft", "fft")
    _BARE["ifft"] = _transform("ifft", "ifft", "ifft")
    _BARE["rfft"] = _transform("rfft", "rfft_n_even", "rfft_n_odd")
    places = _places(space)
    _replace(places, space, np.fft, np.fft, _FFT)
    _replace(places, space, np.fft, np.fft, _FREQUENCIES, _LENGTHS)
    _replace(places, space, np.fft, np.fft, _FFT_TO_REAL, some=True)
    register(space, np.fft)


# Where a function stands, by its id: the modules and its names there.
_Places = dict[int, list[tuple[ModuleType, str]]]


def _places(space: ModuleType) -> _Places:
    places: _Places = defaultdict(list)
    for place in (space, functions):  # the latter for the methods
        for alias, thing in _names(place):
            places[id(thing)].append((place, alias))
    return places


def _names(place: ModuleType) -> ItemsView[str, Any]:
    """What a module has now: other threads may import parts of it meanwhile."""
    return vars(place).copy().items()


def register(
    space: ModuleType, hosts: ModuleType | None = None, writers: Collection[str] = ()
) -> None:
    """Makes the other functions of a namespace public ones, which traces and symbols meet.

    Those that ``hosts`` has too leave to it what lazyarray can't hold. ``writers`` change what they
    are given.
    """

    methods = defaultdict(list)  # what arrays' methods call, by id: they have hosts of their own
    for alias, thing in _names(functions):
        methods[id(thing)].append(alias)

    @cache  # also of several names
    def public(function: FunctionType, host: Any) -> Public:
        writes = function.__name__ in writers
        return Public(function, host, space.__name__, writes=writes)

    for name in space.__all__:
        function = None if name in _BY_THEMSELVES else vars(space).get(name)
        if isinstance(function, FunctionType) and function.__module__.startswith("lazyarray."):
            host = getattr(hosts, name, None)
            if host is not None or hosts is None:
                setattr(space, name, public(function, host))
            for alias in methods[id(function)]:
                setattr(functions, alias, public(function, None))


def _hosted(name: str) -> dict[str, Any]:
    """What tells a `Direct` how large arrays may be which NumPy's function gets."""
    times = LIGHT_TIMES if name in _LIGHT else 1
    if name in _HOSTED_PRODUCTS:
        return {"hosted": _PRODUCTS_BYTES, "linear": _LINEAR.get(name), "times": times}
    if name in _HOSTED_WRITERS:
        return {"hosted": sys.maxsize}
    if name in _HOSTED:
        of = {"hosted_of": _HOSTED_OF.get(name, -1), "tables": _TABLES_OF.get(name, 0)}
        return {"hosted": sys.maxsize, "times": times, **of}
    return {}


def _einsum_is_linear(subscripts: Any, _operand: Any) -> bool:
    return type(subscripts) is str and _has_all_axes(subscripts)


@lru_cache(1024)
def _has_all_axes(subscripts: str) -> bool:
    """Whether one operand of einsum has all the axes: the work is as large as that operand."""
    terms = [set(term) for term in subscripts.replace(" ", "").split("->")[0].split(",")]
    return any(len(term) == len(set.union(*terms)) for term in terms)


def _one_is_short(a: Any, v: Any) -> bool:
    """Whether NumPy convolves in one pass over the longer operand."""
    try:
        return min(len(a), len(v)) <= _SHORT_KERNEL
    except TypeError:
        return True  # a number


_LINEAR = {
    "einsum": _einsum_is_linear,
    "convolve": _one_is_short,
    "correlate": _one_is_short,
}


def _replace(
    places: _Places,
    space: ModuleType,
    hosts: ModuleType,
    numpys: ModuleType | None,
    names: str,
    limits: tuple[int, ...] = (),
    *,
    writes: bool = False,
    of_lists: bool = False,
    some: bool = False,
) -> None:
    for name in names.split():
        known: Any = getattr(space, name)
        function = known.recorded if type(known) is Public else known
        if not isinstance(function, FunctionType):
            continue  # listed twice
        own_of_numpys = getattr(numpys, name, None)
        called = own_of_numpys
        if numpys is np and name in _OURS:
            called = _OURS[name]
        elif name not in _ASKING:
            called = getattr(own_of_numpys, "_implementation", own_of_numpys)
        by_method = numpys is np and name not in _OURS and function.__name__ in _BY_METHOD
        direct: Any = Direct(
            function,
            called,
            space.__name__,
            *limits,
            method=function.__name__ if by_method else None,
            writes=writes,
            of_lists=of_lists,
            some=some,
            bare=_BARE.get(name),
            host=getattr(hosts, name, None),
            **_hosted(name),
        )
        for place, alias in places[id(known)]:
            setattr(place, alias, direct)
