#!/bin/sh
# Builds the extensions of a copy of the package under AddressSanitizer and
# UndefinedBehaviorSanitizer and runs Python tests on them: any report or failed test fails.
#
#   sanitize_python.sh [python, with the [test] extra] [arguments of pytest instead of the selection]
#
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
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
trap 'exit 1' HUP INT TERM

# The sources alone: neither the extensions that are built in place nor what they were built from.
cd "$root"
tar -cf - --exclude='*.so' --exclude=__pycache__ --exclude='_*.cpp' \
  lazyarray tests examples setup.py pyproject.toml pytest.ini README.md | tar -xf - -C "$built"
cd "$built"

# A compiler that has the last word over setup.py's flags. (No vptr: a class that another extension
# defines has no type information here.)
cat > cxx <<EOF
#!/bin/sh
exec $cxx "\$@" -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize=vptr \
  -fno-sanitize-recover=all -Wno-stringop-overflow
EOF
chmod +x cxx
# By pip, which brings what a build needs. Without the sources the tests find what is installed.
CC=$built/cxx CXX=$built/cxx "$python" -m pip install --disable-pip-version-check --no-deps \
  --target "$built/site" . > build.log 2>&1 || { tail -40 build.log; exit 1; }
rm -rf lazyarray build

# Reports go to files too: a child process of a test may be expected to fail, or not be looked at.
options="detect_leaks=0 allocator_may_return_null=1 exitcode=66 strict_init_order=1 \
log_path=$built/report ${ASAN_OPTIONS:-}"
ubsan_options="print_stacktrace=1 log_path=$built/report ${UBSAN_OPTIONS:-}"

[ $# -gt 0 ] || set -- tests/lazy tests/ndarray tests/test_programs.py
status=0
# libstdc++ as well, for exceptions are intercepted only if it is there from the start.
env LD_PRELOAD="$("$cxx" -print-file-name=libasan.so) $("$cxx" -print-file-name=libstdc++.so)" \
  ASAN_OPTIONS="$options" UBSAN_OPTIONS="$ubsan_options" PYTHONMALLOC=malloc PYTHONPATH="$built/site" \
  PYTHONDONTWRITEBYTECODE=1 LAZYARRAY_TEST_EXAMPLES="${LAZYARRAY_TEST_EXAMPLES:-60}" \
  "$python" -m pytest -q -p no:faulthandler -p no:cacheprovider ${PYTEST:-} "$@" || status=$?
for report in "$built"/report.*; do
  [ -e "$report" ] || continue
  sed "s|$built/||g" "$report"
  status=66
done
exit $status
