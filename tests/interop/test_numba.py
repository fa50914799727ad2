"""Numba: compiled functions take lazyarrays, and what they name of lazyarray is NumPy's."""

import subprocess
import sys

import numpy as np
import pytest

import lazyarray as la

from .calls import agree, cases, same

numba = pytest.importorskip("numba", reason="numba is not installed")
pytestmark = pytest.mark.host

SETUP = """
import numba; f=numba.njit(lambda a: a.sum()); g=numba.vectorize(['f8(f8)'])(lambda a:a*2)
def _h(a,r): r[0]=a.sum()
h=numba.guvectorize(['(f8[:],f8[:])'],'(n)->()')(_h); s=numba.stencil(lambda a: 0.5*(a[-1]+a[1]))
"""
CALLS = [
    "f(v)",
    "g(v)",
    "f(M)",
    "f(M[::2, ::-1].T)",
    "f(a=v)",
    "numba.njit(lambda a,i: a[i])(v, idx[0])",
    "numba.njit('f8(f8[:])')(lambda a: a.max())(v[::2])",
    "numba.njit(lambda a, b: a * b)(v.sum(), v[0])",
    "numba.njit(lambda p, q: p[0].sum() + p[1] + q[0].sum())((v, 2), [w, v])",
    "numba.njit(lambda a: (a, a.T, a > 0.5, a.shape))(M)",
    "s(v)",
    "g(v[0])",
    "h(M)",
    "numba.typed.List([v,w])[0]",
    "str(numba.typeof(M[:, 0])), str(numba.typeof(idx[0])), str(numba.typeof(v > 0))",
]
FAILS: dict[str, str] = {}


@pytest.mark.parametrize("call", cases(CALLS, FAILS))
def test_calls(call, tmp_path):
    agree(SETUP, call, tmp_path)


# A program, as it is with either library: its modules, functions and arrays are named in compiled code.
PROGRAM = """
import numba.experimental
import {xp} as np
from {xp} import cumsum, float32, zeros
from {xp}.random import rand

TABLE = np.arange(5.0) * 2
scale = np.float32(3)

@numba.njit
def made(n):
    y = np.zeros((n, 2), dtype=np.uint8)
    y[0, 1] = np.pi
    return y, zeros(n, float32), np.full(2, np.nan), np.inf * n, cumsum(np.ones(n))

@numba.njit
def looked_up(i):
    return TABLE[i] * scale

@numba.njit
def drawn():
    np.random.seed(3)
    return np.random.rand(), rand(2), np.random.normal(0.0, 1.0, 3)

@numba.njit
def solved(a):
    return np.linalg.solve(a @ a.T + np.eye(len(a)), np.ones(len(a))), np.argsort(a[0])

@numba.njit(parallel=True)
def shared(a):
    total = 0.0
    for i in numba.prange(a.size):
        total += np.floor(a[i])
    return total + np.sum(np.sqrt(a))

def within():
    weights = np.ones(3)
    return numba.njit(lambda a: np.dot(a, weights))

@numba.experimental.jitclass([("a", numba.float64[:])])
class Kept:
    def __init__(self, a):
        self.a = a
    def total(self):
        return np.sum(self.a)

kept = Kept(np.ones(3))
kept.a = kept.a * 2
results = [
    made(3), looked_up(2), drawn(), solved(np.ones((2, 2))), shared(np.arange(9.0)),
    within()(np.arange(3.0)), kept.total(),
]
"""


def results_of(xp):
    names: dict[str, object] = {}
    exec(PROGRAM.format(xp=xp), names)
    return names["results"]


def test_a_program_compiles_as_with_numpy():
    same(results_of("lazyarray"), results_of("numpy"))


def test_a_compiled_function_works_on_the_memory_of_a_pending_array():
    @numba.njit
    def bump(a):
        a += 1
        return a

    x = la.arange(100_000.0)
    y = x * 2  # pending
    before = y + 0
    returned = bump(y)
    y *= 2
    np.testing.assert_array_equal(before, np.arange(100_000.0) * 2)
    np.testing.assert_array_equal(y, (np.arange(100_000.0) * 2 + 1) * 2)
    np.testing.assert_array_equal(returned, y)  # one memory, as with NumPy


def test_a_failed_operand_is_told_at_the_call():
    with pytest.raises(FloatingPointError), np.errstate(divide="raise"):
        numba.njit(lambda a: a.sum())(la.ones(50_000) / la.zeros(50_000))


@pytest.mark.parametrize(
    "first, then", [("numba", "lazyarray"), ("lazyarray", "numba")], ids=["before", "after"]
)
def test_whichever_is_imported_first(first, then):
    program = (
        f"import {first}\nimport {then}\nimport lazyarray as np\n"
        "print(numba.njit(lambda a: np.sum(a))(np.ones(3)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=250, check=True
    )
    assert done.stdout == "3.0\n"
