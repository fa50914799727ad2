"""What functions make beside their arrays is made where those are, wherever the current device is.

The tests of the functions call them so, too (``compare.away``); here is what they don't reach.
"""

import numpy as np
import pytest

import lazyarray as la
from lazyarray import nn

HOST = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def reduced_into_numpys(x):
    out = np.zeros(3)
    assert np.add.reduce(x, 0, out=out) is out
    np.hypot.accumulate(x[0], out=out)
    assert np.cumsum(x[0], out=out) is out
    assert np.concatenate([x[0, :1], x[1, :2]], out=out) is out
    return la.array(out, ctx=x.ctx)


def gradients_of(x, head):
    x = x.copy()
    x.attach_grad()
    with la.autograd.record():
        y = x * 2 + la.heaviside(0.0, x)
    y.backward(head)
    return x.grad


def normalised(x):
    return nn.batch_norm(HOST, la.zeros_like(x[0]), la.ones_like(x[0]), training=False)


def traced(x):
    return la.trace(lambda y: y * x + 1, x)(x)


def set_by_lists(x):
    y = x.copy()
    y[la.array([1], ctx=x.ctx)] = [x[0, 0], 2, 3]
    y.flat[[0, 1]] = [7, 8]
    return y


def executed(x):
    y = la.sym.var("x") * 2.0
    e = y.bind(x.ctx, [x], [la.zeros_like(x)])
    e.forward(is_train=True)
    e.backward([np.ones((2, 3))])
    return e.grad_arrays[0]


CASES = [
    reduced_into_numpys,
    normalised,
    traced,
    set_by_lists,
    executed,
    lambda x: gradients_of(x, HOST),
    lambda x: la.where(True, x, HOST) + la.where(HOST > 2, 0, x),
    lambda x: la.stack([[x[0, 0], 1], [2, 3]]) + la.stack([[2, 3], [x[0, 0], 1]]),
    lambda x: la.concatenate([[1, 2], x[0], HOST[0]]),
    lambda x: la.isclose(2.0, x) | la.isclose(x, np.float32(2), equal_nan=True),
    lambda x: la.mean(x, where=HOST > 2) + la.var(x, where=True) + x.std(where=[True, False, True]),
    lambda x: la.nanvar(x, 0, mean=HOST[:1], where=HOST > 0),
    lambda x: la.histogram([1, 2, 5], x[0])[0] + la.histogram(x, 2)[0],
    lambda x: la.histogram_bin_edges([1, 2, 5], x[0]),
    lambda x: la.polyval(x[0], 5) + la.polyval([1, 2], x).sum(),
    lambda x: x[la.tril_indices_from(x)] + x[la.triu_indices_from(x)].sum(),
    lambda x: la.diag_indices_from(x[:, :2])[0],
    lambda x: nn.prelu(HOST, x[0]) + nn.prelu(x, 0.5),
    lambda x: nn.embedding([1, 0], x) + nn.embedding(la.array([1], ctx=x.ctx), HOST),
    lambda x: nn.one_hot(la.array([1, 0], ctx=x.ctx), 3) + nn.linear(HOST, x[:1]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda f: f.__name__)
def test_made_where_the_arrays_are(case):
    here = la.current_context()
    x = la.array(HOST)
    want = case(x)
    with la.cpu(1) if here == la.cpu(0) else la.cpu(0):
        got = case(x)
    assert got.ctx == here
    np.testing.assert_array_equal(got.asnumpy(), want.asnumpy())
