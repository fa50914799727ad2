"""Builds the native rooms: one Cython extension each, over hand-written C++ headers."""

import glob
import os
import platform
import shutil
import sys
import sysconfig

if shutil.which(os.environ.get("CXX", "g++")) is None and shutil.which("c++") is None:
    sys.exit(
        "lazyarray: no C++ compiler found. Install one (Debian: apt-get install g++; "
        "macOS: xcode-select --install) or name it in the environment variable CXX."
    )

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

NUMPY_INCLUDE = numpy.get_include()
NUMPY_LIB = os.path.join(os.path.dirname(NUMPY_INCLUDE), "lib")
# What NumPy's own wheels require of x86 since 2.4; without it 64-bit compares don't vectorise.
ARCH = ["-march=x86-64-v2"] if platform.machine() in ("x86_64", "AMD64") else []
# What a thread has of its own is asked for at each call. With glibc it can lie at a fixed distance
# from the thread's register, in libraries that are loaded later, too, as long as it is small.
TLS = ["-ftls-model=initial-exec"] if platform.libc_ver()[0] == "glibc" else []
HEADERS = glob.glob("lazyarray/**/*.h", recursive=True)


class BuildExt(build_ext):
    """Compiles on every core; says what is missing when a compiler is there but the build fails."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def build_extension(self, ext: Extension) -> None:
        target, done = self.get_ext_fullpath(ext.name), built_before(ext.name)
        if done:
            if os.path.abspath(done) != os.path.abspath(target):
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy2(done, target)
            return
        try:
            super().build_extension(ext)
        except Exception as exc:
            raise SystemExit(
                f"lazyarray: building {ext.name} failed: {exc}\n"
                "It needs a C++17 compiler (GCC 9+, Clang 10+) and the Python headers "
                "(Debian: apt-get install g++ python3-dev). The compiler's own message is above."
            ) from exc


ANEW = "--force" in sys.argv or any(os.environ.get(k) for k in ("CFLAGS", "CXXFLAGS", "CXX"))
SOURCES = [
    path
    for kind in ("pyx", "pxd", "pxi", "h", "cpp")
    for path in glob.glob(f"lazyarray/**/*.{kind}", recursive=True)
    if not (kind == "cpp" and os.path.basename(path).startswith("_"))  # Cython's
]
NEWEST = max(map(os.path.getmtime, [*SOURCES, "setup.py"]))


def built_before(name: str) -> str | None:
    """The extension as an earlier install built it of these sources: pip builds each time anew."""
    file = name.replace(".", "/") + sysconfig.get_config_var("EXT_SUFFIX")
    for folder in () if ANEW else (".", *glob.glob("build/lib.*")):
        path = os.path.join(folder, file)
        if os.path.exists(path) and os.path.getmtime(path) > NEWEST:
            return path
    return None


def extension(name: str, *sources: str) -> Extension:
    path = name.replace(".", "/") + ".pyx"
    return Extension(
        name,
        [path, *sources],
        include_dirs=[NUMPY_INCLUDE, "lazyarray/engine/core", "lazyarray"],
        library_dirs=[NUMPY_LIB],
        libraries=["npymath"],
        depends=HEADERS,
        language="c++",
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
        extra_compile_args=[
            "-std=c++17",
            "-O3",
            "-fno-math-errno",
            "-fno-builtin-memset",  # GCC's own "rep stos" takes 15 ns to clear a small object
            "-pthread",
            "-g0",
            "-Wno-invalid-offsetof",
            *ARCH,
            *TLS,
        ],
        extra_link_args=["-pthread"],
    )


ROOMS = [
    extension(
        "lazyarray.engine._engine",
        "lazyarray/engine/core/engine.cpp",
        "lazyarray/engine/core/fork.cpp",
        "lazyarray/engine/core/idle.cpp",
        "lazyarray/engine/core/trace.cpp",
        "lazyarray/engine/core/waits.cpp",
        "lazyarray/engine/core/workers.cpp",
    ),
    extension("lazyarray.storage._storage"),
    extension("lazyarray.lazy._lazy"),
    extension("lazyarray.lazy._share"),
    extension("lazyarray.ops._rows"),
    extension("lazyarray._ndarray"),
    extension("lazyarray.autograd._walk"),
    extension("lazyarray.profiler._profiler"),
    extension("lazyarray.nn._native"),
    extension("lazyarray.random._draws"),
]

setup(
    ext_modules=ROOMS
    if all(built_before(room.name) for room in ROOMS)
    else cythonize(
        ROOMS,
        language_level=3,
        compiler_directives={
            "boundscheck": False,
            "initializedcheck": False,
            "cdivision": True,
            "embedsignature": True,
            "embedsignature.format": "python",
        },
    ),
    cmdclass={"build_ext": BuildExt},
)
