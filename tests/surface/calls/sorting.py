"""Sample calls of lazyarray.functions.sorting."""

CALLS = {
    "sort": [
        "xp.sort(v)",
        "xp.sort(m, axis=0)",
        "xp.sort(m, axis=None)",
        "xp.sort(n, kind='stable')",
        "xp.sort(v, -1, 'heapsort', None)",
        "xp.sort(i, stable=True)",
        "xp.sort(c)",
    ],
    "argsort": [
        "xp.argsort(v)",
        "xp.argsort(m, 0)",
        "xp.argsort(i, stable=True)",
        "xp.argsort(i, -1, 'mergesort', None)",
        "xp.argsort(m, axis=None)",
    ],
    "lexsort": ["xp.lexsort((v, i))", "xp.lexsort(m, axis=0)"],
    "partition": ["xp.partition(v, 3)[3]", "xp.partition(m, [0, 1], axis=0)[:2]"],
    "argpartition": ["xp.argpartition(v, 3)[3]", "xp.argpartition(m, 1, axis=None)[1]"],
    "sort_complex": [
        "xp.sort_complex(c)",
        "xp.sort_complex(v)",
        "xp.sort_complex(m)",
        "xp.sort_complex(i.astype('int8'))",
        "xp.sort_complex(f)",
    ],
}
