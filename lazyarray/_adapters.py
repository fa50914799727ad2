"""Libraries that take NumPy's own arrays only: functions of theirs, which get an NDArray's values.

pandas asks for that very type: it would take a mask for names of columns (``df[mask]``) or, worse,
for places (``df.iloc[mask]``), and keep scalars as objects. Pillow wants ``__array_interface__``,
which NDArrays can't have: NumPy would read it rather than ask ``__array__``, and share memory.
SciPy's sparse arrays and its Fortran ask for the type, too, and its filters of images, before they
write to ``output``; so do OpenCV, polars, Arrow, SymPy and others; zarr takes views of bytes that
NDArrays don't have. einops asks for a backend, which it gets: its results are NDArrays. So does
Dask, for which lazyarray.dask registers them. Even numpy.polynomial asks: it would pair
coefficients and points one by one; and numpy.testing, which would compare a list as a whole. Many
ask of what type a generator of random numbers is.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from lazyarray.lazy import _share
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import hosts

__all__: list[str] = []

_WHAT = "a call of another library"
_OPERATORS = [
    f"__{kind}{name}__"
    for name in "add sub mul truediv floordiv mod pow and or xor matmul".split()
    for kind in ("", "r")
] + [f"__{name}__" for name in "eq ne lt le gt ge".split()]
_BOTH = (
    "__init__ __getitem__ __setitem__ groupby head tail nlargest nsmallest isin take shift where "
    "mask clip"
)
_METHODS = {
    "DataFrame": [*_BOTH.split(), *_OPERATORS, "insert", "reindex", "set_index", "from_records"],
    "Series": [*_BOTH.split(), *_OPERATORS, "repeat", "searchsorted", "reindex", "drop"],
    "Index": ["__new__", "__getitem__", "__contains__", "get_loc", "isin", "take", *_OPERATORS],
    "MultiIndex": ["from_arrays", "from_product"],
    "Categorical": ["__init__", "from_codes"],
}
_FUNCTIONS = (
    "unique factorize cut qcut crosstab get_dummies date_range to_datetime to_timedelta isna notna"
)
_FUNCTIONS_OF = {
    "numpy.testing": "assert_equal assert_almost_equal assert_approx_equal "
    "assert_array_almost_equal_nulp assert_array_max_ulp",
    "PIL.Image": "fromarray",
    "networkx.convert": "to_networkx_graph",
    "pyarrow.compute": "filter take",
    # Twice: what was imported before lazyarray is in the package by another name.
    **dict.fromkeys(
        ("pyarrow", "pyarrow.lib"), "array asarray scalar chunked_array table record_batch"
    ),
    **dict.fromkeys(
        ("skimage.transform", "skimage.transform.hough_transform"),
        "hough_circle hough_ellipse hough_line probabilistic_hough_line",
    ),
    **dict.fromkeys(("skimage.util", "skimage.util.shape"), "view_as_blocks view_as_windows"),
    "statsmodels.base.data": "handle_data",
    "zarr": "array create_array from_array save save_array save_group",
    "scipy.optimize": "minimize fmin_l_bfgs_b",
    "scipy.signal": "find_peaks peak_prominences peak_widths",
    "scipy.stats": "multiscale_graphcorr",
    "scipy.linalg.interpolative": "interp_decomp svd estimate_rank estimate_spectral_norm "
    "estimate_spectral_norm_diff",
    "scipy.sparse.linalg": "aslinearoperator bicg bicgstab cg cgs eigs eigsh expm expm_multiply "
    "gmres lobpcg lsmr lsqr minres norm onenormest qmr spsolve splu svds",
}
_SPARSE = [
    f"{kind}_{of}" for kind in "bsr coo csc csr dia dok lil".split() for of in ("array", "matrix")
]
_OF_POLARS = {
    "DataFrame": "__init__ __getitem__ __setitem__ filter with_columns insert_column",
    "Series": "__init__ __getitem__ __setitem__ filter is_in search_sorted scatter gather",
    "Expr": "is_in filter",
}
# What says whether a generator of random numbers is one: it gets NumPy's, of the same stream.
_TAKES_GENERATORS = {
    "scipy._lib._util": "check_random_state _rng_spawn",
    "sklearn.utils.validation": "check_random_state",
    "networkx.utils.misc": "create_random_state create_py_random_state",
    "pandas.core.common": "random_state",
    "statsmodels.tools.rng_qrng": "check_random_state",
}
# The names of numpy.polynomial's functions begin so.
_SERIES = {
    "polynomial": "poly",
    "chebyshev": "cheb",
    "legendre": "leg",
    "hermite": "herm",
    "hermite_e": "herme",
    "laguerre": "lag",
}
# Private, but the way of all that comes as objects: rows, records, what users' functions return.
_INFERRING = "maybe_convert_objects map_infer map_infer_mask"


def adapt(module: ModuleType) -> None:
    """Puts functions that take NDArrays in the place of a library's own."""
    if module.__name__ == "pandas":
        _adapt_pandas(module)
    elif module.__name__ == "einops._backends":
        _make_backend(module)
    elif module.__name__ == "polars":
        _wrap(module, ["lit", "from_numpy"])
        for name, methods in _OF_POLARS.items():
            _wrap(getattr(module, name), [*methods.split(), *_OPERATORS])
    elif module.__name__ == "cv2":  # all of its functions, some of which draw
        found = [n for n, f in vars(module).items() if isinstance(f, BuiltinFunctionType)]
        _wrap(module, found, lent)
    elif module.__name__ == "scipy.ndimage":  # most of which write to `output`
        _wrap(module, [n for n in module.__all__ if n.islower()], lent)
    elif module.__name__ == "scipy.spatial.distance":
        _wrap(module, ["cdist", "pdist"], lent)
    elif module.__name__ == "h5py._hl.dataset":
        _wrap(module.Dataset, ["__getitem__", "__setitem__", "read_direct", "write_direct"], lent)
    elif module.__name__ == "sympy.core.sympify":
        _teach_sympy(module)
    elif module.__name__ == "sympy.core.expr":
        hosts.as_object(module.Expr)
    elif module.__name__ == "sympy.tensor.array.dense_ndim_array":
        for kind in (module.ImmutableDenseNDimArray, module.MutableDenseNDimArray):
            _wrap(kind, ["__new__"])
    elif module.__name__ == "xarray.backends.netCDF4_":
        _wrap(module.NetCDF4ArrayWrapper, ["__setitem__"])
    elif module.__name__ == "sklearn.utils._param_validation":
        _adapt_validation(module)
    elif module.__name__ in _TAKES_GENERATORS:
        _wrap(module, _TAKES_GENERATORS[module.__name__].split(), _numpys_generator)
    elif module.__name__.startswith("numpy.polynomial."):
        _adapt_series(module)
    elif module.__name__.startswith(("dask.", "distributed.")):
        from lazyarray.dask import arrays

        arrays.adapt(module)
    elif module.__name__ == "scipy.sparse":
        for name in _SPARSE:
            _wrap(getattr(module, name, None), _OPERATORS)
        _keep_numpys(module.csr_array)
    else:
        _wrap(module, _FUNCTIONS_OF[module.__name__].split(), _giving)
        if module.__name__ == "scipy.sparse.linalg":
            for name in ("splu", "spilu", "factorized"):
                setattr(module, name, _solving(getattr(module, name)))
        if module.__name__ in ("pyarrow", "pyarrow.lib"):
            _wrap(module, ["py_buffer"], lent)


