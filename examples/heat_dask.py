"""Heat spreads through a plate that no worker holds at once: map_overlap, from Zarr to Zarr.

python examples/heat_dask.py                     # blocks of lazyarray's
python examples/heat_dask.py --blocks numpy      # the same lines on blocks of NumPy's

The dashboard shows the tasks while they run, where bokeh is installed.
"""

import argparse
import os
import shutil
import tempfile
import time

import dask
import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster, progress
from dask.utils import format_bytes, parse_bytes


def spread(block, steps):
    """Explicit steps; the block's border of as many cells goes stale, and is cut off."""
    block = block.copy()
    for _ in range(steps):
        inner = block[1:-1, 1:-1]
        block[1:-1, 1:-1] = inner + 0.2 * (
            block[:-2, 1:-1] + block[2:, 1:-1] + block[1:-1, :-2] + block[1:-1, 2:] - 4 * inner
        )
    return block


def hot_spots(block, side, block_info=None):
    """A plate with hot spots, from its cells' places."""
    (top, bottom), (left, right) = block_info[None]["array-location"]
    ones = block[:1, :1] * 0 + 1.0  # of the block's type
    y = np.arange(top, bottom)[:, None] * ones * (6.2831853 / side)
    x = np.arange(left, right)[None, :] * ones * (6.2831853 / side)
    return np.where(np.sin(3 * y) * np.sin(5 * x) > 0.7, 100.0, 0.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--blocks", choices=["lazyarray", "numpy"], default="lazyarray")
    parser.add_argument("--side", type=int, default=14_000)
    parser.add_argument("--block", type=int, default=1400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=8, help="in each round, between two exchanges")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="480 MiB", help="for each worker")
    args = parser.parse_args()
    dask.config.set({"array.backend": args.blocks})
    # To disk before the process is so large that Dask stops it for a while.
    dask.config.set({"distributed.worker.memory.target": 0.4})
    dask.config.set({"distributed.worker.memory.spill": 0.5})
    folder = tempfile.mkdtemp()
    cluster = LocalCluster(n_workers=args.workers, threads_per_worker=1, memory_limit=args.memory)
    try:
        with cluster, Client(cluster) as client:
            print(f"dashboard: {client.dashboard_link}")
            if args.blocks == "lazyarray":
                from lazyarray.dask import EngineThreads

                client.register_plugin(EngineThreads())
            plate = da.zeros((args.side, args.side), chunks=args.block)
            plate = plate.map_blocks(hot_spots, args.side, dtype=float, meta=plate._meta)
            memory = args.workers * parse_bytes(args.memory)
            print(f"{format_bytes(plate.nbytes)}, workers with {format_bytes(memory)} in all")
            start = time.perf_counter()
            path = os.path.join(folder, "plate-0.zarr")
            plate.to_zarr(path)
            for k in range(args.rounds):
                plate = da.from_zarr(path)
                if args.blocks == "lazyarray":
                    plate = plate.to_backend("lazyarray")
                after = da.map_overlap(
                    spread, plate, depth=args.steps, boundary="nearest",
                    dtype=float, meta=plate._meta, steps=args.steps,
                )  # fmt: skip
                path = os.path.join(folder, f"plate-{k + 1}.zarr")
                stored = after.to_zarr(path, compute=False).persist()
                progress(stored, notebook=False)
                dask.compute(stored)
                shutil.rmtree(os.path.join(folder, f"plate-{k}.zarr"))
            seconds = time.perf_counter() - start
            end = da.from_zarr(path)
            mean, hottest = dask.compute(end.mean(), end.max())
            cells = args.side**2 * args.steps * args.rounds
            print(
                f"\n{args.blocks} blocks: {seconds:.1f} s, "
                f"{cells / seconds / 1e6:.0f} million cells/s"
            )
            print(f"mean {float(mean):.6f}, hottest {float(hottest):.4f}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
