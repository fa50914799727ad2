"""Sample calls of lazyarray.functions.functional."""

CALLS = {
    "apply_along_axis": [
        "xp.apply_along_axis(lambda v: v[::-1] * 2, 1, m)",
        "xp.apply_along_axis(lambda v: v.sum(), 0, m)",
        "xp.apply_along_axis(lambda v: xp.outer(v[:2], v[:2]), 1, t)",
        "xp.apply_along_axis(lambda v, k, s=0: v[:k] + s, -1, t, 2, s=1)",
        "xp.apply_along_axis(xp.sort, 0, v)",
    ],
    "apply_over_axes": [
        "xp.apply_over_axes(xp.sum, t, [0, 2])",
        "xp.apply_over_axes(xp.max, t, -1)",
    ],
    "vectorize": [
        "xp.vectorize(lambda x, y: x + y)(i, 3)",
        "xp.vectorize(lambda x, y: x * y, otypes=[float])(m, v[:4])",
        "xp.vectorize(lambda x, y: (x, y), otypes='fd')(v, 1)",
        "xp.vectorize(divmod)(i, 4)",
        "xp.vectorize(lambda p, x: sum(p) + x, excluded=[0])([1, 2], i)",
        "xp.vectorize(lambda p, x: sum(p) + x, otypes=[int], excluded=['p'])(p=i, x=i)",
        "xp.vectorize(lambda x: x.sum(), signature='(n)->()')(m)",
        "xp.vectorize(otypes=[int])(math.floor)(v)",
        "xp.vectorize(max, cache=True)(i, 2)",
    ],
    "piecewise": [
        "xp.piecewise(v, [v < 0, v >= 0], [-1, 1])",
        "xp.piecewise(v, [v < 0], [lambda x: -x, lambda x: x * 2])",
        "xp.piecewise(v, v < 0, [lambda x, k: x * k, 5], 3)",
        "xp.piecewise(i, [i > 3, i < 1], [lambda x, k=1: x + k, 9], k=7)",
        "xp.piecewise(xp.array(2.0), [True, False], [lambda x: x + 1, 0])",
        "xp.piecewise(m, [m > 0, m < -1], [1, 2, lambda x: x - x.max()])",
    ],
    "fromfunction": [
        "xp.fromfunction(lambda x, y: x + y, (3, 4), dtype=int)",
        "xp.fromfunction(lambda x, k=1: x * k, (5,), k=2)",
    ],
}
