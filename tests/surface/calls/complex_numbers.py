"""Sample calls of lazyarray.functions.complex_numbers."""

CALLS = {
    "real_if_close": ["xp.real_if_close(c)", "xp.real_if_close(v + 0j)", "xp.real_if_close(v)"],
    "angle": ["xp.angle(c)", "xp.angle(c, deg=True)", "xp.angle(v)", "xp.angle(f)", "xp.angle(-1)"],
    "real": ["xp.real(c)", "xp.real(v)", "xp.real([1, 2j])"],
    "imag": ["xp.imag(c)", "xp.imag(v)", "xp.imag([1, 2j])"],
}
