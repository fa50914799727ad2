"""Every way in which an op can fail, and what is left of it: nothing, once its arrays are gone."""

import asyncio
import contextlib
import gc
import threading
import time
import traceback

import numpy as np
import pytest

import lazyarray as la

N = 1 << 17  # of doubles: 1 MB
FAILURES = Exception


class Refusing(Exception):
    """Can't be made again of its arguments."""

    def __new__(cls, one, two):
        return super().__new__(cls)

    def __init__(self, one, two):
        super().__init__(one)


def push(fn, how="push_sync", var=None, **kwargs):
    x = la.zeros(N)
    getattr(la.engine.get(), how)(fn(x), la.cpu(0), mutable_vars=[x.var], **kwargs)
    return x


def raising(x):
    def f(ctx, *done):
        raise ValueError("no")

    return f


def closing_over(x):
    def f(ctx, *done):
        raise ValueError(x.shape)

    return f


def with_a_cause(x):
    def f(ctx, *done):
        mine = x
        try:
            raise KeyError("first")
        except KeyError as exc:
            raise ValueError(mine.shape) from exc

    return f


def refusing(x):
    def f(ctx, *done):
        raise Refusing(x.shape, 2)

    return f


def lacking(x):
    return lambda ctx, *done: x.nothing


def told(x):
    def f(ctx, done):
        try:
            raise ValueError(x.shape)
        except ValueError as exc:
            done(exc)

    return f


tellers = []


def told_later(x):
    def f(ctx, done):
        def later():
            try:
                raise ValueError(x.shape)
            except ValueError as exc:
                done(exc)

        teller = threading.Thread(target=later)
        tellers.append(teller)
        teller.start()

    return f


def forgotten(x):
    return lambda ctx, done: x.shape


def group(x):
    def f(ctx, *done):
        try:
            raise KeyError(x.shape)
        except KeyError as exc:
            raise ExceptionGroup("both", [exc])  # noqa: B904

    return f


CALLABLES = (raising, closing_over, with_a_cause, refusing, lacking, group)


def gradient():
    class Bad(la.autograd.Function):
        def forward(self, x):
            self.x = x
            return x * 2

        def backward(self, g):
            raise ValueError(self.x.shape)

    x = la.ones(N)
    x.attach_grad()
    with la.autograd.record():
        y = Bad()(x).sum()
    y.backward()
    return x.grad


def forward():
    class Bad(la.autograd.Function):
        def forward(self, x):
            raise ValueError(x.shape)

    x = la.ones(N)
    x.attach_grad()
    with la.autograd.record():
        Bad()(x)


def bound(bad):
    s = la.sym.var("x")
    y = la.sym.log(s) if bad is None else la.sym.take(s, la.sym.var("i"))
    given = {"x": la.ones(N)}
    if bad is not None:
        given["i"] = la.array([bad])
    return y.bind(la.cpu(0), given).forward()[0]


def compiled():
    @la.compile
    def f(x, i):
        return la.take(x, i) + 1

    for i in (0, 1):
        f(la.ones(N), la.array([i])).asnumpy()
    return f(la.ones(N), la.array([N]))


def captured():
    @la.compile
    def f(x):
        raise ValueError(x.shape)

    return f(la.ones(N))


def awaited():
    async def main():
        x = push(closing_over)
        await x

    asyncio.run(main())


def deletion():
    e = la.engine.get()
    x = la.zeros(N)
    v = e.new_variable()
    e.delete_variable(lambda ctx: x.nothing, la.cpu(0), v)
    e.wait_for_all()


def no_values():
    with np.errstate(divide="raise"):
        return la.ones(N) / la.zeros(N)


WAYS = {
    **{f"push_sync {f.__name__}": lambda f=f: push(f) for f in CALLABLES},
    **{f"push_async {f.__name__}": lambda f=f: push(f, "push_async") for f in CALLABLES},
    **{f.__name__: lambda f=f: push(f, "push_async") for f in (told, told_later, forgotten)},
    "poisson": lambda: la.random.poisson(-la.ones(N)),
    "choice": lambda: la.random.choice(N, size=N, p=la.ones(N)),
    "multinomial": lambda: la.random.multinomial(3, la.ones(N)),
    "generator": lambda: la.random.default_rng(1).poisson(-la.ones(N)),
    "normal": lambda: la.random.normal(la.zeros(N), -la.ones(N)),
    "index": lambda: la.ones(N)[la.array([N])],
    "assignment": lambda: la.ones(N).__setitem__(la.array([N]), 1),
    "singular": lambda: la.linalg.inv(la.zeros((360, 360))),
    "svd": lambda: la.linalg.svd(la.full((360, 360), np.nan)),
    "power": lambda: la.full(N, 2) ** la.full(N, -1),
    "flags": no_values,
    "along": lambda: la.apply_along_axis(lambda row: row.nothing, 0, la.ones((N, 1))),
    "vectorized": lambda: la.vectorize(lambda v: v.nothing)(la.ones(N)),
    "fromfunction": lambda: la.fromfunction(lambda i: i.nothing, (N,)),
    "gradient": gradient,
    "forward": forward,
    "executor": lambda: bound(N),
    "compiled": compiled,
    "captured": captured,
    "awaited": awaited,
    "deletion": deletion,
    "memory": lambda: la.ones(1 << 50),
    "bytes": lambda: la.frombuffer(b"", "f8", 7),
    "json": lambda: la.sym.fromjson("{"),
}


def in_use():
    while tellers:
        tellers.pop().join()
    for _ in range(20):  # what the tellers let go of goes with a wait, too
        with contextlib.suppress(FAILURES):
            la.waitall()
    gc.collect()
    return la.storage.pool_stats()["in_use"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_failure_keeps_nothing(way):
    def fail():
        try:
            x = way()
            if isinstance(x, tuple):
                x = x[0]
            y = x + 1  # what depends on it, too
            y.asnumpy()
        except FAILURES:
            return True
        return False

    fail()  # what is made once
    before = in_use()
    for _ in range(5):
        failed = fail()
    if way is not WAYS["assignment"] and way is not WAYS["deletion"]:
        assert failed
    for _ in range(100):  # a worker may still be letting go of what it ran
        if in_use() - before < 8 * N:
            break
        time.sleep(0.01)
    assert in_use() - before < 8 * N  # not one array


def test_the_lines_of_what_failed_are_told():
    def inner(x):
        raise ValueError("no")

    def outer(x):
        def f(ctx):
            own = x.shape
            inner(own)

        return f

    x = push(outer)
    for _ in range(2):
        with pytest.raises(ValueError, match="no") as told:
            x.asnumpy()
        text = "".join(traceback.format_exception(told.value))
        assert 'raise ValueError("no")' in text and "inner(own)" in text
        at = told.value.__traceback__
        while at.tb_next is not None:
            at = at.tb_next
        assert at.tb_frame.f_code.co_name == "inner" and not at.tb_frame.f_locals


def test_the_users_own_exception_is_left_as_it_was():
    mine = []

    def make(x):
        def f(ctx, done):
            try:
                raise ValueError("no")
            except ValueError as exc:
                mine.append(exc)
                done(exc)

        return f

    with pytest.raises(ValueError, match="no"):
        push(make, "push_async").asnumpy()
    (exc,) = mine
    assert not hasattr(exc, "__notes__")
    assert "ctx" in exc.__traceback__.tb_frame.f_locals
