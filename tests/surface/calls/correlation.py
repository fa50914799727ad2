"""Sample calls of lazyarray.functions.correlation."""

CALLS = {
    "cov": [
        "xp.cov(m)",
        "xp.cov(m, rowvar=False)",
        "xp.cov(v)",
        "xp.cov(v, w)",
        "xp.cov(m, bias=True)",
        "xp.cov(m, ddof=2)",
        "xp.cov(m, aweights=w[:4])",
        "xp.cov(m, fweights=i[:4] + 1)",
        "xp.cov(m, fweights=i[:4] + 1, aweights=w[:4])",
        "xp.cov(m, fweights=[1, 2, 3, 4], ddof=0)",
        "xp.cov(f, dtype='float32')",
        "xp.cov(xp.stack([c, c[::-1]]))",
        "xp.cov(j)",
    ],
    "corrcoef": [
        "xp.corrcoef(m)",
        "xp.corrcoef(v, w)",
        "xp.corrcoef(m, rowvar=False)",
        "xp.corrcoef(v)",
        "xp.corrcoef(xp.stack([c, c[::-1]]))",
        "xp.corrcoef(m, dtype='float32')",
    ],
    "correlate": [
        "xp.correlate(v, w)",
        "xp.correlate(v, w[:3], 'same')",
        "xp.correlate(v[:3], w, mode='full')",
        "xp.correlate(c, v[:2])",
        "xp.correlate(i, f[:2], 'full')",
    ],
    "convolve": [
        "xp.convolve(v, w)",
        "xp.convolve(v[:3], w, 'same')",
        "xp.convolve(v, w[:3], mode='valid')",
        "xp.convolve(i, [1, 2])",
        "xp.convolve(c, 2)",
    ],
}
