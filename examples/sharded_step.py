"""Data-parallel training on two contexts: `copyto` moves weights and gradients while both compute.

Each context has a copy of the weights and half of every batch. The gradients of the second are
copied to the first and added to its own; the new weights are copied back. Nothing waits: the copies
are ordered by the engine, so those of one layer travel while the other layers are computed.

    python examples/sharded_step.py                          # cpu(0) and cpu(1)
    python examples/sharded_step.py --profile sharded.json   # and a trace, for ui.perfetto.dev

On CPUs the contexts are two queues of the same cores: the example shows the overlap, not a
speed-up. It should reach a test accuracy of 96 % or more after 20 epochs, with the loss of one
context to 1e-3.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

import lazyarray as la

try:
    from sklearn.datasets import load_digits
except ImportError as error:
    sys.exit(f"{error}. This example needs the extras: pip install '.[examples]'")

SIZES = (64, 128, 64, 10)


@dataclass
class Shard:
    """The weights' copy on one context."""

    ctx: la.Context
    params: list[la.NDArray]

    def backward(self, x: la.NDArray, labels: la.NDArray, batch: int) -> la.NDArray:
        """Computes the gradients of this half of a batch; gives its part of the mean loss."""
        with la.autograd.record():
            for i in range(0, len(self.params), 2):
                x = x @ self.params[i] + self.params[i + 1]
                if i + 2 < len(self.params):
                    x = la.maximum(x, 0)
            shifted = x - x.max(axis=1, keepdims=True)
            log_total = la.log(la.exp(shifted).sum(axis=1, keepdims=True))
            loss = (labels * (log_total - shifted)).sum() / batch
        loss.backward()
        return loss


def make_shards(contexts: list[la.Context], rng: np.random.Generator) -> list[Shard]:
    """The same weights on each context; He et al. (2015)."""
    host = []
    for before, after in pairwise(SIZES):
        host.append(rng.standard_normal((before, after)) * np.sqrt(2 / before))
        host.append(np.zeros(after))
    shards = []
    for ctx in contexts:
        params = [la.array(p.astype(np.float32), ctx=ctx) for p in host]
        for p in params:
            p.attach_grad()
        shards.append(Shard(ctx, params))
    return shards


def step(
    shards: list[Shard], batches: list[tuple[la.NDArray, la.NDArray]], lr: float
) -> la.NDArray:
    """One step of gradient descent; gives the mean loss, on the first context. Never waits."""
    size = sum(len(x) for x, _ in batches)
    losses = [s.backward(x, t, size) for s, (x, t) in zip(shards, batches, strict=True)]
    first, *others = shards
    for i, p in enumerate(first.params):
        gradient = p.grad
        assert gradient is not None
        for other in others:
            theirs = other.params[i].grad
            assert theirs is not None
            gradient = gradient + theirs.copyto(first.ctx)
        p -= lr * gradient
        for other in others:
            p.copyto(other.params[i])
    return sum((loss.as_in_context(first.ctx) for loss in losses[1:]), losses[0])


def train(contexts: list[la.Context], epochs: int, batch: int, lr: float) -> tuple[float, float]:
    """Trains with progress; gives the last epoch's mean loss and the test accuracy."""
    rng = np.random.default_rng(0)
    images, labels = load_digits(return_X_y=True)
    order = rng.permutation(len(images))
    x = (images[order] / 16).astype(np.float32)
    targets = np.eye(10, dtype=np.float32)[labels[order]]
    held_out = len(x) // 5
    shards = make_shards(contexts, rng)
    mean_loss = accuracy = float("nan")
    for epoch in range(1, epochs + 1):
        start = time.perf_counter()
        total, steps = la.zeros((), dtype="float32", ctx=contexts[0]), 0
        picks = held_out + rng.permutation(len(x) - held_out)
        for first in range(0, len(picks) - batch + 1, batch):
            halves = np.array_split(picks[first : first + batch], len(shards))
            batches = [
                (la.array(x[rows], ctx=s.ctx), la.array(targets[rows], ctx=s.ctx))
                for s, rows in zip(shards, halves, strict=True)
            ]
            total += step(shards, batches, lr)
            steps += 1
        mean_loss = float(total) / steps  # the only wait of an epoch
        logits = predict(shards[0], x[:held_out])
        accuracy = float((logits.argmax(axis=1) == targets[:held_out].argmax(axis=1)).mean())
        seconds = time.perf_counter() - start
        if epoch % 5 == 0 or epoch in (1, epochs):
            print(
                f"epoch {epoch:3d}   loss {mean_loss:.4f}   test accuracy {accuracy:.2%}   "
                f"{steps / seconds:.0f} steps/s"
            )
    return mean_loss, accuracy


def predict(shard: Shard, images: np.ndarray) -> np.ndarray:
    """The logits, on the host."""
    x = la.array(images, ctx=shard.ctx)
    for i in range(0, len(shard.params), 2):
        x = x @ shard.params[i] + shard.params[i + 1]
        if i + 2 < len(shard.params):
            x = la.maximum(x, 0)
    return x.asnumpy()


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Train on two contexts, with copies that overlap the work.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--epochs", type=int, default=20, help="passes over the data")
    parser.add_argument("--batch", type=int, default=64, help="images in a batch, of all contexts")
    parser.add_argument("--lr", type=float, default=0.1, help="learning rate")
    parser.add_argument("--contexts", type=int, default=2, help="how many CPU contexts take part")
    parser.add_argument("--profile", metavar="FILE", help="write a trace for ui.perfetto.dev")
    args = parser.parse_args()
    if min(args.epochs, args.batch, args.contexts) < 1:
        parser.error("--epochs, --batch and --contexts are at least 1")
    scope = la.profiler.profile(args.profile) if args.profile else contextlib.nullcontext()
    with scope:
        loss, accuracy = train(
            [la.cpu(i) for i in range(args.contexts)], args.epochs, args.batch, args.lr
        )
    print(f"\nloss {loss:.6f}   test accuracy {accuracy:.2%} on {args.contexts} contexts")
    if args.profile:
        print(f"trace: {args.profile} (open it in ui.perfetto.dev)")


if __name__ == "__main__":
    main()
