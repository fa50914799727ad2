"""Sample calls of lazyarray.functions.storing."""

CALLS = {
    "fill_diagonal": [
        "xp.fill_diagonal(q, 0)",
        "xp.fill_diagonal(m, [1, 2])",
        "xp.fill_diagonal(m.T, v)",
        "xp.fill_diagonal(t.reshape(12, 2), 5, wrap=True)",
        "xp.fill_diagonal(t.reshape(12, 2), v, True)",
    ],
    "copyto": [
        "xp.copyto(v, w)",
        "xp.copyto(m, v[:4], where=m > 0)",
        "xp.copyto(f, v, casting='same_kind')",
        "xp.copyto(i, 3)",
        "xp.copyto(i, v, 'unsafe', b)",
        "xp.copyto(m, [1, 2, 3, 4], where=[True, False, True, False])",
    ],
    "put_along_axis": [
        "xp.put_along_axis(m, xp.argmax(m, axis=1, keepdims=True), 9, axis=1)",
        "xp.put_along_axis(v, i, w, None)",
    ],
    "put": [
        "xp.put(v, [0, 2], 5)",
        "xp.put(m, i, w)",
        "xp.put(i, [30, -30], [7, 8], mode='clip')",
    ],
    "putmask": ["xp.putmask(v, b, [1, 2, 3])", "xp.putmask(m, m > 0, 0)"],
    "place": ["xp.place(v, b, [1, 2, 3])", "xp.place(m, m > 0, v)"],
}
