"""Optimisers: each update changes its arrays in place, in one pass over them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.lazy._lazy import Tensor, paused
from lazyarray.nn import _native
from lazyarray.nn.inputs import widened
from lazyarray.ops import names as op
from lazyarray.ops._rows import assign_to, holds_scalar

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, Params

__all__ = ["sgd", "momentum", "adam", "adamw", "rmsprop", "adagrad", "clip_grad_norm"]

_sqrt, _minimum = op.sqrt, op.minimum


REAL = (int, float, np.integer, np.floating)
PLAIN = frozenset([float, int, bool])  # types of numbers of which nothing more is to be checked
_ADAM = ("lr", "beta1", "beta2", "eps", "weight_decay")  # its numbers


def checked(name: str, weight: Any, *others: Any) -> None:
    """That all are arrays of the weight's shape, which can change but for the first other."""
    if _native.updatable((weight, *others)):
        return
    for x in (weight, *others):
        if not isinstance(x, Tensor):
            raise TypeError(f"{name} updates NDArrays, not {type(x).__name__}")
        if x.shape != weight.shape:
            raise ValueError(f"{name}: a weight of shape {weight.shape} with an array of {x.shape}")
        if x.device != weight.device:
            raise ValueError(f"{name}: a weight on {weight.device!r}, an array on {x.device!r}")
    for x in (weight, *others[1:]):
        if holds_scalar(x):
            raise TypeError(
                f"{name} updates arrays in place, and scalars never change: la.array(x)"
            )
        if x.dtype.kind not in "fc":
            raise TypeError(f"{name} updates arrays of floats, not of {x.dtype}")
        if x.dtype.kind != weight.dtype.kind:
            raise TypeError(f"{name}: a state of {x.dtype} for a weight of {weight.dtype}")
        if not x.flags.writeable:
            raise ValueError(f"{name}: an array that it updates is read-only")
    if others[0].dtype.kind == "c" and weight.dtype.kind != "c":
        raise TypeError(f"{name}: a gradient of {others[0].dtype} for a weight of {weight.dtype}")


def _reals(*arrays: Any) -> tuple[tuple[Any, ...], ...]:
    """The arrays; those of a complex weight, the first, as PyTorch sees them: as two real ones."""
    if arrays[0].dtype.kind != "c":
        return (arrays,)
    return tuple([x.real for x in arrays]), tuple([x.imag for x in arrays])


def one(name: str, what: str, o: Any, weight: Any = None) -> Any:
    """A number; an array of one, where the weight is, without axes. Else TypeError, ValueError."""
    if isinstance(o, Tensor):
        if o.size != 1 or o.dtype.kind not in "fiu":
            raise ValueError(f"{name}: {what} is one number, not an array {o.shape} of {o.dtype}")
        if weight is not None and o.device != weight.device:
            raise ValueError(
                f"{name}: {what} is on {o.device!r} and the weight on {weight.device!r}"
            )
        return o.reshape(()) if o.ndim else o
    if not isinstance(o, REAL):
        raise TypeError(f"{name}: {what} is a number or an array of one, not {o!r}")
    return o


def numbers(name: str, weight: Any, names: Iterable[str], *given: Any) -> tuple[Any, ...]:
    """The numbers of an update, each as :func:`one`: before anything is written."""
    if PLAIN.issuperset(map(type, given)):
        return given
    named = zip(names, given, strict=True)
    return tuple([one(name, what, o, weight) for what, o in named])


def sgd(weight: NDArray, grad: NDArray, lr: float | NDArray, weight_decay: float = 0.0) -> None:
    """Gradient descent: weight -= lr (grad + weight_decay weight).

    Args:
        weight: the array that is changed.
        grad: its gradient.
        lr: the rate of learning.
        weight_decay: what times the weight is added to the gradient.
    Returns: None.
    Raises: ValueError for different shapes; TypeError for integers.

    >>> import lazyarray as la
    >>> w = la.ones(2)
    >>> la.nn.sgd(w, la.array([1.0, -1.0]), lr=0.5)
    >>> w.asnumpy()
    array([0.5, 1.5])
    """
    checked("sgd", weight, grad)
    given = numbers("sgd", weight, ("lr", "weight_decay"), lr, weight_decay)
    with paused():
        sgd_step(weight, grad, *given)


