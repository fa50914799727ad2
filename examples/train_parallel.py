"""Train a network on the UCI handwritten digits, on as many processes as it is started in.

    python examples/train_parallel.py                                   # one process
    python -m lazyarray.launch -n 2 examples/train_parallel.py          # two, with lazyarray[mpi]

Each process takes its share of every batch, and all take the mean of their gradients: they learn
what one process would. Add `--profile trace.json` for a trace of rank 0, with the collectives on a
track of their own.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time

import numpy as np

import lazyarray as la

try:
    from sklearn.datasets import load_digits
except ImportError as error:
    sys.exit(f"{error}. This example needs the extras: pip install '.[examples]'")

HIDDEN = 128  # units in the hidden layer
CLASSES = 10


def load_data(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Images and labels for training, then for the test: the same on all ranks."""
    images, labels = load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32)
    order = np.random.default_rng(seed).permutation(len(images))
    test, train = np.split(order, [len(order) // 5])
    return images[train], labels[train], images[test], labels[test]


def init_params(seed: int) -> dict[str, la.NDArray]:
    """Weights by He et al. (2015), biases zero. DataParallel gives all ranks those of rank 0."""
    rng = np.random.default_rng(seed)
    params = {}
    for name, (fan_in, fan_out) in {"1": (64, HIDDEN), "2": (HIDDEN, CLASSES)}.items():
        weight = rng.standard_normal((fan_in, fan_out)) * np.sqrt(2 / fan_in)
        params["w" + name] = la.array(weight.astype(np.float32))
        params["b" + name] = la.zeros(fan_out, dtype="float32")
    for p in params.values():
        p.attach_grad()
    return params


def logits(params: dict[str, la.NDArray], x: la.NDArray) -> la.NDArray:
    """One hidden layer of rectified units."""
    hidden = la.maximum(x @ params["w1"] + params["b1"], 0)
    return hidden @ params["w2"] + params["b2"]


def train(args: argparse.Namespace) -> float:
    """Trains, and gives the accuracy on the test images."""
    rank, size = la.distributed.rank(), la.distributed.size()
    images, labels, test_images, test_labels = load_data(args.seed)
    params = init_params(args.seed + rank)
    trainer = la.distributed.DataParallel(la.nn.Momentum(params, lr=args.lr))
    share = max(1, args.batch // size)  # of each batch
    sampler = la.distributed.DistributedSampler(len(images), share, seed=args.seed, drop_last=True)
    accuracy = 0.0
    for epoch in range(1, args.epochs + 1):
        start = time.perf_counter()
        total = la.zeros((), dtype="float32")
        for indices in sampler:
            x, y = la.array(images[indices]), la.array(labels[indices])
            with la.autograd.record():
                loss = la.nn.cross_entropy(logits(params, x), y)
            loss.backward()
            trainer.step()
            total += loss.detach()
        mean_loss = float(la.distributed.allreduce(total, "mean")) / len(sampler)
        guesses = logits(params, la.array(test_images)).argmax(axis=1)
        accuracy = float((guesses == la.array(test_labels)).mean())
        if rank == 0:
            seconds = time.perf_counter() - start
            print(
                f"epoch {epoch:3d}   loss {mean_loss:.4f}   test accuracy {accuracy:.2%}   "
                f"{seconds / len(sampler) * 1e3:.2f} ms a step on {size} process{'es' * (size > 1)}"
            )
    if args.save:
        la.distributed.save(args.save, params)  # by rank 0
    return accuracy


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=20, help="passes over the data")
    parser.add_argument("--batch", type=int, default=64, help="images in a batch of all ranks")
    parser.add_argument("--lr", type=float, default=0.1, help="learning rate")
    parser.add_argument("--seed", type=int, default=0, help="seed of split, weights and order")
    parser.add_argument("--save", default=None, help="write the parameters to this .npz")
    parser.add_argument("--profile", default=None, help="write a trace of rank 0 to this file")
    args = parser.parse_args()
    la.distributed.init()
    traced = args.profile and la.distributed.rank() == 0
    with la.profiler.profile(args.profile) if traced else contextlib.nullcontext():
        train(args)


if __name__ == "__main__":
    main()
