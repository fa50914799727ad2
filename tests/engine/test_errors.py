"""Errors: raised at each wait, once at wait_for_all, propagated, noted, never swallowed."""

import contextlib
import inspect
import itertools
import os
import queue
import traceback

import pytest

from lazyarray.engine import FnProperty


class Boom(Exception):
    """Carries state, so that only the very object will do."""

    def __init__(self, code, extra=None):
        super().__init__(f"boom {code}")
        self.code, self.extra = code, extra


def fail(code):
    def fn(run_ctx):
        raise Boom(code, extra=[code])

    return fn


def here():
    """The caller's file:line in function, of the line after the call."""
    frame = inspect.currentframe().f_back
    return f"{os.path.basename(__file__)}:{frame.f_lineno + 1} in {frame.f_code.co_name}"


# --- waits ---------------------------------------------------------------------------------


def test_error_has_its_own_type_and_state_at_each_wait(threaded, cpu):
    var = threaded.new_variable()
    threaded.push_sync(fail(7), cpu, (), (var,))
    for _ in range(3):
        with pytest.raises(Boom) as info:
            threaded.wait_for_var(var)
        assert type(info.value) is Boom and info.value.code == 7 and info.value.extra == [7]


@pytest.mark.parametrize(
    "error", [SystemExit(5), KeyboardInterrupt(), GeneratorExit(), StopIteration(2)]
)
def test_any_exception_is_an_error(error, threaded, cpu):
    """A worker dies of none of them."""

    def fn(rc):
        raise error

    var = threaded.new_variable()
    threaded.push_sync(fn, cpu, (), (var,))
    with pytest.raises(type(error)):
        threaded.wait_for_var(var)
    again = threaded.new_variable()
    threaded.push_sync(lambda rc: None, cpu, (), (again,))
    threaded.wait_for_var(again)


def test_naive_engine_raises_at_the_call(naive, cpu):
    var = naive.new_variable()
    with pytest.raises(Boom) as info:
        naive.push_sync(fail(3), cpu, (), (var,))
    assert info.value.code == 3
    op = naive.new_operator(fail(4), (), (naive.new_variable(),))
    with pytest.raises(Boom) as info:
        naive.push(op, cpu)
    assert info.value.code == 4


def test_naive_engine_keeps_the_error_too(naive, cpu):
    """The result is the same for every engine type: what depends on it is not computed."""
    a, b, ran = naive.new_variable(), naive.new_variable(), []
    with pytest.raises(Boom):
        naive.push_sync(fail(3), cpu, (), (a,))
    try:
        naive.push_sync(lambda rc: ran.append(1), cpu, (a,), (b,))
    except Boom:
        pass
    assert ran == []
    for var in (a, b):
        with pytest.raises(Boom):
            naive.wait_for_var(var)


def test_error_reaches_every_waiter(threaded, cpu, block, spawn):
    var, start = threaded.new_variable(), threaded.new_variable()
    gate = block(threaded, cpu, (), (start,))
    threaded.push_sync(fail(1), cpu, (start,), (var,))

    def wait():
        with pytest.raises(Boom):
            threaded.wait_for_var(var)
        return 1

    waiters = [spawn(wait) for _ in range(6)]
    gate.set()
    assert [w.finish() for w in waiters] == [1] * 6


def test_all_outputs_are_poisoned_and_no_input_is(threaded, cpu):
    e = threaded
    read, outs, other = e.new_variable(), [e.new_variable() for _ in range(3)], e.new_variable()
    e.push_sync(fail(1), cpu, (read,), outs)
    e.push_sync(lambda rc: None, cpu, (read,), (other,))
    for var in outs:
        with pytest.raises(Boom):
            e.wait_for_var(var)
    e.wait_for_var(read)
    e.wait_for_var(other)


# --- propagation ---------------------------------------------------------------------------


def test_error_propagates_through_a_chain(threaded, cpu):
    e, ran = threaded, []
    vs = [e.new_variable() for _ in range(6)]
    e.push_sync(fail(1), cpu, (), (vs[0],))
    for a, b in itertools.pairwise(vs):
        e.push_sync(lambda rc: ran.append(1), cpu, (a,), (b,))
    for var in reversed(vs):
        for _ in range(2):
            with pytest.raises(Boom):
                e.wait_for_var(var)
    assert ran == []


