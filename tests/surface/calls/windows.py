"""Sample calls of windows and special functions."""

CALLS = {
    **{
        name: [f"xp.{name}(0)", f"xp.{name}(1)", f"xp.{name}(12)"]
        for name in ("bartlett", "blackman", "hamming", "hanning")
    },
    "kaiser": ["xp.kaiser(12, 5.0)", "xp.kaiser(1, 2)", "xp.kaiser(0, 2)"],
    "i0": ["xp.i0(v)", "xp.i0(i)", "xp.i0(f * 9)"],
    "sinc": ["xp.sinc(v)", "xp.sinc(i)", "xp.sinc(c)", "xp.sinc(f)"],
}
