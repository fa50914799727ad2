"""Sample calls of lazyarray.functions.nanfunctions."""


def _reductions(name: str) -> list[str]:
    return [
        f"xp.{name}(n)",
        f"xp.{name}(n, axis=0)",
        f"xp.{name}(n, -1, keepdims=True)",
        f"xp.{name}(t, axis=(0, 2))",
        f"xp.{name}(n.T, axis=1)",
        f"xp.{name}(j, axis=1)",
        f"xp.{name}(f)",
        f"xp.{name}(n, axis=0, out=xp.zeros(4))",
    ]


def _summed(name: str) -> list[str]:
    return [
        *_reductions(name),
        f"xp.{name}(c)",
        f"xp.{name}(n, dtype='float32')",
        f"xp.{name}(n, axis=0, where=m > 0)",
    ]


def _running(name: str) -> list[str]:
    return [
        f"xp.{name}(n)",
        f"xp.{name}(n, axis=0)",
        f"xp.{name}(n, 1, dtype='complex128')",
        f"xp.{name}(j, -1)",
        f"xp.{name}(n, 1, out=xp.zeros((3, 4)))",
    ]


CALLS = {
    "nansum": [*_summed("nansum"), "xp.nansum(n, initial=5)"],
    "nanprod": [*_summed("nanprod"), "xp.nanprod(n, 0, initial=5, where=m > 0)"],
    "nanmax": [*_reductions("nanmax"), "xp.nanmax(n, initial=0.5, where=m > 0)"],
    "nanmin": [*_reductions("nanmin"), "xp.nanmin(n, 1, initial=0.5)"],
    "nanmean": _summed("nanmean"),
    "nanvar": [
        *_summed("nanvar"),
        "xp.nanvar(n, ddof=1)",
        "xp.nanvar(n, axis=0, correction=1)",
        "xp.nanvar(n, axis=1, mean=xp.nanmean(n, axis=1, keepdims=True))",
    ],
    "nanstd": [*_summed("nanstd"), "xp.nanstd(n, axis=0, ddof=1)"],
    "nanmedian": _reductions("nanmedian"),
    "nanquantile": [
        "xp.nanquantile(n, 0.3)",
        "xp.nanquantile(n, [0.3, 0.6], axis=1)",
        "xp.nanquantile(n, 0.3, axis=0, keepdims=True, method='lower')",
        "xp.nanquantile(n, 0.3, method='inverted_cdf', weights=xp.abs(m))",
        "xp.nanquantile(f, 0.3)",
    ],
    "nanpercentile": [
        "xp.nanpercentile(n, 30)",
        "xp.nanpercentile(t, [30, 60], axis=(0, 1))",
        "xp.nanpercentile(n, 30, axis=1, out=xp.zeros(3))",
    ],
    "nanargmax": ["xp.nanargmax(n)", "xp.nanargmax(n[:1], axis=1, keepdims=True)"],
    "nanargmin": ["xp.nanargmin(n)", "xp.nanargmin(m, axis=0)"],
    "nancumsum": _running("nancumsum"),
    "nancumprod": _running("nancumprod"),
    "nan_to_num": [
        "xp.nan_to_num(n)",
        "xp.nan_to_num(n, nan=3)",
        "xp.nan_to_num(n * c[:4])",
        "xp.nan_to_num(xp.log(f * 0), neginf=-7)",
        "xp.nan_to_num(1 / (v * 0), posinf=1, neginf=2)",
        "xp.nan_to_num(i)",
        "xp.nan_to_num(n.copy(), copy=False)",
    ],
}
