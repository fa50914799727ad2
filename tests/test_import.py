"""`import lazyarray`: what it imports, and the rooms and names that come when they are used."""

import importlib
import os
import pathlib
import pickle
import subprocess
import sys

import pytest

import lazyarray as la

ROOT = pathlib.Path(la.__file__).parent.parent
# What takes long, and few programs use: modules and all that is in them.
HEAVY = """
    lazyarray._compile lazyarray.fft lazyarray.graph lazyarray.lazy.cuda.room
    lazyarray.lazy.cuda.source lazyarray.lib lazyarray.linalg lazyarray.nn lazyarray.polynomial
    lazyarray.profiler lazyarray.random lazyarray.testing concurrent ctypes.util cupy
    dataclasses decimal difflib glob hashlib html json logging multiprocessing numpy.fft
    numpy.polynomial numpy.random numpy.testing opt_einsum random shutil socket sysconfig
    tempfile traceback unittest urllib zipfile""".split()


def python(code, **env):
    """What a new process prints."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("LAZYARRAY_")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=inherited | {"PYTHONPATH": str(ROOT)} | env,
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def imported(code):
    """The modules that a statement imports, besides those that the interpreter and NumPy do."""
    return python(
        f"import numpy, sys; before = set(sys.modules); {code}; "
        "print(*set(sys.modules).difference(before))"
    ).split()


def is_heavy(module):
    return any(module == heavy or module.startswith(heavy + ".") for heavy in HEAVY)


def test_the_import_takes_no_heavy_modules():
    found = imported("import lazyarray")
    assert "lazyarray.ops._rows" in found
    assert [module for module in sorted(found) if is_heavy(module)] == []


def test_heavy_modules_are_told():
    found = imported("import lazyarray; lazyarray.nn; lazyarray.Graph; lazyarray.compile")
    assert {"lazyarray.nn", "lazyarray.graph", "lazyarray._compile", "numpy.random"} <= {
        module for module in found if is_heavy(module)
    }


def test_a_program_of_plain_arrays_takes_none():
    found = imported(
        "import lazyarray as la; x = la.arange(12.0).reshape(3, 4); y = (x @ x.T).sum(); "
        "x[1:, ::2] = 2; z = la.sort(x), la.mean(x, 0), la.concatenate([x, x]); "
        "assert float(y) == 1134; repr(z)"
    )
    assert [module for module in found if is_heavy(module)] == []


# ---- what comes later ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(la._LATER))
def test_a_name_is_the_one_of_its_room(name):
    room, _, inner = la._LATER[name].partition(":")
    module = importlib.import_module(f"lazyarray.{room}")
    assert getattr(la, name) is (getattr(module, inner) if inner else module)
    assert name in dir(la) and name in vars(la)
    # One would hide Python's from a star import, the other is in none of NumPy's either.
    assert (name in la.__all__) == (name not in ("compile", "matlib"))


def test_each_way_to_import_a_room():
    ways = [
        "import lazyarray.nn; f = lazyarray.nn.relu",
        "from lazyarray import nn; f = nn.relu",
        "from lazyarray.nn import relu as f",
        "import lazyarray as la; f = la.nn.relu",
        "from lazyarray import *; f = nn.relu",
        "import lazyarray as la; f = getattr(la, 'nn').relu",
    ]
    for way in ways:
        assert python(f"{way}; print(f([-1, 2]))") == "[0 2]\n", way


def test_a_room_is_the_modules_attribute_once_it_is_imported():
    told = python(
        "import lazyarray as la; there = lambda: 'nn' in vars(la); "
        "print(there(), 'nn' in dir(la), hasattr(la, 'nn'), there())"
    )
    assert told == "False True True True\n"


def test_traces_of_arrays_and_functions():
    assert python(
        "import numpy as np, lazyarray as la\n"
        "print(la.trace(la.eye(3)), np.trace(la.eye(2)), la.eye(4).trace())\n"
        "print(la.trace(lambda x: x + 1, la.spec((2,))).outputs)"
    ).startswith("3.0 2.0 4.0\n")


def test_what_was_pickled_by_a_room_is_read_before_it_is_imported():
    data = pickle.dumps([la.nn.Adam, la.Graph, la.random.default_rng(3), la.compile])
    code = f"import pickle; print(pickle.loads({data!r})[2].integers(100))"
    assert python(code) == f"{la.random.default_rng(3).integers(100)}\n"


def test_a_replaced_name_stays_replaced():
    told = python(
        "import lazyarray as la, lazyarray\n"
        "la.compile = 'mine'\n"
        "la.Graph; la.trace; import lazyarray._compile\n"
        "print(la.compile)\n"
        "del la.compile\n"
        "print(la.compile is lazyarray._compile.compile)\n"
    )
    assert told == "mine\nTrue\n"


def test_threads_that_use_rooms_first_at_once():
    told = python("""
