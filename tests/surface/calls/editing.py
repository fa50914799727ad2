"""Sample calls of lazyarray.functions.editing."""

CALLS = {
    "tile": ["xp.tile(v, 2)", "xp.tile(m, (2, 1, 3))", "xp.tile(m, 2)", "xp.tile(t, (2, 1))"],
    "repeat": [
        "xp.repeat(v, 3)",
        "xp.repeat(m, 2, axis=1)",
        "xp.repeat(m, [1, 0, 2], axis=0)",
        "xp.repeat(v, i)",
        "xp.repeat(m, 2)",
        "xp.repeat(3, 4)",
    ],
    "append": ["xp.append(v, 3)", "xp.append(m, m, axis=0)", "xp.append(m, [[1, 2]])"],
    "insert": [
        "xp.insert(v, 1, 5)",
        "xp.insert(m, [0, 2], 7, axis=1)",
        "xp.insert(m, 1, v[:3], axis=1)",
        "xp.insert(i, slice(2, 4), [8, 9])",
    ],
    "delete": [
        "xp.delete(v, 1)",
        "xp.delete(m, [0, -1], axis=1)",
        "xp.delete(m, slice(None, None, 2))",
        "xp.delete(v, b)",
    ],
    "resize": ["xp.resize(v, (3, 7))", "xp.resize(m, 5)", "xp.resize(m, (0,))"],
    "trim_zeros": [
        "xp.trim_zeros(xp.where(v > 0.5, v, 0))",
        "xp.trim_zeros(i, 'f')",
        "xp.trim_zeros(j, trim='b', axis=1)",
        "xp.trim_zeros(v * 0)",
        "xp.trim_zeros(m * 0)",
    ],
}
