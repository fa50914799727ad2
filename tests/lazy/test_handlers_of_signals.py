"""What other threads, finalizers and handlers of signals do between an op's call and its run."""

import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import lazyarray as la

pytestmark = pytest.mark.host

BEGIN = """
import gc, signal, sys, time
import numpy as np, lazyarray as la

class Alarm(Exception):
    pass

def ring(number, frame):
    raise WHAT
signal.signal(signal.SIGALRM, ring)
"""


def ran(program, **texts):
    text = textwrap.dedent(BEGIN) + textwrap.dedent(program)
    for name, value in texts.items():
        text = text.replace(name, value)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=250)
    return done.returncode, done.stdout, done.stderr


def test_a_finalizer_writes_to_an_operand_that_numpy_is_about_to_read():
    # The collector runs as the call's operands are made. The writer's worker needs the GIL, which
    # the caller kept.
    code, out, errors = ran(
        """
        x = la.array(np.arange(20000.0))
        done = []
        class Late:
            def __init__(self):
                self.me = self
            def __del__(self):
                if not done:
                    done.append(1)
                    la.engine.get().push_sync(
                        lambda c: time.sleep(0.02), la.cpu(0), mutable_vars=[x.var])
        for i in range(40):
            done.clear()
            gc.collect()
            Late()
            gc.set_threshold(1 + i % 30, 1, 1)
            y = la.insert(x, [1, 2], [3.0, 4.0])
            gc.set_threshold(100000)
            assert y[:4].tolist() == [0, 3, 1, 4], y[:4]
        print("all")
        """
    )
    assert out == "all\n", errors
    assert code == 0


@pytest.mark.parametrize(
    "call", ["nanmedian(y)", "polyfit(y, y, 3)", "insert(y, [1, 2], [3.0, 4.0])"]
)
def test_what_a_handler_raises_in_a_call_of_numpys_is_raised(call):
    code, out, errors = ran(
        """
        y = la.array(np.random.rand(300))
        caught = 0
        def calls():  # in a function: Python 3.13.0 catches nothing as a loop jumps back
            start = time.perf_counter()
            while time.perf_counter() - start < 5:
                la.CALL
        for i in range(10):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.003)
                calls()
            except Alarm:
                caught += 1
        print(caught)
        """,
        WHAT="Alarm",
        CALL=call,
    )
    assert out == "10\n", errors
    assert code == 0


@pytest.mark.parametrize("call", ["nanmedian(y, out=o)", "nanmedian(z).wait_to_read()"])
def test_a_handler_exits_while_a_call_is_made(call):
    code, out, errors = ran(
        """
        y, z = la.array(np.random.rand(300)), la.array(np.random.rand(200_000))
        o = la.zeros(())
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        start = time.perf_counter()
        while time.perf_counter() - start < 10:
            la.CALL
        print("never stopped")
        """,
        WHAT="SystemExit(3)",
        CALL=call,
    )
    assert (code, out) == (3, ""), errors


def test_an_alarm_while_a_result_is_waited_for_does_not_fail_it():
    code, out, errors = ran(
        """
        z = la.array(np.random.rand(100_000))
        want = np.nanmedian(z.asnumpy())
        rung = 0
        for i in range(8):
            r = la.nanmedian(z * 1.0)
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0005 * (i + 1))
                r.asnumpy()
                time.sleep(0.02)
            except Alarm:
                rung += 1
            assert r.asnumpy() == want
        print(rung)
        """,
        WHAT="Alarm",
    )
    assert out == "8\n", errors
    assert code == 0


def test_an_alarm_in_a_wait_that_ends_with_an_error_is_heard():
    code, out, errors = ran(
        """
        def late(ctx):
            time.sleep(0.02)
            raise KeyError("of the op")

        rung = 0
        for i in range(8):
            x = la.ones(1000)
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.001 * (i + 1))
                la.engine.get().push_sync(late, la.cpu(), (), [x.var])
                try:
                    x.wait_to_read()
                except KeyError:
                    time.sleep(0.02)
            except Alarm:
                rung += 1
        print(rung)
        """,
        WHAT="Alarm",
    )
    assert (code, out) == (0, "8\n"), errors


def test_what_a_users_function_raises_is_the_calls_failure():
    def refuse(v):
        raise KeyError("mine")

    refused = la.vectorize(refuse, otypes="d")
    with pytest.raises(KeyError, match="mine"):
        refused(la.ones(3)).wait_to_read()
    with pytest.raises(KeyError, match="mine"):
        (refused(la.ones(3)) + 1).asnumpy()


