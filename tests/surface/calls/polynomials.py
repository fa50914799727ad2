"""Sample calls of lazyarray.functions.polynomials."""

CALLS = {
    "poly": ["xp.poly(v[:4])", "xp.poly(q)", "xp.poly(c[:2])", "xp.poly(i)"],
    "poly1d": [
        "xp.poly1d(v[:4])(w)",
        "xp.poly1d([1, 2, 3], r=True).coeffs",
        "[p := xp.poly1d(i[:4] + 1), (p * p + 1).c, p.deriv(2).c, p.integ(k=2).c, p(2), p[1]][1:]",
        "[len(xp.poly1d(c[:3])), xp.poly1d([0, 0, 1, 2]).order, str(xp.poly1d([1.5, 0, -2]))]",
        "xp.poly1d(xp.polyfit(s, v, 2)).roots",
    ],
    "polyadd": ["xp.polyadd(v, w[:3])", "xp.polyadd(i[:2], c)"],
    "polysub": ["xp.polysub(v, w[:3])", "xp.polysub(f, f)"],
    "polymul": ["xp.polymul(v, w[:3])", "xp.polymul(i, i)"],
    "polydiv": ["xp.polydiv(v, w[:3])", "xp.polydiv(i + 1, i[:2] + 1)"],
    "polyder": ["xp.polyder(v)", "xp.polyder(i, 3)"],
    "polyint": ["xp.polyint(v)", "xp.polyint(i, 2, k=[1, 2])", "xp.polyint(f, k=3)"],
    "polyval": ["xp.polyval(v, m)", "xp.polyval([1, 2, 3], j)", "xp.polyval(f[:3], c)"],
    "polyfit": [
        "xp.polyfit(s, v, 2)",
        "xp.polyfit(s, m.T.reshape(12, 1) * [1, 2], 3, w=w)",
        "xp.polyfit(s, v, 2, cov=True)",
        "xp.polyfit(s, v, 1, cov='unscaled', rcond=1e-9)",
        "xp.polyfit(s, v, 2, full=True)[:4]",
    ],
    "roots": ["xp.roots(v)", "xp.roots(i)"],
    "vander": ["xp.vander(v, 4)", "xp.vander(i[:3])", "xp.vander(f, 3, increasing=True)"],
}
