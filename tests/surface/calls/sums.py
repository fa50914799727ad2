"""Sample calls of lazyarray.functions.sums."""


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
    "ediff1d": [
        "xp.ediff1d(v)",
        "xp.ediff1d(j)",
        "xp.ediff1d(i, to_begin=-9, to_end=[8, 9])",
        "xp.ediff1d(f, to_end=v[:2])",
    ],
    "cumsum": _running("cumsum"),
    "cumprod": _running("cumprod"),
    "cumulative_sum": _cumulative("cumulative_sum"),
    "cumulative_prod": _cumulative("cumulative_prod"),
    "diff": [
        "xp.diff(v)",
        "xp.diff(m, 2, axis=0)",
        "xp.diff(v, prepend=0)",
        "xp.diff(m, prepend=m[:, :2], append=5)",
        "xp.diff(b)",
        "xp.diff(v, n=0)",
    ],
}
