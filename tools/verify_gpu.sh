#!/bin/sh
# Verifies the CUDA device with a Python that has CuPy, NumPy, Cython, Meson, ninja, opt_einsum,
# pytest and hypothesis; builds in place, installs nothing, needs no network. Without a GPU it says so:
# status 0. What that Python lacks may lie in build/python:
#
#   pip install --target build/python meson ninja cython opt_einsum pytest hypothesis    # where there is a network
#
#   verify_gpu.sh [python] [part ...]     default: python3, build test sanitize bench
#
#   build      the extensions, beside their sources
#   test       tests/cuda, and the suites of engine, arrays, ops, programs on gpu:0; 8 files at a time
#   sanitize   the stress program; then under compute-sanitizer's memcheck and racecheck, if it is here
#   bench      the table of speeds (python -m benchmarks.gpu)
#
#   LOGS=folder      where everything that was said is kept (default build/verify-gpu)
#   SECONDS_A_PART   the most that a part takes (default 540)
#   JOBS=n           test processes at a time (default: the cores, at most 8)
#   TESTS="..."      instead of the selection of tests; ARGS="..." for pytest
#   ROUNDS=n         of the benchmarks (default 7); BENCH="..." for benchmarks.gpu
set -u
cd "$(dirname "$0")/.." || exit 1
case ${1:-build} in
  build | test | sanitize | bench) python=python3 ;;
  *) python=$1 && shift ;;
esac
[ $# -gt 0 ] || set -- build test sanitize bench
for part; do
  case $part in
    build | test | sanitize | bench) ;;
    *) echo "there is no part '$part': build, test, sanitize, bench" >&2; exit 2 ;;
  esac
done
"$python" tools/gpu_here.py || exit 0
export PYTHONPATH="$PWD:$PWD/build/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1
"$python" -c 'import cupy' || { echo "'$python' has no CuPy that works (its words are above)"; exit 1; }
lacks=$("$python" -c '
import importlib.util
names = "numpy Cython mesonbuild ninja opt_einsum pytest hypothesis".split()
print(*[name for name in names if importlib.util.find_spec(name) is None])')
[ -z "$lacks" ] || { echo "'$python' lacks: $lacks (see the head of this script)"; exit 1; }

logs=${LOGS:-build/verify-gpu}
most=${SECONDS_A_PART:-540}
jobs=${JOBS:-$("$python" -c 'import os; print(min(8, os.cpu_count()))')}
mkdir -p "$logs"
summary=$logs/summary
: > "$summary"
failed=0
PATH=$PATH:/usr/local/cuda/bin

# One command of a part, into a log of its own, within what is left of the part's time.
step() {
  name=$1
  shift
  left=$((ends - $(date +%s)))
  [ "$left" -gt 0 ] || left=1
  timeout -k 10 "$left" "$@" > "$logs/$name.log" 2>&1
  status=$?
  case $status in
    0) said=passed ;;
    124 | 137) said="out of time" failed=1 ;;
    *)
      if grep -q "Device not supported" "$logs/$name.log"; then
        said="not run: the tool can't reach the device here"
      else
        said="FAILED (status $status)" failed=1
      fi
      ;;
  esac
  printf '%-28s %s\n' "$name" "$said" >> "$summary"
  [ $status -eq 0 ] || tail -30 "$logs/$name.log"
  return $status
}

build() {
  step build "$python" tools/in_place.py
}

# Whatever tests the simulated device is left out: this is a real one.
tests() {
  # shellcheck disable=SC2086  # lists of words
  step test "$python" tools/test_each.py --jobs "$jobs" --seconds $((most - 10)) --logs "$logs/tests" \
    ${TESTS:-tests/cuda tests/ndarray tests/engine tests/lazy tests/ops tests/functions tests/protocols tests/programs tests/test_programs.py \
      tests/test_random.py tests/test_compile.py} \
    -- --device gpu:0 ${ARGS:-}
  tail -1 "$logs/test.log" | sed 's/^/    /' >> "$summary"
}

sanitize() {
  step stress "$python" -m tests.cuda.stress --rounds 50
  if ! command -v compute-sanitizer > /dev/null; then
    printf '%-28s %s\n' 'memcheck, racecheck' 'not run: no compute-sanitizer' >> "$summary"
    return
  fi
  few="--rounds 2 --threads 3 --steps 40 --size 4096"
  for tool in memcheck racecheck; do
    # shellcheck disable=SC2086
    step $tool compute-sanitizer --tool $tool --report-api-errors no --error-exitcode 9 \
      "$python" -m tests.cuda.stress --bare $few
  done
}

bench() {
  # shellcheck disable=SC2086
  step bench "$python" -m benchmarks.gpu --rounds "${ROUNDS:-7}" --json "$logs/bench.json" ${BENCH:-}
  cat "$logs/bench.log"
}

for part; do
  echo "== $part"
  ends=$(($(date +%s) + most))
  case $part in
    build) build || break ;;
    test) tests ;;
    sanitize) sanitize ;;
    bench) bench ;;
  esac
done
echo "== summary (logs: $logs)"
cat "$summary"
exit $failed
