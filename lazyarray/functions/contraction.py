"""einsum, whose order of contractions opt_einsum finds.

A contraction of two arrays is made of the op table's rows: views for diagonals and transposes,
sums over axes that one array alone has, then a product (``matmul``, or a multiplication with the
sum fused into it). Only a step of three or more arrays is an instruction that takes the GIL.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from lazyarray.functions import conversion
from lazyarray.functions.manipulation import copy, permute_dims, reshape
from lazyarray.functions.memory import may_share_memory
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import _layout
from lazyarray.ops import names as op
from lazyarray.ops._differentiable import follows
from lazyarray.ops._layout import Shape, gil_op, viewed
from lazyarray.ops._rows import assign_to, astype, contiguous_signature, out_array, writable

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, DTypeLike, EinsumPath, Optimize

__all__ = ["einsum", "einsum_path"]

_matmul, _multiply = op.matmul, op.multiply
_any, _sum = op.any, op.sum


@functools.lru_cache(maxsize=256)
def _axes_turned(subscripts: str) -> tuple[int, ...] | None:
    """The order of axes, if the subscripts only say that: of one array whose letters differ."""
    letters, arrow, result = subscripts.partition("->")
    result = result if arrow else "".join(sorted(letters))
    if not letters.isalpha() or not letters.isascii() or len({*letters}) < len(letters):
        return None
    return tuple(map(letters.index, result)) if sorted(result) == sorted(letters) else None


def einsum(
    *operands: ArrayLike,
    out: NDArray | None = None,
    optimize: Optimize = False,
    dtype: DTypeLike = None,
    order: str = "K",
    casting: str = "safe",
) -> NDArray:
    """Einstein's summation: ``einsum("ij,jk->ik", a, b)`` names axes by letters.

    Letters that the result lacks are summed over; ``...`` stands for axes that broadcast. NumPy's
    other form, ``einsum(a, [0, 1], b, [1, 2], [0, 2])``, works too. One array of which nothing is
    summed gives a view.

    Three or more arrays are always multiplied pair by pair, in an order that opt_einsum finds.
    Values agree with NumPy's up to rounding, as those of NumPy's own orders do with each other.

    Args:
        operands: the subscripts, then the arrays.
        optimize: one of opt_einsum's strategies, or a path (:func:`einsum_path`).
        order: the result's layout; "K" is whatever comes of the products.
    Returns: an array with one axis for each letter of the result.
    Raises: ValueError for subscripts that don't fit.

    >>> import lazyarray as la
    >>> la.einsum("ij->j", la.array([[1, 2], [3, 4]])).asnumpy()
    array([4, 6])
    """
    plain = out is dtype is None and optimize is False and order == "K" and casting == "safe"
    if plain and len(operands) == 2 and type(operands[0]) is str:
        x, axes = operands[1], _axes_turned(operands[0])
        if axes is not None and isinstance(x, Tensor) and len(axes) == x.ndim:
            return permute_dims(x, axes)
    subscripts, arrays = _spelled(operands)
    xs: list[NDArray] = _layout.operands(*arrays)
    if out is not None:
        out_array(out)
    np.can_cast(np.int8, np.int8, casting)  # type: ignore[arg-type]  # NumPy's error of no rule
    # NumPy's products of pairs, by tensordot, ask for no rule of casting.
    kwargs: Any = {"order": order, "casting": "unsafe" if optimize else casting}
    if dtype is not None:
        kwargs["dtype"] = np.dtype(dtype)
    signs = tuple([_layout.signature(x) for x in (xs if out is None else [*xs, out])])

    def mini(*values: np.ndarray) -> np.ndarray:
        to = values[len(xs) :]
        return np.einsum(subscripts, *values[: len(xs)], out=to[0] if to else None, **kwargs)

    # NumPy checks subscripts and dtypes on the miniatures.
    key = ("einsum", subscripts, out is None, *kwargs.values())
    try:
        ((found, memory, _),) = _layout.infer(key, mini, signs)
    except ValueError as exc:
        if "collapsing" in str(exc):  # names lengths, which should be the true ones
            _raise(subscripts, [x.shape for x in xs])
        raise
    if len(xs) == 1 and out is None and _is_view(subscripts, signs[0]):
        return viewed(xs[0], lambda v: np.einsum(subscripts, v))
    # The common dtype, of ``out``, too: NumPy computes in it.
    wanted = kwargs.get("dtype") or np.result_type(found, *[x.dtype for x in xs])
    ordered = True if optimize is False or optimize is None else optimize
    plan = _plan(subscripts, tuple([x.shape for x in xs]), _strategy(ordered))
    xs = [astype(x, wanted, copy=False) for x in xs]
    for places, terms, result in plan.steps:
        xs.append(_contracted([xs.pop(i) for i in places], terms, result))
    (product,) = xs
    if out is not None:
        if out.shape != product.shape:
            raise ValueError(
                f"output parameter for einsum has the wrong shape: {out.shape} instead of "
                f"{product.shape}"
            )
        assign_to(out, product)
        return out
    if optimize and not product.ndim and len(arrays) > 1:
        # Where its last step is a tensordot NumPy gives an array, not a number.
        found = np.einsum(subscripts, *map(_layout.miniature, signs), optimize=optimize)
        return writable(product) if isinstance(found, np.ndarray) else product
    if order in ("K", "k"):
        return product
    fortran = order in ("F", "f") or (order in ("A", "a") and memory is not None)
    return conversion.asarray(product, order="F" if fortran else "C")


def einsum_path(*operands: ArrayLike, optimize: Optimize = "greedy") -> tuple[EinsumPath, str]:
    """The order in which :func:`einsum` would multiply: (``["einsum_path", ...]``, a report).

    Each tuple of the path names the places of the arrays that are taken out and multiplied; their
    product is put at the end. It depends on shapes alone.

    Args:
        operands: the subscripts, then the arrays.
        optimize: True ("auto"), False (all at once), a strategy of opt_einsum ("greedy", "optimal",
            "dp", ...), one and a limit of an intermediate's elements (default: those of the largest
            array), or a path.
    Returns: the pair (path, report): a list, and text.
    Raises: ValueError for subscripts that don't fit.

    >>> import lazyarray as la
    >>> la.einsum_path("ij,jk,kl", la.ones((9, 9)), la.ones((9, 9)), la.ones((9, 1)))[0]
    ['einsum_path', (1, 2), (0, 1)]
    """
    import opt_einsum

    subscripts, arrays = _spelled(operands)
    shapes = tuple([a.shape if isinstance(a, Tensor) else np.shape(a) for a in arrays])
    plan = _plan(subscripts, shapes, _strategy(optimize))
    report = opt_einsum.contract_path(plan.equation, *shapes, shapes=True, optimize=plan.path)[1]
    return ["einsum_path", *plan.path], str(report)


# ---- subscripts and paths -----------------------------------------------------------------------


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _spelled(args: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """The subscripts as a string, and the arrays, of both of NumPy's forms."""
    if len(args) < 2:
        bare: list[Any] = [a if isinstance(a, str) else 0 for a in args]
        np.einsum(*bare)  # raises
    if isinstance(args[0], str):
        return args[0], list(args[1:])

    def letter(n: Any) -> str:
        if n is Ellipsis:
            return "..."
        try:
            n = operator.index(n)
        except TypeError:
            raise TypeError("each subscript must be either an integer or an ellipsis") from None
        if not 0 <= n < len(_LETTERS):
            raise ValueError("subscript is not within the valid range [0, 52)")
        return _LETTERS[n]

    pairs = len(args) // 2
    terms = ["".join(map(letter, args[2 * i + 1])) for i in range(pairs)]
    result = ["->", *map(letter, args[-1])] if len(args) % 2 else []
    return ",".join(terms) + "".join(result), [args[2 * i] for i in range(pairs)]


