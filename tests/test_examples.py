"""The examples run: shortly, as their docstrings say, each in a process of its own."""

import json
import os
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import entry_points

import pytest

import lazyarray as la

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"

RUNS = {
    "gray_scott.py": (["--steps", "20", "--side", "16"], "covered"),
    "train_digits.py": (["--epochs", "1", "--no-compare"], "accuracy"),
    "train_mnist_style.py": (["--epochs", "1"], "epoch   1"),
    "train_mnist_style.py --compile": (["--epochs", "1"], "bytes planned"),
    "char_rnn.py": (["--steps", "2", "--write", "5", "--text", "README.md"], "characters of"),
    "sharded_step.py": (["--epochs", "1"], "on 2 contexts"),
    "train_parallel.py": (["--epochs", "1"], "on 1 process"),
}
ON_A_CLUSTER = {
    "cluster_kmeans.py": ["--points", "40000", "--block", "10000", "--steps", "2"],
    "heat_dask.py": ["--side", "400", "--block", "200", "--rounds", "1"],
}


def run(*args):
    # The package that the tests import, also where it isn't installed.
    env = os.environ | {"PYTHONPATH": str(pathlib.Path(la.__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, *args],
        capture_output=True,
        text=True,
        cwd=EXAMPLES.parent,
        env=env,
        timeout=250,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", RUNS)
def test_example(name):
    pytest.importorskip("sklearn")
    args, expected = RUNS[name]
    file, *more = name.split()
    assert expected in run(str(EXAMPLES / file), *more, *args)


@pytest.mark.parametrize("file", ON_A_CLUSTER)
def test_examples_on_a_cluster(file):
    """They say the same of blocks of NumPy's, by one option."""
    for needed in ("dask.array", "distributed", "zarr"):
        pytest.importorskip(needed)
    if not any(e.name == "lazyarray" for e in entry_points(group="dask.array.backends")):
        pytest.skip("lazyarray-engine is not installed: Dask finds the backend by its entry point")

    def last(blocks):
        more = (
            ["--workers", "1"] if blocks == "numpy" else []
        )  # a process less: what we compare with
        printed = run(str(EXAMPLES / file), *ON_A_CLUSTER[file], *more, "--blocks", blocks)
        assert "dashboard: " in printed and f"{blocks} blocks: " in printed
        return printed.splitlines()[-1]

    with ThreadPoolExecutor() as both:
        ours, numpys = both.map(last, ["lazyarray", "numpy"])
    assert ours == numpys


@pytest.mark.parametrize("file", ["train_mnist_style.py", "char_rnn.py", "sharded_step.py"])
def test_the_trace_of_an_example_is_json(file, tmp_path):
    pytest.importorskip("sklearn")
    args, _ = RUNS[file]
    trace = tmp_path / "trace.json"
    run(str(EXAMPLES / file), *args, "--profile", str(trace))
    events = json.loads(trace.read_text())
    events = events["traceEvents"] if isinstance(events, dict) else events
    names = {e.get("name", "") for e in events}
    assert any("matmul" in name for name in names), names
