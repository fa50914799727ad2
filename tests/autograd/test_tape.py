"""What is recorded and how it is walked: leaves, scopes, heads, views, writes, versions, errors."""

import threading

import numpy as np
import pytest

import lazyarray as la
from lazyarray import autograd, nn
from lazyarray.lazy._lazy import tracked

from .check import late


def leaf(values, grad_req="write"):
    x = la.array(np.asarray(values, float))
    x.attach_grad(grad_req)
    return x


def grad_of(x):
    return x.grad.asnumpy().tolist()


# ---- leaves -------------------------------------------------------------------------------------


def test_a_leaf_starts_with_zeros_and_is_written():
    x = leaf([1, 2])
    assert grad_of(x) == [0, 0]
    for _ in range(2):
        with autograd.record():
            y = x * x
        y.backward()
        assert grad_of(x) == [2, 4]


def test_grad_is_one_array_for_good():
    x = leaf([1, 2])
    grad = x.grad
    with autograd.record():
        y = x * 3
    y.backward()
    assert x.grad is grad and grad.asnumpy().tolist() == [3, 3]


def test_add_collects():
    x = leaf([1, 2], "add")
    for n in range(1, 4):
        with autograd.record():
            y = x * x
        y.backward()
        assert grad_of(x) == [2 * n, 4 * n]
    x.grad[:] = 0
    with autograd.record():
        y = x * 1
    y.backward()
    assert grad_of(x) == [1, 1]


def test_null_takes_the_gradient_away():
    x = leaf([1, 2])
    x.attach_grad("null")
    assert x.grad is None and not tracked(x)


@pytest.mark.parametrize(("req", "error"), [("sum", ValueError), (None, ValueError)])
def test_other_requests(req, error):
    with pytest.raises(error, match="grad_req"):
        la.ones(2).attach_grad(req)


def test_integers_have_no_gradient():
    with pytest.raises(TypeError, match="int64"):
        la.ones(2, int).attach_grad()


def test_a_leaf_that_no_head_depends_on_keeps_its_gradient():
    x, y = leaf([1]), leaf([2])
    with autograd.record():
        z = x * 2
    z.backward()
    assert grad_of(x) == [2] and grad_of(y) == [0]


def test_views_as_leaves():
    whole = la.arange(6.0).reshape(2, 3)
    first, second = whole[0], whole[1]
    first.attach_grad()
    second.attach_grad("add")
    with autograd.record():
        z = (whole * whole).sum() + first.sum()
    z.backward()
    assert grad_of(first) == [1, 3, 5] and grad_of(second) == [6, 8, 10]


def test_marked_variables():
    x, y = la.ones(2), la.ones(2)
    dx, dy = la.zeros(2), la.ones(2)
    autograd.mark_variables([x, y], [dx, dy], ["write", "add"])
    with autograd.record():
        z = x * 2 + y * 3
    z.backward()
    assert dx.asnumpy().tolist() == [2, 2] and dy.asnumpy().tolist() == [4, 4]
    for wrong in ([la.zeros(3)], [la.zeros(2, "f")], []):
        with pytest.raises(ValueError, match=r"shape|length"):
            autograd.mark_variables([x], wrong)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble, np.complex64])
def test_the_gradient_has_the_leafs_dtype(dtype):
    x = la.ones(3, dtype)
    x.attach_grad()
    with autograd.record():
        y = (x.astype(complex) * 2).sum()
    y.backward()
    assert x.grad.dtype == dtype and (x.grad.asnumpy() == 2).all()


def test_no_elements():
    x = leaf(np.zeros((0, 3)))
    with autograd.record():
        y = (x * 2).sum(axis=0) + 1
    y.backward()
    assert x.grad.shape == (0, 3)


def test_heads_and_their_gradients_that_are_none():
    x = leaf([1, 2])
    with autograd.record():
        y = x * 2
    with pytest.raises(TypeError, match="a gradient of complex128 for a head of float64"):
        y.backward(la.array([1 + 5j, 2]))
    y.backward(la.array([1, 2]))
    assert x.grad.asnumpy().tolist() == [2, 4]
    for nothing in (lambda: autograd.backward([]), lambda: autograd.grad([], x)):
        with pytest.raises(RuntimeError, match="wasn't recorded"):
            nothing()


