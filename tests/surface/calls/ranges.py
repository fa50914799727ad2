"""Sample calls of lazyarray.functions.ranges."""

CALLS = {
    "arange": ["xp.arange(5)", "xp.arange(1, 2, 0.25)", "xp.arange(9, 0, -2, dtype='int16')"],
    "linspace": [
        "xp.linspace(0, 1, 7)",
        "xp.linspace(v[0], 3, num=5, endpoint=False)",
        "xp.linspace(m[0], m[1], 3, axis=-1)",
        "xp.linspace(0, 9, 4, retstep=True, dtype=int)",
    ],
    "logspace": ["xp.logspace(0, 2, 5)", "xp.logspace(0, 1, num=4, endpoint=False, base=2)"],
    "geomspace": [
        "xp.geomspace(1, 1000, 4)",
        "xp.geomspace(1j, 8j, 4)",
        "xp.geomspace(w[:2], 9, 3)",
    ],
}