@functools.lru_cache(1024)
def _is_view(subscripts: str, sign: tuple[Any, ...]) -> bool:
    """Whether NumPy gives a view: diagonals and permutations of one array, nothing summed."""
    v = _layout.miniature(sign)
    return np.may_share_memory(np.einsum(subscripts, v), v)


def _raise(subscripts: str, shapes: Sequence[Shape]) -> None:
    """NumPy's error for subscripts that don't fit the shapes."""
    np.einsum(subscripts, *[np.broadcast_to(False, s) for s in shapes])


Path = tuple[tuple[int, ...], ...]
Strategy = tuple[str | Path | None, int | None]  # None: all at once; and the limit


class _Plan(NamedTuple):
    equation: str
    path: Path
    steps: list[tuple[list[int], list[str], str]]  # places from the right, terms, the result's


def _strategy(optimize: Any) -> Strategy:
    """What ``optimize=`` says, as NumPy reads it."""
    if optimize is True:
        return "auto", None
    if optimize is False or optimize is None:
        return None, None
    if isinstance(optimize, str):
        return optimize, None
    if len(optimize) and optimize[0] == "einsum_path":
        return tuple([tuple(step) for step in optimize[1:]]), None
    if len(optimize) == 2 and isinstance(optimize[0], str):
        if isinstance(optimize[1], (int, float)):
            return optimize[0], max(int(optimize[1]), 1)  # a limit of none: all at once
    raise TypeError(f"Did not understand the path: {optimize}")


