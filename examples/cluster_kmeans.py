"""k-means on a cluster, of more points than its workers may hold in memory: they spill to disk.

python examples/cluster_kmeans.py                     # blocks of lazyarray's
python examples/cluster_kmeans.py --blocks numpy      # the same lines on blocks of NumPy's

The dashboard shows the tasks while they run, where bokeh is installed.
"""

import argparse
import time

import dask
import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster, progress, wait
from dask.utils import format_bytes, parse_bytes


def partial_sums(block, centres):
    """Of the points nearest to each centre: their sum and number, the sum of their distances."""
    d = ((block[:, None, :] - centres) ** 2).sum(axis=-1)
    mine = d.argmin(axis=1)[:, None] == np.arange(len(centres))
    sums = mine.T.astype(block.dtype) @ block
    rest = [mine.sum(axis=0)[:, None], np.where(mine, d, 0.0).sum(axis=0)[:, None]]
    return np.concatenate([sums, *rest], axis=1)[None]


def clustered(n, centres, block):
    """Points around the centres, a block at a time, from one seed."""
    rng = da.random.default_rng(1)
    which = rng.integers(len(centres), size=(n, 1), chunks=(block, 1))
    noise = rng.normal(0, 0.5, size=(n, centres.shape[1]), chunks=(block, -1))
    return noise + sum((which == k) * centre for k, centre in enumerate(centres))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--blocks", choices=["lazyarray", "numpy"], default="lazyarray")
    parser.add_argument("--points", type=int, default=24_000_000)
    parser.add_argument("--block", type=int, default=100_000)
    parser.add_argument("--clusters", type=int, default=8)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="480 MiB", help="for each worker")
    args = parser.parse_args()
    dask.config.set({"array.backend": args.blocks})
    # To disk before the process is so large that Dask stops it for a while.
    dask.config.set({"distributed.worker.memory.target": 0.4})
    dask.config.set({"distributed.worker.memory.spill": 0.5})
    cluster = LocalCluster(n_workers=args.workers, threads_per_worker=1, memory_limit=args.memory)
    with cluster, Client(cluster) as client:
        print(f"dashboard: {client.dashboard_link}")
        if args.blocks == "lazyarray":
            from lazyarray.dask import EngineThreads

            client.register_plugin(EngineThreads())
        rng = np.random.default_rng(0)
        true = rng.uniform(-5, 5, size=(args.clusters, 8))
        start = time.perf_counter()
        x = clustered(args.points, true, args.block).persist()
        progress(x, notebook=False)
        wait(x)
        memory = args.workers * parse_bytes(args.memory)
        print(f"\n{format_bytes(x.nbytes)} of points, workers with {format_bytes(memory)} in all")
        print(f"made in {time.perf_counter() - start:.1f} s")
        centres = true + rng.normal(0, 1, size=true.shape)
        shape = (args.clusters, true.shape[1] + 2)
        start = time.perf_counter()
        for k in range(args.steps):
            sums = x.map_blocks(
                partial_sums, centres, chunks=((1,) * x.numblocks[0], *[(n,) for n in shape]),
                new_axis=1, dtype=x.dtype, meta=x._meta[None],
            )  # fmt: skip
            sums = np.asarray(sums.sum(axis=0).compute())
            centres = sums[:, :-2] / np.maximum(sums[:, -2:-1], 1)
            print(f"step {k + 1}: mean squared distance {sums[:, -1].sum() / args.points:.4f}")
        seconds = (time.perf_counter() - start) / args.steps
        print(f"{args.blocks} blocks: {seconds:.2f} s a step, {x.nbytes / seconds / 1e6:.0f} MB/s")
        print(f"farthest centre: {np.abs(centres - true).max():.3f} from the true one")


if __name__ == "__main__":
    main()
