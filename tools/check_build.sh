#!/bin/sh
# Says what is missing to build lazyarray, before pip starts: check_build.sh [PYTHON]
set -u
python=${1:-python3}

fail() {
    printf 'lazyarray cannot be built here: %s\n' "$1" >&2
    shift
    for line in "$@"; do printf '  %s\n' "$line" >&2; done
    exit 1
}

command -v "$python" >/dev/null 2>&1 ||
    fail "there is no '$python'." \
        "Install Python 3.11 or newer, or name yours: make ... PYTHON=python3.12"

"$python" -c '' || fail "'$python' does not run (its words are above)."

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "'$python' is $("$python" --version 2>&1), and Python 3.11 or newer is needed." \
        "Name a newer one, with a new environment: make ... PYTHON=python3.12 VENV=.venv312"

include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
[ -f "$include/Python.h" ] ||
    fail "the headers of '$python' are missing (no Python.h in $include)." \
        "Debian, Ubuntu: apt install python3-dev.  Fedora: dnf install python3-devel."

# The compiler that Meson will call: $CXX, or else the first that is there.
cxx=${CXX:-}
for name in c++ g++ clang++; do
    [ -n "$cxx" ] || ! command -v $name >/dev/null 2>&1 || cxx=$name
done
hint="Debian, Ubuntu: apt install g++.  Fedora: dnf install gcc-c++.  macOS: xcode-select --install."
# shellcheck disable=SC2086  # it may carry options: "g++ -pthread"
set -- $cxx
[ $# -gt 0 ] && command -v "$1" >/dev/null 2>&1 ||
    fail "there is no C++ compiler '${cxx:-c++}'." "$hint" "Or name yours: CXX=clang++ make ..."

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cat >"$work/probe.cpp" <<'PROBE'
#include <Python.h>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#if __cplusplus < 201703L
#error "C++17 is needed"
#endif
std::optional<std::atomic<int> *> probe() { return std::nullopt; }
PROBE
"$@" -std=c++17 -I"$include" -c "$work/probe.cpp" -o "$work/probe.o" 2>"$work/log" || {
    cat "$work/log" >&2
    fail "'$cxx' does not compile C++17 (its words are above)." "$hint"
}
