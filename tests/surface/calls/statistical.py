"""Sample calls of lazyarray.ops.statistical."""


def _running(name: str) -> list[str]:
    return [
        f"xp.{name}(v)",
        f"xp.{name}(j, 0)",
        f"xp.{name}(m)",
        f"xp.{name}(m, axis=-1, dtype='float32')",
        f"xp.{name}(b)",
        f"xp.{name}(m, 1, out=xp.zeros((3, 4)))",
    ]


def _cumulative(name: str) -> list[str]:
    return [
        f"xp.{name}(v)",
        f"xp.{name}(m, axis=1, include_initial=True)",
        f"xp.{name}(j, axis=0, dtype='float64')",
        f"xp.{name}(v, include_initial=True, out=xp.zeros(13))",
    ]


CALLS = {
    "cumsum": _running("cumsum"),
    "cumprod": _running("cumprod"),
    "cumulative_sum": _cumulative("cumulative_sum"),
    "cumulative_prod": _cumulative("cumulative_prod"),
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
    "ptp": [
        "xp.ptp(v)",
        "xp.ptp(m, axis=0)",
        "xp.ptp(t, (0, 2), keepdims=True)",
        "xp.ptp(j, 1, out=xp.zeros(3, dtype='int64'))",
    ],
    "median": [
        "xp.median(v)",
        "xp.median(m, axis=0)",
        "xp.median(t, axis=(0, 1), keepdims=True)",
        "xp.median(n, axis=1)",
        "xp.median(i)",
        "xp.median(m, 1, xp.zeros(3))",
        "xp.median(m.copy(), overwrite_input=True)",
        "xp.median(f)",
    ],
    "average": [
        "xp.average(v)",
        "xp.average(v, weights=w)",
        "xp.average(m, axis=0, returned=True)",
        "xp.average(m, 1, w[:4], True)",
        "xp.average(t, axis=(0, 2), weights=xp.abs(t[:, 0]), keepdims=True)",
        "xp.average(i, weights=i + 1)",
    ],
    "diff": [
        "xp.diff(v)",
        "xp.diff(m, 2, axis=0)",
        "xp.diff(v, prepend=0)",
        "xp.diff(m, prepend=m[:, :2], append=5)",
        "xp.diff(b)",
        "xp.diff(v, n=0)",
    ],
    "trace": ["xp.trace(q)", "xp.trace(q, offset=1)", "xp.trace(t, 0, 1, 2, dtype='float32')"],
}
