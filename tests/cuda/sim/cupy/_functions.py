"""NumPy's functions under CuPy's names and parameters, run by NumPy on device memory."""

import functools
import inspect
import re

import numpy as np

from . import _apply, _names, _ufuncs

# Their results are views where NumPy's are: made without waiting for the stream.
VIEWS = set(
    """reshape transpose permute_dims ravel squeeze swapaxes moveaxis rollaxis expand_dims
    broadcast_to broadcast_arrays atleast_1d atleast_2d atleast_3d diagonal flip fliplr flipud
    rot90 split array_split hsplit vsplit dsplit real matrix_transpose""".split()
)
# They ask for shapes and types alone.
METADATA = set(
    """shape ndim size result_type can_cast iscomplexobj isrealobj isscalar common_type
    min_scalar_type isfortran empty_like ones_like zeros_like full_like""".split()
)
# Arguments that they write to.
CHANGED = dict.fromkeys(
    ("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"), (0,)
)
# NumPy's functions give a Python bool, CuPy's an array without axes.
BOOLS = {"allclose", "array_equal", "array_equiv"}
# CuPy neither looks at indices nor, unless cupyx.errstate says so, at what a solver reports.
WRAPPED = {"take", "put", "ravel_multi_index"}
SOLVERS = {"cholesky", "inv", "solve"}


def _parameters(text):
    return inspect.signature(eval(f"lambda {text}: None", {}))


def _by_position(signature, function):
    """How many leading parameters go by position: NumPy has other names for them, or none."""
    try:
        theirs = list(inspect.signature(function).parameters.values())
    except ValueError:
        return 3 if function is np.where else 0  # older NumPys don't tell
    count = 0
    for k, (name, other) in enumerate(zip(signature.parameters, theirs, strict=False)):
        if other.kind is other.VAR_POSITIONAL:
            break
        renamed = name != other.name and other.name not in signature.parameters
        if renamed or other.kind is other.POSITIONAL_ONLY:
            count = k + 1
    return count


def _wrap_around(function):
    """Indices out of bounds go round, as on a device."""

    @functools.wraps(function)
    def run(*args, mode="wrap", **kwargs):
        return function(*args, mode=mode, **kwargs)

    return run


def _along_axis(function):
    """As `_wrap_around`, for the functions that NumPy has no mode of."""

    @functools.wraps(function)
    def run(arr, indices, axis, **values):
        length = arr.size if axis is None else arr.shape[axis]
        return function(arr, np.asarray(indices) % length, axis=axis, **values)

    return run


def _solver(function):
    """A singular matrix gives NaN instead of LinAlgError; but wrong shapes are errors still."""

    @functools.wraps(function)
    def run(a, **rest):
        import cupyx

        try:
            return function(a, **rest)
        except np.linalg.LinAlgError:
            if cupyx.geterr()["linalg"] == "raise":
                raise
            harmless = np.broadcast_to(np.eye(*a.shape[-2:], dtype=a.dtype), a.shape)
            return np.full_like(function(harmless, **rest), np.nan)

    return run


def _make(name, text, function):
    short = name.rpartition(".")[2]
    signature = _parameters(text)
    positional = _by_position(signature, function)
    kinds = {p.kind for p in signature.parameters.values()}
    variadic = inspect.Parameter.VAR_POSITIONAL in kinds
    if short in WRAPPED:
        function = _wrap_around(function)
    elif name in ("take_along_axis", "put_along_axis"):
        function = _along_axis(function)
    elif name.startswith("linalg.") and short in SOLVERS:
        function = _solver(function)

    def run(*args, **kwargs):
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{short}() {error}") from None
        if not variadic:
            given = dict(bound.arguments)
            more = given.pop("kwargs", {})
            given.pop("blocking", None)
            names = list(signature.parameters)
            args = []
            for parameter in names[:positional]:
                if parameter not in given:
                    break
                args.append(given.pop(parameter))
            args, kwargs = tuple(args), {**given, **more}
            if not args and names and names[0] in kwargs:  # arrays that are written to go first
                args = (kwargs.pop(names[0]),)
        if short in METADATA:
            return _apply.metadata(function, args, kwargs)
        if short in VIEWS:
            return _apply.view_or_call(function, args, kwargs)
        result = _apply.call(function, args, kwargs, CHANGED.get(short, ()))
        return _apply.on_device(np.bool_(result)) if short in BOOLS else result

    run.__name__ = run.__qualname__ = short
    run.__signature__ = signature
    return run


def fill(spaces):
    """Puts all functions into the packages: ``spaces`` by prefix ("", "linalg", "fft")."""
    for line in re.sub(r"\n +", " ", _names.FUNCTIONS).split("\n"):
        if not line:
            continue
        name, _, rest = line.partition("(")
        prefix, _, short = name.rpartition(".")
        place = getattr(np, prefix) if prefix and short != "matmul" else np
        if short in spaces[prefix] or not hasattr(place, short):  # row_stack left NumPy with 2.5
            continue
        spaces[prefix][short] = _make(name, rest.removesuffix(")"), getattr(place, short))
    top = spaces[""]
    for name in _names.UFUNCS:
        top[name] = _ufuncs.UFunc(getattr(np, name))
    for name in _names.OWN:
        top[name] = getattr(np, name)
    for name, value in vars(np).items():
        if isinstance(value, type) and issubclass(value, np.number | np.bool_):
            top.setdefault(name, value)
    for name in ("pi", "e", "inf", "nan", "newaxis", "euler_gamma", "dtype", "finfo", "iinfo"):
        top[name] = getattr(np, name)
