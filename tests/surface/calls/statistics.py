"""Sample calls of lazyarray.functions.statistics."""

CALLS = {
    "ptp": [
        "xp.ptp(v)",
        "xp.ptp(m, axis=0)",
        "xp.ptp(t, (0, 2), keepdims=True)",
        "xp.ptp(j, 1, out=xp.zeros(3, dtype='int64'))",
    ],
    "average": [
        "xp.average(v)",
        "xp.average(v, weights=w)",
        "xp.average(m, axis=0, returned=True)",
        "xp.average(m, 1, w[:4], True)",
        "xp.average(t, axis=(0, 2), weights=xp.abs(t[:, 0]), keepdims=True)",
        "xp.average(i, weights=i + 1)",
    ],
}
