"""Prints what of the package a wheel carries as it is; meson.build asks."""

import pathlib

root = pathlib.Path(__file__).resolve().parent.parent
for path in sorted((root / "lazyarray").rglob("*")):
    if path.suffix in (".py", ".pyi") or path.name == "py.typed":
        print(path.relative_to(root).as_posix())