@pytest.mark.skipif(
    isinstance(la.engine.get(), la.engine.NaiveEngine), reason="nothing is pending there"
)
def test_an_operand_is_resized_while_its_reader_waits_for_the_output():
    n = 40_000
    for _ in range(2):
        x, y, z = la.ones(n), la.ones(n), la.zeros(n)
        la.waitall()
        engine = la.engine.get()
        engine.push_sync(lambda c: time.sleep(0.2), la.cpu(0), mutable_vars=[z.var])

        def other(x=x):
            time.sleep(0.05)
            x.resize(10, refcheck=False)
            return [la.array(np.full(n, 7.0)) for _ in range(100)]  # in its memory

        thread = threading.Thread(target=other)
        thread.start()
        try:
            with np.errstate(all="raise"):
                la.divide(x, y, out=z)  # in a `try`: it waits for z
        except ZeroDivisionError:
            raise
        thread.join()
        assert z.asnumpy().tolist() == [1.0] * n


@pytest.mark.parametrize("what", ["add.at", "draws", "shuffle"])
def test_an_interrupted_call_that_changes_what_it_reads_is_made_once(what):
    """A handler may raise after NumPy's call is done: what it made is not made again."""
    code, out, errors = ran(
        """
        zeros, n = np.zeros(300_000, int), 300_000
        for trial in range(30):
            la.random.seed(0), np.random.seed(0)
            n, made = 300_000, True
            i, ones = la.array(zeros), la.ones(n) * 3.0 - 2.0
            x, want = la.zeros(1000), np.zeros(1000)
            if "WHICH" == "shuffle":
                x, want = la.arange(200_000.0), np.arange(200_000.0)
            la.waitall()
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0003 + 0.00007 * trial)
                if "WHICH" == "add.at":
                    la.add.at(x, i, ones)
                elif "WHICH" == "shuffle":
                    la.random.shuffle(x)
                else:
                    x = la.random.standard_normal(200_000)
                x.wait_to_read()
                time.sleep(0.02)
            except KeyboardInterrupt:
                n = 300_000 if x.asnumpy().any() else 0  # before the call: busy
                made = len(x) != len(want) or (x.asnumpy() != want).any()
            signal.setitimer(signal.ITIMER_REAL, 0)
            if "WHICH" == "add.at":
                want[0] = n
            elif "WHICH" == "shuffle":
                np.random.shuffle(want) if made else None
            else:
                want = np.random.standard_normal(200_000) if len(x) > 1000 else x.asnumpy()
            assert (x.asnumpy() == want).all(), trial
        print("over")
        """,
        WHAT="KeyboardInterrupt",
        WHICH=what,
    )
    assert (code, out) == (0, "over\n"), (out, errors)


def test_an_interrupted_cast_leaves_no_state_and_no_error():
    code, out, errors = ran(
        """
        x = la.linspace(-1e12, 1e12, 20_000)
        for trial in range(60):
            with np.errstate(all="ignore"):
                y = x.astype("i4")
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0001 + 0.00001 * trial)
                y.wait_to_read()
                time.sleep(0.005)
            except KeyboardInterrupt:
                pass
            signal.setitimer(signal.ITIMER_REAL, 0)
            y.wait_to_read()
        print(set(np.geterr().values()) == {"warn", "ignore"})
        """,
        WHAT="KeyboardInterrupt",
    )
    assert (code, out) == (0, "True\n"), (out, errors)


def test_reads_inside_an_op_that_does_not_use_the_array():
    """Later writers don't wait for that op: what it reads is a copy, made between two writes."""
    engine = la.engine.get()
    x, torn, reads = la.zeros(2_000_000), [], []
    la.waitall()

    def read(ctx):
        while len(reads) < 60 and not over.is_set():
            host = x.asnumpy()
            reads.append(host[0])
            if host.min() != host.max():
                torn.append((host.min(), host.max()))

    over = threading.Event()
    engine.push_sync(read, la.cpu(1), [], [engine.new_variable()])
    until = time.monotonic() + 20
    while len(reads) < 60 and time.monotonic() < until:
        with la.engine.bulk(1):
            x += 1
        time.sleep(0.001)
    over.set()
    la.waitall()
    assert reads and not torn, torn
