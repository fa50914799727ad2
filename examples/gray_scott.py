"""Two substances react and spread until they make patterns: the Gray-Scott model.

    python examples/gray_scott.py                        # lazyarray
    python examples/gray_scott.py --backend numpy        # the same lines on NumPy
    python examples/gray_scott.py --picture pattern.png  # and a picture

`u` feeds the reaction and `v` is made by it (Pearson, "Complex Patterns in a Simple System", 1993).
A step is a chain of some twenty operations on whole arrays: lazyarray runs them as a few passes
over memory. The numbers are the same on NumPy, to the last bit.
"""

from __future__ import annotations

import argparse
import importlib
import pathlib
import struct
import sys
import zlib
from typing import Any

import numpy as np

FEED, KILL = 0.0545, 0.062  # winding stripes, as on a coral
SPREAD_U, SPREAD_V = 0.16, 0.08


def start(xp: Any, side: int) -> tuple[Any, Any]:
    """A plate full of `u`, with some squares of `v` on it."""
    u, v = xp.ones((side, side)), xp.zeros((side, side))
    for y, x in ((0.3, 0.3), (0.55, 0.6), (0.7, 0.25)):
        top, left, size = int(y * side), int(x * side), max(2, side // 16)
        u[top : top + size, left : left + size] = 0.5
        v[top : top + size, left : left + size] = 0.25
    return u, v


def laplacian(xp: Any, a: Any) -> Any:
    """What flows into each cell from its four neighbours; the plate's edges meet."""
    return xp.roll(a, 1, 0) + xp.roll(a, -1, 0) + xp.roll(a, 1, 1) + xp.roll(a, -1, 1) - 4 * a


def run(xp: Any, side: int, steps: int) -> tuple[Any, Any]:
    """The plate after so many steps."""
    u, v = start(xp, side)
    for _ in range(steps):
        reaction = u * v * v
        u += SPREAD_U * laplacian(xp, u) - reaction + FEED * (1 - u)
        v += SPREAD_V * laplacian(xp, v) + reaction - (FEED + KILL) * v
    return u, v


def png(grey: np.ndarray) -> bytes:
    """A picture of 8-bit greys, as a PNG file (RFC 2083)."""
    height, width = grey.shape
    rows = np.zeros((height, width + 1), np.uint8)  # each row begins with its filter: none
    rows[:, 1:] = grey

    def part(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    body = part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows.tobytes(), 9))
    return b"\x89PNG\r\n\x1a\n" + body + part(b"IEND", b"")


def main(argv: list[str] | None = None) -> None:
    """Run as the command line says."""
    parser = argparse.ArgumentParser(description="Patterns of the Gray-Scott model.")
    parser.add_argument("--backend", choices=("lazyarray", "numpy"), default="lazyarray")
    parser.add_argument("--side", type=int, default=128, help="cells along each edge")
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--picture", type=pathlib.Path, help="where to write a picture of v (PNG)")
    args = parser.parse_args(argv)
    if args.side < 8 or args.steps < 0:
        sys.exit("--side is at least 8, --steps at least 0")
    xp = importlib.import_module(args.backend)
    u, v = run(xp, args.side, args.steps)
    means = f"u: mean {float(u.mean()):.6f}   v: mean {float(v.mean()):.6f}"
    print(f"{args.steps} steps on {args.side} x {args.side} cells")
    print(f"{means}   covered: {float((v > 0.2).mean()):.1%}")
    if args.picture:
        shade = xp.clip(255 - 600 * v, 0, 255)
        args.picture.write_bytes(png(np.asarray(shade).astype(np.uint8)))
        print(f"picture: {args.picture.name}")


if __name__ == "__main__":
    main()
