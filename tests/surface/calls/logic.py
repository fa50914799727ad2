"""Sample calls of lazyarray.functions.logic."""

CALLS = {
    "allclose": ["xp.allclose(v, v + 1e-10)", "xp.allclose(n, n)", "xp.allclose(n, n, 0, 1, True)"],
    "isclose": [
        "xp.isclose(v, v * (1 + 2e-5))",
        "xp.isclose(i, 2, rtol=w, atol=0.5)",
        "xp.isclose(n, n, equal_nan=True)",
        "xp.isclose(1.0, 1.0 + 1e-9)",
        "xp.isclose(c, c.real, atol=0.5)",
    ],
    "array_equal": [
        "xp.array_equal(v, v)",
        "xp.array_equal(v, m)",
        "xp.array_equal(n, n + 0, equal_nan=True)",
        "xp.array_equal(i, i % 5)",
    ],
    "array_equiv": ["xp.array_equiv(m[0], m[:1])", "xp.array_equiv(v, m)", "xp.array_equiv(2, 2)"],
    "isneginf": ["xp.isneginf(-1 / (v - v[0]))", "xp.isneginf([-xp.inf, xp.nan, 1])"],
    "isposinf": ["xp.isposinf(w / (v - v[0]))", "xp.isposinf(i)"],
    "isreal": ["xp.isreal(c)", "xp.isreal(v)", "xp.isreal([1, 2j, 0j])"],
    "iscomplex": ["xp.iscomplex(c)", "xp.iscomplex(v)", "xp.iscomplex([1, 2j, 0j])"],
    "isscalar": ["xp.isscalar(3.1)", "xp.isscalar(v)", "xp.isscalar('a')"],
    "iterable": ["xp.iterable(v)", "xp.iterable(3)", "xp.iterable(xp.array(3))"],
    "isfortran": ["xp.isfortran(m)", "xp.isfortran(m.T)", "xp.isfortran(v)"],
}
