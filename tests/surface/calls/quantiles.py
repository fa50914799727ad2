"""Sample calls of lazyarray.functions.quantiles."""

_METHODS = (
    "inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen "
    "weibull linear median_unbiased normal_unbiased lower higher midpoint nearest"
).split()


CALLS = {
    "quantile": [
        "xp.quantile(v, 0.3)",
        "xp.quantile(f, 0.3)",
        "xp.quantile(f, [0.3, 0.9])",
        "xp.quantile(m, [0.25, 0.5], axis=1)",
        "xp.quantile(t, [[0.1], [0.9]], axis=(0, 2), keepdims=True)",
        "xp.quantile(n, 0.5, axis=0)",
        "xp.quantile(v, 0.3, method='inverted_cdf', weights=w)",
        "xp.quantile(m, 0.3, axis=1, method='inverted_cdf', weights=w[:4])",
        "xp.quantile(m, 0.3, axis=0, out=xp.zeros(4))",
        "xp.quantile(v.copy(), 0.3, overwrite_input=True)",
        "xp.quantile(i, 0)",
        *[f"xp.quantile(t, [0.2, 0.5, 1], axis=1, method={name!r})" for name in _METHODS],
    ],
    "percentile": [
        "xp.percentile(v, 30)",
        "xp.percentile(i, [0, 50, 100], method='nearest')",
        "xp.percentile(m, 40, axis=-1, keepdims=True)",
        "xp.percentile(f, 30, weights=w, method='inverted_cdf')",
        "xp.percentile(m, xp.array([10, 20]), axis=0)",
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
}
