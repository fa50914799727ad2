"""Generated kernels, compiled by g++ in one go and run on NumPy arrays."""

from __future__ import annotations

import ctypes
import math
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from lazyarray.lazy.cuda.source import UNROLL, Spec, combines, prelude, source

SIM = Path(__file__).parent / "sim"
_PROLOGUE = '#include <device.h>\n#include "fibers.h"\n'
_LAUNCH = """
SIM_LIBRARY
extern "C" bool launch(sim::Entry entry, void* args, const unsigned* grid, const unsigned* block,
                       unsigned shared) {
  return sim::Scheduler::one().run(reinterpret_cast<sim::Library&>(sim_library), entry, &args,
                                   {grid[0], grid[1], 1}, {block[0], block[1], 1}, shared);
}
"""


def body(spec: Spec) -> str:
    """The source without what all sources begin with."""
    return source(spec)[len(prelude(spec)) :]


class Kernels:
    """Specs' kernels: ``launch`` by spec."""

    def __init__(self, specs: Sequence[Spec], directory: Path, parts: int = 2) -> None:
        self.specs = list(dict.fromkeys(specs))
        chunks = [self.specs[k::parts] for k in range(parts)]
        with ThreadPoolExecutor(parts) as pool:
            built = list(
                pool.map(lambda k: self._build(chunks[k], directory / f"part{k}"), range(parts))
            )
        self._found = {
            spec: (built[k], n) for k in range(parts) for n, spec in enumerate(chunks[k])
        }

    @staticmethod
    def _build(specs: list[Spec], path: Path) -> ctypes.CDLL:
        any_complex: Spec = (1, 0, "", False, (("F", "dense"),), "", ())
        text = [_PROLOGUE, prelude(any_complex), _LAUNCH]
        for n, spec in enumerate(specs):
            code = body(spec).replace("void kernel(", f"void kernel_{n}(")
            code = code.replace("void combine(", f"void combine_{n}(")
            text.append(f"namespace n{n} {{\n{code}\nSIM_KERNEL(kernel_{n})\n")
            text.append((f"SIM_KERNEL(combine_{n})\n" if combines(spec) else "") + "}\n")
        made, lib = path.with_suffix(".cpp"), path.with_suffix(".so")
        made.write_text("".join(text))
        flags = "-std=c++17 -O0 -fPIC -shared -ffp-contract=off -w".split()
        command = ["g++", *flags, f"-I{SIM}", "-o", str(lib), str(made)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:4000]
        return ctypes.CDLL(str(lib))

    def launch(
        self,
        spec: Spec,
        words: Sequence[int],
        grid: tuple[int, int],
        block: tuple[int, int],
        shared: int = 0,
        name: str = "kernel",
    ) -> None:
        library, n = self._found[spec]
        entry = ctypes.cast(getattr(library, f"sim_call_{name}_{n}"), ctypes.c_void_p)
        args = (ctypes.c_longlong * len(words))(*words)
        pair = ctypes.c_uint * 2
        library.launch.restype = ctypes.c_bool
        assert library.launch(entry, args, pair(*grid), pair(*block), ctypes.c_uint(shared))

    def elementwise(
        self, spec: Spec, arrays: Sequence[np.ndarray], constants: Sequence[np.generic] = ()
    ) -> None:
        """Runs an elementwise spec on arrays of one shape."""
        shape = arrays[0].shape
        n = math.prod(shape)
        words = [n, *shape, *_operands(spec, arrays), *_constants(constants)]
        self.launch(spec, words, (-(-n // (256 * UNROLL)), 1), (256, 1))

    def reduction(
        self,
        spec: Spec,
        arrays: Sequence[np.ndarray],
        shape: Sequence[int],
        team: int = 8,
        outputs: int = 4,
        splits: int = 1,
        combined: int = 4,
        constants: Sequence[np.generic] = (),
    ) -> None:
        """Runs a reduction spec; its outputs have the kept axes alone."""
        kept, reduced = math.prod(shape[: spec[0]]), math.prod(shape[spec[0] :])
        split = -(-reduced // splits)
        splits = -(-reduced // split) if split else 1  # what is left of the last may be none
        totals = sum(s[0] == "reduce" for s in spec[6])
        workspace = np.zeros(2 * totals * splits * kept if splits > 1 else 0, np.float64)
        words = [kept, reduced, split, workspace.ctypes.data if splits > 1 else 0, *shape]
        words += [*_operands(spec, arrays), *_constants(constants)]
        block = (team, outputs) if spec[2] == "reduced" else (outputs, team)
        self.launch(spec, words, (-(-kept // outputs), splits), block, team * outputs * 16)
        if splits > 1:
            self.launch(spec, words, (kept, 1), (combined, 1), combined * 16, "combine")


def _operands(spec: Spec, arrays: Sequence[np.ndarray]) -> list[int]:
    words = []
    for (dtype, kind), array in zip(spec[4], arrays, strict=True):
        assert array.dtype.char == dtype
        words += [array.ctypes.data, *(array.strides if kind in ("strided", "row") else ())]
    return words


def _constants(constants: Sequence[np.generic]) -> list[int]:
    raw = b"".join(c.tobytes().ljust(16, b"\0") for c in constants)
    return np.frombuffer(raw, np.int64).tolist()
