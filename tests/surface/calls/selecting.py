"""Sample calls of lazyarray.functions.selecting."""

CALLS = {
    "select": [
        "xp.select([v < 0, v > 1], [v, v * 10], default=7)",
        "xp.select([b, v > 0], [i, v])",
        "xp.select([m > 0, m[0] < 0], [m, -1.0], 3)",
        "xp.select([f > 0], [f], 2.5)",
        "xp.select([True], [3], 1.5)",
    ],
    "take": [
        "xp.take(v, i)",
        "xp.take(m, [0, 2], axis=1)",
        "xp.take(m, j, mode='wrap')",
        "xp.take(m, 9, axis=0, mode='clip')",
        "xp.take(v, i, out=w)",
        "xp.take(m, [], axis=0)",
        "xp.take(v, i.astype('u1'))",
    ],
    "take_along_axis": [
        "xp.take_along_axis(m, xp.argsort(m, axis=1), axis=1)",
        "xp.take_along_axis(m, xp.argmax(m, axis=0, keepdims=True), 0)",
        "xp.take_along_axis(v, i)",
        "xp.take_along_axis(m, i, None)",
    ],
    "compress": [
        "xp.compress(b, v)",
        "xp.compress([True, False], m, axis=0)",
        "xp.compress(b, v, out=xp.empty(int(b.sum())))",
    ],
    "extract": ["xp.extract(b, v)", "xp.extract(m > 0, m)", "xp.extract([1, 0, 1], i)"],
    "choose": [
        "xp.choose(i % 2, [v, w])",
        "xp.choose(j, [m, 1, 2], mode='wrap')",
        "xp.choose(i, [v, 3], mode='clip', out=w)",
    ],
}
