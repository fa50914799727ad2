"""Scopes that are left in another order than they were entered in: none stays open."""

import threading

import pytest

import lazyarray as la

SCOPES = {
    "devices": (lambda: la.cpu(1), lambda: la.cpu(2), lambda: str(la.ones(1).device)),
    "recording": (la.autograd.record, la.autograd.pause, la.autograd.is_recording),
    "training": (la.autograd.record, la.autograd.predict_mode, la.autograd.is_training),
}


def entered(scope):
    with scope:
        yield


@pytest.mark.parametrize("kind", SCOPES)
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_generators_that_hold_scopes(kind, order):
    one, two, seen = SCOPES[kind]
    before = seen()
    inside = [entered(one()), entered(two())]
    states = [next(scope) or seen() for scope in inside]
    assert states[0] != before
    list(inside[order[0]])
    assert seen() == states[1 - order[0]]  # that of who is still inside
    list(inside[order[1]])
    assert seen() == before


def test_three_scopes_in_each_order():
    for order in ((0, 1, 2), (1, 0, 2), (0, 2, 1), (2, 0, 1), (1, 2, 0)):
        inside = [entered(la.cpu(i)) for i in (1, 2, 3)]
        for scope in inside:
            next(scope)
        open_ = [1, 2, 3]
        for i in order:
            list(inside[i])
            open_.remove(i + 1)
            assert la.ones(1).device == la.cpu(open_[-1] if open_ else 0)


def test_waits_are_allowed_again():
    one, two = entered(la.no_sync()), entered(la.no_sync())
    next(one), next(two)
    list(one)
    with pytest.raises(RuntimeError, match="no_sync"):
        float(la.ones(3).sum() + la.ones(1)[0])
    list(two)
    assert float(la.ones(3).sum()) == 3


def test_one_scope_by_two_threads():
    scope, other = la.cpu(1), []
    scope.__enter__()

    def enter_and_leave():
        with scope:
            other.append(str(la.ones(1).device))
        other.append(str(la.ones(1).device))
        with pytest.raises(RuntimeError, match="left more often"):
            scope.__exit__(None, None, None)

    thread = threading.Thread(target=enter_and_leave)
    thread.start()
    thread.join()
    assert other == ["cpu(1)", "cpu(0)"]
    scope.__exit__(None, None, None)
    assert la.ones(1).device == la.cpu(0)


def test_bulk_sizes_of_two_threads():
    e = la.engine.get()
    before = e.bulk_size
    one, two = la.engine.bulk(8), la.engine.bulk(16)
    one.__enter__()
    for act in (two.__enter__, lambda: one.__exit__(None, None, None)):
        thread = threading.Thread(target=act)
        thread.start()
        thread.join()
    assert e.bulk_size == 16
    two.__exit__(None, None, None)
    assert e.bulk_size == before
    with pytest.raises(RuntimeError, match="left more often"):
        two.__exit__(None, None, None)
