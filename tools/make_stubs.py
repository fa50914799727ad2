"""Writes the type stub that lists the op table's rows: python tools/make_stubs.py"""

from __future__ import annotations

import pathlib

from lazyarray.ops import names

TARGET = pathlib.Path(names.__file__).with_suffix(".pyi")


HEAD = """\
# The rows of the op table by their public names. Written by tools/make_stubs.py.
from typing import Any, type_check_only

from lazyarray._ndarray import NDArray
from lazyarray.ops._rows import {kinds}

@type_check_only
class Pair(Ufunc):  # one that gives two arrays
    def __call__(  # type: ignore[override]
        self, *args: Any, out: Any = None
    ) -> tuple[NDArray, NDArray]: ...

"""


def stub() -> str:
    """The text of the stub."""
    rows = {name: getattr(names, name) for name in names.__all__}
    kinds = sorted({type(row).__name__ for row in rows.values()})
    lines = [
        f"{name}: {'Pair' if getattr(row, 'nout', 1) == 2 else type(row).__name__}\n"
        for name, row in rows.items()
    ]
    listed = "".join(f'    "{name}",\n' for name in rows)
    return HEAD.format(kinds=", ".join(kinds)) + "".join(lines) + f"\n__all__ = [\n{listed}]\n"


if __name__ == "__main__":
    TARGET.write_text(stub())
