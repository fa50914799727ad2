"""Train a multilayer perceptron on the UCI handwritten digits, with hand-written gradients.

The same NumPy-style code runs on lazyarray and on NumPy: `xp` is the one module or the other.

    python examples/train_digits.py                    # lazyarray, then NumPy for comparison
    python examples/train_digits.py --backend numpy    # NumPy alone

The data are the 1797 8 x 8 images that scikit-learn ships (`sklearn.datasets.load_digits`, from
the UCI "Optical Recognition of Handwritten Digits" set). A fifth is held out as the test set.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

try:
    from sklearn.datasets import load_digits
    from tqdm import tqdm
except ImportError as error:
    sys.exit(f"{error}. This example needs the extras: pip install '.[examples]'")

Array = Any  # an array of whichever module `xp` is
HIDDEN = (128, 64)  # units in the two hidden layers
CLASSES = 10


@dataclass
class Result:
    """What one training run did. `ops` and `waits` are None on NumPy, which has neither."""

    backend: str
    epochs: int
    steps: int
    seconds: float
    loss: float
    accuracy: float
    ops: int | None = None
    waits: int | None = None


@dataclass
class Digits:
    """The data, as float32 host arrays; targets are one-hot rows, test labels are integers."""

    images: np.ndarray
    targets: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray


def load_data(rng: np.random.Generator) -> Digits:
    """Load the digits, scale pixels to [0, 1] and split them at random into train and test."""
    images, labels = load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32)
    targets = np.eye(CLASSES, dtype=np.float32)[labels]
    order = rng.permutation(len(images))
    test, train = np.split(order, [len(order) // 5])
    return Digits(images[train], targets[train], images[test], labels[test])


def init_layers(xp: Any, rng: np.random.Generator, inputs: int) -> list[tuple[Array, Array]]:
    """Make (weight, bias) for each layer; weights by He et al. (2015), biases zero."""
    sizes = (inputs, *HIDDEN, CLASSES)
    layers = []
    for fan_in, fan_out in pairwise(sizes):
        weight = rng.standard_normal((fan_in, fan_out)) * np.sqrt(2 / fan_in)
        layers.append((xp.array(weight.astype(np.float32)), xp.zeros(fan_out, dtype="float32")))
    return layers


def forward(xp: Any, layers: list[tuple[Array, Array]], x: Array) -> list[Array]:
    """Return the input, the output of each hidden layer (ReLU) and the logits."""
    outputs = [x]
    *hidden, (last_weight, last_bias) = layers
    for weight, bias in hidden:
        outputs.append(xp.maximum(outputs[-1] @ weight + bias, 0))
    outputs.append(outputs[-1] @ last_weight + last_bias)
    return outputs


def train_step(
    xp: Any, layers: list[tuple[Array, Array]], x: Array, target: Array, lr: float
) -> Array:
    """Take one step of gradient descent in place; return the summed cross-entropy of the batch.

    Nothing here needs a value, so on lazyarray the whole step is recorded and never waits.
    """
    *inputs, logits = forward(xp, layers, x)

    shifted = logits - logits.max(axis=1, keepdims=True)  # keeps exp() from overflowing
    exps = xp.exp(shifted)
    totals = exps.sum(axis=1, keepdims=True)
    loss = (target * (xp.log(totals) - shifted)).sum()

    delta = (exps / totals - target) / len(x)  # d(mean loss) / d(logits)
    for (weight, bias), layer_input in zip(reversed(layers), reversed(inputs), strict=True):
        weight_grad = layer_input.T @ delta
        bias_grad = delta.sum(axis=0)
        delta = (delta @ weight.T) * (layer_input > 0)  # before the weight changes
        weight -= lr * weight_grad
        bias -= lr * bias_grad
    return loss


def train(xp: Any, args: argparse.Namespace, talk: bool) -> Result:
    """Train for `args.epochs` epochs; wait only for the two numbers shown after each."""
    rng = np.random.default_rng(args.seed)
    data = load_data(rng)
    count, inputs = data.images.shape
    layers = init_layers(xp, rng, inputs)
    test_images, test_labels = xp.array(data.test_images), xp.array(data.test_labels)
    steps, seconds = 0, 0.0
    mean_loss = accuracy = float("nan")

    bar = tqdm(total=args.epochs, unit="epoch", mininterval=0, miniters=5, disable=not talk)
    with bar:
        for epoch in range(1, args.epochs + 1):
            start = time.perf_counter()
            order = rng.permutation(count)
            images, targets = xp.array(data.images[order]), xp.array(data.targets[order])
            total_loss = xp.zeros((), dtype="float32")
            for first in range(0, count, args.batch):
                batch = slice(first, first + args.batch)
                total_loss += train_step(xp, layers, images[batch], targets[batch], args.lr)
                steps += 1
            guesses = forward(xp, layers, test_images)[-1].argmax(axis=1)
            correct = (guesses == test_labels).mean()

            mean_loss = float(total_loss) / count  # waits for the epoch's steps
            accuracy = float(correct)  # waits for the test
            seconds += time.perf_counter() - start  # leaves out what the display costs

            bar.set_postfix(loss=f"{mean_loss:.4f}", accuracy=f"{accuracy:.2%}", refresh=False)
            bar.update()
            if talk and (epoch % 5 == 0 or epoch in (1, args.epochs)):
                line = f"epoch {epoch:3d}   loss {mean_loss:.4f}   test accuracy {accuracy:.2%}"
                bar.write(line, file=sys.stdout)
    return Result(args.backend, args.epochs, steps, seconds, mean_loss, accuracy)


def run(args: argparse.Namespace, talk: bool) -> Result:
    """Train on the chosen backend; on lazyarray also count ops and waits."""
    xp = importlib.import_module(args.backend)
    if args.backend == "numpy":
        return train(xp, args, talk)
    engine = xp.engine.get()
    ops_before, waits_before = engine.stats()["ops"], xp.sync_report().total
    result = train(xp, args, talk)
    result.ops = engine.stats()["ops"] - ops_before
    result.waits = xp.sync_report().total - waits_before
    return result


def run_numpy_apart(args: argparse.Namespace) -> Result:
    """Run this very file on NumPy in a process of its own, and return what it reports."""
    command = [sys.executable, __file__, "--backend", "numpy", "--json"]
    for name in ("epochs", "batch", "lr", "seed"):
        command += [f"--{name}", str(getattr(args, name))]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Result(**json.loads(done.stdout))


def summary(result: Result) -> str:
    """One line: the backend, time, loss and accuracy."""
    return (
        f"{result.backend:<10} {result.seconds:6.3f} s   {result.steps / result.seconds:6.0f} "
        f"steps/s   loss {result.loss:.4f}   test accuracy {result.accuracy:.2%}"
    )


def positive_int(text: str) -> int:
    """Parse a command-line integer of at least 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not at least 1")
    return value


