"""What contains itself or is very deep: a result, or an error like NumPy's; no crash, no hang."""

import copy
import pickle
import subprocess
import sys
from contextlib import ExitStack

import numpy as np
import pytest

import lazyarray as la

DEEP = 100_000


def itself():
    nested = [1, 2]
    nested.append(nested)
    return nested


def nested(depth, inner):
    for _ in range(depth):
        inner = [inner]
    return inner


CALLS = {
    "array": la.array,
    "asarray": lambda x: la.asarray(x, dtype=float),
    "add": lambda x: la.ones(3) + x,
    "radd": lambda x: x + la.ones(3),
    "sum": la.sum,
    "ufunc": lambda x: la.add(x, 1),
    "full": lambda x: la.full(3, x),
    "zeros_like": la.zeros_like,
    "where": lambda x: la.where(x, 1, 2),
    "matmul": lambda x: la.matmul(x, x),
    "setitem": lambda x: la.ones(3).__setitem__(0, x),
    "index": lambda x: la.ones(3)[x],
    "norm": la.linalg.norm,
    "fft": la.fft.fft,
    "take": lambda x: la.take(la.ones(3), x),
    "sort": la.sort,
    "array_equal": lambda x: la.array_equal(x, x),
    "concatenate": la.concatenate,
    "stack": la.stack,
    "block": la.block,
    "zeros": la.zeros,
    "reshape": lambda x: la.reshape(la.ones(3), x),
    "axis": lambda x: la.sum(la.ones(3), axis=x),
    "compiled": la.compile(lambda x: x),
    "symbol": lambda x: la.sym.stack([la.sym.var("x"), x]),
}

WITH_ITSELF = """
import lazyarray as la
x = [1, 2]
x.append(x)
y = la.ones(3)
for f in (la.array, la.sum, lambda x: y + x, lambda x: y.__setitem__(slice(None), x)):
    try:
        f(x)
    except ValueError as exc:
        print(type(exc).__name__)
"""


def test_a_list_that_contains_itself_does_not_end_the_process():
    ran = subprocess.run(
        [sys.executable, "-c", WITH_ITSELF], capture_output=True, text=True, timeout=250
    )
    assert (ran.returncode, ran.stdout.split()) == (0, ["ValueError"] * 4), ran.stderr


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(
    "make",
    [itself, lambda: nested(10_000, 1), lambda: nested(DEEP, la.ones(2))],
    ids=["itself", "deep", "deep_array"],
)
def test_nested_lists(call, make, request):
    x = make()
    if "array_equal" in request.node.name:  # what can be no array is equal to nothing
        assert call(x) is False
        return
    with pytest.raises((ValueError, TypeError, IndexError, RecursionError)):
        call(x)


def test_as_deep_as_an_array_can_be():
    assert la.array(nested(63, la.ones(2))).ndim == 64
    assert la.array(nested(64, 1)).ndim == 64
    for x in (nested(64, la.ones(2)), nested(65, 1), nested(900, la.ones(2)), (1, itself())):
        with pytest.raises(
            ValueError, match=r"array element with a sequence|maximum supported dim"
        ):
            la.array(x)


class Arrays:
    def __array__(self, dtype=None, copy=None):
        return la.asarray(self).asnumpy()


class Lengths:
    def __len__(self):
        return len(self)

    def __getitem__(self, i):
        return self


class Capsules:
    def __dlpack__(self, **kwargs):
        return la.from_dlpack(self)

    def __dlpack_device__(self):
        return (1, 0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: la.array(Arrays()),
        lambda: la.ones(2) + Arrays(),
        lambda: la.array(Lengths()),
        lambda: la.from_dlpack(Capsules()),
    ],
)
def test_objects_that_call_back(call):
    with pytest.raises((RecursionError, ValueError, TypeError)):
        call()


# ---- long chains --------------------------------------------------------------------------------


def chain(x, n=DEEP):
    for _ in range(n):
        x = x + 1
    return x


