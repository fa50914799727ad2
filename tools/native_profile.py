"""The profile by which the native half is compiled: ``make profile`` writes it.

``python tools/native_profile.py make`` compiles with counters in a folder of its own, runs the
ordinary programs and the calls of the benchmarks, which is what users' programs are made of, and
packs what was counted into ``tools/profiles``, by the names of the compiler and the Python. From
there ``meson.build`` takes it. GCC alone reads it, and only the version that wrote it. A function
is found by its name. Where its branches have changed since, it is compiled without. So the profile
ages with the code: make a new one after larger changes (six minutes).
"""

from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

TOOLS = pathlib.Path(__file__).resolve().parent
ROOT = TOOLS.parent
FOLDER = ROOT / "build" / "profile"  # as deep as other builds: names of sources are relative to it
# Programs of many small calls, then of large arrays, so that their loops are not taken for rare.
PROGRAMS = (
    ["benchmarks.programs", "--rounds", "1"],
    ["benchmarks.calls", "--sizes", "0,3,1000,100000"],
)


def compiler() -> str:
    """The archive's name, as meson.build has it."""
    version = subprocess.run(
        [*os.environ.get("CXX", "c++").split(), "-dumpfullversion"],
        capture_output=True,
        text=True,
        check=True,
    )
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"gcc-{version.stdout.strip()}-python-{python}.tar.xz"


def unpack(archive: pathlib.Path, folder: pathlib.Path) -> None:
    """What was counted, where the compiler looks for it; prints of which files."""
    shutil.rmtree(folder, ignore_errors=True)
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
        print(*file.getnames(), sep="\n")


def pack(folder: pathlib.Path, archive: pathlib.Path) -> None:
    """The same archive for the same counts."""

    def plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
        info.mtime = info.uid = info.gid = 0
        info.uname = info.gname = ""
        info.mode = 0o644
        return info

    archive.parent.mkdir(exist_ok=True)
    with tarfile.open(archive, "w:xz", preset=9) as file:
        for path in sorted(folder.glob("*.gcda")):
            file.add(path, path.name, filter=plain)


def make() -> None:
    """Compiles with counters, runs the programs, packs; then compiles as always, by the new one."""
    build = [sys.executable, TOOLS / "in_place.py"]
    shutil.rmtree(FOLDER, ignore_errors=True)
    subprocess.run([*build, "--folder", FOLDER, "-Dprofile=make"], cwd=ROOT, check=True)
    for program in PROGRAMS:
        subprocess.run(
            [sys.executable, "-m", *program], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
        )
    pack(FOLDER / "profile", TOOLS / "profiles" / compiler())
    shutil.rmtree(FOLDER)
    subprocess.run([*build, "--reconfigure"], cwd=ROOT, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("make", help="write the profile of this compiler and this Python")
    from_archive = commands.add_parser("unpack", help="for meson.build")
    from_archive.add_argument("archive", type=pathlib.Path)
    from_archive.add_argument("folder", type=pathlib.Path)
    args = parser.parse_args()
    if args.command == "make":
        make()
    else:
        unpack(args.archive, args.folder)


if __name__ == "__main__":
    main()