def parse_args(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Train a multilayer perceptron on the UCI digits.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument(
        "--backend", choices=("lazyarray", "numpy"), default="lazyarray", help="array module"
    )
    parser.add_argument("--epochs", type=positive_int, default=40, help="passes over the data")
    parser.add_argument("--batch", type=positive_int, default=64, help="images in a minibatch")
    parser.add_argument("--lr", type=float, default=0.1, help="learning rate")
    parser.add_argument("--seed", type=int, default=0, help="seed of split, weights and order")
    parser.add_argument(
        "--no-compare", action="store_true", help="do not run NumPy too, for comparison"
    )
    parser.add_argument("--quiet", action="store_true", help="print the summary only")
    parser.add_argument("--json", action="store_true", help="print one JSON object only")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    args = parse_args(argv)
    result = run(args, talk=not (args.quiet or args.json))
    if args.json:
        print(json.dumps(asdict(result)))
        return

    if not args.quiet:
        print()
    print(summary(result))
    if result.backend == "numpy":
        return

    if not args.no_compare:
        numpy_result = run_numpy_apart(args)
        print(summary(numpy_result))
        ratio = result.seconds / numpy_result.seconds
        print(f"lazyarray took {ratio:.2f} times as long as NumPy on the same file")
    per_epoch = (result.waits or 0) / result.epochs
    print(f"ops pushed {result.ops}, waits made {result.waits} ({per_epoch:.1f} per epoch)")
    if not args.quiet:
        print(f"\n{importlib.import_module(args.backend).sync_report()}")


if __name__ == "__main__":
    main()
