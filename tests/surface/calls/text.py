"""Sample calls of lazyarray.functions.text."""

CALLS = {
    "array2string": [
        "xp.array2string(m)",
        "xp.array2string(v, precision=3, separator=', ', threshold=5, edgeitems=2)",
        "xp.array2string(i, formatter={'int': hex})",
    ],
    "array_repr": ["xp.array_repr(m)", "xp.array_repr(f, precision=2)"],
    "array_str": ["xp.array_str(m)", "xp.array_str(f, 40, 3)"],
    "format_float_positional": [
        "xp.format_float_positional(v[0])",
        "xp.format_float_positional(f[0], precision=3, unique=False)",
    ],
    "format_float_scientific": [
        "xp.format_float_scientific(f[0])",
        "xp.format_float_scientific(1e10, precision=2, exp_digits=3)",
    ],
    "base_repr": ["xp.base_repr(5)", "xp.base_repr(-255, 16, padding=2)"],
    "binary_repr": ["xp.binary_repr(5, width=8)", "xp.binary_repr(-3, 4)"],
    "set_printoptions": ["xp.set_printoptions()"],
    "get_printoptions": ["xp.get_printoptions()['precision']"],
    "printoptions": ["xp.printoptions(precision=3).__class__.__name__"],
}
