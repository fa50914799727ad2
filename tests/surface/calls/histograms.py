"""Sample calls of lazyarray.functions.histograms."""

CALLS = {
    "histogram": [
        "xp.histogram(v)",
        "xp.histogram(i, 4)",
        "xp.histogram(f, 5, range=(-1, 1))",
        "xp.histogram(v, [-1, 0, 0.5, 1])",
        "xp.histogram(v, bins=s)",
        "xp.histogram(v, 5, density=True)",
        "xp.histogram(v, 5, weights=w)",
        "xp.histogram(v, s, weights=w, density=True)",
        "xp.histogram(v, 5, weights=c)",
        "xp.histogram(v, 'auto')",
        "xp.histogram(m, 'fd', range=(-1, 1))",
    ],
    "histogram_bin_edges": [
        "xp.histogram_bin_edges(v)",
        "xp.histogram_bin_edges(i, 4)",
        "xp.histogram_bin_edges(f, 4, range=(0, 2))",
        "xp.histogram_bin_edges(v, 'sturges')",
        "xp.histogram_bin_edges(v, [1, 2, 4])",
    ],
    "histogramdd": [
        "xp.histogramdd(m)[0]",
        "xp.histogramdd(m[:, :2], bins=3)",
        "xp.histogramdd(m[:, :2], bins=(3, s), density=True)",
        "xp.histogramdd((v, w), bins=4, range=[(-2, 2), None], weights=w)",
        "xp.histogramdd(v, bins=4)",
    ],
    "histogram2d": [
        "xp.histogram2d(v, w)",
        "xp.histogram2d(v, f, bins=(3, 4))",
        "xp.histogram2d(v, w, bins=s)",
        "xp.histogram2d(v, w, [3, s], density=True, weights=w)",
        "xp.histogram2d(v, w, 3, [[-1, 1], [0, 2]])",
    ],
    "bincount": [
        "xp.bincount(i)",
        "xp.bincount(i, weights=w)",
        "xp.bincount(i, minlength=20)",
        "xp.bincount(i, f, 3)",
    ],
    "digitize": [
        "xp.digitize(v, s)",
        "xp.digitize(v, s[::-1], right=True)",
        "xp.digitize(m, [-1, 0, 1])",
        "xp.digitize(0.5, s)",
    ],
}