import sys, threading
sys.setswitchinterval(1e-6)
import lazyarray as la

rooms = [*la._LATER]
start, found, errors = threading.Barrier(16), [], []

def use(i):
    try:
        start.wait()
        for k in range(len(rooms)):
            name = rooms[(i * 7 + k) % len(rooms)]
            found.append((name, id(getattr(la, name))))
        assert la.nn.relu(la.array([-1.0])).item() == 0 == la.random.normal(0, 0, 1).item()
        assert la.trace(la.eye(2)).item() == 2
    except BaseException as exc:
        errors.append(repr(exc))

threads = [threading.Thread(target=use, args=(i,)) for i in range(16)]
for t in threads: t.start()
for t in threads: t.join()
print(errors, len(found) == 16 * len(rooms), len(set(found)) == len(rooms))
""")
    assert told == "[] True True\n"


def test_rooms_look_at_functions_while_another_thread_imports_a_part_of_them():
    told = python("""
import sys, threading
sys.setswitchinterval(1e-6)
import lazyarray as la
from lazyarray import _direct, functions

done = threading.Event()

def imports():
    for i in range(100_000):
        setattr(functions, f"part{i}", functions)
        if done.is_set():
            break

thread = threading.Thread(target=imports)
thread.start()
try:
    while thread.is_alive() and len(vars(functions)) < 10_000:
        _direct.in_fft(la.fft)
    print("as ever")
finally:
    done.set()
    thread.join()
""")
    assert told == "as ever\n"


def test_no_room_is_asked_for_a_part_first():
    """Python locks the part, then the room; who imports the room locks them the other way."""
    told = python("""
import sys
import lazyarray as la

class Watch:
    def find_spec(self, name, *rest):
        frame = sys._getframe(1)
        while frame and name.startswith("lazyarray."):
            if frame.f_code.co_name == "_find_and_load":
                if frame.f_locals["name"].startswith(name + "."):
                    print(frame.f_locals["name"], "before", name)
            frame = frame.f_back

names = [*la._LATER]
sys.meta_path.insert(0, Watch())
for name in names:
    for module in [m for m in sys.modules if m.split(".")[:2] in [["lazyarray", n] for n in names]]:
        del sys.modules[module]  # so that none is there because of another one
    vars(la).pop(name, None)
    getattr(la, name)
import lazyarray.nn.layers  # the test itself
""")
    assert told == "lazyarray.nn.layers before lazyarray.nn\n"


def test_scalars_of_numpys_also_of_rooms_that_come_later():
    told = python(
        "import lazyarray as la\n"
        "print(type(la.random.random()).__name__, type(la.trace(la.eye(2))).__name__)",
        LAZYARRAY_SCALARS="numpy",
    )
    assert told == "float float64\n"


# A Python whose GIL is off, as this one is told to look like.
NO_GIL = """
import sys, types, warnings
sys._is_gil_enabled = lambda: False
flags = {n: getattr(sys.flags, n) for n in dir(sys.flags) if n[0] != "_" and n[:2] != "n_"}
sys.flags = types.SimpleNamespace(**(flags | {"gil": GIVEN}))
warnings.simplefilter("always")
with warnings.catch_warnings(record=True) as seen:
    try:
        import lazyarray as la
    except ImportError as exc:
        print(exc, [m for m in sys.modules if m.startswith("lazyarray._ndarray")])
    else:
        told = [f"{w.category.__name__} {w.filename} {w.message}" for w in seen]
        print(la.ones(3).sum().item(), *told)
"""


def test_free_threaded_python_is_told_that_the_gil_is_switched_on():
    told = python(NO_GIL.replace("GIVEN", "None"))
    assert told.startswith("3.0 RuntimeWarning <string> lazyarray needs the GIL")
    assert told.count("Warning") == 1 and "switches it on" in told


def test_a_gil_that_is_forbidden_is_an_error():
    told = python(NO_GIL.replace("GIVEN", "0"))
    assert told.startswith("lazyarray needs the GIL") and "PYTHON_GIL=0" in told
    assert told.endswith(" []\n")  # before anything native was loaded


SUBINTERPRETER = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

def tried(number):
    code = "try:\\n import lazyarray\\nexcept ImportError as exc:\\n print(exc)"
    interpreters.run_string(number, code)

tried(interpreters.create())
import lazyarray as la
tried(interpreters.create())
print((la.ones(2) + 1).asnumpy())
"""


def test_a_subinterpreter_is_refused_and_the_main_one_goes_on():
    """The import worked there; that in the main interpreter failed then, and the process hung."""
    told = python(SUBINTERPRETER)
    assert told.count("runs in the main interpreter of a process only") == 2
    assert told.endswith("[2. 2.]\n")


def test_docstrings_are_read_while_walking_through_the_names():
    code = "import lazyarray as la; print(sum(bool(x.__doc__) for x in la.__dict__.values()))"
    assert int(python(code)) > 500
