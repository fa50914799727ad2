"""Compiling CUDA sources with g++ into libraries that the simulated driver loads."""

import contextlib
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

DEVICE = pathlib.Path(__file__).parent.parent / "device.h"
# A kernel may bear the name of a function of the C library: -Bsymbolic, or that one is called.
FLAGS = (
    "-O1",
    "-fPIC",
    "-shared",
    "-Wl,-Bsymbolic",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-w",
)
_KERNEL = re.compile(
    r"__global__\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?void\s+"
    r"(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\("
)


class CompileException(Exception):
    def __init__(self, msg, source, name, options, backend="nvrtc"):
        super().__init__(msg, source, name, options, backend)
        self._msg = msg
        self.source, self.name, self.options, self.backend = source, name, options, backend

    def __str__(self):
        return self._msg

    def get_message(self):
        return self._msg


def _host_text(code):
    """The source as g++ takes it: shared memory in static places, and entries behind."""
    text = re.sub(r"extern\s+__shared__", "extern", code)
    text = re.sub(r"\b__shared__", "static", text)
    entries = "".join(f"SIM_KERNEL({name})\n" for name in dict.fromkeys(_KERNEL.findall(code)))
    return f'#line 1 "source.cu"\n{text}\n#line 1 "entries"\nSIM_LIBRARY\n{entries}'


def _header(folder, options):
    """What each source begins with, as g++ has read it already: that is half of what it does."""
    digest = hashlib.sha256(DEVICE.read_bytes() + repr((FLAGS, options)).encode())
    room = folder / f"header-{digest.hexdigest()[:24]}"
    header = room / DEVICE.name
    if not room.exists():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            made = pathlib.Path(scratch) / "made"
            made.mkdir()
            text = shutil.copy(DEVICE, made)
            flags = [f for f in FLAGS if f != "-shared" and not f.startswith("-Wl,")]
            command = ["g++", "-x", "c++-header", *flags, *options, text, "-o", f"{text}.gch"]
            subprocess.run(command, check=True)
            with contextlib.suppress(OSError):  # another process was first
                made.rename(room)
    return header


def library(code, options, folder):
    """The compiled library's path; kept on disk by the hash of all that it depends on."""
    kept = [o for o in options if o.startswith(("-D", "-std", "--std"))]
    kept = [o.replace("--std", "-std") for o in kept]
    if not any(o.startswith("-std") for o in kept):
        kept.append("-std=c++17")
    text = _host_text(code)
    digest = hashlib.sha256(DEVICE.read_bytes())
    digest.update(repr((FLAGS, kept, text)).encode())
    path = folder / f"kernel-{digest.hexdigest()[:24]}.so"
    if path.exists():
        return path
    header = str(_header(folder, kept))
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        made = pathlib.Path(scratch) / path.name
        command = ["g++", "-x", "c++", *FLAGS, *kept, "-include", header, "-", "-o", str(made)]
        done = subprocess.run(
            [*command, "-lm"],
            input=text,
            text=True,
            capture_output=True,
            env={**os.environ, "LC_ALL": "C"},
        )
        if done.returncode:
            raise CompileException(done.stderr, code, path.name, tuple(options))
        os.replace(made, path)
    return path
