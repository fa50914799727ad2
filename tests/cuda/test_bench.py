"""What only runs on a GPU otherwise: the table of speeds and the stress program, tiny."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from .sim import environment

ROOT = pathlib.Path(__file__).parent.parent.parent


def run(*command, **more):
    """A module's output, on the simulated devices."""
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        env={**os.environ, **environment(**more)},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "only, contestants",
    [
        ("a*b", ["copy", "cupy", "lazyarray"]),
        ("layer norm", ["cupy", "lazyarray"]),
        ("float(", ["cupy", "lazyarray"]),
    ],
)
def test_rows(tmp_path, only, contestants):
    file = tmp_path / "figures.json"
    text = run("benchmarks.gpu", "--scale", "1e-6", "--rounds", "1", "--only", only,
               "--json", str(file), "--libraries", ",".join(contestants))  # fmt: skip
    got = json.loads(file.read_text())
    assert got["rows"] and not got["failures"] and not got["figures"]
    for row in got["rows"]:
        assert set(row["seconds"]) == set(contestants) and all(row["seconds"].values())
        assert f"| {row['what']} |" in text


@pytest.mark.parametrize("only, count", [("pushing", 2), ("copy in", 2), ("two streams", 1)])
def test_figures(tmp_path, only, count):
    file = tmp_path / "figures.json"
    text = run("benchmarks.gpu", "--scale", "1e-6", "--rounds", "1", "--only", only,
               "--json", str(file))  # fmt: skip
    got = json.loads(file.read_text())
    assert not got["rows"] and not got["failures"]
    assert len(got["figures"]) == count
    for figure in got["figures"]:
        assert figure["value"] > 0
        assert f"| {figure['what']} |" in text and f"<= {figure['limit']:g}" in text


@pytest.mark.parametrize("mode", ["lazy", "random:1"])
def test_stress(mode):
    said = run("tests.cuda.stress", "--rounds", "1", "--threads", "2", "--steps", "12",
               "--size", "320", "--slow", "32", mode=mode, LAZYARRAY_SIM_HAZARDS="1")  # fmt: skip
    assert "1 rounds of 2 threads" in said


def test_stress_with_blocks_of_its_own():
    run("tests.cuda.stress", "--rounds", "1", "--threads", "1", "--steps", "8", "--size", "320",
        "--slow", "32", "--bare")  # fmt: skip


def test_the_page_on_gpus():
    run("pytest", "-q", "-p", "no:cacheprovider", "tests/test_docs.py", "-k", "code and gpu.md")


def test_a_wrong_value_shows(tmp_path):
    """The stress program is able to fail."""
    wrong = "from tests.cuda import stress; stress.Program.update = lambda p: p.want[0].fill(1)\n"
    wrong += "stress.SLOW = 32\n"
    script = tmp_path / "wrong.py"
    script.write_text(wrong + "stress.round_of(0, 2, 30, 320)\n")
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, **environment(), "PYTHONPATH": f"{environment()['PYTHONPATH']}:{ROOT}"},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode and "AssertionError" in done.stderr and "of seed 0" in done.stderr
