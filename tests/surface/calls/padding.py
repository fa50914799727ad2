"""Sample calls of lazyarray.functions.padding."""

CALLS = {
    "pad": [
        "xp.pad(v, 2)",
        "xp.pad(m, ((1, 2), (0, 3)), constant_values=((1, 2), (3, 4)))",
        "xp.pad(j, 1, 'constant', constant_values=2.5)",
        "xp.pad(m, {1: (1, 2)})",
        "xp.pad(m, 3, 'edge')",
        "xp.pad(m, (2, 5), 'linear_ramp', end_values=(-1, 2))",
        "xp.pad(j, 2, 'linear_ramp')",
        "xp.pad(m, 2, 'maximum')",
        "xp.pad(m, 2, 'minimum', stat_length=2)",
        "xp.pad(m, 2, 'mean', stat_length=((1, 2), (3, 2)))",
        "xp.pad(j, 2, 'mean')",
        "xp.pad(j, 2, 'median')",
        "xp.pad(m, 2, 'reflect')",
        "xp.pad(m, ((7, 3), (0, 11)), 'reflect', reflect_type='odd')",
        "xp.pad(m, (9, 4), 'symmetric')",
        "xp.pad(t, (3, 8), 'symmetric', reflect_type='odd')",
        "xp.pad(t, (9, 4), 'wrap')",
        "xp.pad(v[:1], 3, 'reflect')",
        "xp.pad(t[:, :1], 2, mode='symmetric')",
        "xp.pad(j.T, ((0, 2), (1, 0)), 'edge')",
        "xp.pad(m, 2, lambda v, w, axis, kw: v.__setitem__(slice(w[0]), kw['by']), by=7)",
        "xp.pad(m, 0, 'empty')",
    ],
}