def sgd_step(weight: NDArray, grad: Any, lr: Any, decay: Any) -> None:
    """:func:`sgd` of what was checked, unrecorded."""
    if decay:
        grad = grad + weight * decay
    weight -= grad * lr


def momentum(
    weight: NDArray,
    grad: NDArray,
    velocity: NDArray,
    lr: float | NDArray,
    momentum: float = 0.9,
    weight_decay: float = 0.0,
    nesterov: bool = False,
) -> None:
    """Gradient descent with momentum (Polyak 1964), as PyTorch writes it.

    g = grad + weight_decay weight; velocity = momentum velocity + g; weight -= lr velocity, or with
    ``nesterov`` lr (g + momentum velocity) (Sutskever et al. 2013). ``velocity`` starts as zeros.

    Args:
        weight: the array that is changed.
        grad: its gradient.
        velocity: an array of its shape, changed too.
        lr: the rate of learning.
        momentum: the share of the velocity that stays.
        weight_decay: what times the weight is added to the gradient.
        nesterov: whether to look ahead.
    Returns: None.
    Raises: ValueError for different shapes; TypeError for integers.

    >>> import lazyarray as la
    >>> w, v = la.ones(1), la.ones(1)
    >>> la.nn.momentum(w, la.ones(1), v, lr=0.1, momentum=0.5)
    >>> w.item(), v.item()
    (0.85, 1.5)
    """
    checked("momentum", weight, grad, velocity)
    lr, momentum, weight_decay = numbers(
        "momentum", weight, ("lr", "momentum", "weight_decay"), lr, momentum, weight_decay
    )
    with paused():
        momentum_step(weight, grad, velocity, lr, momentum, weight_decay, nesterov)


def momentum_step(
    weight: NDArray, grad: Any, velocity: NDArray, lr: Any, momentum: Any, decay: Any, nesterov: Any
) -> None:
    """:func:`momentum` of what was checked, unrecorded."""
    nesterov = bool(nesterov)  # what has no truth value fails before anything is written
    if decay:
        grad = grad + weight * decay
    velocity *= momentum
    velocity += grad
    weight -= (grad + velocity * momentum if nesterov else velocity) * lr


def _step(name: str, step: Any, weight: Any) -> Any:
    """``step`` as a number, or, if it is an array of ours, as one of float64 without axes."""
    if isinstance(step, np.ndarray) and step.size == 1:
        step = step.item()
    step = one(name, "step", step, weight)
    if isinstance(step, Tensor):
        return step.astype("float64")
    if step < 1:
        raise ValueError(f"{name}: step counts from 1, it is {step}")
    return step


def rates(lr: Any, step: Any, beta1: Any, beta2: Any, eps: Any) -> tuple[Any, Any]:
    """Adam's rate for a step, and what is added to its denominator: numbers, or arrays if one is.

    In double precision and of the same bits, whether the step is counted in an array or not.
    """
    if isinstance(step, Tensor) or isinstance(beta1, Tensor) or isinstance(beta2, Tensor):
        _check_betas(beta1, beta2)
        first, second = 1 - beta1**step, _sqrt(1 - beta2**step)
    else:
        first, second = _corrections(float(step), beta1, beta2)
    return lr * second / first, second * eps


@lru_cache(16)
def _corrections(step: float, beta1: float, beta2: float) -> tuple[float, float]:
    """1 - beta1^step and sqrt(1 - beta2^step)."""
    # NumPy's powers, as those of arrays are: Python's may differ in the last bit.
    first, second = np.power(_betas(beta1, beta2), step).tolist()
    return 1 - first, math.sqrt(1 - second)


@lru_cache(16)
def _betas(*betas: float) -> np.ndarray:
    _check_betas(*betas)
    return np.array(betas)


def _check_betas(*betas: Any) -> None:
    for beta in betas:
        if not isinstance(beta, Tensor) and not 0 <= beta < 1:
            raise ValueError(f"beta1 and beta2 are 0 or more, below 1, not {beta!r}")


