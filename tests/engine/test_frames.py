"""The frames of native functions are told from the user's, whatever the build called them."""

import gc
import os
import traceback
import weakref

import pytest

import lazyarray as la
from lazyarray.engine._engine import native_files


def files_of(call):
    try:
        call()
    except Exception as exc:
        return [frame.f_code.co_filename for frame, _ in traceback.walk_tb(exc.__traceback__)]
    raise AssertionError


def test_frames_of_a_module_and_of_its_parts():
    seen = []
    for call in (
        lambda: la.array([1, 2, 3]).item(99, 2, 3),
        lambda: la.array([1, 2, 3]).reshape(7),
        lambda: la.engine.get().push(None, la.cpu()),
        lambda: la.random.normal(size="x").asnumpy(),
    ):
        seen += [f for f in files_of(call) if f.endswith((".pyx", ".pxi"))]
    assert {f[-4:] for f in seen} == {".pyx", ".pxi"}
    assert all(f.startswith(native_files()) for f in seen)


def test_a_program_that_makes_code_for_ever_keeps_little_of_it():
    x, made = la.ones(3), []
    for i in range(6000):
        code = compile("x.wait_to_read()", f"<made {i % 3}>", "eval")
        eval(code, {"x": x})
        made.append(weakref.ref(code))
    del code
    la.ones(3).wait_to_read()
    la.waitall()
    gc.collect()
    assert sum(ref() is not None for ref in made) <= 2048
    lines = [row for row in la.sync_report() if row.file.startswith("<made ")]
    assert sum(row.count for row in lines) == 6000
    assert len(lines) == 3


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_it_keeps_few_of_its_lines(script):
    """Places in the code are numbered for good, some 260 bytes each: at most 65,536 of them."""
    done = script(LINES)
    assert not done.returncode, done.stderr
    grown, *notes = done.stdout.splitlines()
    assert int(grown) < 8 << 20 and notes == ["Singular matrix", "lazyarray: op 'linalg.inv'"]


LINES = """
import lazyarray as la

def used():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

x = la.ones(3)
code = compile("x.wait_to_read()\\n" * 1000, "made", "exec")
for i in range(200):
    exec(code.replace(co_firstlineno=1 + 1000 * i), {"x": x})
    if i == 70:
        before = used()
print(used() - before)
try:
    la.linalg.inv(la.zeros((2, 2))).asnumpy()
except la.linalg.LinAlgError as error:
    print(error, *error.__notes__, sep="\\n")
"""
