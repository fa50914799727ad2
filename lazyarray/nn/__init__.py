"""Neural networks: functions on arrays, under PyTorch's names and shapes, and optimisers.

Layers are functions of their weights, which are arrays with ``attach_grad()``. What differs in
training (dropout, batch norm) asks ``la.autograd.is_training()``, which holds inside
``la.autograd.record()``.

>>> import lazyarray as la
>>> w, b = la.zeros((2, 3)), la.zeros(2)
>>> for p in (w, b):
...     p.attach_grad()
>>> with la.autograd.record():
...     loss = la.nn.cross_entropy(la.nn.linear(la.ones((4, 3)), w, b), [0, 1, 1, 1])
>>> loss.backward()
>>> la.nn.sgd(w, w.grad, lr=0.1)
>>> b.grad.asnumpy()
array([ 0.25, -0.25])
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import lazyarray.random  # noqa: F401  as a whole: what asks for a part first may deadlock threads
from lazyarray import _direct, _public
from lazyarray.nn import (
    activations,
    choices,
    convolution,
    initializers,
    layers,
    losses,
    normalization,
    optimizers,
    pooling,
    softmaxes,
    trainers,
)
from lazyarray.nn.activations import *  # noqa: F403
from lazyarray.nn.choices import *  # noqa: F403
from lazyarray.nn.convolution import *  # noqa: F403
from lazyarray.nn.initializers import *  # noqa: F403
from lazyarray.nn.layers import *  # noqa: F403
from lazyarray.nn.losses import *  # noqa: F403
from lazyarray.nn.normalization import *  # noqa: F403
from lazyarray.nn.optimizers import *  # noqa: F403
from lazyarray.nn.pooling import *  # noqa: F403
from lazyarray.nn.softmaxes import *  # noqa: F403
from lazyarray.nn.trainers import *  # noqa: F403

SECTIONS = [
    layers,
    convolution,
    pooling,
    activations,
    softmaxes,
    normalization,
    choices,
    losses,
    optimizers,
    trainers,
    initializers,
]
__all__ = [name for section in SECTIONS for name in section.__all__]

_direct.register(sys.modules[__name__], writers=optimizers.__all__)

if not TYPE_CHECKING:  # to type checkers it would promise every name
    __getattr__ = _public.refusing(__name__)
