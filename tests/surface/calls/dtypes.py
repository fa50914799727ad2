"""Sample calls of lazyarray.functions.dtypes."""

CALLS = {
    "astype": [
        "xp.astype(v, 'float32')",
        "xp.astype(i, complex)",
        "xp.astype(v, float, copy=False)",
    ],
    "can_cast": ["xp.can_cast('int8', 'float32')", "xp.can_cast(xp.float64, int, 'same_kind')"],
    "result_type": [
        "xp.result_type(f, 1.0)",
        "xp.result_type(i, xp.float32)",
        "xp.result_type(v, c)",
    ],
    "iscomplexobj": ["xp.iscomplexobj(c)", "xp.iscomplexobj([1, 2])"],
    "isrealobj": ["xp.isrealobj(c)", "xp.isrealobj(v)"],
    "ndim": ["xp.ndim(t)", "xp.ndim(3)"],
    "shape": ["xp.shape(t)", "xp.shape([[1, 2]])"],
    "size": ["xp.size(t)", "xp.size(t, 1)"],
    "common_type": ["xp.common_type(i, f)", "xp.common_type(f, f)", "xp.common_type(f, c)"],
    "typename": ["xp.typename('d')"],
    "mintypecode": ["xp.mintypecode(['d', 'f', 'S'])"],
    "min_scalar_type": [
        "xp.min_scalar_type(10)",
        "xp.min_scalar_type(v)",
        "xp.min_scalar_type(xp.array(-3))",
    ],
    "issubdtype": ["xp.issubdtype(v.dtype, np.floating)", "xp.issubdtype(i.dtype, np.floating)"],
}