def test_mutable_is_read_and_write(threaded, cpu):
    """An op that writes a poisoned var has read it: it is skipped and poisons its other outputs."""
    e, ran = threaded, []
    bad, other = e.new_variable(), e.new_variable()
    e.push_sync(fail(1), cpu, (), (bad,))
    e.push_sync(lambda rc: ran.append(1), cpu, (), (other, bad))
    for var in (bad, other):
        with pytest.raises(Boom):
            e.wait_for_var(var)
    assert ran == [] and (bad.version, other.version) == (2, 1)


def test_siblings_before_and_after_are_not_poisoned(threaded, cpu):
    e, ran = threaded, []
    source, bad, good = e.new_variable(), e.new_variable(), e.new_variable()
    e.push_sync(lambda rc: ran.append("before"), cpu, (source,), (good,))
    e.push_sync(fail(1), cpu, (source,), (bad,))
    e.push_sync(lambda rc: ran.append("after"), cpu, (source,), (good,))
    e.wait_for_var(good)
    assert ran == ["before", "after"]
    with pytest.raises(Boom):
        e.wait_for_var(bad)


def test_op_that_ran_before_the_failure_keeps_its_value(threaded, cpu, block):
    """Poison follows program order: a read pushed before the failing write is not skipped."""
    e, ran = threaded, []
    var, out = e.new_variable(), e.new_variable()
    gate = block(e, cpu, (), (var,))
    e.push_sync(lambda rc: ran.append(1), cpu, (var,), (out,))
    e.push_sync(fail(1), cpu, (), (var,))
    gate.set()
    with pytest.raises(Boom):
        e.wait_for_var(var)
    e.wait_for_var(out)
    assert ran == [1]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_op_with_two_poisoned_inputs_has_one_of_the_errors(order, threaded, cpu):
    e = threaded
    vs, out = [e.new_variable(), e.new_variable()], e.new_variable()
    for i in order:
        e.push_sync(fail(i), cpu, (), (vs[i],))
    e.push_sync(lambda rc: None, cpu, vs, (out,))
    with pytest.raises(Boom) as first:
        e.wait_for_var(out)
    with pytest.raises(Boom) as second:
        e.wait_for_var(out)
    assert first.value.code == second.value.code


# --- wait_for_all --------------------------------------------------------------------------


def test_wait_for_all_raises_once(threaded, cpu):
    var = threaded.new_variable()
    threaded.push_sync(fail(1), cpu, (), (var,))
    with pytest.raises(Boom):
        threaded.wait_for_all()
    threaded.wait_for_all()
    with pytest.raises(Boom):
        threaded.wait_for_var(var)
    threaded.wait_for_all()


def test_wait_for_all_raises_the_first_in_push_order(threaded, cpu, gate):
    """Whichever failed first; and it clears the whole list."""
    e, second_failed = threaded, gate()
    a, b = e.new_variable(), e.new_variable()

    def first(rc):
        second_failed.wait()
        raise Boom(1)

    def second(rc):
        raise Boom(2)

    e.push_sync(first, cpu, (), (a,))
    e.push_sync(second, cpu, (), (b,))
    e.push_sync(lambda rc: second_failed.set(), cpu, (b,), (), prop=FnProperty.NO_SKIP)
    with pytest.raises(Boom) as info:
        e.wait_for_all()
    assert info.value.code == 1
    e.wait_for_all()
    with pytest.raises(Boom) as info:
        e.wait_for_var(b)
    assert info.value.code == 2


def test_wait_for_all_raises_what_no_wait_has_raised(threaded, cpu):
    e = threaded
    a, b, c = (e.new_variable() for _ in range(3))
    for i, var in enumerate((a, b, c)):
        e.push_sync(fail(i), cpu, (), (var,))
    with pytest.raises(Boom):
        e.wait_for_var(a)
    with pytest.raises(Boom) as info:
        e.wait_for_all()
    assert info.value.code == 1
    e.wait_for_all()


def test_error_raised_through_a_dependent_is_observed(threaded, cpu):
    e = threaded
    a, b = e.new_variable(), e.new_variable()
    e.push_sync(fail(1), cpu, (), (a,))
    e.push_sync(lambda rc: None, cpu, (a,), (b,))
    with pytest.raises(Boom):
        e.wait_for_var(b)
    e.wait_for_all()


def test_skipped_ops_add_no_errors_of_their_own(threaded, cpu):
    e = threaded
    a = e.new_variable()
    e.push_sync(fail(1), cpu, (), (a,))
    for _ in range(5):
        e.push_sync(lambda rc: None, cpu, (a,), (e.new_variable(),))
    with pytest.raises(Boom):
        e.wait_for_all()
    e.wait_for_all()


