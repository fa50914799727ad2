"""Sample calls of lazyarray.functions.patterns."""

CALLS = {
    "eye": ["xp.eye(3)", "xp.eye(3, 4, k=-1, dtype='i4')", "xp.eye(2, 3, 1, 'f4', 'F')"],
    "identity": ["xp.identity(3)", "xp.identity(2, dtype=complex)"],
    "diag": ["xp.diag(v)", "xp.diag(m, 1)", "xp.diag(v[:3], k=-2)", "xp.diag([1, 2])"],
    "diagflat": ["xp.diagflat(m)", "xp.diagflat(v, -1)", "xp.diagflat(3)"],
    "tri": ["xp.tri(3)", "xp.tri(3, 4, -1, dtype=bool)", "xp.tri(2, k=1, dtype='i2')"],
    "tril": ["xp.tril(m)", "xp.tril(t, k=-1)", "xp.tril(v)", "xp.tril([[1, 2], [3, 4]], 1)"],
    "triu": ["xp.triu(m)", "xp.triu(t, k=-1)", "xp.triu(v)", "xp.triu([[1, 2], [3, 4]], 1)"],
    "meshgrid": [
        "xp.meshgrid(v, w[:3])",
        "xp.meshgrid(v, i, w, indexing='ij', sparse=True)",
        "xp.meshgrid(v, copy=False)",
        "xp.meshgrid([1, 2], 3, copy=False)",
        "xp.meshgrid()",
    ],
    "indices": ["xp.indices((2, 3))", "xp.indices((2, 3), 'f4', sparse=True)", "xp.indices([4])"],
}
