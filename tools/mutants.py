"""Deliberate faults in the native core, one at a time: which of them do the tests and the fuzzer see?

    python tools/mutants.py --tree /tmp/mutants [--only 3,17] [--fuzz 30] [--tests "tests/lazy tests/ops"]

Each fault is built in a copy of the checkout (``--tree``; made if missing, with this Python's build
requirements), the tests are run until the first failure, and the fuzzer for some seconds. A fault that
nothing sees wants a test. Faults that change no result (only speed) don't belong here.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORE = "lazyarray/lazy/"
TESTS = (
    "tests/lazy tests/ndarray tests/ops tests/programs tests/test_programs.py tests/test_fuzz.py"
)

# (file, what is written there, what is to be written instead); the first place where it is found.
FAULTS: list[tuple[str, str, str]] = [
    # -- fuse.h: what may share a pass
    ("fuse.h", "return !in.reduces_last() || in.last() > row;", "return in.reduces_last() && in.last() > row;"),
    ("fuse.h", "if (entry.open || (open && in->writes(k))) return true;", "if (open && in->writes(k)) return true;"),
    ("fuse.h", "if (!same_walk(a, b) && may_overlap(a, b)) return true;", "if (!same_walk(a, b) && a.offset == b.offset) return true;"),
    ("fuse.h", "if (entries_[e].written || in->writes(k)) {", "if (entries_[e].written) {"),
    ("fuse.h", "if (stages_[s].first_after <= (target >= 0 ? target : INT_MAX - 1)) continue;", ""),
    ("fuse.h", "if (open != NONE && (open != COLUMNS || rows != last)) return false;", "if (open != NONE && open != COLUMNS) return false;"),
    ("fuse.h", "if (last <= row) return close(size / last);", "if (last <= row + 1) return close(size / last);"),
    ("fuse.h", "return nclosed == 0 && axes.n > 0 &&", "return axes.n > 0 &&"),
    # -- space.h: shared axes
    ("space.h", "if (m == 1 || run % m || y % m || sy != 0) return false;", "if (m == 1 || run % m || y % m) return false;"),
    ("space.h", "if (a.offset != b.offset || a.itemsize != b.itemsize) return false;", "if (a.itemsize != b.itemsize) return false;"),
    # -- planner.h: tiles, panels, temporaries
    ("planner.h", "panels_ = panels(p.axes.shape[panel_axis_], form.rows);", "panel_axis_ = p.axes.n - 1; panels_ = panels(p.axes.shape[panel_axis_], form.rows);"),
    ("planner.h", "if (panels_ > 1) steps[k][0] = steps[k][panel_axis_] * p.axes.shape[panel_axis_];\n      } else", "} else"),
    ("planner.h", "if (s.busy_until < l.first && s.bytes == bytes) best = &s;", "if (s.busy_until <= l.first && s.bytes == bytes) best = &s;"),
    ("planner.h", "lives_[life].last = static_cast<int>(m);", "if (lives_[life].uses < 2) lives_[life].last = static_cast<int>(m);"),
    ("planner.h", "stage.instrs[i]->ops[k].chunk == target && (i > life.first || !in_place)) return;", "stage.instrs[i]->ops[k].chunk == target && i > life.first) return;"),
    ("planner.h", "if (maker.size() != copy.size()) return;", ""),
    ("planner.h", "else if (form.open == Form::COLUMNS) p.tiles_per_task = p.tiles / panels_;", ""),
    ("planner.h", "m.rows_begin = panels_ > 1 ? 1 : 0;", "m.rows_begin = 0;"),
    ("planner.h", "m.cuts_kept = p.cut >= end;", "m.cuts_kept = p.cut > end;"),
    ("planner.h", "if (inner == 1) p.length = std::min(whole, (p.length + 15) / 16 * 16);", "if (inner == 1) p.length = (p.length + 15) / 16 * 16;"),
    ("planner.h", "push(in->nop | in->ndim << 8 | static_cast<npy_intp>(in->reduced) << 32);", "push(in->nop | in->ndim << 8);"),
    ("planner.h", "even &= steps[k][a] == steps[k][a + 1] * axes.shape[a + 1];", "even &= steps[k][a] == steps[k][a + 1] * axes.shape[a + 1] || a > 0;"),
    # -- plan.h: nests of loops
    ("plan.h", "if (n == 1) head *= axes.shape[a];", ""),
    ("plan.h", "else if (cut == n - 1) cut = longest;", ""),
    # -- pass.h: running tiles
    ("cpu/pass.h", "for (int a = member.rows_begin; a < member.rows_end && a <= plan_.cut; ++a) first &= index[a] == 0;", "for (int a = member.rows_begin; a < member.rows_end && a < plan_.cut; ++a) first &= index[a] == 0;"),
    ("cpu/pass.h", "for (int a = inner - 1; a >= 0 && ++index[a] == axes.shape[a]; --a) index[a] = 0;", "if (inner > 0 && ++index[inner - 1] == axes.shape[inner - 1]) index[inner - 1] = 0;"),
    ("cpu/pass.h", "neutral(kernel, at.p[0], to);", "start_result(kernel, at.p[0], to);"),
    ("cpu/pass.h", "out += rest % axes.shape[a] * member.outer[1][a];\n        rest", "out += r % axes.shape[a] * member.outer[1][a];\n        rest"),
    ("cpu/pass.h", "length = std::min(p.length, p.axes.shape[p.cut] - index[p.cut]);", "length = std::min(p.length, p.axes.shape[p.cut] - index[p.cut] / 8 * 8);"),
    ("cpu/pass.h", "if (out_of_range) recast(m, member, at, length, flags);", ""),
    # -- pairwise.h: NumPy's sums
    ("cpu/pairwise.h", "return half - half % 8;", "return half - half % 4;"),
    ("cpu/pairwise.h", "for (i = 8; i < n - n % 8; i += 8)", "for (i = 8; i < n - n % 16; i += 8)"),
    ("cpu/pairwise.h", "const npy_intp half = n - n % 8;  // of 2n reals", "const npy_intp half = n - n % 16;"),
    # -- gather.h, masks.h: indices and masks
    ("cpu/gather.h", "return i < 0 ? i + n : i;", "return i < 0 ? i + n - (n > 600) : i;"),
    ("cpu/gather.h", "if (i < 0 || i >= n)", "if (i < 0 || i > n)"),
    ("cpu/masks.h", "std::min<npy_intp>((n - i) / 8, 255)", "std::min<npy_intp>((n - i) / 8, 300)"),
    ("cpu/masks.h", "eight(mask + i + 16) | eight(mask + i + 24)", "eight(mask + i + 16)"),
    ("cpu/masks.h", "const npy_intp n = dims[1], step = dims[2] != 1;", "const npy_intp n = dims[1], step = dims[2] > 2;"),
    # -- casts.h
    ("cpu/casts.h", "else return (x >= min) & (x < above);", "else return (x > min) & (x < above);"),
    ("cpu/casts.h", "std::min(done, n - done) * size", "std::min(done, n - done - (n > 1000)) * size"),
]  # fmt: skip


def make_tree(tree: pathlib.Path) -> None:
    if not tree.exists():
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "--detach", tree], check=True)
    build(tree)


def build(tree: pathlib.Path) -> None:
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])


def ends_well(command: list[str], tree: pathlib.Path) -> bool:
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    try:
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, timeout=1200)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def try_fault(tree: pathlib.Path, number: int, tests: str, seconds: float) -> str:
    name, right, wrong = FAULTS[number]
    path = tree / CORE / name
    text = path.read_text()
    assert right in text, f"fault {number}: {name} has changed"
    path.write_text(text.replace(right, wrong, 1))
    try:
        build(tree)
        fuzz = [sys.executable, "tools/fuzz.py", "--minutes", str(seconds / 60)]
        seen = (
            "missed" if seconds and ends_well([*fuzz, "--first", "--jobs", "1"], tree) else "seen"
        )
        run = [sys.executable, "-m", "pytest", "-x", "-q", *tests.split()]
        known = "missed" if ends_well(run, tree) else "seen"
    finally:
        path.write_text(text)
    return f"{number:3}  tests {known:6}  fuzzer {seen:6}  {name}: {' '.join(right.split())[:60]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--only", default=",".join(map(str, range(len(FAULTS)))))
    parser.add_argument("--fuzz", type=float, default=30)
    parser.add_argument("--tests", default=TESTS)
    options = parser.parse_args()
    make_tree(options.tree)
    begun = time.monotonic()
    for number in map(int, options.only.split(",")):
        print(try_fault(options.tree, number, options.tests, options.fuzz), flush=True)
    build(options.tree)
    print(f"{time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
