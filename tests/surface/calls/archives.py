"""Sample calls of lazyarray.functions.archives."""

CALLS = {
    "savez": ["[xp.savez(tmp / 'a', v, k=m), sorted(np.load(tmp / 'a.npz'))]"],
    "savez_compressed": [
        "[xp.savez_compressed(tmp / 'a', k=m), np.load(tmp / 'a.npz')['k'].tolist()]"
    ],
}
