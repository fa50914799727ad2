"""Sample calls of lazyarray.functions.products."""

CALLS = {
    "dot": ["xp.dot(v, w)", "xp.dot(m, q)", "xp.dot(t, q)", "xp.dot(m, q, out=m * 0)"],
    "vdot": ["xp.vdot(c, v)", "xp.vdot(m, m)"],
    "inner": ["xp.inner(v, w)", "xp.inner(m, q)", "xp.inner(t, m)"],
    "outer": ["xp.outer(v, i)", "xp.outer(m, v[:2])"],
    "tensordot": [
        "xp.tensordot(t, m)",
        "xp.tensordot(m, q, 1)",
        "xp.tensordot(t, t, axes=([0, 2], [0, 2]))",
    ],
    "matmul": ["xp.matmul(m, q)", "xp.matmul(t, q)", "xp.matmul(q, v[:4])"],
    "vecdot": ["xp.vecdot(m, m)", "xp.vecdot(c, c)", "xp.vecdot(t, m, axis=-2)"],
    "matvec": ["xp.matvec(t, v[:4])", "xp.matvec(m, q)", "xp.matvec(q, i[:4])"],
    "vecmat": ["xp.vecmat(v[:3], t)", "xp.vecmat(c[:3], m)"],
    "kron": ["xp.kron(v, w)", "xp.kron(m, i)", "xp.kron(t, m)"],
    "cross": [
        "xp.cross(v[:3], w[:3])",
        "xp.cross(v.reshape(4, 3), i[:3])",
        "xp.cross(m, m * 2, axis=0)",
        "xp.cross(m, v.reshape(4, 3), axisa=0, axisb=1, axisc=0)",
        "xp.cross(v[:2], w[:3])",
    ],
    "trace": ["xp.trace(q)", "xp.trace(q, offset=1)", "xp.trace(t, 0, 1, 2, dtype='float32')"],
}