def adam_step(
    weight: NDArray,
    grad: Any,
    mean: NDArray,
    var: NDArray,
    lr: Any,
    rate: Any,
    least: Any,
    beta1: Any,
    beta2: Any,
    decay: Any,
    decoupled: bool,
) -> None:
    """:func:`adam`, or :func:`adamw` if ``decoupled``, of what was checked, unrecorded.

    ``rate`` and ``least`` are from :func:`rates`.
    """
    if decay and not decoupled:
        grad = grad + weight * decay
    for w, g, m, v in _reals(weight, grad, mean, var):
        if isinstance(rate, Tensor):
            rate = rate.astype(w.dtype)
        if isinstance(least, Tensor):
            least = least.astype(w.dtype)
        m *= beta1
        m += g * (1 - beta1)
        v *= beta2
        v += g * g * (1 - beta2)
        # PyTorch's sqrt(var) / second + eps, times second.
        change = m / (_sqrt(v) + least) * rate
        if decay and decoupled:
            w *= 1 - lr * decay
        w -= change


def _adam(name: str, w: Any, grad: Any, mean: Any, var: Any, step: Any, *given: Any) -> None:
    checked(name, w, grad, mean, var)
    step = _step(name, step, w)
    lr, beta1, beta2, eps, decay = numbers(name, w, _ADAM, *given)
    with paused():
        rate, least = rates(lr, step, beta1, beta2, eps)
        adam_step(w, grad, mean, var, lr, rate, least, beta1, beta2, decay, name == "adamw")


