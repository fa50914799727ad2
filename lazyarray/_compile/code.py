"""What a code object reads and writes, by name."""

from __future__ import annotations

import builtins
import dis
import os
import sysconfig
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "STORE_NAME", "DELETE_GLOBAL", "DELETE_NAME")
_ATTRIBUTE = (
    "LOAD_ATTR",
    "LOAD_METHOD",
    "LOAD_SUPER_ATTR",
    "STORE_ATTR",
    "DELETE_ATTR",
    "IMPORT_FROM",
)
_FREE = ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF", "STORE_DEREF", "DELETE_DEREF")
# Who calls these may come to any attribute.
_ANY_NAME = {
    "getattr",
    "setattr",
    "hasattr",
    "delattr",
    "vars",
    "__dict__",
    "__getattribute__",
    "attrgetter",
    "methodcaller",
}
_ANY_GLOBAL = {"globals", "eval", "exec"}


class Names(NamedTuple):
    """The names in a code object and in those inside it."""

    globals: tuple[str, ...]
    attributes: frozenset[str]
    stored: dict[str, int]  # the line of the first store
    read: frozenset[str]  # what is loaded but for ``name.append``
    appended: dict[str, int]  # the line of ``name.append``
    modules: tuple[str, ...]
    any_attribute: bool


@lru_cache(maxsize=4096)
def names_of(code: CodeType) -> Names:
    """The names that the code uses."""
    found, attributes, read = dict[str, None](), set[str](), set[str]()
    stored, appended = dict[str, int](), dict[str, int]()
    modules = dict[str, None]()
    line = code.co_firstlineno
    instructions = [i for i in dis.get_instructions(code) if i.opname not in ("PUSH_NULL", "CACHE")]
    for i, now in enumerate(instructions):
        line = (now.positions and now.positions.lineno) or line
        op, name = now.opname, now.argval
        if op == "IMPORT_NAME":
            modules[name] = None
        if op in _GLOBAL:
            found[name] = None
        elif op in _ATTRIBUTE:
            attributes.add(name)
        elif op not in _FREE:
            continue
        if op.startswith(("STORE", "DELETE")):
            stored.setdefault(name, line)
        elif i + 1 < len(instructions) and _is_append(instructions[i + 1]):
            appended.setdefault(name, line)
        else:
            read.add(name)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            other = names_of(inner)
            found.update(dict.fromkeys(other.globals))
            modules.update(dict.fromkeys(other.modules))
            attributes |= other.attributes
            read |= other.read
            stored = other.stored | stored
            appended = other.appended | appended
    return Names(
        tuple(found),
        frozenset(attributes),
        stored,
        frozenset(read),
        appended,
        tuple(modules),
        bool(_ANY_NAME & (attributes | set(found))),
    )


def _is_append(instruction: Any) -> bool:
    return instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and instruction.argval == "append"


def any_global(names: Names, namespace: dict[str, Any]) -> str | None:
    """What the code calls that may come to any global; None if nothing does."""
    for name in names.globals:
        if name in _ANY_GLOBAL and namespace.get(name) is None and hasattr(builtins, name):
            return name
    return None


# ---- whose code is not looked into --------------------------------------------------------------

_HERE = str(Path(__file__).parent.parent) + os.sep
# Of this package only what keeps numbers and arrays for users.
_KEEPS_STATE = {os.path.join(_HERE, "nn", "trainers.py")}
_STANDARD = tuple({sysconfig.get_path(p) + os.sep for p in ("stdlib", "platstdlib")})
_PACKAGES = tuple({sysconfig.get_path(p) + os.sep for p in ("purelib", "platlib")})
_NUMERIC = (str(Path(np.__file__).parent) + os.sep,)


def is_ours(file: str) -> bool:
    return file.startswith(_HERE)


@lru_cache(maxsize=4096)
def is_foreign(file: str) -> bool:
    """Whether its code keeps no state that a function could read: Python's, NumPy's, ours."""
    if file in _KEEPS_STATE:
        return False
    if file.startswith((_HERE, *_NUMERIC)):
        return True
    # Frozen modules are importlib and its kin.
    return file.startswith("<frozen") or (
        file.startswith(_STANDARD) and not file.startswith(_PACKAGES)
    )
