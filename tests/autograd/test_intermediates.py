"""``attach_grad`` on what was recorded: it keeps its history, as in MXNet 2; and ``drop_grad``."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray import autograd
from lazyarray.lazy._lazy import tracked


def leaf(values, req="write"):
    x = la.array(np.asarray(values, float))
    x.attach_grad(req)
    return x


def test_mxnets_example():
    x, y = leaf([1, 2, 3, 4]), leaf([5, 6, 7, 8])
    with autograd.record():
        u = x * y
        z = u * x
    u.attach_grad()  # outside, and after it was used
    z.attach_grad()
    g = la.array([10.0, 10.0, 10.0, 10.0])
    z.backward(g, retain_graph=True)
    assert u.grad.tolist() == (g * x).tolist()
    assert z.grad.tolist() == g.tolist() and z.grad is not g
    assert x.grad.tolist() == (g * 2 * x * y).tolist()
    assert y.grad.tolist() == (g * x * x).tolist()
    u.drop_grad()
    z.drop_grad()
    y.drop_grad()
    g = la.array([0.5, 0.5, 0.5, 0.5])
    z.backward(g)
    assert u.grad is None and z.grad is None and y.grad is None
    assert x.grad.tolist() == (g * 2 * x * y).tolist()


def test_gradients_flow_on():
    x = leaf([1, 2])
    with autograd.record():
        z = x * 2
        z.attach_grad()
        y = (z * z).sum()
    assert z.grad.tolist() == [0, 0]
    y.backward()
    assert z.grad.tolist() == [4, 8] and x.grad.tolist() == [8, 16]
    assert z.grad.tolist() == [4, 8]  # read again, when its graph is gone


def test_requests():
    x = leaf([1, 2])
    with autograd.record():
        z = x * 2
        z.attach_grad("add")
        y = (z * 3).sum()
    for k in (1, 2):
        y.backward(retain_graph=True)
        assert z.grad.tolist() == [3 * k] * 2 and x.grad.tolist() == [6, 6]
    z.attach_grad("null")
    assert z.grad is None
    y.backward()
    assert x.grad.tolist() == [6, 6]


def test_a_head_of_its_own():
    x = leaf([1, 2])
    with autograd.record():
        z = x * 2
        z.attach_grad()
    z.backward(la.array([3.0, 4.0]))
    assert z.grad.tolist() == [3, 4] and x.grad.tolist() == [6, 8]


def test_one_that_no_gradient_reaches_gets_zeros():
    x = leaf([1.5, 2])
    with autograd.record():
        z = x * 2
        z.attach_grad()
        y = la.floor(z).sum() + x.sum()
    z.grad[...] = 7
    y.backward()
    assert z.grad.tolist() == [0, 0] and x.grad.tolist() == [1, 1]


def test_views_and_parts():
    x = leaf(np.arange(6.0).reshape(2, 3))
    with autograd.record():
        z = x * 2
        first, column = z[0], z[:, 1]
        first.attach_grad()
        column.attach_grad()
        y = (z * z).sum()
    y.backward()
    assert first.grad.tolist() == [0, 4, 8] and column.grad.tolist() == [4, 16]
    assert z.grad is None and x.grad.tolist() == (8 * np.arange(6.0).reshape(2, 3)).tolist()


def test_several_results_of_one_call():
    x = leaf([[2.0, 0.0], [0.0, 3.0]])
    with autograd.record():
        values, vectors = la.linalg.eigh(x)
        values.attach_grad()
        vectors.attach_grad()
        y = (values * la.array([1.0, 2.0])).sum() + vectors.sum() * 0
    y.backward()
    assert values.grad.tolist() == [1, 2] and vectors.grad.tolist() == [[0, 0], [0, 0]]
    assert x.grad.tolist() == [[1, 0], [0, 2]]


def test_the_gradient_is_that_of_the_value_then():
    x = leaf([1, 2])
    with autograd.record():
        z = x * 2
        h = z * 1
        h += z  # other memory is written
        z.attach_grad()
        y = (h * z).sum()
    y.backward()
    assert z.grad.tolist() == [8, 16]  # 2 z z: by way of h, too
    assert x.grad.tolist() == [16, 32]


def test_it_is_not_written_in_place():
    x = leaf([1, 2])
    with autograd.record():
        z = x * 2
        z.attach_grad()
        with pytest.raises(ValueError, match="attach_grad"):
            z += 1
        z.drop_grad()
        z += 1
    z.backward()
    assert x.grad.tolist() == [2, 2]


def test_once_its_graph_is_freed_it_is_a_leaf():
    x = leaf([1, 2])
    with autograd.record():
        z = x * 2
    z.backward()
    z.attach_grad()
    with autograd.record():
        y = z * 3
    y.backward()
    assert z.grad.tolist() == [3, 3] and x.grad.tolist() == [2, 2]


def test_detached_it_is_a_leaf_of_its_own():
    x = leaf([1, 2])
    with autograd.record():
        z = x * 2
        cut = z.detach()
        cut.attach_grad()
        y = (cut * z).sum()
    y.backward()
    assert cut.grad.tolist() == [2, 4] and x.grad.tolist() == [4, 8] and z.grad is None
    both = x.detach()
    both.attach_grad()
    with autograd.record():
        y = (x * both).sum()
    y.backward()
    assert x.grad.tolist() == [1, 2] == both.grad.tolist()


def test_a_detached_array_without_history_shares_its_memory():
    x = la.ones(2)
    cut = x.detach()
    cut.attach_grad()
    cut[0] = 5
    assert x.tolist() == [5, 1]
    with autograd.record():
        y = cut * 3
    y.backward()
    assert cut.grad.tolist() == [3, 3]


def test_marked_with_arrays_of_ones_own():
    x, g = leaf([1, 2]), la.zeros(2)
    with autograd.record():
        z = x * 2
        autograd.mark_variables(z, g)
        y = (z * z).sum()
    y.backward()
    assert z.grad is g and g.tolist() == [4, 8] and x.grad.tolist() == [8, 16]


def test_gradients_of_gradients():
    x = leaf(3.0)
    with autograd.record():
        z = x * x
        z.attach_grad()
        first = autograd.grad(z * z, x, create_graph=True)  # 4 x^3
    first.backward()
    assert x.grad.item() == 108 and z.grad.item() == 4 * 3


def test_grad_leaves_it_alone():
    x = leaf([1, 2])
    with autograd.record():
        z = x * 2
        z.attach_grad()
        y = (z * z).sum()
    z.grad[...] = 7
    dz, dx = autograd.grad(y, [z, x])
    assert dz.tolist() == [4, 8] and dx.tolist() == [8, 16] and z.grad.tolist() == [7, 7]


def test_dropping_a_leafs_gradient():
    x = leaf([1, 2])
    kept = x.grad
    with autograd.record():
        y = x * 2
    x.drop_grad()
    assert x.grad is None and not tracked(x)
    y.backward()  # recorded while it had one: nobody is told
    assert kept.tolist() == [0, 0] and x.grad is None
    x.drop_grad()  # of one that has none
    la.ones(2).drop_grad()


def test_dropping_one_of_several_views():
    whole = la.arange(4.0)
    low, high = whole[:2], whole[2:]
    low.attach_grad()
    high.attach_grad()
    low.drop_grad()
    with autograd.record():
        y = (whole * whole).sum()
    y.backward()
    assert low.grad is None and high.grad.tolist() == [4, 6]


def test_inside_a_compiled_function():
    @la.compile
    def f(x):
        z = la.sin(x)
        return z * z

    x = leaf([1, 2])
    with autograd.record():
        y = f(x)
        y.attach_grad()
        loss = (y * 2).sum()
    loss.backward()
    assert y.grad.tolist() == [2, 2]
    np.testing.assert_allclose(x.grad.asnumpy(), 2 * np.sin(2 * x.asnumpy()))


def test_as_an_argument_of_a_compiled_function():
    f = la.compile(lambda z: z * z)
    x = leaf([1, 2])
    for k in (1, 2, 3):
        with autograd.record():
            z = x * k
            z.attach_grad()
            y = f(z).sum()
        y.backward()
        assert y.item() == 5 * k * k
        assert z.grad.tolist() == [2 * k, 4 * k] and x.grad.tolist() == [2 * k * k, 4 * k * k]


def test_as_the_argument_of_a_bound_graph():
    x = leaf([1, 2])
    with autograd.record():
        z = x * 2
        z.attach_grad()
    executor = (la.sym.var("a") * 3).bind(la.current_context(), {"a": z}, {"a": la.zeros(2)})
    executor.forward(is_train=True)
    executor.backward(la.ones(2))
    assert executor.grad_dict["a"].tolist() == [3, 3] and z.grad.tolist() == [0, 0]
    with autograd.record():
        y = z * z
    y.backward()  # what was recorded of it is there still
    assert z.grad.tolist() == [4, 8] and x.grad.tolist() == [8, 16]
