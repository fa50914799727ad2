"""CVXPY: constants, parameters' and variables' values, and problems."""

import pytest

from .calls import agree, cases

pytest.importorskip("cvxpy", reason="cvxpy is not installed")
pytestmark = pytest.mark.host

SETUP = """
import cvxpy as cp
def solved(goal, *limits):
    problem = cp.Problem(goal, [*limits]); problem.solve(solver=cp.CLARABEL); return round(problem.value, 5)
def valued(x, value):
    x.value = value; return x
x = cp.Variable(6); y = cp.Variable(6, value=[1.0, 2, 3, 4, 5, 6])
"""
CALLS = [
    "solved(cp.Minimize(cp.sum_squares(M @ x - v[:6])), x >= 0)",
    "solved(cp.Minimize(cp.quad_form(x, M @ M.T) - v[:6] @ x), cp.sum(x) == w[0])",
    "solved(cp.Minimize(cp.norm1(cp.Parameter((6, 6), value=M) @ x - w[:6])))",
    "cp.Constant(M).value",
    "cp.Constant(v[0]).value",
    "cp.Parameter(6, value=v[:6]).value",
    "valued(cp.Variable(6), v[:6]).value",
    "valued(cp.Parameter(nonneg=True), abs(v[0])).value",
    "(M @ y).value",
    "(M[0] @ y).value",
    "(v[:6] + y).value",
    "(v[:6] - y).value",
    "cp.multiply(v[:6], y).value",
    "y[idx[:3]].value",
    "cp.hstack([v, y]).value",
    "cp.convolve(v, w).value",
]
FAILS: dict[str, str] = {}


@pytest.mark.parametrize("call", cases(CALLS, FAILS))
def test_calls(call, tmp_path):
    agree(SETUP, call, tmp_path)