# ---- scopes -------------------------------------------------------------------------------------


def test_scopes_nest_and_end():
    def state():
        return autograd.is_recording(), autograd.is_training()

    assert state() == (False, False)
    with autograd.record():
        assert state() == (True, True)
        with autograd.record(train_mode=False):
            assert state() == (True, False)
        with autograd.pause():
            assert state() == (False, False)
            with autograd.train_mode():
                assert state() == (False, True)
            with autograd.record():
                assert state() == (True, True)
        with autograd.predict_mode():
            assert state() == (True, False)
        with pytest.raises(ZeroDivisionError), autograd.pause(train_mode=True):
            assert state() == (False, True)
            raise ZeroDivisionError
        assert state() == (True, True)
    assert state() == (False, False)


def test_an_exception_ends_the_scope_and_leaves_the_graph():
    x = leaf([3])
    with pytest.raises(KeyError), autograd.record():
        y = x * x
        raise KeyError
    assert not autograd.is_recording()
    y.backward()
    assert grad_of(x) == [6]


def test_as_a_decorator():
    @autograd.record()
    def recorded(x, depth=2):
        assert autograd.is_recording()
        return recorded(x * 2, depth - 1) if depth else x * 2

    x = leaf([1])
    recorded(x).backward()
    assert grad_of(x) == [8] and not autograd.is_recording()


def test_what_is_paused_or_outside_is_constant():
    x = leaf([2])
    y = x * 5
    with autograd.record():
        with autograd.pause():
            z = x * 7
        w = x * y * z
    w.backward()
    assert not tracked(y) and not tracked(z)
    assert grad_of(x) == [140]


def test_setters():
    assert autograd.set_recording(True) is False
    assert autograd.set_recording(False) is True
    assert autograd.set_training(True) is False
    assert autograd.set_training(False) is True


def test_threads_record_by_themselves():
    x, y = leaf([1]), leaf([1])
    barrier, failures = threading.Barrier(2), []

    def work(leaf, factor, records):
        try:
            for _ in range(50):
                barrier.wait()
                if records:
                    with autograd.record():
                        barrier.wait()
                        z = leaf * factor
                    assert tracked(z)
                    z.backward()
                    assert grad_of(leaf) == [factor]
                else:
                    barrier.wait()
                    assert not autograd.is_recording() and not tracked(leaf * factor)
        except BaseException as exc:
            failures.append(exc)
            barrier.abort()

    for records in ((True, True), (True, False)):
        threads = [threading.Thread(target=work, args=(v, f, r))
                   for v, f, r in zip((x, y), (3, 5), records, strict=True)]  # fmt: skip
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert not failures


# ---- heads --------------------------------------------------------------------------------------


def test_several_heads():
    x = leaf([1, 2])
    with autograd.record():
        y, z = x * 2, (x * x).sum()
    autograd.backward([y, z], [la.array([1, 10]), None])
    assert grad_of(x) == [4, 24]


def test_one_head_twice():
    x = leaf([3])
    with autograd.record():
        y = x * x
    autograd.backward([y, y])
    assert grad_of(x) == [12]


def test_a_head_that_another_depends_on():
    x = leaf([3])
    with autograd.record():
        y = x * 2
        z = y * y
    autograd.backward([y, z])
    assert grad_of(x) == [2 + 24]


def test_a_view_of_a_head():
    x = leaf([1, 2, 3])
    with autograd.record():
        y = x * x
    y[1:].backward()
    assert grad_of(x) == [0, 4, 6]


def test_a_leaf_as_a_head():
    x = leaf([1, 2])
    x.backward(la.array([3.0, 4.0]))
    assert grad_of(x) == [3, 4]


@pytest.mark.parametrize("head", [2.0, [2.0, 3.0], np.float32([2, 3]), "array"], ids=str)
def test_gradients_of_heads(head):
    x = leaf([1, 2])
    with autograd.record():
        y = x * x
    if isinstance(head, (float, list)):
        with pytest.raises(ValueError, match="gradient"):
            autograd.backward(y, [1.0, 2.0, 3.0] if head == 2.0 else [head, head])
        return
    y.backward(la.array([2.0, 3.0]) if isinstance(head, str) else head)
    assert grad_of(x) == [4, 12]


