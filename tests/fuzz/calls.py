"""The sample calls of NumPy's surface (tests/surface), on a program's arrays."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..surface import samples

# The sample arrays' names, and the axes and kinds of dtype that calls expect of them.
KINDS = {
    "v": (1, "f"), "w": (1, "f"), "m": (2, "f"), "q": (2, "f"), "t": (3, "f"), "i": (1, "iu"),
    "j": (2, "iu"), "b": (1, "b"), "c": (1, "c"), "n": (2, "f"), "s": (1, "f"), "f": (1, "f"),
}  # fmt: skip
# Draws, files, what tells of memory or of the library, what takes minutes on long axes, what NumPy
# leaves unwritten (unpackbits of nothing, to a count; between long doubles) or reads beyond its
# memory (hfft of nothing, to a length) or wraps step by step (2**62 in years), what has one or the
# other zero by the place in NumPy's vectors (fmax, nanmax), what goes to another device, what NumPy
# writes beside its array (choose, to an ``out`` with steps), the sign of a NaN, which is nobody's,
# and what the array API standard has otherwise (expm1 of complex infinities: ops/mended.h).
LEFT_OUT = re.compile(
    r"mode='wrap'|choose\(.*out=|expm1\(c|irfft|signbit|copysign|\bhfft|random|tmp|io\.|empty|ndarray\(|out=xp\.|memmap|ctypes|dlpack|\bid\(|repr|str\(|print|show|info|strides|flags"
    r"|may_share|shares_memory|einsum_path|base\b|data\b|nbytes|vander|kron|outer|convolve"
    r"|to_device|unpackbits.*count|fmax|fmin|nanmax|nanmin|correlate|poly|roots|linalg|piecewise|fromiter|tofile|tobytes|apply_|vectorize|histogram|setdiff"
)
MOST_PAIRED = 1000  # elements of an array of which a call makes all pairs
WORD = re.compile(r"(?<![\w.'\"])([a-z])(?![\w'\"(=])")


@functools.cache
def expressions() -> list[str]:
    found, close = samples.load()
    exact = [many for name, many in found.items() if name not in close]
    texts = {e for many in exact for e in many if not LEFT_OUT.search(e)}
    return sorted(e for e in texts if "xp." in e or re.search(r"\b[vwmqtijbcnsf]\.", e))


def written(rng: random.Random, env: Mapping[str, Any]) -> str | None:
    """One of them, with arrays of the program in place of the sample arrays."""
    text = rng.choice(expressions())

    def replaced(found: re.Match[str]) -> str:
        ndim, kinds = KINDS.get(found[1], (0, ""))
        fitting = [
            name for name, x in env.items()
            if isinstance(x, np.ndarray) and x.ndim == ndim and x.dtype.kind in kinds
            and (x.size <= MOST_PAIRED or "None]" not in text)
            and (x.dtype.char not in "gG" or "view(" not in text)  # 6 of 16 bytes are nobody's
        ]  # fmt: skip
        return rng.choice(fitting) if fitting else found[1]

    text = WORD.sub(replaced, text)
    return None if any(w in KINDS for w in WORD.findall(text)) else text
