"""Sample calls of lazyarray.functions.broadcasting."""

CALLS = {
    "broadcast_shapes": ["xp.broadcast_shapes((3, 1), (4,))"],
    "broadcast": [
        "xp.broadcast(m, v[:4]).shape",
        "[xp.broadcast(m[:, :1], v[:4]).nd, xp.broadcast(m, v[:4]).size]",
        "[int(x * y) for x, y in xp.broadcast(i[:2], j[:, :1])]",
    ],
    "broadcast_to": ["xp.broadcast_to(v, (2, 12))", "xp.broadcast_to(3, 4, subok=True)"],
    "broadcast_arrays": ["xp.broadcast_arrays(m, v[:4])", "xp.broadcast_arrays(1, i, subok=True)"],
}
