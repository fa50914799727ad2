#!/bin/sh
# Builds a copy of the package under AddressSanitizer and
# UndefinedBehaviorSanitizer, or under ThreadSanitizer, and runs Python tests on them: any report or
# failed test fails.
#
#   sanitize_python.sh [python, with the [test] extra and what builds need] [arguments of pytest instead of the selection]
#
#   SANITIZE=thread     ThreadSanitizer: the recorder, plans, passes, the tape and programs, used by many
#                       Python threads at once. First the soak (tests/faults), MINUTES=1 of it
#   PYTEST=...          further arguments of pytest
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${1:-$root/.venv/bin/python}
[ $# -eq 0 ] || shift
case $python in
  /*) ;;
  */*) python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python") ;;
esac
cxx=${CXX:-g++}
kind=${SANITIZE:-address,undefined}
case $kind in
  thread) runtime=libtsan.so more= ;;
  *) runtime=libasan.so more='-fno-sanitize=vptr -fno-sanitize-recover=all' ;;
esac
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
trap 'exit 1' HUP INT TERM

# The sources alone: neither what is built in place nor what that was built from.
cd "$root"
tar -cf - --exclude='*.so' --exclude=__pycache__ \
  lazyarray tests tools examples meson.build meson.options pyproject.toml pytest.ini README.md | tar -xf - -C "$built"
cd "$built"

# (No vptr: a class that another library defines has no type information here.)
"$python" tools/in_place.py --folder build -Dbuildtype=plain -Db_ndebug=true -Dprofile=no -Doptimization=1 -Ddebug=true \
  -Db_lundef=false -Db_sanitize="$kind" \
  -Dcpp_args="-g1 -fno-omit-frame-pointer $more -Wno-stringop-overflow" > build.log 2>&1 ||
  { tail -40 build.log; exit 1; }

# Reports go to files too: a child process of a test may be expected to fail, or not be looked at.
options="detect_leaks=0 allocator_may_return_null=1 exitcode=66 strict_init_order=1 \
log_path=$built/report ${ASAN_OPTIONS:-}"
ubsan_options="print_stacktrace=1 log_path=$built/report ${UBSAN_OPTIONS:-}"
# glibc keeps a thread's storage for the next by means of its own, which nobody sees. So does OpenBLAS hand
# work to its threads: it gets none.
echo 'race:_dl_deallocate_tls' > suppressed
tsan_options="exitcode=66 history_size=4 die_after_fork=0 suppressions=$built/suppressed log_path=$built/report ${TSAN_OPTIONS:-}"
[ "$kind" != thread ] || export OPENBLAS_NUM_THREADS=1

# libstdc++ as well, for exceptions are intercepted only if it is there from the start.
sanitized() {
  env LD_PRELOAD="$("$cxx" -print-file-name=$runtime) $("$cxx" -print-file-name=libstdc++.so)" \
    ASAN_OPTIONS="$options" UBSAN_OPTIONS="$ubsan_options" TSAN_OPTIONS="$tsan_options" \
    PYTHONMALLOC=malloc PYTHONPATH="$built" PYTHONDONTWRITEBYTECODE=1 \
    LAZYARRAY_TEST_EXAMPLES="${LAZYARRAY_TEST_EXAMPLES:-60}" "$@"
}

status=0
if [ "$kind" = thread ]; then
  # That it sees a race, and that what the GIL guards is none.
  printf '%s\n' '#include <unistd.h>' 'static long n;' \
    'extern "C" void bump() { ++n, usleep(100); }' > race.cpp
  "$cxx" -shared -fPIC -O0 -fsanitize=thread race.cpp -o race.so
  cat > race.py <<'EOF'
import ctypes, sys, threading

bump = getattr(ctypes, sys.argv[1])("./race.so").bump
threads = [threading.Thread(target=lambda: [bump() for _ in range(50)]) for _ in range(2)]
[t.start() for t in threads], [t.join() for t in threads]
EOF
  if sanitized env TSAN_OPTIONS="exitcode=66 log_path=$built/meant" \
    "$python" race.py CDLL; then
    echo 'ThreadSanitizer did not see a race'
    exit 1
  fi
  sanitized "$python" race.py PyDLL
  sanitized "$python" -m tests.faults.soak --minutes "${MINUTES:-1}" || status=$?
  [ $# -gt 0 ] || set -- tests/lazy tests/engine/test_ordering.py tests/test_compile.py tests/autograd/test_tape.py
fi
[ $# -gt 0 ] || set -- tests/lazy tests/ndarray tests/ops tests/test_programs.py
# (UBSan's own runtime writes to stderr all the same: not into what pytest captures, which a process that ends there
# takes along.)
sanitized "$python" -m pytest -q --capture=sys -p no:faulthandler -p no:cacheprovider ${PYTEST:-} "$@" || status=$?
for report in "$built"/report.*; do
  [ -e "$report" ] || continue
  sed "s|$built/||g" "$report"
  status=66
done
exit $status
