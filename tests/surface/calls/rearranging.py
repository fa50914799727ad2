"""Sample calls of lazyarray.functions.rearranging."""

CALLS = {
    "roll": [
        "xp.roll(v, 2)",
        "xp.roll(m, -1, axis=1)",
        "xp.roll(m, (1, 2), axis=(0, 1))",
        "xp.roll(m, 5)",
        "xp.roll(t, 1, axis=(0, -1))",
    ],
    "flip": ["xp.flip(m)", "xp.flip(m, axis=1)", "xp.flip(t, (0, 2))"],
    "fliplr": ["xp.fliplr(m)"],
    "flipud": ["xp.flipud(m)", "xp.flipud(v)"],
    "rot90": ["xp.rot90(m)", "xp.rot90(t, k=3, axes=(1, 2))"],
}
