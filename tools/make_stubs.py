"""Writes the type stub that lists the op table's rows: python tools/make_stubs.py"""

from __future__ import annotations

import pathlib

from lazyarray.ops import names

TARGET = pathlib.Path(names.__file__).with_suffix(".pyi")


def stub() -> str:
    """The text of the stub."""
    kinds = sorted({type(getattr(names, name)).__name__ for name in names.__all__})
    lines = [
        "# The rows of the op table by their public names. Written by tools/make_stubs.py.",
        f"from lazyarray.ops._rows import {', '.join(kinds)}",
        "",
    ]
    lines += [f"{name}: {type(getattr(names, name)).__name__}" for name in names.__all__]
    listed = "".join(f'    "{name}",\n' for name in names.__all__)
    return "\n".join(lines) + f"\n\n__all__ = [\n{listed}]\n"


if __name__ == "__main__":
    TARGET.write_text(stub())