def adam(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    lr: float | NDArray,
    step: ArrayLike,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> None:
    """Adam (Kingma, Ba 2015); ``weight_decay`` times the weight is added to the gradient.

    ``mean`` and ``var`` start as zeros. ``step`` counts from 1: an integer, or an array of one
    number, whose value is never asked for.

    Args:
        weight: the array that is changed.
        grad: its gradient.
        mean: the running mean of gradients, changed too.
        var: the running mean of their squares, changed too.
        lr: the rate of learning.
        step: which step it is, from 1.
        beta1: the share of ``mean`` that stays.
        beta2: the share of ``var`` that stays.
        eps: what is added to the denominator.
        weight_decay: what times the weight is added to the gradient.
    Returns: None.
    Raises: ValueError for different shapes, a step under 1, or a beta that isn't from 0 to below 1;
        TypeError for integers.

    >>> import lazyarray as la
    >>> w, m, v = la.ones(1), la.zeros(1), la.zeros(1)
    >>> la.nn.adam(w, la.array([8.0]), m, v, lr=0.5, step=1)
    >>> round(w.item(), 6)
    0.5
    """
    _adam("adam", weight, grad, mean, var, step, lr, beta1, beta2, eps, weight_decay)


def adamw(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    lr: float | NDArray,
    step: ArrayLike,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
    weight_decay: float = 0.01,
) -> None:
    """Adam with the weight's decay apart from the gradient: the weight first shrinks by lr decay.

    Loshchilov, Hutter (2019). Otherwise as :func:`adam`.

    Args:
        weight: the array that is changed.
        grad: its gradient.
        mean: the running mean of gradients, changed too.
        var: the running mean of their squares, changed too.
        lr: the rate of learning.
        step: which step it is, from 1.
        beta1: the share of ``mean`` that stays.
        beta2: the share of ``var`` that stays.
        eps: what is added to the denominator.
        weight_decay: the share of the weight, times lr, that goes.
    Returns: None.
    Raises: ValueError for different shapes, a step under 1, or a beta that isn't from 0 to below 1;
        TypeError for integers.

    >>> import lazyarray as la
    >>> w, m, v = la.ones(1), la.zeros(1), la.zeros(1)
    >>> la.nn.adamw(w, la.array([8.0]), m, v, lr=0.5, step=1, weight_decay=0.1)
    >>> round(w.item(), 6)
    0.45
    """
    _adam("adamw", weight, grad, mean, var, step, lr, beta1, beta2, eps, weight_decay)


def rmsprop(
    weight: NDArray,
    grad: NDArray,
    square: NDArray,
    lr: float | NDArray,
    alpha: float = 0.99,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> None:
    """RMSProp (Tieleman, Hinton 2012): ``square``, zeros at first, is the running mean of squares.

    Args:
        weight: the array that is changed.
        grad: its gradient.
        square: an array of its shape, changed too.
        lr: the rate of learning.
        alpha: the share of ``square`` that stays.
        eps: what is added to the denominator.
        weight_decay: what times the weight is added to the gradient.
    Returns: None.
    Raises: ValueError for different shapes; TypeError for integers.

    >>> import lazyarray as la
    >>> w, s = la.ones(1), la.zeros(1)
    >>> la.nn.rmsprop(w, la.array([2.0]), s, lr=0.1, alpha=0.75)
    >>> round(w.item(), 6), s.item()
    (0.8, 1.0)
    """
    checked("rmsprop", weight, grad, square)
    lr, alpha, eps, weight_decay = numbers(
        "rmsprop", weight, ("lr", "alpha", "eps", "weight_decay"), lr, alpha, eps, weight_decay
    )
    with paused():
        if weight_decay:
            grad = grad + weight * weight_decay
        for w, g, s in _reals(weight, grad, square):
            s *= alpha
            s += g * g * (1 - alpha)
            w -= g / (_sqrt(s) + eps) * lr


def adagrad(
    weight: NDArray,
    grad: NDArray,
    square: NDArray,
    lr: float | NDArray,
    eps: float = 1e-10,
    weight_decay: float = 0.0,
) -> None:
    """AdaGrad (Duchi et al. 2011): ``square``, zeros at first, is the sum of squares.

    Args:
        weight: the array that is changed.
        grad: its gradient.
        square: an array of its shape, changed too.
        lr: the rate of learning.
        eps: what is added to the denominator.
        weight_decay: what times the weight is added to the gradient.
    Returns: None.
    Raises: ValueError for different shapes; TypeError for integers.

    >>> import lazyarray as la
    >>> w, s = la.ones(1), la.zeros(1)
    >>> la.nn.adagrad(w, la.array([2.0]), s, lr=0.5)
    >>> round(w.item(), 6), s.item()
    (0.5, 4.0)
    """
    checked("adagrad", weight, grad, square)
    lr, eps, weight_decay = numbers(
        "adagrad", weight, ("lr", "eps", "weight_decay"), lr, eps, weight_decay
    )
    with paused():
        if weight_decay:
            grad = grad + weight * weight_decay
        for w, g, s in _reals(weight, grad, square):
            s += g * g
            w -= g / (_sqrt(s) + eps) * lr


def clip_grad_norm(params: Params, max_norm: float) -> NDArray:
    """Scales the gradients of ``params`` together so that their norm is at most ``max_norm``.

    Gives the norm that they had, without waiting for it (Pascanu et al. 2013).

    Args:
        params: an array with a gradient, a dict of them by name, or any iterable of them.
        max_norm: the largest norm: a number from 0 on, or an array of one.
    Returns: an array without axes, on the first one's device; of float32 for gradients of float16.
    Raises: ValueError if one has no gradient, or a read-only one, and for another ``max_norm``;
        TypeError for what is no array or no real number. Then nothing was changed.

    >>> import lazyarray as la
    >>> x = la.array([3.0, 4.0])
    >>> x.attach_grad()
    >>> with la.autograd.record():
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> la.nn.clip_grad_norm([x], 1.0).item(), x.grad.asnumpy().round(4)
    (10.0, array([0.6, 0.8]))
    """
    grads = []
    given: Any = params
    if isinstance(given, Tensor):
        given = [given]
    for p in given.values() if isinstance(given, Mapping) else given:
        if not isinstance(p, Tensor):
            raise TypeError(f"clip_grad_norm: params are arrays, not a {type(p).__name__}")
        if p.grad is None:
            raise ValueError("clip_grad_norm: an array without attach_grad()")
        if not p.grad.flags.writeable:
            raise ValueError("clip_grad_norm: a gradient is read-only")
        grads.append(p.grad)
    if not grads:
        raise ValueError("clip_grad_norm: no arrays")
    max_norm = one("clip_grad_norm", "max_norm", max_norm, grads[0])
    # By its true type: of a number that changes in a compiled function nothing is asked.
    if issubclass(type(max_norm), REAL) and not max_norm >= 0:
        raise ValueError(f"clip_grad_norm: max_norm is 0 or more, not {max_norm!r}")
    with paused():
        total: Any = 0.0
        places = [g.device for g in grads]
        apart = len(set(places)) > 1
        for grad in map(widened, grads):
            for (g,) in _reals(grad):
                part = (g * g).sum()
                total = total + (part.to_device(places[0]) if apart else part)
        norm = _sqrt(total)
        scale = _minimum(max_norm / (norm + 1e-6), 1.0)
        for g, place in zip(grads, places, strict=True):
            assign_to(g, g * (scale.to_device(place) if apart else scale))
    return norm