LONG = 20_000  # of symbols, which take longer to build


@pytest.fixture(scope="module")
def symbol():
    return chain(la.sym.var("x"), LONG)


def test_a_long_symbol(symbol):
    text = symbol.tojson()
    again = la.sym.fromjson(text)
    assert again.tojson() == text
    printed = str(again.graph)
    assert f"%{LONG - 1} = add(%{LONG - 2}, 1)" in printed
    assert "<Symbol add" in repr(symbol)
    assert again.eval(x=la.ones(2))[0].asnumpy().tolist() == [LONG + 1.0] * 2


def test_copies_and_pickles_of_a_long_graph(symbol):
    graph = symbol.graph
    for again in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph)):
        assert str(again) == str(graph)


def test_text_takes_linear_time():
    """Bytecodes are counted, as clocks of shared machines tell little."""

    def steps(n):
        graph, found = chain(la.sym.var("x"), n).graph, 0

        def count(frame, event, arg):
            nonlocal found
            frame.f_trace_opcodes = True
            found += event == "opcode"
            return count

        before = sys.gettrace()
        sys.settrace(count)
        try:
            str(graph)
        finally:
            sys.settrace(before)
        return found

    assert 0 < steps(400) < 4.5 * steps(100)  # 16 times if it were quadratic


@pytest.mark.parametrize("op", [lambda y: y * 1.0, lambda y: y[::-1] + 0, la.sort])
def test_a_long_tape(op):
    x = la.ones(3)
    x.attach_grad()
    with la.autograd.record():
        y = x
        for _ in range(DEEP // 2):
            y = op(y)
    y.backward()
    assert x.grad.asnumpy().tolist() == [1, 1, 1]
    with la.autograd.record():
        y = x
        for _ in range(DEEP // 2):
            y = op(y)
    del y  # never walked


class Same(la.autograd.Function):
    def __init__(self, depth=0):
        super().__init__()
        self.depth = depth

    def forward(self, x):
        return x * 1 if self.depth == 0 else Same(self.depth - 1)(x)

    def backward(self, g):
        return g


def test_functions_nested_and_in_a_chain():
    x = la.ones(2)
    x.attach_grad()
    with la.autograd.record():
        y = Same(50)(x)
        for _ in range(3000):
            y = Same()(y)
        with pytest.raises(RecursionError):
            Same(DEEP)(x)
    y.backward()
    assert x.grad.asnumpy().tolist() == [1, 1]


def test_views_of_views_and_of_imports():
    x = la.arange(24.0).reshape(2, 3, 4)
    y = x
    for _ in range(DEEP // 2):
        y = y.T
    assert la.shares_memory(x, y) and y.shape == x.shape
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(copy.deepcopy(y))).asnumpy(), x.asnumpy()
    )
    z = x
    for _ in range(5000):
        z = la.from_dlpack(np.asarray(z, copy=False))
    assert la.shares_memory(x, z)


def test_nested_scopes():
    with ExitStack() as stack:
        for _ in range(DEEP // 10):
            for scope in (
                la.engine.bulk(10),
                la.no_sync(),
                la.cpu(1),
                la.autograd.record(),
                la.autograd.pause(),
            ):
                stack.enter_context(scope)
        x = la.ones(3) + 1
    assert x.asnumpy().tolist() == [2, 2, 2]


def test_compiled_functions():
    f = lambda x: x + 1  # noqa: E731
    for _ in range(200):
        f = la.compile((lambda g: lambda x: g(x) + 1)(f))
    assert f(la.ones(1)).item() == f(la.ones(1)).item() == 202

    @la.compile
    def endless(x):
        return endless(x) + 1

    with pytest.raises(RecursionError):
        endless(la.ones(1))
    assert la.compile(lambda x: chain(x, 20000))(la.ones(1)).item() == 20001


def test_a_chain_of_errors():
    y = chain(la.linalg.inv(la.zeros((2, 2))))
    with pytest.raises(np.linalg.LinAlgError):
        y.asnumpy()