@pytest.mark.parametrize("shape", [(), (3,), (1, 2), (2, 1)])
def test_a_gradient_of_another_shape(shape):
    x = leaf([1, 2])
    with autograd.record():
        y = x * x
    with pytest.raises(ValueError, match="shape"):
        y.backward(la.ones(shape))
    assert grad_of(x) == [0, 0]
    y.backward()  # the graph is there still
    assert grad_of(x) == [2, 4]


def test_what_was_not_recorded():
    x = leaf([1])
    for y in (x * 2, la.ones(2)):
        with pytest.raises(RuntimeError, match=r"record\(\)"):
            y.backward()
    with pytest.raises(TypeError, match="NDArray"):
        autograd.backward([1.0])


# ---- once or more often -------------------------------------------------------------------------


def test_a_graph_is_freed():
    x = leaf([2])
    with autograd.record():
        y = x * x
    y.backward()
    with pytest.raises(
        RuntimeError, match=r"'multiply', recorded at .*test_tape.py:\d+.*retain_graph"
    ):
        y.backward()
    assert grad_of(x) == [4]


def test_a_graph_is_retained():
    x = leaf([2], "add")
    with autograd.record():
        y = x * x
    for n in range(1, 4):
        y.backward(retain_graph=n < 3)
        assert grad_of(x) == [4 * n]
    with pytest.raises(RuntimeError, match="freed"):
        y.backward()


def test_a_part_that_was_freed():
    x = leaf([2])
    with autograd.record():
        shared = x * x
        y, z = shared * 2, shared * 3
    y.backward()
    with pytest.raises(RuntimeError, match="freed"):
        z.backward()


# ---- new gradients ------------------------------------------------------------------------------


def test_grad_gives_new_arrays():
    x, y = leaf([1, 2]), leaf([3, 4])
    with autograd.record():
        z = x * y
        dx, dy = autograd.grad(z, [x, y])
        assert not tracked(dx)
    assert dx.asnumpy().tolist() == [3, 4] and dy.asnumpy().tolist() == [1, 2]
    assert grad_of(x) == [0, 0]


def test_grad_by_what_is_no_leaf():
    x = leaf([1, 2])
    with autograd.record():
        y = x * 2
        z = (y * y).sum()
        dy = autograd.grad(z, y, retain_graph=True)
        dpart = autograd.grad(z, y[1:])
    assert dy.asnumpy().tolist() == [4, 8] and dpart.asnumpy().tolist() == [8]


def test_grad_by_what_it_does_not_depend_on():
    x, y = leaf([1]), leaf([2, 3])
    with autograd.record():
        z = x * 2
    assert autograd.grad(z, y).asnumpy().tolist() == [0, 0]
    with pytest.raises(ValueError, match="attach_grad"):
        autograd.grad(z, la.ones(1))
    with pytest.raises(ValueError, match="at least one"):
        autograd.grad(z, [])


def test_gradients_of_gradients():
    x = leaf([2])
    with autograd.record():
        y = x * x * x * x
        for want in (32, 48, 48, 24):
            y = autograd.grad(y, x, create_graph=True)
            assert y.item() == want
        assert not tracked(y) or autograd.grad(y, x).item() == 0


def test_a_gradient_in_a_loss():
    x = leaf([1, 2])
    with autograd.record():
        y = (x**3).sum()
        penalty = (autograd.grad(y, x, create_graph=True) ** 2).sum()
        loss = y + penalty
    loss.backward()
    assert grad_of(x) == [3 + 36, 12 + 36 * 8]


# ---- views and writes ---------------------------------------------------------------------------


def test_views_share_a_gradient():
    x = leaf(np.arange(6.0))
    with autograd.record():
        y = x.reshape(2, 3)
        z = (y.T[::-1] * y[0][::-1, None]).sum() + x[1::2].sum() + y[1, 2]
    z.backward()
    sums = [3.0, 5.0, 7.0]
    want = [[sums[i] + y for i, y in enumerate((0, 1, 2))], [0, 1, 2]]
    want = np.ravel(want) + np.array([0, 1, 0, 1, 0, 1 + 1])
    assert grad_of(x) == want.tolist()


def test_slice_assignment():
    x, y = leaf([1, 2, 3]), leaf([4, 5])
    with autograd.record():
        z = x * 2
        z[1:] = y * y
        z[0] = z[2]
    z.backward(la.array([1.0, 10.0, 100.0]))
    assert grad_of(x) == [0, 0, 0] and grad_of(y) == [80, 1010]


