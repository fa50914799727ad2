"""Prints what of the package a wheel carries as it is; meson.build asks.

Python's files, and the text of kernels, which is compiled where there is a GPU.
"""

import pathlib

root = pathlib.Path(__file__).resolve().parent.parent
for path in sorted((root / "lazyarray").rglob("*")):
    if path.suffix in (".py", ".pyi", ".cuh") or path.name == "py.typed":
        print(path.relative_to(root).as_posix())
