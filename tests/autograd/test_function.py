"""autograd.Function: ops with gradients of the user's own."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray import autograd
from lazyarray.lazy._lazy import tracked
from lazyarray.ops._differentiable import differentiable

from .check import check, check_twice, leaves


class Power(autograd.Function):
    """x ** n, and x ** (n + 1)."""

    def __init__(self, n):
        self.n = n

    def forward(self, x):
        self.save_for_backward(x)
        assert not autograd.is_recording()
        return x**self.n, x ** (self.n + 1)

    def backward(self, g, h):
        (x,) = self.saved_tensors
        zero = x * 0
        g, h = zero if g is None else g, zero if h is None else h
        return g * self.n * x ** (self.n - 1) + h * (self.n + 1) * x**self.n


def test_several_outputs():
    values = np.array([1.0, 2.0])
    check(lambda x: Power(3)(x), values)
    check(lambda x: Power(3)(x)[0], values)
    check(lambda x: Power(3)(x)[1] * 2, values)
    check_twice(lambda x: Power(3)(x), values)


def test_several_inputs_and_a_gradient_left_out():
    class Scale(autograd.Function):
        def forward(self, x, factor, y):
            self.save_for_backward(x)
            self.factor = factor
            return x * factor + y

        def backward(self, g):
            assert len(self.saved_tensors) == 1
            return g * self.factor, None, None

    x, y = leaves([np.ones(2), np.ones(2)])
    with autograd.record():
        z = Scale()(x, 3.0, y)
    z.backward()
    assert x.grad.asnumpy().tolist() == [3, 3] and y.grad.asnumpy().tolist() == [0, 0]


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_wrong_number_of_gradients(n):
    class Wrong(autograd.Function):
        def forward(self, x, y):
            return x + y

        def backward(self, g):
            return (g,) * n

    x, y = leaves([np.ones(2), np.ones(2)])
    with autograd.record():
        z = Wrong()(x, y)
    with pytest.raises(ValueError, match=f"Wrong: {n} gradients for 2 inputs"):
        z.backward()
    assert x.grad.asnumpy().tolist() == [0, 0]


def test_a_gradient_of_another_shape():
    class Wrong(autograd.Function):
        def forward(self, x):
            return x * 1

        def backward(self, g):
            return la.ones((3, 7))

    (x,) = leaves([np.ones(2)])
    with autograd.record():
        y = Wrong()(x)
    with pytest.raises(ValueError, match="shape"):
        y.backward()
    assert x.grad.asnumpy().tolist() == [0, 0]


def test_what_is_saved_is_checked():
    x, w = leaves([np.ones(2), np.ones(2)])
    with autograd.record():
        y = w * 2
        z, _ = Power(2)(y)
        y += 1
    with pytest.raises(RuntimeError, match=r"'Power'.*overwritten"):
        z.backward()
    with pytest.raises(TypeError, match="NDArray"):
        Power(2).save_for_backward(3)
    assert x is not None


def test_an_input_that_is_given_back():
    class Identity(autograd.Function):
        def forward(self, x):
            return x

        def backward(self, g):
            return g * 5

    (x,) = leaves([np.array([1.0, 2.0])])
    with autograd.record():
        y = Identity()(x)
        z = y * x
    assert y is not x and y.var != x.var
    z.backward()
    assert x.grad.asnumpy().tolist() == [6, 12]


def test_an_instance_is_for_one_call():
    f = Power(2)
    f(la.ones(2))
    with pytest.raises(RuntimeError, match="one call"):
        f(la.ones(2))


def test_what_must_be_defined():
    class Half(autograd.Function):
        def forward(self, x):
            return x / 2

    with pytest.raises(NotImplementedError, match="Function has no forward"):
        autograd.Function()(la.ones(1))
    (x,) = leaves([np.ones(1)])
    with autograd.record():
        y = Half()(x)
    with pytest.raises(NotImplementedError, match="Half has no backward"):
        y.backward()

    class Number(autograd.Function):
        def forward(self, x):
            return 3.0

    with pytest.raises(TypeError, match="NDArrays, not float"):
        Number()(x)


def test_nothing_is_noted_where_nothing_is_wanted():
    with autograd.record():
        assert not any(map(tracked, Power(2)(la.ones(2))))
    (x,) = leaves([np.ones(1)])
    assert not any(map(tracked, Power(2)(x)))


def test_the_training_mode_is_that_of_the_call():
    seen = []

    class Mode(autograd.Function):
        def forward(self, x):
            seen.append(autograd.is_training())
            return x * 1

        def backward(self, g):
            return g

    with autograd.record():
        Mode()(la.ones(1))
        with autograd.predict_mode():
            Mode()(la.ones(1))
    assert seen == [True, False]


# ---- rules of whole functions -------------------------------------------------------------------


@differentiable(x=lambda g, x, y, n: g[0] * n * x ** (n - 1) + g[1] * y[1], y=lambda g: None)
def power_and_exp(x, n=2, *, y=None):
    """By NumPy, so that nothing but the rules can follow it."""
    return la.array(x.asnumpy() ** n), la.array(np.exp(x.asnumpy()))


def test_a_function_with_rules():
    values = np.array([1.0, 2.0])
    check(lambda x: power_and_exp(x), values)
    check(lambda x: power_and_exp(x=x, n=3), values)
    (x,) = leaves([values])
    with autograd.record():
        y, _ = power_and_exp(x * 1, 3)
        z = y.sum()
    with pytest.raises(TypeError):  # nothing leads to the second result, and the rule asks for it
        z.backward()
    assert not any(map(tracked, power_and_exp(x)))


def test_rules_name_what_there_is():
    with pytest.raises(TypeError, match="no parameters"):
        differentiable(z=lambda g: g)(lambda x: x)
    with pytest.raises(TypeError, match="no parameters"):
        differentiable(x=lambda g, w: g)(lambda x: x)


@pytest.mark.parametrize("shape", [(), (1,), (1, 2)])
def test_a_gradient_is_not_broadcast(shape):
    class Wrong(autograd.Function):
        def forward(self, x):
            return x * 1

        def backward(self, g):
            return la.ones(shape)

    (x,) = leaves([np.ones(2)])
    with autograd.record():
        y = Wrong()(x)
    with pytest.raises(ValueError, match=r"Wrong.backward gives .* for input 0.*\(2,\)"):
        y.backward()
    assert x.grad.tolist() == [0, 0]