def test_error_of_an_op_without_vars(threaded, cpu):
    """No var carries it, wait_for_all does."""
    threaded.push_sync(fail(1), cpu)
    with pytest.raises(Boom):
        threaded.wait_for_all()
    threaded.wait_for_all()


def test_wait_for_all_finishes_everything_before_it_raises(threaded, cpu, gate):
    e, go, ran = threaded, gate(), []
    e.push_sync(fail(1), cpu)
    e.push_sync(lambda rc: (go.wait(), ran.append(1)), cpu)
    e.push_sync(lambda rc: go.set(), cpu)
    with pytest.raises(Boom):
        e.wait_for_all()
    assert ran == [1]


def test_error_of_a_deleted_var_is_not_swallowed(threaded, cpu):
    var = threaded.new_variable()
    threaded.push_sync(fail(1), cpu, (), (var,))
    threaded.delete_variable(None, cpu, var)
    with pytest.raises(Boom):
        threaded.wait_for_all()


def test_engines_do_not_share_errors(threaded, make_engine, cpu):
    other = make_engine()
    threaded.push_sync(fail(1), cpu)
    other.wait_for_all()
    with pytest.raises(Boom):
        threaded.wait_for_all()


# --- throw ---------------------------------------------------------------------------------


def test_throw_raises_what_the_var_holds(threaded, cpu, pass_through):
    e, failed = threaded, queue.SimpleQueue()
    var = e.new_variable()
    e.throw(var)
    e.push_sync(fail(1), cpu, (), (var,))
    e.push_sync(lambda rc: failed.put(1), cpu, (var,), (), prop=FnProperty.NO_SKIP)
    failed.get(timeout=20)
    for _ in range(2):
        with pytest.raises(Boom):
            e.throw(var)
    with pytest.raises(Boom):  # throwing is no wait: the list still has it
        e.wait_for_all()
    with pytest.raises(Boom):
        e.throw(var)


def test_throw_does_not_wait(threaded, cpu, gate):
    go, var = gate(), threaded.new_variable()

    def fn(rc):
        go.wait()
        raise Boom(1)

    threaded.push_sync(fn, cpu, (), (var,))
    threaded.throw(var)
    go.set()
    with pytest.raises(Boom):
        threaded.wait_for_var(var)
    with pytest.raises(Boom):
        threaded.throw(var)


# --- notes ---------------------------------------------------------------------------------


def notes_of(error):
    return "\n".join(getattr(error, "__notes__", ()))


def test_note_says_where_it_was_pushed_and_its_name(threaded, cpu):
    var = threaded.new_variable()
    where = here()
    threaded.push_sync(fail(1), cpu, (), (var,), name="the culprit")
    with pytest.raises(Boom) as info:
        threaded.wait_for_var(var)
    assert where in notes_of(info.value) and "the culprit" in notes_of(info.value)


def test_note_of_an_async_op(threaded, cpu):
    var = threaded.new_variable()
    where = here()
    threaded.push_async(lambda rc, oc: oc(Boom(1)), cpu, (), (var,), name="the culprit")
    with pytest.raises(Boom) as info:
        threaded.wait_for_var(var)
    assert where in notes_of(info.value) and "the culprit" in notes_of(info.value)


def test_note_of_an_operator_is_its_push(threaded, cpu):
    var = threaded.new_variable()
    op = threaded.new_operator(fail(1), (), (var,), name="the culprit")
    where = here()
    threaded.push(op, cpu)
    with pytest.raises(Boom) as info:
        threaded.wait_for_var(var)
    assert where in notes_of(info.value) and "the culprit" in notes_of(info.value)


def test_note_of_a_deletion(threaded, cpu):
    var = threaded.new_variable()
    where = here()
    threaded.delete_variable(fail(1), cpu, var)
    with pytest.raises(Boom) as info:
        threaded.wait_for_all()
    assert where in notes_of(info.value)


def test_note_in_the_naive_engine(naive, cpu):
    with pytest.raises(Boom) as info:
        naive.push_sync(fail(1), cpu, name="the culprit")
    assert os.path.basename(__file__) in notes_of(info.value)
    assert "the culprit" in notes_of(info.value)