def test_overwriting_ends_the_gradient():
    x = leaf([1, 2])
    with autograd.record():
        y = x * 2
        y[:] = 7
        z = y * x
    z.backward()
    assert grad_of(x) == [7, 7]


@pytest.mark.parametrize(
    ("op", "want"),
    [
        (lambda y, x: y.__iadd__(x), 2 + 1),
        (lambda y, x: y.__imul__(x), 4 * 3),
        (lambda y, x: y.__itruediv__(x), 0),
        (lambda y, x: y.__isub__(y), 0),
        (lambda y, x: y.__ipow__(2), 4 * 2 * 3),
        (lambda y, x: la.exp(y, out=y), 2 * np.exp(6.0)),
        (lambda y, x: la.multiply(y, y, out=y), 2 * 2 * 6),
        (lambda y, x: la.maximum(y, 7, out=y), 0),
        (lambda y, x: la.clip(y, 0, 5, out=y), 0),
        (lambda y, x: la.cumsum(y, out=y), 2),
    ],
)
def test_ops_in_place(op, want):
    x = leaf([3])
    with autograd.record():
        y = x * 2
        op(y, x)
    y.backward()
    assert grad_of(x) == pytest.approx([want])


def test_updates_in_a_loop():
    x = leaf([0.5])
    with autograd.record():
        y = la.zeros(8)
        y[0] = x[0]
        for i in range(1, 8):
            y[i] = y[i - 1] * 2
        total = y.sum()
    total.backward()
    assert grad_of(x) == [255]


def test_a_leaf_is_not_written_while_recording():
    x = leaf([1, 2])
    with autograd.record():
        for write in (
            lambda: x.__iadd__(1),
            lambda: x.__setitem__(0, 5.0),
            lambda: x.__setitem__(slice(0, 1), 5.0),
            lambda: x[1:].__imul__(2),
            lambda: la.exp(x, out=x),
            lambda: x.fill(0),
        ):
            with pytest.raises(ValueError, match="attach_grad"):
                write()
        with autograd.pause():
            x += 1
    x += 1
    assert x.asnumpy().tolist() == [3, 4]
    with autograd.record():
        y = x * x
    y.backward()
    assert grad_of(x) == [6, 8]


def test_an_update_of_a_leaf_between_forward_and_backward_is_noticed():
    x = leaf([1, 2])
    with autograd.record():
        y = x * x
    x += 1
    with pytest.raises(RuntimeError, match="overwritten"):
        y.backward()


def test_the_version_error_names_both_lines():
    x = leaf([1, 2])
    with autograd.record():
        y = x * 2
        z = la.exp(y)  # line a
        z += 1  # line b
    with pytest.raises(RuntimeError) as info:
        z.backward()
    text = str(info.value)
    here = test_the_version_error_names_both_lines.__code__.co_firstlineno
    assert f"'exp', recorded at {__file__}:{here + 4}" in text
    assert f"overwritten later, at {__file__}:{here + 5}" in text
    assert grad_of(x) == [0, 0]


@pytest.mark.parametrize(
    "write",
    [
        lambda y: y.__setitem__(0, 1.0),
        lambda y: y.__setitem__([0, 1], 1.0),
        lambda y: y.__setitem__(la.array([True, False]), 1.0),
        lambda y: y.fill(1.0),
        lambda y: y.sort(),
        lambda y: la.copyto(y, la.ones(2)),
        lambda y: la.add.at(y, [0], 1.0),
    ],
)
@pytest.mark.parametrize("recorded", [False, True])
def test_every_write_is_noticed(write, recorded):
    x = leaf([1, 2])
    with autograd.record():
        y = x * 2
        z = y * y
        if recorded:
            write(y)
    if not recorded:
        write(y)
    with pytest.raises(RuntimeError, match=r"'multiply'.*overwritten"):
        z.backward()


def test_what_no_rule_needs_may_be_overwritten():
    x = leaf([1, 2])
    with autograd.record():
        y = x * 2
        z = y + 1
        w = la.exp(z)
        y += 5
        z *= 7
    w.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), 2 * np.exp([3, 5]))


