"""Ordinary NumPy programs, written as people write them who know NumPy only.

Each is a function of ``np``. ``tests/programs/test_ordinary.py`` compares their results with
NumPy's, ``benchmarks.programs`` their times.
"""

import importlib.util
import inspect
import pathlib


def load():
    """The programs, by name, in the order of their files."""
    found = {}
    for path in sorted(pathlib.Path(__file__).parent.glob("[!_]*.py")):
        spec = importlib.util.spec_from_file_location(f"ordinary_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, thing in vars(module).items():
            if inspect.isfunction(thing) and not name.startswith("_"):
                assert name not in found, name
                found[name] = thing
    return found
