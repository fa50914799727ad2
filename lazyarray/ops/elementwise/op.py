"""What a row of an elementwise op says, all of it in one place: ``op("sqrt", ...)``.

A row is a NumPy ufunc and what is known of it. From the rows are made: the public functions, their
docstrings and stubs (names.pyi), docs/functions.md, the gradients, the code for GPUs and for the
compiled tier, and the tests' parameters. CONTRIBUTING.md has an example.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from lazyarray.lazy.formulas import CUPY, Formula
from lazyarray.ops._rows import Ufunc

__all__ = [
    "ALIASES",
    "CHEAP",
    "GRADIENTS",
    "QUOTIENT",
    "ROOT",
    "SLOW",
    "SLOWEST",
    "TABLE",
    "Rule",
    "op",
]

Rule = Callable[..., Any] | None

TABLE: dict[str, Ufunc] = {}
ALIASES: dict[str, str] = {}
"""The array API's and NumPy's other names."""
GRADIENTS: dict[str, tuple[Rule, ...]] = {}

# Cost in nanoseconds an element (contiguous float64, one core): it decides who runs an op, not
# what it computes.
CHEAP, QUOTIENT, ROOT, SLOW, SLOWEST = 0.4, 0.7, 1.5, 6.0, 20.0
COMPARED = 0.25  # writes bools: 0.2 with an array, 0.13 with a number
# ... of doubles, and half of it of singles, where NumPy has vector loops (SVML, with AVX-512). They
# take 0.8 to 1.8, and 0.3 to 0.7; powers and arctan2 2.3. (With 2.5 for both exp of 4096 doubles
# was recorded: 1.3 of NumPy's time.)
_VECTOR = 1.3


def _has_vectors() -> bool:
    """Whether NumPy runs those loops here."""
    try:
        from numpy._core._multiarray_umath import (  # type: ignore[import-not-found]
            __cpu_features__,
        )
    except ImportError:  # a private name
        return False
    return bool(__cpu_features__.get("AVX512_SKX")) and sys.platform == "linux"


_VECTORS_HERE = _has_vectors()


def op(
    name: str,
    section: str,
    cost: float,
    *,
    also: str = "",
    formula: Formula | None = None,
    gradient: tuple[Rule, ...] | None = None,
    smooth: tuple[tuple[float, float], ...] = (),
    example: str = "",
    note: str = "",
    vectors: bool = False,
    cupy: str = "",
    **special: Any,
) -> None:
    """Adds a row to the table.

    Args:
        name: NumPy's name of the ufunc.
        section: of the array API standard, and what NumPy has beyond it.
        cost: nanoseconds an element.
        also: its other names.
        formula: what generated code computes. Without one a GPU has the host do it.
        gradient: a rule for each input. A rule is a function whose parameters say what it needs:
            ``g`` the gradient of the output (``h`` that of a second one), ``a b`` the inputs, ``y``
            the output (``z`` a second one); what no rule names is not kept. It gives what is added
            to the input's gradient; None in place of a rule: zero everywhere. All arrays have the
            op's iteration space, so rules know nothing of views, broadcasting or axes. Without
            rules autograd refuses the op, if it makes floats.
        smooth: where that is checked, for each input an interval; else (-2, 2).
        example: the arguments of the docstring's example.
        note: a sentence for the docstring.
        vectors: whether NumPy has vector loops for singles and doubles; only for those in
            ``vector_of="f"``.
        cupy: the dtypes for which CuPy's function of this name has NumPy's bits.
        special: what else its loops are and do (see ``Ufunc``): exact=True, line="+", ...
    """
    ufunc = getattr(np, name)
    example = example or "[0.25, 0.5]" + ", 0.75" * (ufunc.nin - 1)
    TABLE[name] = Ufunc(
        ufunc,
        name=name,
        section=section,
        doc=_doc(name, ufunc, example, note),
        cost=cost,
        vector=min(cost, _VECTOR) if vectors and _VECTORS_HERE else cost,
        formula=formula,
        smooth=smooth,
        example=example,
        vectors=vectors,
        **special,
    )
    ALIASES.update(dict.fromkeys(also.split(), name))
    if gradient is not None:
        GRADIENTS[name] = gradient
    if cupy:
        CUPY[name] = cupy


def _doc(name: str, ufunc: np.ufunc, example: str, note: str) -> str:
    summary = (ufunc.__doc__ or name).split("\n\n")[1].split("\n")[0]
    part = "[0]" * (ufunc.nout > 1)
    shape = (
        "of x's shape" if ufunc.nin == 1 else "of the shape to which ``x1`` and ``x2`` broadcast"
    )
    pair = ufunc.nout > 1
    returns = f"a pair of arrays {shape}" if pair else f"an array {shape}"
    if all(types.endswith("?") for types in ufunc.types):
        returns += ", of bools"
    else:
        returns += f", of the dtype that ``numpy.{name}`` gives"
    outs = "\n        out: a pair of arrays of that shape, which are written and returned." * pair
    shapes = "" if ufunc.nin == 1 else "ValueError if the shapes do not broadcast; "
    return f"""{summary}

    Runs the loops of ``numpy.{name}``.{note}

    Args:
        where: a mask that broadcasts to the result: elsewhere ``out`` keeps what it has.{outs}
    Returns: {returns}.
    Raises: {shapes}TypeError for dtypes that ``numpy.{name}`` has no loop for.

    >>> import numpy as np, lazyarray as la
    >>> la.{name}({example}){part}.asnumpy() == np.{name}({example}){part}
    array([ True,  True])
    """
