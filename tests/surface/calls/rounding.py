"""Sample calls of lazyarray.functions.rounding."""

CALLS = {
    "fix": ["xp.fix(v * 3)", "xp.fix(i)", "xp.fix(v * 3, out=w)"],
    "clip": [
        "xp.clip(v, -0.5, 0.5)",
        "xp.clip(i, 1, None)",
        "xp.clip(m, max=0.25)",
        "xp.clip(v, min=w, max=2)",
        "xp.clip(f, -0.5, 0.5)",
        "xp.clip(v, 0, 1, out=xp.zeros(12))",
        "xp.clip(v)",
    ],
    "round": ["xp.round(v)", "xp.round(m, 2)", "xp.round(i, -1)", "xp.round(c, 1)"],
    "around": ["xp.around(v, decimals=1)", "xp.around(v, 1, out=xp.zeros(12))"],
}
