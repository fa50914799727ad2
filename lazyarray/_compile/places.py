"""Where the Python of a function may find state: globals, cells, attributes, containers.

Nothing is run to find it. From a function's code and its closure one comes to all that it names; of
an object that means those attributes whose names some code in reach uses.
"""

from __future__ import annotations

import array
import collections
import contextlib
import contextvars
import functools
import gc
import operator
import queue
import random
import sys
import threading
import types
from typing import Any, NamedTuple

import numpy as np

from lazyarray._compile.code import Names, any_global, is_foreign, is_ours, names_of
from lazyarray._compile.trees import is_atom
from lazyarray.lazy._lazy import ABSENT, Tensor, TracingError, leaf_grad

__all__ = ["Place", "Finder", "IN_DICT"]

# As in lazy/guard.pxi.
IN_DICT, IN_CELL, IN_TYPE, IN_LIST, WHOLE_DICT, DICT_OF, ASKED, COUNT = range(8)

_MOST = 50_000  # places of one function


class Place(NamedTuple):
    """Where one value is, or the values of a container."""

    kind: int
    holder: Any
    key: Any
    path: str

    @property
    def is_whole(self) -> bool:
        """Whether it is all of a container, as a tuple."""
        return self.kind in (IN_LIST, WHOLE_DICT) or self.key in (_iterated, _items)

    def item(self, i: int) -> str:
        """How one writes a container's i-th value."""
        if self.kind != WHOLE_DICT and self.key is not _items:
            return f"{self.path}[{i}]"
        name = _items(self.holder)[i & ~1]
        return f"{self.path}.{name}" if self.key == "." else f"{self.path}[{name!r}]"

    def read(self) -> Any:
        """What is there now; ABSENT: nothing."""
        if self.kind == IN_DICT:
            return self.holder.get(self.key, ABSENT)
        if self.kind == IN_CELL:
            try:
                return self.holder.cell_contents
            except ValueError:
                return ABSENT
        if self.kind == IN_TYPE:
            return _looked_up(self.holder, self.key)
        if self.kind == IN_LIST:
            return tuple(self.holder)  # of a list, and no subclass
        if self.kind == WHOLE_DICT:
            return _items(self.holder)
        if self.kind == DICT_OF:
            return self.holder.__dict__
        if self.kind == COUNT:
            return len(vars(self.holder) if isinstance(self.holder, type) else self.holder)
        return self.key(self.holder)

    def write(self, value: Any) -> None:
        """Puts back, or puts, what :meth:`read` gives."""
        holder = self.holder
        if self.kind == IN_DICT:
            if value is ABSENT:
                holder.pop(self.key, None)
            else:
                holder[self.key] = value
        elif self.kind == IN_CELL:
            if value is ABSENT:
                del holder.cell_contents
            else:
                holder.cell_contents = value
        elif self.kind == IN_TYPE:
            for owner in holder.__mro__:
                if self.key in vars(owner):
                    if value is ABSENT:
                        delattr(owner, self.key)
                    else:
                        setattr(owner, self.key, value)
                    break
        elif self.kind == DICT_OF:
            holder.__dict__ = value
        elif isinstance(self.key, _Slot):
            self.key.write(holder, value)
        elif isinstance(holder, np.ndarray):
            holder[...] = np.frombuffer(value[2], value[0]).reshape(value[1])
        elif isinstance(holder, contextvars.ContextVar):
            holder.set(value)
        else:
            # By Python's own methods: a subclass's may do anything (a Counter's update counts).
            own = _pythons(holder)
            own.clear(holder)
            if issubclass(own, dict):
                for key, item in zip(value[::2], value[1::2], strict=True):
                    own.__setitem__(holder, key, item)
            else:
                (own.update if own is set else own.extend)(holder, value)


