"""Errors and warnings that depend on values come in their line where the program catches them."""

import asyncio
import contextlib
import json
import multiprocessing.pool
import subprocess
import sys
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import lazyarray as la

pytestmark = pytest.mark.host  # a GPU's kernels give no warnings

SIZES = [5, 300_000]  # run by the caller; handed to a worker
LinAlgError = np.linalg.LinAlgError


def places(prefix):
    return [f for name, f in sorted(globals().items()) if name.startswith(prefix)]


@contextlib.contextmanager
def other():
    yield


def invert():
    return la.linalg.inv(la.zeros((3, 3)))


def caught_by_type():
    try:
        invert()
    except (KeyError, LinAlgError):
        return True


def caught_by_an_attribute():
    try:
        invert()
    except (OSError, np.linalg.LinAlgError):
        return True


def caught_by_a_variable():
    KeyboardInterrupts = LinAlgError
    try:
        invert()
    except KeyboardInterrupts:
        return True


def caught_by_a_later_clause():
    try:
        invert()
    except KeyboardInterrupt:
        return False
    except (ImportError, json.JSONDecodeError) as error:
        return [error for _ in range(300)]
    except LinAlgError:
        return True


def caught_by_the_last_clause():
    try:
        invert()
    except KeyboardInterrupt:
        return False
    except:  # noqa: E722
        return True


def caught_by_all():
    try:
        invert()
    except:  # noqa: E722
        return True


def caught_further_up():
    def deep(n):
        return deep(n - 1) if n else invert()

    try:
        deep(20)
    except LinAlgError:
        return True


def caught_around_a_finally():
    try:
        try:
            invert()
        finally:
            pass
    except LinAlgError:
        return True


def caught_in_a_comprehension():
    try:
        [invert() for _ in range(2)]
    except LinAlgError:
        return True


def caught_through_the_standard_library():
    try:
        max([1, 2], key=lambda _: invert())
    except LinAlgError:
        return True


def caught_by_suppress():
    with contextlib.suppress(LinAlgError):
        invert()
        return False
    return True


def caught_in_a_coroutine():
    async def run():
        try:
            invert()
        except LinAlgError:
            return True

    return asyncio.run(run())


def caught_in_a_generator():
    def run():
        try:
            yield invert() is None
        except LinAlgError:
            yield True

    return next(run())


def caught_by_unittest():
    case = unittest.TestCase()
    case.assertRaises(LinAlgError, invert)
    with case.assertRaisesRegex(LinAlgError, "Singular"):
        invert()
    return True


def caught_around_another_with():
    with pytest.raises(LinAlgError):
        with np.errstate(all="ignore"):
            invert()
    with (
        contextlib.suppress(LinAlgError),
        other(),
    ):
        invert()
        return False
    return True


def caught_after_another_block():
    with pytest.raises(LinAlgError):
        with other():
            pass
        invert()
    with pytest.raises(LinAlgError):
        try:
            pass
        except KeyError:
            pass
        invert()
    return True


def caught_around_a_handler():
    with pytest.raises(LinAlgError):
        try:
            raise KeyError
        except KeyError:
            invert()
    return True


def caught_around_a_loop_and_a_finally():
    with unittest.TestCase().assertRaises(
        LinAlgError,
    ):
        for _ in range(2):
            try:
                invert()
            finally:
                pass
    return True


def caught_by_a_stack():
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.suppress(LinAlgError))
        invert()
        return False
    return True


def caught_in_a_group():
    made = []
    try:
        invert()
    except* LinAlgError:
        made.append(1)
    return bool(made)


@pytest.mark.parametrize("place", places("caught_"))
def test_a_program_catches_it(place):
    assert place() is True


def not_around():
    return invert()


def not_by_finally():
    try:
        return invert()
    finally:
        pass


def not_by_any_with():
    with other():
        return invert()


def not_after_it():
    try:
        pass
    except LinAlgError:
        pass
    else:
        return invert()


def not_in_the_handler():
    try:
        raise KeyError
    except KeyError:
        return invert()


def not_where_only_others_are_caught():
    try:
        return invert()
    except KeyboardInterrupt:
        print("stopped")
    except (ImportError, json.JSONDecodeError) as error:
        print(error)
    finally:
        pass


def not_without_syncs():
    try:
        with la.no_sync():
            return invert()
    except LinAlgError:
        return None


def not_while_recording():
    try:
        with la.autograd.record():
            return invert()
    except LinAlgError:
        return None


@pytest.mark.parametrize("place", places("not_"))
def test_elsewhere_it_comes_with_the_result(place):
    result = place()
    with pytest.raises(LinAlgError):
        result.asnumpy()


CALLS = """
    x[i]
    la.take(x, i)
    x[la.argmax(la.arange(len(x) + 9))]
    la.take_along_axis(x, i, 0)
    la.arange(3) ** (i - i - 1)
    la.linalg.cholesky(-la.eye(3))
    la.linalg.solve(la.zeros((3, 3)), la.ones(3))
    la.linalg.svd(la.full((3, 3), la.nan))
    la.linalg.eigh(la.full((3, 3), la.nan))
    la.unravel_index(i, (1, 2))
    la.ravel_multi_index((i, i), (2, 2))
    la.random.choice(3, p=la.array([0.5, 0.6, 0.7]))
    la.random.normal(0, la.array([-1.0, 1.0]))
    la.histogram(la.array([la.nan, 1.0]))
    la.digitize(x, la.array([1.0, 3.0, 2.0]))
    la.searchsorted(x, 1.0, sorter=i)
    la.choose(i, [1, 2])
"""


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("call", [line.strip() for line in CALLS.strip().splitlines()])
def test_errors_are_numpys_at_the_call(call, n):
    outcomes = []
    for xp in (np, la):
        given = {"la": xp, "x": xp.arange(float(n)), "i": xp.array([n + 9, 1])}
        try:
            eval(call, given)
            outcomes.append(None)
        except Exception as error:
            outcomes.append(type(error))
    assert outcomes[0] is outcomes[1]