def _adapt_validation(module: Any) -> None:
    """Parameters that scikit-learn declares to be NumPy's arrays, or generators, become such."""
    check, decorate = module.validate_parameter_constraints, module.validate_params

    def arrays(constraints: Any) -> set[str]:
        """Which parameters are to be NumPy's arrays."""
        return {
            name
            for name, allowed in (constraints.items() if isinstance(constraints, dict) else ())
            if isinstance(allowed, list) and any(a is np.ndarray for a in allowed)
        }

    @functools.wraps(check)
    def checked(constraints: Any, params: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        named = arrays(constraints)
        given = {k: host(v) if k in named else _numpys_generator(v) for k, v in params.items()}
        return check(constraints, given, *args, **kwargs)

    @functools.wraps(decorate)
    def validated(constraints: Any, *args: Any, **kwargs: Any) -> Any:
        decorator, named = decorate(constraints, *args, **kwargs), arrays(constraints)

        def adapted(function: Callable[..., Any]) -> Callable[..., Any]:
            made = decorator(function)
            if not named:
                return made
            signature = inspect.signature(function)

            @functools.wraps(made)
            def call(*args: Any, **kwargs: Any) -> Any:
                if not any(isinstance(a, Tensor) for a in (*args, *kwargs.values())):
                    return made(*args, **kwargs)
                bound = signature.bind(*args, **kwargs)
                for name in named & bound.arguments.keys():
                    bound.arguments[name] = host(bound.arguments[name])
                return made(*bound.args, **bound.kwargs)

            return call

        return adapted

    module.validate_parameter_constraints, module.validate_params = checked, validated


def _adapt_series(module: ModuleType) -> None:
    """Functions that ask whether ``x`` is one of NumPy's arrays before they spread ``c`` over it.

    Of a vector ``c`` that makes no difference: then NumPy's own run by operators, asynchronously.
    """
    kind = module.__name__.rpartition(".")[2]

    def adapted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            given = [*args, *kwargs.values()]
            if not any(isinstance(a, Tensor) for a in given) or (
                name.endswith("val") and all(np.ndim(a) < 2 for a in [*args[1:], kwargs.get("c")])
            ):
                return function(*args, **kwargs)
            ours = importlib.import_module(f"lazyarray.polynomial.{kind}")
            return getattr(ours, name)(*args, **kwargs)

        call.__lazyarray__ = True  # type: ignore[attr-defined]
        return call

    for what in ("val", "val2d", "val3d", "grid2d", "grid3d", "valfromroots"):
        name = _SERIES[kind] + what
        function = getattr(module, name, None)
        if function is not None and not hasattr(function, "__lazyarray__"):
            setattr(module, name, adapted(name, function))


def _adapt_pandas(pandas: ModuleType) -> None:
    for name, methods in _METHODS.items():
        _wrap(getattr(pandas, name, None), methods)
    frame = pandas.DataFrame()
    for indexer in (frame.loc, frame.iloc, frame.at, frame.iat):
        _wrap(type(indexer), ["__getitem__", "__setitem__"])
    _wrap(pandas, _FUNCTIONS.split())
    lib = getattr(getattr(pandas, "_libs", None), "lib", None)
    for name in _INFERRING.split():
        function = getattr(lib, name, None)
        if function is not None and not hasattr(function, "__wrapped__"):
            setattr(lib, name, _inferring(function, lib))


def _teach_sympy(sympify: Any) -> None:
    def number(x: Any) -> Any:
        if x.ndim:  # SymPy's operators leave the turn to arrays then
            raise sympify.SympifyError(x)
        return sympify.sympify(host(x))

    sympify.converter[Tensor] = number


def _make_backend(backends: Any) -> None:
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


def _wrap(place: Any, names: list[str], take: Callable[[Any], Any] | None = None) -> None:
    """``place`` is a class, which may inherit a method, or a module."""
    for name in names:
        found: Any = next(
            (vars(c)[name] for c in getattr(place, "__mro__", (place,)) if name in vars(c)), None
        )
        function = getattr(found, "__func__", found)  # of a class's method
        if not callable(function) or found is object.__init__ or hasattr(function, "__lazyarray__"):
            continue
        call: Any = _taking(function, take or host)
        setattr(place, name, call if function is found else type(found)(call))


def _taking(function: Callable[..., Any], take: Callable[[Any], Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = {key: take(value) for key, value in kwargs.items()} if kwargs else kwargs
        return function(*[take(a) for a in args], **given)

    call.__lazyarray__ = True  # type: ignore[attr-defined]
    return call


def _values(x: Any) -> Any:
    return x._fetched(_WHAT)


def host(o: Any, of: Callable[[Any], Any] = _values) -> Any:
    """``o``, or the values of an NDArray: NumPy's; also in a list, a tuple, a dict, a slice."""
    if isinstance(o, Tensor):
        x: Any = o
        return of(x) if x.ndim else x._number(_WHAT)
    kind = type(o)
    if kind is slice:
        return slice(host(o.start), host(o.stop), host(o.step))
    if kind is dict:
        found = any(isinstance(v, Tensor) or type(v) is list for v in o.values())
        return {key: host(v, of) for key, v in o.items()} if found else o
    if (kind is list or kind is tuple) and any(  # by their types, as there may be a million
        issubclass(t, (Tensor, slice)) for t in {*map(type, o)}
    ):
        return kind([host(v, of) for v in o])
    return o


def lent(o: Any) -> Any:
    """The same, but an NDArray's own memory, where what is called may write to it."""
    return host(o, lambda x: _share.export(x, f"?{_WHAT}"))


def _keep_numpys(kind: Any) -> None:
    """Has sparse arrays' ``data``, ``indices`` and the like be NumPy's, whatever they are set to.

    SciPy makes another one ``np.empty_like`` those, and its C++ would write to a copy of that.
    """
    base = [c for c in kind.__mro__ if "tocsr" in vars(c)][-1]  # of all formats
    plain = base.__setattr__
    if hasattr(plain, "__lazyarray__"):
        return

    def set_attribute(self: Any, name: str, value: Any) -> None:
        plain(self, name, host(value) if isinstance(value, Tensor) else value)

    set_attribute.__lazyarray__ = True  # type: ignore[attr-defined]
    base.__setattr__ = set_attribute


class _Solver:
    """SciPy's factors of a sparse matrix, which are of C: ``solve`` takes NumPy's arrays only."""

    def __init__(self, factors: Any) -> None:
        self._factors = factors

    def __getattr__(self, name: str) -> Any:
        return getattr(self._factors, name)

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        return self._factors.solve(host(rhs), trans)


def _solving(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, whose result solves for right sides that may be NDArrays."""
    if hasattr(function, "__lazyarray__") and hasattr(function, "__solves__"):
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        found = function(*[host(a) for a in args], **kwargs)
        return (lambda rhs: found(host(rhs))) if callable(found) else _Solver(found)

    call.__lazyarray__ = call.__solves__ = True  # type: ignore[attr-defined]
    return call


def _numpys_generator(o: Any) -> Any:
    """``o``, or of a generator of ours (also in a dict, or where it is our module) NumPy's own."""
    if isinstance(o, dict):
        return {key: _numpys_generator(value) for key, value in o.items()}
    if isinstance(o, ModuleType):
        return np.random if o.__name__ == "lazyarray.random" else o
    from lazyarray.random.stream import Stream

    if isinstance(o, np.random.Generator) and isinstance(o.bit_generator, Stream):
        return np.random.Generator(o.bit_generator._lent(_WHAT)._bit_generator)
    return o._lent(_WHAT) if isinstance(o, Stream) else o


def _giving(function: Any) -> Any:
    """A user's function, whose results are NumPy's; of all else the host's."""
    if type(function) not in (FunctionType, MethodType, functools.partial):
        return host(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        return host(function(*args, **kwargs))

    return call


def _inferring(function: Callable[..., Any], lib: Any) -> Callable[..., Any]:
    """``function``, which finds objects a dtype: without it for our scalars."""
    again = lib.maybe_convert_objects

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if getattr(result, "dtype", None) != np.object_ or not lib.infer_dtype(
            result, skipna=True
        ).startswith("mixed"):
            return result
        numbers = [host(o) for o in result.ravel()]
        if all(a is b for a, b in zip(numbers, result.ravel(), strict=True)):
            return result
        objects = np.empty(len(numbers), object)
        objects[:] = numbers
        return again(objects).reshape(result.shape)

    return call
