"""Sample calls of lazyarray.functions.searching."""

CALLS = {
    "where": [
        "xp.where(b, v, w)",
        "xp.where(v > 0, 1, f)",
        "xp.where(m > 0, m, v[:4])",
        "xp.where(b)",
    ],
    "nonzero": ["xp.nonzero(b)", "xp.nonzero(j)"],
    "argwhere": ["xp.argwhere(j)", "xp.argwhere(v > 0)"],
    "flatnonzero": ["xp.flatnonzero(m > 0)"],
    "count_nonzero": [
        "xp.count_nonzero(i)",
        "xp.count_nonzero(j, axis=0)",
        "xp.count_nonzero(j, axis=(0, 1), keepdims=True)",
        "xp.count_nonzero(m > 0, 1)",
    ],
    "argmax": [
        "xp.argmax(v)",
        "xp.argmax(m, axis=0)",
        "xp.argmax(m, 1, keepdims=True)",
        "xp.argmax(n)",
        "xp.argmax(m, 1, xp.zeros(3, dtype='int64'))",
    ],
    "argmin": ["xp.argmin(v)", "xp.argmin(m, axis=-1, keepdims=True)", "xp.argmin(c)"],
    "searchsorted": [
        "xp.searchsorted(s, v)",
        "xp.searchsorted(s, m, side='right')",
        "xp.searchsorted(v, w, sorter=xp.argsort(v))",
        "xp.searchsorted(s, 0.5)",
        "xp.searchsorted(xp.sort(i), 3, 'right')",
        "xp.searchsorted(xp.sort(f), [0.1, 0.2])",
    ],
}
