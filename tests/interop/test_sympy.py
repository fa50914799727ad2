"""SymPy: functions made of expressions, and numbers in expressions."""

import pytest

from .calls import agree, cases

pytest.importorskip("sympy", reason="sympy is not installed")
pytestmark = pytest.mark.host

SETUP = """
import sympy as sp
t=sp.symbols('t')
"""
CALLS = [
    "sp.lambdify(t, sp.sin(t)**2+t, 'numpy')(v)",
    "sp.Matrix(M)",
    "sp.Array(M)",
    "sp.sympify(v[0])",
    "t*v[0]",
    "v[0]*t",
    "sp.Matrix(v)",
    "sp.Float(v[0])",
    "sp.lambdify(t, sp.Piecewise((t,t>0),(0,True)), 'numpy')(v)",
    "sp.lambdify(t, sp.exp(-t**2), 'numpy')(v[0])",
    "sp.Integer(idx[0])",
    "sp.sin(t).subs(t, v[0])",
    "sp.sin(t).evalf(subs={t: v[0]})",
    "sp.Matrix(M).det()",
    "sp.Rational(idx[0], 3)",
    "sp.lambdify((t,), [sp.sin(t), t], 'numpy')(v)",
    "sp.Eq(t, v[0])",
    "sp.Poly([1,2,idx[0]], t)",
    "v*t",
    "t*v",
    "sp.Integer(2) ** idx[1] + sp.Rational(1, 2)",
    "t * (v + 1j)[0]",
    "sp.sympify(v > 0)[1]",
    "sp.sympify(np.array(2))",
    "t * np.array([2.0])",
    "t * np.array([2, 3])",
    "np.array([2, 3]) * t",
    "sp.sympify(v.astype('f4')[1])",
    "sp.Matrix([[v[0], idx[1]], [1, M[0, 0]]])",
    "sp.interpolate([(int(i),int(i)**2) for i in idx], t)",
]


@pytest.mark.parametrize("call", cases(CALLS, {}))
def test_calls(call, tmp_path):
    agree(SETUP, call, tmp_path)
