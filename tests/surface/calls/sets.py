"""Sample calls of lazyarray.functions.sets."""

CALLS = {
    "unique": [
        "xp.unique(i)",
        "xp.unique(n)",
        "xp.unique(n, equal_nan=False)",
        "xp.unique(j, axis=1)",
        "xp.unique(i, return_index=True, return_inverse=True, return_counts=True)",
        "xp.unique(m, return_counts=True, axis=0)",
        "xp.unique(j, return_inverse=True)",
        "xp.unique(b)",
        "xp.unique(c)",
    ],
    "unique_all": ["xp.unique_all(i)", "xp.unique_all(n)"],
    "unique_counts": ["xp.unique_counts(j)"],
    "unique_inverse": ["xp.unique_inverse(j)"],
    "unique_values": ["xp.sort(xp.unique_values(i))"],
    "isin": [
        "xp.isin(i, j)",
        "xp.isin(i, [1, 2, 3])",
        "xp.isin(j, 3)",
        "xp.isin(j, i, invert=True)",
        "xp.isin(v, w)",
        "xp.isin(v, v[:3], assume_unique=True)",
        "xp.isin(i, i[:5], kind='sort')",
        "xp.isin(i, i[:5], kind='table')",
        "xp.isin(n, n)",
        "xp.isin(i, [])",
    ],
    "intersect1d": [
        "xp.intersect1d(i, j)",
        "xp.intersect1d(i, j, return_indices=True)",
        "xp.intersect1d(s, s[2:5], assume_unique=True)",
    ],
    "union1d": ["xp.union1d(i, j)", "xp.union1d(v, i)"],
    "setdiff1d": ["xp.setdiff1d(j, [1, 2])", "xp.setdiff1d(s, s[2:5], assume_unique=True)"],
    "setxor1d": ["xp.setxor1d(i, [1, 9])", "xp.setxor1d(s, s[2:5], assume_unique=True)"],
}