_CONTAINERS: tuple[Any, ...] = (
    collections.OrderedDict,
    dict,
    list,
    set,
    collections.deque,
)
# What these hold is in one attribute, which only code of Python's own names.
_HELD_IN: dict[Any, str] = {
    collections.UserDict: "data",
    collections.UserList: "data",
    collections.UserString: "data",
    collections.ChainMap: "maps",
    contextlib.nullcontext: "enter_result",
}
# What changes in these no comparison would tell.
_UNFOLLOWED = (
    array.array,
    bytearray,
    memoryview,
    queue.Queue,
    queue.SimpleQueue,
    types.MappingProxyType,
    threading.local,
)
# What makes random numbers that aren't lazyarray's, by the names that code has for it.
_GENERATORS = (np.random.default_rng, np.random.RandomState, random.Random, random.SystemRandom)
_MAKERS = set(
    "default_rng RandomState Random SystemRandom MT19937 PCG64 PCG64DXSM Philox SFC64".split()
)


def _pythons(container: Any) -> Any:
    """Python's own class among those of a container."""
    return next(c for c in _CONTAINERS if isinstance(container, c))


def _items(of: dict[Any, Any]) -> tuple[Any, ...]:
    return tuple([x for item in _pythons(of).items(of) for x in item])


def _iterated(of: Any) -> tuple[Any, ...]:
    return tuple(_pythons(of).__iter__(of))


def _in_context(of: contextvars.ContextVar[Any]) -> Any:
    try:
        return of.get()
    except LookupError:
        return ABSENT


def _bytes(of: np.ndarray) -> tuple[Any, ...]:
    mask = of.mask.tobytes() if isinstance(of, np.ma.MaskedArray) else b""  # tobytes() fills
    data = of.data if isinstance(of, np.ma.MaskedArray) else of
    return (of.dtype.str, of.shape, data.tobytes(), mask)


class _Slot:
    """One of an object's ``__slots__``."""

    def __init__(self, descriptor: Any) -> None:
        self._descriptor = descriptor

    def __call__(self, holder: Any) -> Any:
        try:
            return self._descriptor.__get__(holder)
        except AttributeError:
            return ABSENT

    def write(self, holder: Any, value: Any) -> None:
        """Puts a value there, or nothing."""
        if value is ABSENT:
            if self(holder) is not ABSENT:
                self._descriptor.__delete__(holder)
        else:
            self._descriptor.__set__(holder, value)


def _looked_up(cls: type, name: str) -> Any:
    return next((vars(c)[name] for c in cls.__mro__ if name in vars(c)), ABSENT)


class _OfClass:
    """What a class's objects have by it, by kinds."""

    def __init__(self, cls: type) -> None:
        every = {name: value for c in reversed(cls.__mro__) for name, value in vars(c).items()}
        self.names = every.keys()
        self.slots = {
            name: slot
            for name, slot in every.items()
            if isinstance(slot, types.MemberDescriptorType)
        }
        # What an object's own attribute would hide. (A compiled one makes one for the object.)
        self.values = {
            name
            for name, value in every.items()
            if not isinstance(value, types.FunctionType)
            and not hasattr(value, "__set__")
            and not is_compiled(value)
        }


