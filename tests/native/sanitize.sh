#!/bin/sh
# Builds the engine's core and its stress program under a sanitizer and runs it: any report, wrong
# result or hang fails.
#
#   sanitize.sh [thread | address,undefined] [seed] [work in percent]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
core=$here/../../lazyarray/engine/core
kind=${1:-thread}
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
trap 'exit 1' HUP INT TERM

for source in "$core"/*.cpp "$here"/stress.cpp; do
  "${CXX:-g++}" -std=c++17 -O1 -g -fno-omit-frame-pointer -fsanitize="$kind" \
    -fno-sanitize-recover=all -Wall -Wextra -Werror -pthread -I"$core" -c "$source" \
    -o "$built/$(basename "$source" .cpp).o" &
  jobs="${jobs:-} $!"
done
for job in $jobs; do wait "$job"; done
"${CXX:-g++}" -fsanitize="$kind" -pthread "$built"/*.o -o "$built/stress"

TSAN_OPTIONS="halt_on_error=1 second_deadlock_stack=1 exitcode=66 ${TSAN_OPTIONS:-}" \
ASAN_OPTIONS="detect_leaks=1 exitcode=66 ${ASAN_OPTIONS:-}" \
UBSAN_OPTIONS="print_stacktrace=1 ${UBSAN_OPTIONS:-}" \
  "$built/stress" "${2:-1}" "${3:-100}"
