"""What autograd makes of a sample call: recorded on arrays with gradients, and these checked.

``observe`` tells it for ``test_gradients.py`` and for the column *gradient* of
``tools/make_function_table.py``. A gradient is compared with the central difference along one
random line, of a sum of the results with random weights.
"""

import contextlib
import warnings

import numpy as np

import lazyarray as la
from lazyarray.lazy._lazy import tracked

from . import samples

# Functions of Hermitian matrices that read a half of them: lines lead along Hermitian ones.
HERMITIAN = {"linalg.cholesky", "linalg.eigh", "linalg.eigvalsh"}


class WrongGradient(AssertionError):
    """A gradient is not that of the function."""


def leaves(value):
    """The arrays in a value: in tuples, lists, dicts and lazyarray's own objects."""
    if isinstance(value, la.NDArray):
        yield value
    elif isinstance(value, dict):
        yield from leaves(list(value.values()))
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from leaves(part)
    elif type(value).__module__.startswith("lazyarray") and not callable(value):
        yield from leaves(dict(getattr(value, "__dict__", {})))


def floats(value):
    return [x for x in leaves(value) if x.dtype.kind in "fc"]


def replaced(value, of):
    """``value`` with ``of(array)`` for each array of floats in it."""
    if isinstance(value, la.NDArray):
        return of(value) if value.dtype.kind in "fc" else value
    if type(value) in (tuple, list):
        return type(value)([replaced(part, of) for part in value])
    if type(value) is dict:
        return {key: replaced(part, of) for key, part in value.items()}
    return value


def direction(a, rng):
    """Random numbers of the array's shape, kind and order; zeros for what isn't finite."""
    d = np.empty_like(a)
    d[...] = rng.standard_normal(a.shape)
    if a.dtype.kind == "c":
        d.imag = rng.standard_normal(a.shape)
    return np.where(np.isfinite(a), d, np.zeros_like(a))


def dot(a, b):
    """The real inner product, in double precision."""
    return float(np.sum((np.conj(a.astype(complex)) * b.astype(complex)).real))


def verdict(function, args, kwargs, hermitian=False):
    """("yes", "zero", "no" or None, the result) of a call with arrays of floats in its arguments.

    "yes": a gradient reaches them, and it is right where the function is smooth; "zero": none does,
    and the results don't change with them; "no": the call is refused when it is recorded. None: no
    floats go in, or none come out. WrongGradient for all else.
    """
    given = []
    replaced((args, kwargs), given.append)
    starts = [x.asnumpy() for x in given]
    if not starts:
        return None, function(*args, **kwargs)
    rng = np.random.default_rng(len(starts))
    lines = [direction(a, rng) for a in starts]
    if hermitian:
        lines = [(d + np.conj(np.swapaxes(d, -1, -2))) / 2 for d in lines]

    def called(values, record):
        """The result of a call on new arrays, its floats, the arguments' after it, the leaves."""
        own, order, state = [], iter(values), np.random.get_state()

        def arrive(_x):
            own.append(la.array(next(order)))
            if record:
                own[-1].attach_grad()
            return own[-1] * 1  # the function may write to it

        with la.autograd.record() if record else contextlib.nullcontext():
            mine, named = replaced((args, kwargs), arrive)
            result = function(*mine, **named)
            outputs = floats(result), floats((mine, named))
        np.random.set_state(state)
        return result, *outputs, own

    try:
        result, results, changed, own = called(starts, True)
    except NotImplementedError as refused:
        if "autograd" not in str(refused):
            raise
        return "no", function(*args, **kwargs)
    if not results and not _writes(starts, changed):
        return None, result
    outputs = [*results, *changed]
    values = [x.asnumpy() for x in outputs]
    weights = [direction(v, rng) for v in values]
    follows = [tracked(x) for x in outputs]
    said = "yes" if any(follows[: len(results)] or follows) else "zero"
    heads = [(x, la.array(w)) for x, w, f in zip(outputs, weights, follows, strict=True) if f]
    if heads:
        la.autograd.backward(*map(list, zip(*heads, strict=True)))
    grads = [x.grad.asnumpy() for x in own]
    slope = sum(dot(g, d) for g, d in zip(grads, lines, strict=True))
    if any(g.dtype != a.dtype for g, a in zip(grads, starts, strict=True)):
        raise WrongGradient("of another dtype")
    if not np.isfinite(slope) and not all(np.isfinite(v).all() for v in values):
        return said, result  # what isn't finite has no slope
    coarse = max(np.finfo(a.dtype).eps for a in (*starts, *values))

    def difference(step):
        sums = []
        for sign in (1, -1):
            moved = [
                a + (sign * step * d).astype(a.dtype) for a, d in zip(starts, lines, strict=True)
            ]
            _, now, after, _ = called(moved, False)
            now = [x.asnumpy() for x in (*now, *after)]
            if [v.shape for v in now] != [w.shape for w in weights]:
                return None  # not smooth
            sums.append(sum(dot(w, np.where(w, v, 0)) for w, v in zip(weights, now, strict=True)))
        return (sums[0] - sums[1]) / (2 * step)

    step = coarse ** (1 / 3)
    near = {"rtol": 1e-4, "atol": 1e-5} if coarse < 1e-10 else {"rtol": 0.05, "atol": 0.05}
    far, close = difference(step), difference(step / 2)
    if far is None or close is None or not np.isclose(far, close, **near):
        return said, result  # not smooth
    if not np.isclose(slope, close, **near):
        raise WrongGradient(f"a gradient of {slope} along a line of slope {close}")
    return said, result


def _writes(starts, changed):
    return any(not np.array_equal(a, x.asnumpy(), equal_nan=True)
               for a, x in zip(starts, changed, strict=True))  # fmt: skip


class Derivative(samples.Meter):
    """Calls functions recorded and beside that, and keeps the verdicts on their gradients."""

    def __init__(self, hermitian):
        super().__init__()
        self.verdicts, self.hermitian = [], hermitian

    def __call__(self, function, *args, **kwargs):
        found, result = verdict(function, args, kwargs, self.hermitian)
        self.verdicts.append(found)
        self.results.append(result)
        return result


def observe(expression, name):
    """The worst `verdict` on the function ``name`` in an expression.

    A class, an object to index, or a method is observed with all of the expression.
    """
    thing = samples.look(la, name)
    if callable(thing) and not isinstance(thing, type) and not samples.METHOD.match(name):
        meter = Derivative(name in HERMITIAN or "hermitian=True" in expression)
        samples.run(expression, samples.Spy(la, name, meter))
        if meter.verdicts and not any(map(samples.is_function, meter.results)):
            found = [v for v in meter.verdicts if v]
            return max(found, key=("zero", "yes", "no").index) if found else None
    return _whole(expression)


def _whole(expression):
    """The verdict on an expression as a function of the sample arrays that it names."""
    given = samples.arrays(la)
    code = compile(expression, "<sample>", "eval")
    names = [n for n in given if n in code.co_names]

    def function(*arrays):
        with samples.tempfile.TemporaryDirectory() as tmp:
            scope = samples.scope(la, tmp) | given | dict(zip(names, arrays, strict=True))
            return eval(code, scope)

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return verdict(function, [given[n] for n in names], {})[0]