class Finder:
    """The places that a function (and the objects that it was given) can come to.

    >>> from lazyarray._compile.places import Finder
    >>> def counter(count):
    ...     return lambda: count[0]
    >>> [place.path for place in Finder([(counter([1, 2]), "f")]).places]
    ['count', 'f', 'f', 'count']
    """

    def __init__(self, roots: list[tuple[Any, str]]) -> None:
        self._attributes: set[str] = set()
        self._any_attribute = False
        self.stored: dict[str, str] = {}  # name: where it is stored
        self.asks_types = False  # whether some code calls type(), which tells a stand-in
        self._read: set[str] = set()
        self._appended: dict[str, str] = {}
        known = -1
        while known != len(self._attributes) + self._any_attribute:
            known = len(self._attributes) + self._any_attribute
            self._start()
            self._roots = [root for root, _ in roots]
            self._todo = [*roots]
            while self._todo:
                self._visit(*self._todo.pop())
        # Lists that are only appended to: nothing depends on what is in them.
        self.logs: list[Place] = []
        places = []
        for place in self._places:
            names = self._referrers.get(id(place.holder), set())
            if (
                place.kind == IN_LIST
                and names
                and not names & self._read
                and names <= {*self._appended}
            ):
                self.logs.append(place)
            else:
                places.append(place)
        self.places = places

    def _start(self) -> None:
        self._places: list[Place] = []
        self.seen: dict[int, Any] = {}  # what was met, by its id
        self.arrays: list[Any] = []
        self.generators: list[Any] = []
        self.iterators: list[str] = []
        self._referrers: dict[int, set[str]] = {}
        self._codes: set[tuple[types.CodeType, int]] = set()
        self._types: set[tuple[type, str]] = set()
        self._classes: dict[type, _OfClass] = {}
        self.makes: str | None = None  # what leads to a generator that it makes

    def _make(self, path: str) -> None:
        self.makes = self.makes or path

    def _add(self, kind: int, holder: Any, key: Any, path: str) -> None:
        self._places.append(Place(kind, holder, key, path))
        if len(self._places) > _MOST:
            raise TracingError(f"it comes to more than {_MOST} objects, too many to be looked at")

    def line_of(self, path: str) -> str:
        """Where the code stores what is at a path, or appends to it."""
        name = path.partition("[")[0].rpartition(".")[2]
        line = self.stored.get(name) or self._appended.get(name)
        return f" at {line}" if line else ""

    # -- values

    def _visit(self, x: Any, path: str) -> None:
        if is_atom(x) and not isinstance(x, (type, types.ModuleType)) and not _is_users(type(x)):
            return
        if any(x is made for made in _GENERATORS):
            self._make(path)
        if type(x) is list:  # who holds it
            name = path.rpartition(".")[2]
            self._referrers.setdefault(id(x), set()).add(name)
        if id(x) in self.seen:
            return
        self.seen[id(x)] = x
        if isinstance(x, Tensor):
            self.arrays.append(x)
            leaf = leaf_grad(x)
            if leaf is not None:
                self.arrays.append(leaf[0])
        elif isinstance(x, types.FunctionType):
            self._function(x, path)
        elif is_compiled(x):
            self._todo.append((x._function, path))
            self._object(x, path)
        elif isinstance(x, types.MethodType):
            self._todo += [(x.__func__, path), (x.__self__, path.rpartition(".")[0] or "self")]
        elif isinstance(x, functools._lru_cache_wrapper):
            # What it keeps is for ever what the function gave.
            self._todo.append((x.__wrapped__, path))
            self.arrays += _cached(x)
        elif isinstance(x, (functools.partial, functools.partialmethod)):
            self._todo += [(x.func, path), (x.args, path), (x.keywords, path)]
        elif isinstance(x, functools.singledispatchmethod):
            self._todo += [(x.func, path), (x.dispatcher, path)]
        elif isinstance(x, (staticmethod, classmethod)):
            self._todo.append((x.__func__, path))
        elif isinstance(x, property):
            self._todo += [(f, path) for f in (x.fget, x.fset, x.fdel) if f is not None]
        elif isinstance(x, functools.cached_property):
            self._todo.append((x.func, path))
        elif isinstance(x, (operator.attrgetter, operator.methodcaller)):
            self._any_attribute = True
        elif isinstance(x, type):
            self._type(x, path)
        elif isinstance(x, types.ModuleType):
            if x in (np, np.random, random) and self._attributes & _MAKERS:
                self._make(path)
            if not _is_pythons(x):
                for name in self._attributes & vars(x).keys():
                    self._add(IN_DICT, vars(x), name, f"{path}.{name}")
                    self._todo.append((vars(x)[name], f"{path}.{name}"))
        else:
            self._data(x, path)

    def _data(self, x: Any, path: str) -> None:
        """Containers, and objects with attributes."""
        if isinstance(x, (tuple, frozenset)):
            self._todo += [(t, f"{path}[{i}]") for i, t in enumerate(x)]
        elif isinstance(x, (list, collections.deque)):
            key: Any
            kind, key = (IN_LIST, None) if type(x) is list else (ASKED, _iterated)
            self._add(kind, x, key, path)
            self._todo += [(t, f"{path}[{i}]") for i, t in enumerate(_iterated(x))]
        elif isinstance(x, dict):
            kind, key = (WHOLE_DICT, None) if type(x) is dict else (ASKED, _items)
            self._add(kind, x, key, path)
            items = _items(x)
            for name, t in zip(items[::2], items[1::2], strict=True):
                self._todo.append((t, f"{path}[{name!r}]"))
        elif isinstance(x, set):
            self._add(ASKED, x, frozenset, path)
            self._todo += [(t, f"{path}[...]") for t in _iterated(x)]
        elif isinstance(x, np.ndarray):
            if x.dtype.hasobject:
                raise TracingError(f"{path} is an array of objects")
            self._add(ASKED, x, _bytes, path)
        elif isinstance(x, (np.random.Generator, np.random.RandomState, random.Random)):
            self.generators.append(x)
        elif isinstance(x, contextvars.ContextVar):
            if _in_context(x) is ABSENT:
                raise TracingError(f"{path} has no value, and could not be left so again")
            self._add(ASKED, x, _in_context, path)
            self._todo.append((_in_context(x), path))
        elif isinstance(x, _UNFOLLOWED):
            raise TracingError(
                f"{path} has the type {type(x).__name__}: what changes in it can't be seen"
            )
        elif not isinstance(getattr(type(x), "__next__", is_compiled), types.FunctionType):
            self.iterators.append(path)  # of Python's own
        if type(x) not in (tuple, list, dict, set, frozenset, np.ndarray):
            self._object(x, path)

    def _object(self, x: Any, path: str) -> None:
        cls = type(x)
        self._type(cls, path)
        attributes = getattr(x, "__dict__", None)
        if type(attributes) is dict and cls.__dictoffset__:
            self._add(DICT_OF, x, cls, path)
            self._add(COUNT, attributes, None, path)  # one that hides the class's may come
            if self._any_attribute or _is_numeric(cls):
                self._add(WHOLE_DICT, attributes, ".", path)
                self._todo += [(value, f"{path}.{name}") for name, value in attributes.items()]
            else:
                self._named(x, cls, attributes, path)
        for base, name in _HELD_IN.items():
            if isinstance(x, base) and name in x.__dict__:
                self._add(IN_DICT, x.__dict__, name, path)
                self._todo.append((x.__dict__[name], path))
        of_class = self._of_class(cls)
        for name in self._attributes & of_class.slots.keys():
            slot = _Slot(of_class.slots[name])
            self._add(ASKED, x, slot, f"{path}.{name}")
            self._todo.append((slot(x), f"{path}.{name}"))

    def _named(self, x: Any, cls: type, attributes: dict[str, Any], path: str) -> None:
        """The attributes of an object that some code names."""
        # Of an object's names and of all that code names the latter may be by far more.
        of_class = self._of_class(cls)
        here = self._attributes & attributes.keys()
        hidden = self._attributes & of_class.values
        stored = self._attributes & self.stored.keys() - of_class.names
        for name in here | hidden | stored:
            value = attributes.get(name, ABSENT)
            self._todo.append((value, f"{path}.{name}"))
            if not is_compiled(value):
                self._add(IN_DICT, attributes, name, f"{path}.{name}")

    def _of_class(self, cls: type) -> _OfClass:
        found = self._classes.get(cls)
        if found is None:
            found = self._classes[cls] = _OfClass(cls)
        return found

    def _type(self, cls: type, path: str) -> None:
        """The attributes of a class that are used, and what Python or a base class calls."""
        bases = [owner for owner in cls.__mro__ if owner.__module__ != "builtins"]
        called = not all(_is_users(owner) for owner in bases)
        if type(cls) is not type and _is_users(type(cls)) and cls is not type(cls):
            self._todo.append((type(cls), path))
        for owner in cls.__mro__:
            if not _is_users(owner):
                continue
            if (owner, "") not in self._types:
                self._types.add((owner, ""))
                self._add(COUNT, owner, None, owner.__name__)
            for name in vars(owner):
                hidden = name.startswith("__") and name.endswith("__")
                value = vars(owner)[name]
                if name not in self._attributes and not (
                    (hidden or called) and isinstance(value, types.FunctionType)
                ):
                    continue
                if (cls, name) not in self._types and not isinstance(
                    value, types.MemberDescriptorType
                ):
                    self._types.add((cls, name))
                    self._add(IN_TYPE, cls, name, f"{cls.__name__}.{name}")
                self._todo.append((value, f"{path}.{name}"))

    # -- code

    def _function(self, f: types.FunctionType, path: str) -> None:
        code = f.__code__
        mine = any(f is getattr(root, "__func__", root) for root in self._roots)
        if is_foreign(code.co_filename) and not mine:
            self._wrapped(f, path)
            return
        for name, cell in zip(code.co_freevars, f.__closure__ or (), strict=True):
            place = Place(IN_CELL, cell, None, name)
            self._add(*place)
            self._todo.append((place.read(), name))
        self._todo += [(f.__defaults__, path), (f.__kwdefaults__, path)]
        if mine or f.__dict__:
            self._object(f, path)
        if (code, id(f.__globals__)) in self._codes:
            return
        self._codes.add((code, id(f.__globals__)))
        names = names_of(code)
        what = any_global(names, f.__globals__)
        if what:
            raise TracingError(f"it calls {what}(), which may come to anything")
        self._know(names, code.co_filename)
        for name in names.globals:
            value = f.__globals__.get(name, ABSENT)
            self._add(IN_DICT, f.__globals__, name, name)  # also where it's a builtin's yet
            self._todo.append((value, name))
        for name in names.modules:
            if name in sys.modules:
                self._todo.append((sys.modules[name], name))

    def _wrapped(self, f: types.FunctionType, path: str) -> None:
        """The functions that a decorator of Python's, NumPy's or ours was given, and calls."""
        held: list[Any] = [f.__dict__.get("__wrapped__")]
        for cell in f.__closure__ or ():
            try:
                held.append(cell.cell_contents)
            except ValueError:
                continue
        held += [x for found in held if type(found) is dict for x in found.values()]
        self._todo += [(x, path) for x in held if isinstance(x, _CALLED)]

    def _know(self, names: Names, file: str) -> None:
        self._attributes |= names.attributes
        self._any_attribute |= names.any_attribute
        # Of our own code we know what it asks.
        self.asks_types |= "type" in names.globals and not is_ours(file)
        self._read |= names.read
        for known, new in ((self.stored, names.stored), (self._appended, names.appended)):
            for name, line in new.items():
                known.setdefault(name, f"{file}:{line}")


