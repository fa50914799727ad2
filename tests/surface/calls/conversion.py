"""Sample calls of lazyarray.functions.conversion."""

CALLS = {
    "array": [
        "xp.array([1, 2, 3])",
        "xp.array(v)",
        "xp.array([[1, 2.5], [3, 4]], dtype='float32')",
        "xp.array(m.T, order='C')",
        "xp.array([v[0], w[1]])",
        "xp.array(3, ndmin=2)",
        "xp.array(i, dtype=complex, copy=True)",
    ],
    "asarray": ["xp.asarray(v)", "xp.asarray([1, 2], dtype=float)", "xp.asarray(m.T, order='F')"],
    "asanyarray": ["xp.asanyarray(v)", "xp.asanyarray((1, 2.0))"],
    "ascontiguousarray": ["xp.ascontiguousarray(m.T)", "xp.ascontiguousarray(3)"],
    "asfortranarray": ["xp.asfortranarray(m)", "xp.asfortranarray(t, dtype='float32')"],
    "require": [
        "xp.require(m, requirements='F')",
        "xp.require(m.T, 'f4', ['C', 'A', 'O', 'W'])",
        "xp.require(m)",
    ],
    "asarray_chkfinite": ["xp.asarray_chkfinite(v)", "xp.asarray_chkfinite([1, 2], dtype=float)"],
}
