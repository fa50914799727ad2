"""Automatic differentiation: record what a program does, then run it backwards.

State is per thread. Gradients are ordinary recorded ops: they fuse, run asynchronously and, with
``create_graph``, are differentiable themselves.

>>> import lazyarray as la
>>> x = la.array([1.0, 2.0, 3.0])
>>> x.attach_grad()
>>> with la.autograd.record():
...     y = (x * x).sum()
>>> y.backward()
>>> x.grad.asnumpy()
array([2., 4., 6.])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lazyarray import _public
from lazyarray.autograd.function import Function
from lazyarray.autograd.gradients import (
    attach_grad,
    backward,
    detach,
    drop_grad,
    grad,
    mark_variables,
)
from lazyarray.autograd.scopes import (
    is_recording,
    is_training,
    pause,
    predict_mode,
    record,
    set_recording,
    set_training,
    train_mode,
)

__all__ = [
    "Function",
    "attach_grad",
    "backward",
    "detach",
    "drop_grad",
    "grad",
    "is_recording",
    "is_training",
    "mark_variables",
    "pause",
    "predict_mode",
    "record",
    "set_recording",
    "set_training",
    "train_mode",
]

if not TYPE_CHECKING:  # to type checkers it would promise every name
    __getattr__ = _public.refusing(__name__)