_CALLED = (types.FunctionType, types.MethodType, functools.partial)


def _is_users(cls: type) -> bool:
    """Whether a class is not of Python's, NumPy's or ours."""
    if cls.__module__ in ("builtins", "numpy"):
        return False
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return not (file and is_foreign(file))


def _is_numeric(cls: type) -> bool:
    """Whether objects of a class hold numbers that only NumPy's code or ours names: polynomials."""
    return any(
        owner.__module__.startswith(("numpy.", "lazyarray.polynomial.")) for owner in cls.__mro__
    )


def _is_pythons(module: types.ModuleType) -> bool:
    """Whether a module is of Python's, NumPy's or ours: others may have no file, too."""
    file = getattr(module, "__file__", None)
    if file:
        return is_foreign(file)
    origin = getattr(getattr(module, "__spec__", None), "origin", None)
    return origin in ("built-in", "frozen") or module.__name__ in sys.builtin_module_names


def _cached(wrapper: Any) -> list[Any]:
    """The arrays in a ``functools.lru_cache``."""
    found, todo, seen = [], [wrapper], {id(wrapper)}
    while todo:
        for x in gc.get_referents(todo.pop()):
            if isinstance(x, Tensor):
                found.append(x)
            elif type(x) in (dict, tuple, list) and id(x) not in seen:
                seen.add(id(x))
                todo.append(x)
    return found


def is_compiled(x: Any) -> bool:
    return type(x).__name__ == "Compiled" and type(x).__module__ == "lazyarray._compile.compiled"
