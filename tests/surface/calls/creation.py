"""Sample calls of lazyarray.functions.creation."""

CALLS = {
    "empty": ["xp.empty((2, 3))", "xp.empty(4, dtype='int8', order='F')"],
    "empty_like": ["xp.empty_like(m)", "xp.empty_like(i, dtype=float, shape=(2, 2))"],
    "zeros": ["xp.zeros((2, 3))", "xp.zeros(4, dtype=bool)", "xp.zeros((2, 3), order='F')"],
    "zeros_like": ["xp.zeros_like(m)", "xp.zeros_like(i, dtype=complex)", "xp.zeros_like([1, 2])"],
    "ones": ["xp.ones((2, 3))", "xp.ones((), dtype='uint8')"],
    "ones_like": ["xp.ones_like(m.T)", "xp.ones_like(f, shape=5)"],
    "full": ["xp.full((2, 3), 7)", "xp.full(3, 2.5)", "xp.full((2, 4), m[0], dtype='float32')"],
    "full_like": ["xp.full_like(i, 7)", "xp.full_like(m, v[3], dtype='float32')"],
    "ndarray": ["isinstance(v, xp.ndarray)"],
}
