"""Elementwise functions: each on the dtypes that it has loops for, and with its options."""

FLOAT = """absolute abs fabs negative positive square sign conjugate conj reciprocal sqrt cbrt exp
exp2 expm1 log log2 log10 log1p sin cos tan arcsin asin arccos acos arctan atan sinh cosh tanh
arcsinh asinh arccosh acosh arctanh atanh deg2rad rad2deg degrees radians floor ceil trunc rint
spacing logical_not isfinite isinf isnan signbit""".split()
NO_COMPLEX = (
    """fabs cbrt deg2rad rad2deg degrees radians floor ceil trunc spacing signbit""".split()
)
PAIRS = """add subtract multiply divide true_divide floor_divide remainder mod fmod divmod maximum
minimum fmax fmin copysign heaviside power pow float_power logaddexp logaddexp2 arctan2 atan2 hypot
nextafter equal not_equal less less_equal greater greater_equal logical_and logical_or
logical_xor""".split()
INTS = """bitwise_and bitwise_or bitwise_xor left_shift bitwise_left_shift right_shift
bitwise_right_shift gcd lcm""".split()

CALLS = {}
for _name in FLOAT:
    _xp = f"xp.{_name}"
    CALLS[_name] = [f"{_xp}(w)", f"{_xp}(f)", f"{_xp}(m.T)", f"{_xp}(2)", f"{_xp}([[1, 2]])"]
    CALLS[_name] += [f"{_xp}(w, out=v)", f"{_xp}(w, where=b, out=v)"]
    if _name not in NO_COMPLEX:
        CALLS[_name] += [f"{_xp}(c)"]
for _name in PAIRS:
    _xp = f"xp.{_name}"
    CALLS[_name] = [
        f"{_xp}(v, w)",
        f"{_xp}(m, 2)",
        f"{_xp}(i, i + 1)",
        f"{_xp}(t, n)",
        f"{_xp}(w, f)",
    ]
    CALLS[_name] += [f"{_xp}(v[:, None], v)"]
    if _name != "divmod":
        CALLS[_name] += [f"{_xp}(i, 3, where=b, out=xp.zeros(12, {_xp}(i, 3).dtype))"]
for _name in INTS:
    _xp = f"xp.{_name}"
    CALLS[_name] = [f"{_xp}(i, 2)", f"{_xp}(i, i[::-1])", f"{_xp}(j[:, :1] ** 2, i[:4])"]
for _name in ("invert", "bitwise_not", "bitwise_invert", "bitwise_count"):
    CALLS[_name] = [f"xp.{_name}(i)", f"xp.{_name}(j.T)", f"xp.{_name}(7)"]
CALLS |= {
    "ldexp": ["xp.ldexp(v, i)", "xp.ldexp(0.5, 3)"],
    "frexp": ["xp.frexp(v)", "xp.frexp(m.T)"],
    "modf": ["xp.modf(v)", "xp.modf(n)"],
}