def test_note_at_a_dependent_names_the_op_that_failed(threaded, cpu):
    e = threaded
    a, b = e.new_variable(), e.new_variable()
    where = here()
    e.push_sync(fail(1), cpu, (), (a,), name="the culprit")
    e.push_sync(lambda rc: None, cpu, (a,), (b,), name="the bystander")
    with pytest.raises(Boom) as info:
        e.wait_for_var(b)
    assert where in notes_of(info.value) and "the culprit" in notes_of(info.value)


def test_notes_do_not_pile_up(threaded, cpu):
    e = threaded
    a, b = e.new_variable(), e.new_variable()
    where = here()
    e.push_sync(fail(1), cpu, (), (a,))
    e.push_sync(lambda rc: None, cpu, (a,), (b,))
    for var in (a, b, a, b):
        with pytest.raises(Boom) as info:
            e.wait_for_var(var)
    assert notes_of(info.value).count(where) == 1


def test_traceback_shows_the_line_that_failed(threaded, cpu):
    var = threaded.new_variable()
    threaded.push_sync(fail(1), cpu, (), (var,))
    for _ in range(2):
        with pytest.raises(Boom) as info:
            threaded.wait_for_var(var)
        text = "".join(traceback.format_exception(info.value))
        assert text.count("raise Boom(code, extra=[code])") == 1


def with_a_comprehension(n):
    return [k // 0 for k in range(n)]


def with_cells(n):
    given = [n]
    return [(lambda: given[k] // 0)() for k in range(n)]


def with_a_block(n):
    with contextlib.suppress(KeyError):
        return {k: n // k for k in range(n)}


def generating(n):
    yield from (n // k for k in range(n))


@pytest.mark.parametrize(
    "work", [with_a_comprehension, with_cells, with_a_block, lambda n: list(generating(n))]
)
def test_frames_of_all_kinds_of_functions_are_kept(threaded, cpu, work):
    var = threaded.new_variable()
    threaded.push_sync(lambda _: work(1), cpu, (), (var,))
    with pytest.raises(ZeroDivisionError) as info:
        threaded.wait_for_var(var)
    with pytest.raises(ZeroDivisionError) as directly:
        work(1)

    def lines(error):
        return [(f.name, f.lineno, f.colno, f.end_colno) for f in traceback.extract_tb(error)]

    own = lines(directly.value.__traceback__)[1:]
    assert lines(info.value.__traceback__)[-len(own) :] == own


def test_traceback_does_not_grow_with_the_waits(threaded, cpu):
    """The same object raised a thousand times must not collect a thousand frames."""
    var = threaded.new_variable()
    threaded.push_sync(fail(1), cpu, (), (var,))
    depth = set()
    for _ in range(50):
        try:
            threaded.wait_for_var(var)
        except Boom as error:
            depth.add(len(traceback.extract_tb(error.__traceback__)))
    assert len(depth) == 1


def test_waiters_in_different_threads_do_not_share_a_traceback(threaded, cpu, spawn):
    """Two threads raise it at once; neither may lose the note or the origin."""
    var = threaded.new_variable()
    threaded.push_sync(fail(1), cpu, (), (var,), name="the culprit")

    def wait():
        texts = []
        for _ in range(50):
            try:
                threaded.wait_for_var(var)
            except Boom as error:
                texts.append("".join(traceback.format_exception(error)))
        return texts

    for waiter in [spawn(wait) for _ in range(4)]:
        texts = waiter.finish()
        assert len(texts) == 50
        assert all("the culprit" in t and "raise Boom(code, extra=[code])" in t for t in texts)


def test_a_raise_leaves_no_context_for_the_next(threaded, cpu):
    """The exception is shared by all waits; what one waiter was handling is its own matter."""
    var = threaded.new_variable()
    threaded.push_sync(fail(1), cpu, (), (var,))
    try:
        raise KeyError("mine")
    except KeyError:
        with pytest.raises(Boom):
            threaded.wait_for_var(var)
    with pytest.raises(Boom) as again:
        threaded.wait_for_var(var)
    assert again.value.__context__ is None


def test_an_engine_that_goes_away_prints_what_nobody_saw(script):
    run = script("""
e = engine.ThreadedEnginePooled(num_workers=1)
def bad(rc):
    raise LookupError("unseen")
e.push_sync(bad, cpu)
del e
print("on")
""")
    assert run.stdout.strip() == "on"
    assert run.stderr.count("LookupError: unseen") == 1
    assert "in bad" in run.stderr
    assert "raise_error" not in run.stderr