def test_what_only_the_rules_of_constants_need_may_be_overwritten():
    x, weight, mean, var = leaf([[1, 2], [3, 5]]), la.ones((2, 2)), la.zeros(2), la.ones(2)
    scale, bias, target = leaf([1, 2]), leaf([0, 0]), la.zeros((2, 2))
    with autograd.record():
        h = x * 2
        loss = nn.linear(h, weight).sum()  # the weight's own gradient would need h
        normal = nn.batch_norm(la.array(h.asnumpy()), mean, var, scale, bias)
        logits = x * 1
        loss = loss + nn.binary_cross_entropy_with_logits(target, logits).sum() + normal.sum()
        h *= 5
        logits[...] = 7
    scale[...] = 9
    loss.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), 4)
    np.testing.assert_allclose(bias.grad.asnumpy(), 2)


# ---- detach -------------------------------------------------------------------------------------


def test_detach():
    x = leaf([2])
    with autograd.record():
        y = x * x
        z = y.detach() * x
        assert not tracked(y.detach()) and not tracked(y.detach()[:]) and tracked(y)
    z.backward()
    assert grad_of(x) == [4]


def test_the_gradient_sees_no_write_to_what_is_detached():
    x = leaf([2])
    with autograd.record():
        y = x * 3
        y.detach()[:] = 100
        z = y * 5
    z.backward()
    assert grad_of(x) == [15] and z.item() == 500


# ---- errors of ops ------------------------------------------------------------------------------


@late
def test_an_ops_error_reaches_the_gradient():
    x = leaf([1, 2])
    with autograd.record():
        y = la.linalg.inv(la.zeros((2, 2)) * x)
        z = (y * x).sum()
    z.backward()
    with pytest.raises(np.linalg.LinAlgError):
        x.grad.asnumpy()
    with pytest.raises(np.linalg.LinAlgError):
        z.item()
    with autograd.record():
        z = x.sum()
    z.backward()  # overwritten in full it heals
    assert grad_of(x) == [1, 1]


def test_a_rule_that_fails_leaves_all_gradients():
    class Bad(autograd.Function):
        def forward(self, x):
            return x * 1

        def backward(self, g):
            raise OSError("no gradient today")

    x, y = leaf([1]), leaf([1])
    with autograd.record():
        z = y * 3 + Bad()(x)
    with pytest.raises(OSError, match="today"):
        z.backward()
    assert grad_of(x) == [0] and grad_of(y) == [0]
    assert not autograd.is_recording()


def test_integers_and_truth_values_end_the_gradient():
    x = leaf([1.5, 2.5])
    with autograd.record():
        index = la.argsort(x)
        assert not tracked(index) and not tracked(x > 2) and not tracked(x.astype(int))
        y = x[index] * (x > 2)
    y.backward()
    assert grad_of(x) == [0, 1]


def test_a_fused_program_has_the_same_bits_recorded():
    rng = np.random.default_rng(0)
    values = rng.standard_normal((64, 64))

    def program(x):
        for _ in range(3):
            x = la.tanh(x @ x.T / 64 + x)
            x = (x - x.mean(axis=1, keepdims=True)) / (x.std(axis=1, keepdims=True) + 1)
        return x, la.sort(x, axis=0), la.cumsum(x), la.median(x, axis=1)

    plain = program(la.array(values))
    x = leaf(values)
    with autograd.record():
        recorded = program(x)
    for a, b in zip(plain, recorded, strict=True):
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())


# ---- what other values an array had -------------------------------------------------------------


def test_an_array_that_is_written_backwards_from_itself():
    x = leaf([1, 2, 3])
    with autograd.record():
        y = x * 1
        y[::-1] = y * 2
    y.backward(la.array([1.0, 10.0, 100.0]))
    assert grad_of(x) == [200, 20, 2]


def test_what_was_read_before_constants_came():
    x, z = leaf([1, 2]), leaf([3])
    with autograd.record():
        y = x * 1
        first = y * 5
        y[:] = 0.5
        y[1] = z[0] * 7
        total = first.sum() + y.sum()
    total.backward()
    assert grad_of(x) == [5, 5] and grad_of(z) == [7]


def test_two_outputs_in_one_memory():
    class Halves(autograd.Function):
        def forward(self, x):
            y = x * 2
            return y[:1], y[1:]

        def backward(self, g, h):
            return la.concatenate([g * 2, h * 2])

    x = leaf([1, 2])
    with autograd.record():
        first, second = Halves()(x)
        y = first * 3 + second * 5
    y.backward()
    assert grad_of(x) == [6, 10]


