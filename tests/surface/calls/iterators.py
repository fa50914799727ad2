"""Sample calls of lazyarray.functions.iterators."""

CALLS = {
    "nditer": [
        "[float(u) for u in xp.nditer(v)]",
        "[u.tolist() for u in xp.nditer(m, flags=['external_loop'], order='F')]",
        "[u.__setitem__(..., 2 * u) for u in xp.nditer(m, op_flags=['readwrite'])] and None",
    ],
    "nested_iters": [
        "[[u.item() for u in k] for i, k in [xp.nested_iters(m, [[0], [1]])] for _ in i]"
    ],
}
