"""Leaves, and the backward passes that users ask for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

from lazyarray.autograd._walk import walk
from lazyarray.functions import creation
from lazyarray.lazy._lazy import (
    Tensor,
    attach_leaf,
    detached,
    drop_leaf,
    of_its_own,
    recorded,
    tracked,
)
from lazyarray.ops._rows import asarray, holds_scalar

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import Arrays

__all__ = ["attach_grad", "backward", "detach", "drop_grad", "grad", "mark_variables"]

_REQUESTS = ("write", "add", "null")


def _requested(grad_req: str) -> str:
    if grad_req not in _REQUESTS:
        raise ValueError(f"grad_req is one of {', '.join(map(repr, _REQUESTS))}, not {grad_req!r}")
    return grad_req


def attach_grad(x: NDArray, grad_req: str = "write") -> None:
    """Gives ``x`` a gradient, ``x.grad``, which :func:`backward` writes: zeros until then.

    A recorded intermediate gets a gradient, too, and keeps its history: gradients flow on through
    it. (For a leaf that forgets what it was made of take ``x.detach()`` first.)

    Args:
        x: an array of floats, real or complex.
        grad_req: "write"; "add" adds to the gradient that is there; "null" is :func:`drop_grad`.
    Returns: None.
    Raises: TypeError unless its numbers are floats; ValueError for another ``grad_req``.

    >>> import lazyarray as la
    >>> x = la.ones(2)
    >>> la.autograd.attach_grad(x)
    >>> with la.autograd.record():
    ...     y = x * 3
    ...     y.attach_grad()
    ...     z = y * y
    >>> z.backward()
    >>> y.grad.asnumpy(), x.grad.asnumpy()
    (array([6., 6.]), array([18., 18.]))
    """
    if _requested(grad_req) == "null":
        drop_leaf(x)
        return
    _check(x)
    _mark(x, creation.zeros_like(x), grad_req)


def _check(x: Any) -> None:
    """That it may have a gradient."""
    if not isinstance(x, Tensor):
        raise TypeError(f"only NDArrays have gradients, not {type(x).__name__}")
    if x.dtype.kind not in "fc":
        raise TypeError(f"only arrays of floats have gradients, not those of {x.dtype}")


def _mark(x: NDArray, gradient: NDArray, grad_req: str) -> None:
    of_its_own(x)
    attach_leaf(x, gradient, grad_req, True)


def drop_grad(x: NDArray) -> None:
    """Takes the gradient away that :func:`attach_grad` gave ``x``; nothing if it has none.

    What was recorded of ``x`` stays: gradients still flow on through an intermediate, but none is
    written to ``x.grad``, which is None.

    Args:
        x: an array.
    Returns: None.
    Raises: TypeError for what is no NDArray.

    >>> import lazyarray as la
    >>> x = la.ones(2)
    >>> x.attach_grad()
    >>> la.autograd.drop_grad(x)
    >>> x.grad is None
    True
    """
    drop_leaf(x)


def mark_variables(
    variables: Arrays, gradients: Arrays, grad_reqs: str | Sequence[str] = "write"
) -> None:
    """Makes arrays leaves whose gradients are collected in the arrays ``gradients`` (MXNet's name).

    Args:
        variables: an array, or a sequence of them.
        gradients: as many arrays, of the same shapes and dtypes.
        grad_reqs: "write" or "add", or one for each.
    Returns: None.
    Raises: ValueError for another shape, dtype or device, and for a read-only gradient; TypeError
        for what is no array of floats, and for a scalar as the gradient. Then nothing was marked.

    >>> import lazyarray as la
    >>> x, dx = la.ones(2), la.zeros(2)
    >>> la.autograd.mark_variables(x, dx)
    >>> x.grad is dx
    True
    """
    xs, grads = _listed(variables), _listed(gradients)
    reqs = [grad_reqs] * len(xs) if isinstance(grad_reqs, str) else list(grad_reqs)
    if not len(xs) == len(grads) == len(reqs):
        raise ValueError("variables, gradients and grad_reqs are of different lengths")
    for x, g, req in zip(xs, grads, reqs, strict=True):
        if _requested(req) == "null":
            continue
        _check(x)
        if not isinstance(g, Tensor) or holds_scalar(g):
            kind = "an immutable scalar" if isinstance(g, Tensor) else type(g).__name__
            raise TypeError(f"a gradient is an NDArray, not {kind}")
        if not g.flags.writeable:
            raise ValueError("a gradient is an array that backward writes, not a read-only one")
        if g.device != x.device:
            raise ValueError(f"the gradient of an array on {x.device!r} is on {g.device!r}")
        if g.shape != x.shape or g.dtype != x.dtype:
            raise ValueError(
                f"the gradient of an array of shape {x.shape} and {x.dtype} has shape {g.shape} "
                f"and {g.dtype}"
            )
    for x, g, req in zip(xs, grads, reqs, strict=True):
        if req == "null":
            drop_leaf(x)
        else:
            _mark(x, g, req)


def detach(x: NDArray) -> NDArray:
    """A view of ``x`` whose values are constants to :func:`backward`.

    Args:
        x: an array.
    Returns: a view of x's shape.
    Raises: TypeError for what is no NDArray.

    >>> import lazyarray as la
    >>> x = la.ones(2)
    >>> x.attach_grad()
    >>> with la.autograd.record():
    ...     y = (x * x.detach()).sum()
    >>> y.backward()
    >>> x.grad.asnumpy()
    array([1., 1.])
    """
    return detached(x)


def _listed(o: Any) -> list[Any]:
    return [o] if isinstance(o, Tensor) else list(o)


def _seeds(heads: list[Any], head_grads: Any) -> list[Any]:
    """The heads' own gradients: those given, or ones."""
    for head in heads:
        if not isinstance(head, Tensor):
            raise TypeError(f"backward is of NDArrays, not {type(head).__name__}")
    given: Sequence[Any]
    if head_grads is None:
        given = [None] * len(heads)
    elif isinstance(head_grads, Tensor) or not isinstance(head_grads, Iterable):
        given = [head_grads]
    else:
        given = list(head_grads)
    if len(given) != len(heads):
        raise ValueError(f"{len(given)} gradients for {len(heads)} heads")
    if not any(map(recorded, heads)):
        raise RuntimeError(
            "backward from an array that wasn't recorded: compute it inside autograd.record(), "
            "from arrays with attach_grad(). A new array has no gradient: update a parameter in "
            "place (w -= lr * w.grad, not w = w - lr * w.grad), and make a scalar one an array"
        )
    seeds = []
    for head, g in zip(heads, given, strict=True):
        if g is None:
            seeds.append(creation.ones_like(head))
            continue
        g = asarray(g, head.device)
        if g.dtype.kind == "c" and head.dtype.kind != "c":
            raise TypeError(f"a gradient of {g.dtype} for a head of {head.dtype}, which is real")
        if g.shape != head.shape:
            raise ValueError(f"a gradient of shape {g.shape} for a head of shape {head.shape}")
        seeds.append(g)
    return seeds


def _walked(heads: list[Any], seeds: list[Any], *how: Any) -> list[Any]:
    """The walk from those heads that were recorded; the others are constants."""
    pairs = [(y, g) for y, g in zip(heads, seeds, strict=True) if recorded(y)]
    return walk([y for y, _ in pairs], [g for _, g in pairs], *how)


def backward(
    heads: Arrays,
    head_grads: Arrays | None = None,
    retain_graph: bool = False,
    train_mode: bool = True,
) -> None:
    """Computes the gradients of the heads (their sum) and writes them to the leaves' ``grad``.

    The graph is freed, and its memory with it, unless ``retain_graph``. A head that doesn't change
    with any leaf adds nothing: leaves that it was made of all the same get zeros.

    Args:
        heads: an array, or a sequence of them.
        head_grads: the heads' own gradients; None: ones.
        retain_graph: whether the graph stays, for another pass.
        train_mode: for MXNet's signature.
    Returns: None.
    Raises: RuntimeError if no head was recorded, if its graph was freed, or if a value that is
        needed was overwritten since (it names both lines); then nothing was written.

    >>> import lazyarray as la
    >>> x = la.array([1.0, 2.0])
    >>> x.attach_grad()
    >>> with la.autograd.record():
    ...     y, z = x * 2, x * x
    >>> la.autograd.backward([y, z], [la.ones(2), la.ones(2)])
    >>> x.grad.asnumpy()
    array([4., 6.])
    """
    listed = _listed(heads)
    _walked(listed, _seeds(listed, head_grads), None, bool(retain_graph), False)


@overload
def grad(
    heads: Arrays,
    variables: NDArray,
    head_grads: Arrays | None = ...,
    retain_graph: bool | None = ...,
    create_graph: bool = ...,
    train_mode: bool = ...,
) -> NDArray: ...
@overload
def grad(
    heads: Arrays,
    variables: Sequence[NDArray],
    head_grads: Arrays | None = ...,
    retain_graph: bool | None = ...,
    create_graph: bool = ...,
    train_mode: bool = ...,
) -> list[NDArray]: ...
def grad(
    heads: Arrays,
    variables: Arrays,
    head_grads: Arrays | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    train_mode: bool = True,
) -> NDArray | list[NDArray]:
    """The gradients of the heads (their sum) by ``variables``, as new arrays, not in ``grad``.

    Args:
        heads: an array, or a sequence of them.
        variables: an array, or a sequence of them.
        head_grads: the heads' own gradients; None: ones.
        retain_graph: whether the graph stays, for another pass; None: as ``create_graph``.
        create_graph: whether the pass is recorded, so that gradients of gradients can be taken.
        train_mode: for MXNet's signature.
    Returns: a list of arrays, each of its variable's shape; one array for one variable; zeros where
        nothing leads from a variable to a head.
    Raises: ValueError for a variable that was not recorded; RuntimeError as :func:`backward`.

    >>> import lazyarray as la
    >>> x = la.array(3.0)
    >>> x.attach_grad()
    >>> with la.autograd.record():
    ...     y = x * x * x
    ...     dy = la.autograd.grad(y, x, create_graph=True)
    ...     ddy = la.autograd.grad(dy, x)
    >>> dy.item(), ddy.item()
    (27.0, 18.0)
    """
    listed, wanted = _listed(heads), _listed(variables)
    if not wanted:
        raise ValueError("grad needs at least one variable")
    for x in wanted:
        if not tracked(x):
            raise ValueError(
                "a gradient by an array that wasn't recorded was asked for: call attach_grad()"
            )
    retain = create_graph if retain_graph is None else retain_graph
    seeds = _seeds(listed, head_grads)
    found = _walked(listed, seeds, wanted, bool(retain), bool(create_graph))
    found = [creation.zeros_like(x) if g is None else g for x, g in zip(wanted, found, strict=True)]
    return found[0] if isinstance(variables, Tensor) else found