@functools.lru_cache(4096)
def _plan(subscripts: str, shapes: tuple[Shape, ...], strategy: Strategy) -> _Plan:
    import opt_einsum

    inputs, result, _ = opt_einsum.parser.parse_einsum_input((subscripts, *shapes), shapes=True)
    terms = inputs.split(",")
    sizes: dict[str, int] = {}
    for i, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
        if len(term) != len(shape):
            raise ValueError(
                f"Einstein sum subscript {term} does not contain the correct number of indices "
                f"for operand {i}."
            )
        mine: dict[str, int] = {}
        for c, n in zip(term, shape, strict=True):
            if mine.setdefault(c, n) != n or (n not in (1, sizes.get(c, n)) and sizes[c] != 1):
                _raise(subscripts, shapes)
                raise ValueError(f"{c!r} has different lengths in {subscripts!r}")
            sizes[c] = n if sizes.get(c, 1) == 1 else sizes[c]
    equation = f"{inputs}->{result}"
    path = _path(equation, shapes, [math.prod([sizes[c] for c in t]) for t in (*terms, result)],
                 strategy)  # fmt: skip
    steps = []
    for step in path:
        places = sorted(step, reverse=True)
        taken = [terms.pop(i) for i in places]
        if terms:
            rest = {*result, *"".join(terms)}
            letters = dict.fromkeys([c for c in "".join(taken) if c in rest])
            # Those of all arrays first, as a stack of matrices has them.
            made = "".join(sorted(letters, key=lambda c: any(c not in t for t in taken)))
        else:
            made = result
        terms.append(made)
        steps.append((places, taken, made))
    return _Plan(equation, path, steps)


def _path(equation: str, shapes: tuple[Shape, ...], sizes: list[int], strategy: Strategy) -> Path:
    how, limit = strategy
    n = len(shapes)
    if isinstance(how, tuple):
        left = n - sum([len(step) - 1 for step in how])
        if left != 1:
            raise RuntimeError(
                f"Invalid einsum_path is specified: {left - 1} more operands has to be contracted."
            )
        return how
    if how is None or n <= 2:
        return (tuple(range(n)),)
    import opt_einsum

    limit = max(sizes) if limit is None else limit
    found: Any = opt_einsum.contract_path(
        equation,
        *shapes,
        shapes=True,
        optimize=how,
        memory_limit=limit,
    )
    return tuple([tuple(step) for step in found[0]])


# ---- one step -----------------------------------------------------------------------------------


def _contracted(xs: list[NDArray], terms: list[str], result: str) -> NDArray:
    """The arrays' product, its axes those of ``result``; one that no array has is 1 long."""
    if len(xs) > 2:
        return _at_once(xs, terms, result)
    if len(xs) == 1:
        x, s = _alone(xs[0], terms[0], result)
        if may_share_memory(x, xs[0]):  # what was summed is 1 long; and NumPy's sum is no view
            x = x.copy(order="K")
        return _aligned(x, s, result)
    x, s = _alone(xs[0], terms[0], result + terms[1])
    y, t = _alone(xs[1], terms[1], result + terms[0])
    # An axis that broadcasts in the other array is summed only now.
    x, s = _alone(x, s, result + t)
    y, t = _alone(y, t, result + s)
    x, s = _product(x, s, y, t, result)
    return _aligned(x, s, result)


def _alone(x: NDArray, term: str, kept: str) -> tuple[NDArray, str]:
    """Diagonals of repeated letters, without axes of 1, summed over letters that aren't kept."""
    letters, axes, rest = _letters(term, x.shape, kept)
    if len(letters) != len(term):
        steps = dict.fromkeys(letters, 0)
        lengths = {}
        for c, n, step in zip(term, x.shape, x.strides, strict=True):
            if n != 1:
                steps[c] += step
                lengths[c] = n
        shape, strides = tuple(lengths.values()), tuple(steps.values())
        x = viewed(x, lambda v: as_strided(v, shape, strides))
    if axes:
        x = _any(x, axes) if x.dtype.kind == "b" else _sum(x, axes, x.dtype)
    return x, rest


# What follows of letters and shapes alone is remembered: it takes as long as 50,000 additions.


@functools.lru_cache(4096)
def _letters(term: str, shape: Shape, kept: str) -> tuple[str, tuple[int, ...], str]:
    """The letters of axes longer than 1, the places of those that aren't kept, and the others."""
    letters = "".join(dict.fromkeys([c for c, n in zip(term, shape, strict=True) if n != 1]))
    axes = tuple([i for i, c in enumerate(letters) if c not in kept])
    return letters, axes, "".join([c for c in letters if c in kept])