def windows(a, shape, strides):
    return la.lib.stride_tricks.as_strided(a, shape, strides)


@pytest.mark.parametrize("strides", [(8, 8), (16, 8)])
def test_an_assignment_that_meets_memory_twice_is_refused(strides):
    """Which of the values stays decides the gradient, and nothing says which."""
    x = leaf(np.arange(6.0))
    shape = (2, 3)
    with autograd.record():
        y = x * 2
        view = windows(y, shape, strides)
        with pytest.raises(NotImplementedError, match="meets memory twice"):
            view[...] = view * 3
        with pytest.raises(NotImplementedError, match="meets memory twice"):
            view *= x[:3]
        z = y.sum()
    z.backward()
    assert x.grad.tolist() == [2.0] * 6


@pytest.mark.parametrize(
    "shape, strides", [((2, 3), (24, 8)), ((3, 2), (16, 8)), ((3, 2), (8, 24)), ((3, 2), (16, 24))]
)
def test_an_assignment_to_a_strided_view_has_its_gradient(shape, strides):
    x = leaf(np.arange(9.0))
    with autograd.record():
        y = x * 2
        view = windows(y, shape, strides)
        view *= 5
        z = y.sum()
    z.backward()
    met = np.full(9, 2.0)
    np.lib.stride_tricks.as_strided(met, shape, strides)[...] = 10
    assert x.grad.tolist() == met.tolist()


@pytest.mark.parametrize("req", ["write", "add"])
@pytest.mark.parametrize("retain", [False, True])
def test_a_gradient_that_can_not_be_written_leaves_all(req, retain):
    """It is found before the first gradient is written, and while the graph is there."""
    for last in (False, True):
        x, y = la.ones(2), la.ones(2)
        dx, dy = la.zeros(2), la.zeros(2)
        pairs = [(x, dx), (y, dy)]
        autograd.mark_variables(*zip(*pairs[:: -1 if last else 1], strict=True), req)
        with autograd.record():
            z = (x * 3) * y
            z.attach_grad()
            w = z * 1
        dy.flags.writeable = False
        with pytest.raises(ValueError, match="can't be written to a read-only array"):
            w.backward(retain_graph=retain)
        dy.flags.writeable = True
        dx.shape = (1, 2)
        with pytest.raises(ValueError, match=r"\(2,\) can't be written to one of shape \(1, 2\)"):
            w.backward(retain_graph=retain)
        dx.shape = 2
        z.grad.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            w.backward(retain_graph=retain)
        assert z.grad.tolist() == dx.tolist() == dy.tolist() == [0, 0]
        z.grad.flags.writeable = True
        w.backward()
        assert dx.tolist() == dy.tolist() == [3, 3]


def test_scalars_as_leaves_have_arrays_as_gradients():
    s = la.ones(2).sum()
    s.attach_grad()
    with autograd.record():
        y = s * 3
    y.backward()
    assert s.grad.item() == 3 and s.grad.flags.writeable


@pytest.mark.parametrize(
    "mark", [autograd.attach_grad, lambda x: autograd.mark_variables([x], [x])]
)
@pytest.mark.parametrize("x", [3, 1.0, [1.0], None, np.ones(2)])
def test_what_is_no_array_is_no_leaf(mark, x):
    with pytest.raises(TypeError, match="only NDArrays have gradients"):
        mark(x)


def test_leaves_that_are_refused_mark_none():
    x = la.ones(())
    fixed = la.zeros(())
    fixed.flags.writeable = False
    for y, g, error, words in (
        (la.ones(()), fixed, ValueError, "read-only"),
        (la.ones(()), la.zeros(2).sum(), TypeError, "scalar"),
        (la.ones(()), la.zeros((), device=la.cpu(1)), ValueError, "is on"),
        (la.ones((), "i8"), la.zeros((), "i8"), TypeError, "only arrays of floats"),
        (la.ones(()), la.zeros(2), ValueError, "shape"),
    ):
        with pytest.raises(error, match=words):
            autograd.mark_variables([x, y], [la.zeros(()), g])
        assert x.grad is None and y.grad is None
