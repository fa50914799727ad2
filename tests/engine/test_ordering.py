"""Program order per variable: the hazards, duplicate vars, versions, long chains."""

import gc
import threading

import pytest

from lazyarray.engine import FnProperty


def test_read_after_write(threaded, cpu, block, pass_through):
    """RAW."""
    e, seen = threaded, []
    var = e.new_variable()
    gate = block(e, cpu, (), (var,))
    e.push_sync(lambda rc: seen.append("read"), cpu, (var,))
    pass_through(e, cpu)
    assert seen == []
    gate.set()
    e.wait_for_all()
    assert seen == ["read"]


def test_write_after_read(threaded, cpu, block, pass_through):
    """WAR."""
    e, seen = threaded, []
    var = e.new_variable()
    gate = block(e, cpu, (var,))
    e.push_sync(lambda rc: seen.append("write"), cpu, (), (var,))
    pass_through(e, cpu)
    assert seen == []
    gate.set()
    e.wait_for_all()
    assert seen == ["write"]


def test_write_after_write(threaded, cpu, block, pass_through):
    """WAW."""
    e, seen = threaded, []
    var = e.new_variable()
    gate = block(e, cpu, (), (var,))
    e.push_sync(lambda rc: seen.append("write"), cpu, (), (var,))
    pass_through(e, cpu)
    assert seen == []
    gate.set()
    e.wait_for_all()
    assert seen == ["write"]


@pytest.mark.parametrize("kind", ["ThreadedEnginePooled", "ThreadedEnginePerDevice"])
def test_reads_run_together(kind, make_engine, cpu):
    e = make_engine(kind, 3)
    var = e.new_variable()
    for _ in range(3):  # the second and third time there are writes in between
        meet = threading.Barrier(3)
        for _ in range(3):
            e.push_sync(lambda rc, meet=meet: meet.wait(20), cpu, (var,))
        e.push_sync(lambda rc: None, cpu, (), (var,))
    e.wait_for_all()


def test_read_behind_a_waiting_write_does_not_overtake_it(threaded, cpu, block, pass_through):
    """Else a stream of reads would starve the write, and read what comes before it."""
    e, log = threaded, []
    var = e.new_variable()
    gate = block(e, cpu, (var,))
    e.push_sync(lambda rc: log.append("write"), cpu, (), (var,))
    e.push_sync(lambda rc: log.append("read"), cpu, (var,))
    pass_through(e, cpu)
    assert log == []
    gate.set()
    e.wait_for_all()
    assert log == ["write", "read"]


def test_order_holds_across_devices_and_kinds(threaded, cpu, cpu1):
    """The queues differ, the variable is the same."""
    e, log = threaded, []
    var = e.new_variable()
    P = FnProperty
    props = [P.NORMAL, P.CPU_PRIORITIZED, P.COPY_TO_GPU, P.ASYNC, P.GPU_PRIORITIZED, P.NO_SKIP]
    for i in range(300):
        e.push_sync(
            lambda rc, i=i: log.append(i),
            (cpu, cpu1)[i % 2],
            (),
            (var,),
            prop=props[i % len(props)],
            priority=i % 7,
        )
    e.wait_for_var(var)
    assert log == list(range(300))


def test_op_waits_for_all_its_vars(threaded, cpu, make_engine, block, pass_through):
    e = make_engine(type(threaded).__name__, 3)
    a, b, out = e.new_variable(), e.new_variable(), e.new_variable()
    seen = []
    first, second = block(e, cpu, (), (a,)), block(e, cpu, (b,), ())
    e.push_sync(lambda rc: seen.append(1), cpu, (a,), (b, out))
    first.set()
    e.wait_for_var(a)
    pass_through(e, cpu)
    assert seen == []
    second.set()
    e.wait_for_var(out)
    assert seen == [1]


# --- the same var more than once -----------------------------------------------------------


@pytest.mark.parametrize(
    "const, mutable, writes",
    [("vv", "", 0), ("", "vv", 1), ("v", "v", 1), ("vv", "vvv", 1), ("vuv", "uu", 0)],
)
def test_duplicates_are_one(const, mutable, writes, any_engine, cpu):
    """Counted twice, an op would wait for itself, or release what it does not hold."""
    e = any_engine
    var = {"v": e.new_variable(), "u": e.new_variable()}
    n = 50
    for _ in range(n):
        e.push_sync(lambda rc: None, cpu, [var[c] for c in const], [var[c] for c in mutable])
    e.wait_for_var(var["v"])
    e.wait_for_all()
    assert var["v"].version == n * writes
    e.push_sync(lambda rc: None, cpu, (), (var["v"], var["u"]))
    e.wait_for_all()
    assert var["v"].version == n * writes + 1


def test_duplicates_in_a_reusable_operator(any_engine, cpu):
    e = any_engine
    v, u = e.new_variable(), e.new_variable()
    op = e.new_operator(lambda rc: None, (v, u, u, v), (v, v))
    for _ in range(50):
        e.push(op, cpu)
    e.wait_for_all()
    assert (v.version, u.version) == (50, 0)


def test_var_in_both_sets_is_a_write(threaded, cpu, block, pass_through):
    """It excludes readers and is excluded by them."""
    e, log = threaded, []
    var = e.new_variable()
    gate = block(e, cpu, (var,))
    e.push_sync(lambda rc: log.append("both"), cpu, (var,), (var,))
    pass_through(e, cpu)
    assert log == []
    gate.set()
    e.wait_for_var(var)
    assert log == ["both"]

    gate = block(e, cpu, (var,), (var,))
    e.push_sync(lambda rc: log.append("read"), cpu, (var,))
    pass_through(e, cpu)
    assert log == ["both"]
    gate.set()
    e.wait_for_all()
    assert log == ["both", "read"]