@functools.lru_cache(4096)
def _places(term: str, result: str) -> tuple[list[int] | None, tuple[slice | None, ...] | None]:
    """The order in which ``result`` has the axes, and where it has others; None: as they are."""
    order = [term.index(c) for c in result if c in term]
    index = tuple([slice(None) if c in term else None for c in result])
    return (
        None if order == list(range(len(order))) else order,
        None if len(order) == len(result) else index,
    )


@functools.lru_cache(4096)
def _roles(s: str, t: str, result: str) -> tuple[str, str, str, str]:
    """The letters of two arrays: of both and of the result; of both, summed; of each alone."""
    return (
        "".join([c for c in s if c in t and c in result]),
        "".join([c for c in s if c in t and c not in result]),
        "".join([c for c in s if c not in t]),
        "".join([c for c in t if c not in s]),
    )


def _aligned(x: NDArray, term: str, result: str) -> NDArray:
    """A view with the axes of ``result``, in that order; 1 long where ``x`` has none."""
    order, index = _places(term, result)
    if order is not None:
        x = permute_dims(x, order)
    if index is None:
        return x
    view: NDArray = x[index]
    return view


def _product(x: NDArray, s: str, y: NDArray, t: str, result: str) -> tuple[NDArray, str]:
    """The product of two arrays summed over the letters that ``result`` lacks, and its letters."""
    stack, summed, left, right = _roles(s, t, result)
    if not summed:
        every = "".join([c for c in result if c in s or c in t])
        return _multiply(_aligned(x, s, every), _aligned(y, t, every)), every
    if not left and not right and x.dtype.char != "e":  # whose products would be rounded
        y = _aligned(y, t, s)
        if not stack and all(v.ndim == 1 or contiguous_signature(v) for v in (x, y)):
            return _matmul(reshape(x, -1), reshape(y, -1)), ""
        axes = tuple([s.index(c) for c in summed])
        add = functools.partial(_sum, dtype=x.dtype) if x.dtype.kind != "b" else _any
        return add(_multiply(x, y), axes), stack
    first = next((c for c in result if c not in stack), "")
    if first in right:  # so that the result's axes come out in order
        x, s, left, y, t, right = y, t, right, x, s, left
    a = _matrices(x, s, stack, left, summed)
    b = _matrices(y, t, stack, summed, right)
    lengths = [x.shape[s.index(c)] for c in (*stack, *left)] + [y.shape[t.index(c)] for c in right]
    return reshape(_matmul(a, b), lengths), stack + left + right


def _matrices(
    x: NDArray, term: str, stack: Sequence[str], rows: Sequence[str], columns: Sequence[str]
) -> NDArray:
    """A stack of matrices that BLAS takes: a view where it can be one."""
    x = permute_dims(x, [term.index(c) for c in (*stack, *rows, *columns)])
    k, m = len(stack), len(rows)
    if (m, len(columns)) != (1, 1):
        shape = x.shape
        x = reshape(x, (*shape[:k], math.prod(shape[k : k + m]), math.prod(shape[k + m :])))
    steps = sorted([s for s, n in zip(x.strides[-2:], x.shape[-2:], strict=True) if n > 1])
    fits = not steps or (steps[0] == x.itemsize if len(steps) > 1 else steps[0] > 0)
    return x if fits or x.dtype.char not in "fdFD" else copy(x, "C")


def _at_once(xs: list[NDArray], terms: list[str], result: str) -> NDArray:
    """The product of many arrays as NumPy's one loop over all axes."""
    if follows(*xs):  # two at a time, which are ops with rules
        needed = "".join([result, *terms[2:]])
        kept = "".join([c for c in dict.fromkeys(terms[0] + terms[1]) if c in needed])
        first = _contracted(xs[:2], terms[:2], kept)
        return _contracted([first, *xs[2:]], [kept, *terms[2:]], result)
    lengths: dict[str, int] = {}
    for x, term in zip(xs, terms, strict=True):
        for c, n in zip(term, x.shape, strict=True):
            lengths[c] = n if lengths.get(c, 1) == 1 else lengths[c]
    numbers = {c: i for i, c in enumerate(lengths)}
    lists = [[numbers[c] for c in term] for term in (*terms, result)]

    def run(*values: np.ndarray) -> np.ndarray:
        pairs = [o for pair in zip(values, lists, strict=False) for o in pair]
        return np.einsum(*pairs, lists[-1])

    shape = tuple([lengths[c] for c in result])
    cost = 3000.0 + math.prod(lengths.values())
    return gil_op("einsum", run, xs, shape, (*terms, result), cost=cost)
