"""Programs of statistics: summaries, histograms, sampling, moving windows, groups."""

import math
from collections import defaultdict

import pytest

from .compare import check, programs


def descriptive_statistics(np):
    x = np.random.default_rng(7).gamma(2.0, 3.0, 101)
    m, s = np.mean(x), np.std(x, ddof=1)
    skew = np.mean(((x - m) / s) ** 3)
    q1, med, q3 = np.percentile(x, [25, 50, 75])
    iqr = q3 - q1
    outliers = x[(x < q1 - 1.5 * iqr) | (x > q3 + 1.5 * iqr)]
    print(f"mean={m:.4f} sd={s:.4f} median={med:.4f} skew={skew:+.3e}")
    print("{:8.2f}|{:<8.2f}|{:^8.1f}".format(x.min(), x.max(), np.ptp(x)))
    print("n=%d, first %5.2f" % (x.size, x[0]))
    return outliers, iqr, np.quantile(x, 0.9), np.median(x), x.var(), math.sqrt(x.var())


def covariance_and_correlation(np):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(3, 40))
    X[2] += X[0]
    C = np.cov(X)
    d = np.sqrt(np.diag(C))
    R = C / np.outer(d, d)
    assert np.allclose(R, np.corrcoef(X))
    dx = X[0] - X[0].mean()
    dy = X[2] - X[2].mean()
    r = (dx * dy).sum() / np.sqrt((dx**2).sum() * (dy**2).sum())
    return C, R, r, np.corrcoef(X[0], X[1])[0, 1], np.correlate(X[0], X[1], "full").argmax()


def missing_values(np):
    x = np.array([[1.0, np.nan, 3], [4, 5, np.nan], [np.nan, np.nan, 9]])
    means = np.nanmean(x, axis=0)
    filled = np.where(np.isnan(x), means, x)
    rows, cols = np.where(np.isnan(x))
    y = x.copy()
    y[rows, cols] = means[cols]
    assert np.array_equal(y, filled)
    return [
        filled, np.nansum(x), np.nanmax(x, axis=1), np.nanstd(x), np.nanmedian(x, axis=0),
        np.nanpercentile(x, 50), np.isnan(x).sum(axis=1), x[~np.isnan(x)], np.nan_to_num(x),
        np.nanargmin(x), x[~np.isnan(x).any(axis=1)], np.nancumsum(x),
    ]  # fmt: skip


def histograms(np):
    x = np.random.default_rng(9).normal(size=300)
    counts, edges = np.histogram(x, bins=10)
    density, _ = np.histogram(x, bins=np.linspace(-3, 3, 13), density=True)
    centers = (edges[:-1] + edges[1:]) / 2
    mode = centers[counts.argmax()]
    for c, left, right in zip(counts, edges[:-1], edges[1:]):
        print(f"[{left:6.2f}, {right:6.2f}) {'#' * int(c // 5)}")
    H, xe, ye = np.histogram2d(x[:150], x[150:], bins=(4, 5))
    ids = np.digitize(x, edges[1:-1])
    assert (np.bincount(ids, minlength=10) == counts).all()
    return counts, edges, density, mode, H, ids, counts.sum() == x.size


def bootstrap(np):
    rng = np.random.default_rng(10)
    data = rng.exponential(2, 50)
    means = np.empty(100)
    for i in range(100):
        means[i] = rng.choice(data, size=data.size, replace=True).mean()
    lo, hi = np.percentile(means, (2.5, 97.5))
    assert lo < data.mean() < hi
    return means, lo, hi


def monte_carlo(np):
    rng = np.random.default_rng(11)
    n = 10000
    pts = rng.random((n, 2))
    inside = (pts**2).sum(axis=1) <= 1
    pi = 4 * inside.mean()
    running = 4 * np.cumsum(inside) / np.arange(1, n + 1)
    dice = rng.integers(1, 7, size=(2, 1000)).sum(axis=0)
    p = {int(k): float(np.mean(dice == k)) for k in range(2, 13)}
    return pi, running[::500], p, abs(pi - np.pi) < 0.1


def metropolis(np):
    rng = np.random.default_rng(12)
    logp = lambda x: -0.5 * x**2
    x, chain, accepted = 0.0, [], 0
    for _ in range(150):
        new = x + rng.normal(0, 1)
        if np.log(rng.random()) < logp(new) - logp(x):
            x = new
            accepted += 1
        chain.append(x)
    chain = np.array(chain)
    return chain, chain[50:].mean(), accepted / 150


def expectation_maximisation(np):
    rng = np.random.default_rng(13)
    x = np.r_[rng.normal(-2, 1, 40), rng.normal(3, 0.5, 60)]
    mu, sigma, pi = np.array([-1.0, 1.0]), np.ones(2), np.array([0.5, 0.5])
    for _ in range(15):
        pdf = np.exp(-0.5 * ((x[:, None] - mu) / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))
        r = pi * pdf
        r /= r.sum(axis=1)[:, None]
        nk = r.sum(axis=0)
        mu = (r * x[:, None]).sum(axis=0) / nk
        sigma = np.sqrt((r * (x[:, None] - mu) ** 2).sum(axis=0) / nk)
        pi = nk / len(x)
    return mu, sigma, pi, r.argmax(axis=1)


def moving_averages(np):
    x = np.random.default_rng(14).normal(size=30).cumsum()
    w = 5
    c = np.cumsum(np.insert(x, 0, 0))
    a = (c[w:] - c[:-w]) / w
    b = np.convolve(x, np.ones(w) / w, mode="valid")
    d = np.lib.stride_tricks.sliding_window_view(x, w).mean(axis=-1)
    assert np.allclose(a, b) and np.allclose(a, d)
    ema = np.zeros_like(x)
    ema[0] = x[0]
    for i in range(1, len(x)):
        ema[i] = 0.3 * x[i] + 0.7 * ema[i - 1]
    drawdown = (np.maximum.accumulate(x) - x).max()
    returns = np.diff(x) / x[:-1]
    return a, b, d, ema, drawdown, returns


def group_by(np):
    keys = np.array([3, 1, 2, 1, 3, 3, 2])
    vals = np.array([10.0, 20, 30, 40, 50, 60, 70])
    u, inv = np.unique(keys, return_inverse=True)
    sums = np.bincount(inv, weights=vals)
    means = sums / np.bincount(inv)
    order = np.argsort(keys, kind="stable")
    cuts = np.flatnonzero(np.diff(keys[order])) + 1
    groups = np.split(vals[order], cuts)
    best = np.full(u.size, -np.inf)
    np.maximum.at(best, inv, vals)
    by_dict = defaultdict(list)
    for k, v in zip(keys, vals):
        by_dict[int(k)].append(float(v))
    reduced = np.add.reduceat(vals[order], np.r_[0, cuts])
    assert (reduced == sums).all()
    return u, sums, means, groups, best, dict(by_dict), reduced


@pytest.mark.parametrize("program", programs(globals()))
def test_program(program):
    check(program)