WRITES = """
    x[i] = 0
    x[[n + 9, 1]] = 0
    x[la.argmax(la.arange(n + 10))] = 0
    la.add.at(x, i, 1)
    la.put(x, i, 1)
    la.put_along_axis(x, i, 1, 0)
    x[la.array(n + 9)] = 3
"""


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("write", [line.strip() for line in WRITES.strip().splitlines()])
def test_an_array_can_be_used_after_a_write_that_was_refused(write, n):
    x = la.arange(float(n))
    with pytest.raises(IndexError):
        exec(write, {"la": la, "x": x, "i": la.array([n + 9, 1]), "n": n})
    assert x[2:4].tolist() == [2, 3] and float(x.sum()) > 0


def test_an_error_from_before_stays_the_arrays():
    x = la.arange(9.0)
    la.engine.get().push_sync(lambda ctx: [][0], la.cpu(0), mutable_vars=[x.var])  # poisons it
    with pytest.raises(IndexError, match="list index"):
        x[la.array([99])] = 1
    with pytest.raises(IndexError, match="list index"):
        x.asnumpy()
    with contextlib.suppress(IndexError):
        la.waitall()


@pytest.mark.parametrize("n", SIZES)
def test_floating_point_errors_are_raised_at_the_call(n):
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        1 / la.zeros(n)


@pytest.mark.parametrize("n", SIZES)
def test_warnings_that_are_errors_are_raised_at_the_call(n):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            la.log(la.zeros(n))
            told = False
        except RuntimeWarning:
            told = True
    assert told


@pytest.mark.parametrize("n", SIZES)
def test_warnings_are_collected_in_the_block(n):
    with warnings.catch_warnings(record=True) as collected:
        warnings.simplefilter("always")
        1 / la.zeros(n)
        la.log(la.zeros(n))
        found = [str(w.message) for w in collected]
    assert found == ["divide by zero encountered in divide", "divide by zero encountered in log"]
    with pytest.warns(RuntimeWarning, match="in sqrt"):
        la.sqrt(la.full(n, -1.0))


def test_such_a_wait_is_told():
    la.sync_report(reset=True)
    try:
        la.linalg.svd(la.full((3, 3), la.nan))
    except LinAlgError:
        pass
    assert "an op inside try or with" in {row.what for row in la.sync_report()}


def stored(x):
    x[np.array([7])] = 1


@pytest.mark.parametrize("operation", [stored, lambda x: la.linalg.inv(la.zeros((300, 300)))])
def test_a_handler_may_name_many_errors(operation):
    x = la.zeros((2, 3))
    caught = False
    try:
        operation(x)
    except (
        ValueError,
        TypeError,
        ZeroDivisionError,
        KeyError,
        AttributeError,
        FloatingPointError,
        OverflowError,
        MemoryError,
        RuntimeError,
        OSError,
        NotImplementedError,
        UnicodeError,
        LookupError,
        np.linalg.LinAlgError,
    ):
        caught = True
    assert caught
    assert x.sum() == 0


def test_a_warning_in_a_block_of_a_block():
    x = la.zeros(300_000)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        with other():
            1 / x
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with other():
            1 / x
        assert len(told) == 1


def test_functions_that_are_given_to_who_catches():
    """``pytest.raises(error, function, ...)``: no frame of the program stands between the two."""
    singular, beyond = la.zeros((2, 2)), la.array([10])
    pytest.raises(LinAlgError, la.linalg.inv, singular)  # noqa: RUF061
    pytest.raises(IndexError, la.arange(5).take, beyond)  # noqa: RUF061
    np.testing.assert_raises(LinAlgError, la.linalg.inv, singular)


def inverse(x):
    return la.linalg.inv(x)


@pytest.mark.parametrize("n", [2, 200])
@pytest.mark.parametrize("make", [multiprocessing.pool.ThreadPool, ThreadPoolExecutor])
def test_a_pool_hands_on_what_its_task_raises(make, n):
    with make(2) as pool:
        with pytest.raises(LinAlgError):
            list(pool.map(inverse, [la.zeros((n, n))]))
        if make is ThreadPoolExecutor:
            assert type(pool.submit(inverse, la.zeros((n, n))).exception()) is LinAlgError


POOL = """
import multiprocessing, lazyarray as la
def inverse(x): return la.linalg.inv(x)
if __name__ == "__main__":
    with multiprocessing.Pool(1) as pool:
        for apply in (lambda f, x: pool.map(f, [x]), lambda f, x: pool.apply(f, (x,))):
            try:
                apply(inverse, la.zeros((2, 2)))
            except la.linalg.LinAlgError as exc:
                print(exc)
"""


def test_a_process_of_a_pool_answers_with_what_its_task_raises(tmp_path):
    """Else it ends without an answer: a result that can't be sent is told of by its text."""
    (tmp_path / "pool.py").write_text(POOL)
    command = [sys.executable, str(tmp_path / "pool.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
    assert done.stdout.splitlines() == ["Singular matrix"] * 2, done.stderr
