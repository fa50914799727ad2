"""Compiles what changed, and has it stand beside its sources: ``make build``.

``python tools/in_place.py [--folder build/x] [options of meson setup]``. Meson compiles in
``build/cpython-311`` (say); each library that it makes gets a link in the package's folder, so that
whoever has the checkout on ``sys.path`` imports the package as it is there, Python and native code.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / str(sys.implementation.cache_tag)


def meson(*words: str) -> None:
    # This Python's own Meson, ninja and Cython, whatever else is on the PATH.
    folders = [pathlib.Path(sys.executable).parent, *(pathlib.Path(p, "bin") for p in sys.path)]
    path = os.pathsep.join([*map(str, filter(pathlib.Path.is_dir, folders)), os.environ["PATH"]])
    command = [sys.executable, "-m", "mesonbuild.mesonmain", *words]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "PATH": path}, check=True)


def build(folder: pathlib.Path = FOLDER, options: list[str] | None = None) -> None:
    """Configures the build folder if it is new (or ``options`` are given), compiles, and links."""
    if importlib.util.find_spec("mesonbuild") is None:
        raise SystemExit(
            "lazyarray: there is no Meson: pip install meson-python ninja cython numpy"
        )
    known = (folder / "build.ninja").exists()
    if options or not known:
        meson("setup", *(["--reconfigure"] if known else []), *(options or []), str(folder))
    meson("compile", "-C", str(folder))
    link(folder)


def link(folder: pathlib.Path) -> None:
    for built, target in libraries(folder).items():
        if target.is_symlink() and target.readlink() == built:
            continue
        target.unlink(missing_ok=True)
        target.symlink_to(built)


def libraries(folder: pathlib.Path) -> dict[pathlib.Path, pathlib.Path]:
    """What Meson built, and where in the package it belongs."""
    plan = json.loads((folder / "meson-info" / "intro-install_plan.json").read_text())
    return {
        pathlib.Path(built): ROOT.joinpath(*pathlib.PurePosixPath(to["destination"]).parts[1:])
        for built, to in plan["targets"].items()
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER)
    known, options = parser.parse_known_args()
    try:
        build(known.folder.resolve(), options)
    except subprocess.CalledProcessError as exc:
        return int(exc.returncode)
    return 0


if __name__ == "__main__":
    sys.exit(main())
