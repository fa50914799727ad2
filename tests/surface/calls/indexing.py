"""Calls of lazyarray/ops/indexing.py."""

CALLS = {
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
    "put_along_axis": [
        "xp.put_along_axis(m, xp.argmax(m, axis=1, keepdims=True), 9, axis=1)",
        "xp.put_along_axis(v, i, w, None)",
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
    "put": [
        "xp.put(v, [0, 2], 5)",
        "xp.put(m, i, w)",
        "xp.put(i, [30, -30], [7, 8], mode='clip')",
    ],
    "putmask": ["xp.putmask(v, b, [1, 2, 3])", "xp.putmask(m, m > 0, 0)"],
    "place": ["xp.place(v, b, [1, 2, 3])", "xp.place(m, m > 0, v)"],
}