# --- versions ------------------------------------------------------------------------------


def test_reads_leave_the_version(any_engine, cpu):
    e = any_engine
    var = e.new_variable()
    assert var.version == 0
    for _ in range(10):
        e.push_sync(lambda rc: None, cpu, (var,))
    e.wait_for_all()
    assert var.version == 0


def test_each_write_is_one_version(any_engine, cpu):
    e, seen = any_engine, []
    a, b = e.new_variable(), e.new_variable()
    for _ in range(10):
        e.push_sync(lambda rc: seen.append(a.version), cpu, (), (a,))
        e.push_sync(lambda rc: None, cpu, (a,), (b,))
    e.wait_for_all()
    assert (a.version, b.version) == (10, 10)
    assert seen == list(range(10)), "an op sees the writes completed before it"


def test_failed_and_skipped_writes_are_versions(threaded, cpu):
    e = threaded
    a, b = e.new_variable(), e.new_variable()
    e.push_sync(lambda rc: None, cpu, (), (a,))
    e.push_sync(lambda rc: 1 / 0, cpu, (), (a,))
    e.push_sync(lambda rc: None, cpu, (), (a,))  # skipped
    e.push_sync(lambda rc: None, cpu, (a,), (b,))  # skipped
    for var in (a, b):
        with pytest.raises(ZeroDivisionError):
            e.wait_for_var(var)
    assert (a.version, b.version) == (3, 1)


def test_failed_write_is_a_version_in_the_naive_engine(naive, cpu):
    var = naive.new_variable()
    with pytest.raises(ZeroDivisionError):
        naive.push_sync(lambda rc: 1 / 0, cpu, (), (var,))
    assert var.version == 1


def test_version_is_read_only(any_engine):
    var = any_engine.new_variable()
    with pytest.raises(AttributeError):
        var.version = 3


# --- size ----------------------------------------------------------------------------------


def test_long_chain(any_engine, cpu):
    """The sum is wrong if any two of the increments overlap or swap."""
    e, box = any_engine, [1]
    var = e.new_variable()
    n = 3000

    def step(rc, i):
        box[0] = (box[0] * 31 + i) % 1000003

    for i in range(n):
        e.push_sync(lambda rc, i=i: step(rc, i), cpu, (), (var,))
    e.wait_for_var(var)
    want = 1
    for i in range(n):
        want = (want * 31 + i) % 1000003
    assert box == [want] and var.version == n


def test_many_vars_in_one_push(any_engine, cpu):
    e = any_engine
    reads = [e.new_variable() for _ in range(700)]
    writes = [e.new_variable() for _ in range(700)]
    for _ in range(5):
        e.push_sync(lambda rc: None, cpu, reads, writes)
        e.push_sync(lambda rc: None, cpu, writes[::2], reads[::2])
    e.wait_for_all()
    assert {v.version for v in writes} == {5}
    assert [v.version for v in reads] == [5, 0] * 350


def test_vars_may_come_from_any_iterable(any_engine, cpu):
    e = any_engine
    vs = [e.new_variable() for _ in range(4)]
    e.push_sync(lambda rc: None, cpu, (v for v in vs[:2]), iter(vs[2:]))
    e.push_sync(lambda rc: None, cpu, set(vs[:2]), dict.fromkeys(vs[2:]))
    e.wait_for_all()
    assert [v.version for v in vs] == [0, 0, 2, 2]


def test_inline_ops_do_not_nest_on_the_stack(threaded, cpu, block):
    """Released at once, a chain of ops that run where they become ready must not recurse."""
    e, count = threaded, [0]
    var = e.new_variable()
    gate = block(e, cpu, (), (var,))

    def step(rc):
        count[0] += 1

    for _ in range(20000):
        e.push_sync(step, cpu, (), (var,), prop=FnProperty.ASYNC)
    gate.set()
    e.wait_for_var(var)
    assert count == [20000]


def test_fan_out_and_in(any_engine, cpu):
    e = any_engine
    root, leaves, end = e.new_variable(), [e.new_variable() for _ in range(300)], e.new_variable()
    box = {"root": 0, "sum": 0}
    parts = [0] * 300

    e.push_sync(lambda rc: box.__setitem__("root", 5), cpu, (), (root,))
    for i, leaf in enumerate(leaves):
        e.push_sync(lambda rc, i=i: parts.__setitem__(i, box["root"] + i), cpu, (root,), (leaf,))
    e.push_sync(lambda rc: box.__setitem__("sum", sum(parts)), cpu, leaves, (end,))
    e.wait_for_var(end)
    assert box["sum"] == 300 * 5 + sum(range(300))


def test_var_dropped_while_an_op_on_it_is_pending(threaded, cpu, block):
    """The handle may go; the variable stays as long as an op needs it."""
    e, log = threaded, []
    var = e.new_variable()
    gate = block(e, cpu, (), (var,))
    e.push_sync(lambda rc: log.append(1), cpu, (var,))
    e.push_sync(lambda rc: log.append(2), cpu, (), (var,))
    del var
    gc.collect()
    for _ in range(100):  # a block reused too early would be one of these
        e.push_sync(lambda rc: None, cpu, (), (e.new_variable(),))
    gate.set()
    e.wait_for_all()
    assert log == [1, 2]
