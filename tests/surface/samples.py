"""The surface table: sample calls of every public function, by NumPy's name of it.

``tests/surface/calls/*.py`` hold ``CALLS = {"linalg.inv": ["xp.linalg.inv(q)", ...]}``: expressions
of ``xp`` (NumPy or lazyarray) and of the sample arrays below. ``run`` evaluates one and tells what
lazyarray did for it: whether NumPy was called with the GIL, and whether anything waited.
"""

import collections
import contextlib
import functools
import importlib.util
import io
import math
import operator
import pathlib
import re
import tempfile
import types
import warnings
from typing import NamedTuple

import numpy as np

import lazyarray as la
from lazyarray._numpy_facts import VERSION
from lazyarray.functions.absent import ABSENT, OUTSIDE
from lazyarray.lazy._lazy import _set_policy, gil_ops, sync_rows

from ..numpys import GONE, REFUSALS, has

HERE = pathlib.Path(__file__).parent
SPACES = ("", "linalg", "fft", "random", "random.Generator", "ndarray")


def arrays(xp):
    """The sample arrays, new, in one library."""
    rng = np.random.default_rng(0)
    v, w = rng.standard_normal((2, 12))
    m = rng.standard_normal((3, 4))
    q = rng.standard_normal((4, 4)) + 4 * np.eye(4)
    t = rng.standard_normal((2, 3, 4))
    n = m.copy()
    n[0, 1] = n[2, 3] = n[2, 0] = np.nan
    found = {
        "v": v,
        "w": np.abs(w) + 0.5,
        "m": m,
        "q": q,
        "t": t,
        "i": rng.integers(0, 6, 12),
        "j": rng.integers(-9, 10, (3, 4)),
        "b": rng.random(12) < 0.5,
        "c": rng.standard_normal(12) + 1j * rng.standard_normal(12),
        "n": n,
        "s": np.sort(rng.standard_normal(12)),
        "f": rng.standard_normal(12).astype(np.float32),
    }
    return {name: xp.array(a) for name, a in found.items()}


def load():
    """(name: its expressions, names that are compared with a tolerance), of all files."""
    calls, close = {}, set()
    for path in sorted((HERE / "calls").glob("[!_]*.py")):
        spec = importlib.util.spec_from_file_location(f"surface_calls_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, expressions in module.CALLS.items():
            known = calls.setdefault(name, [])
            known += [e for e in expressions if e not in known and is_taken(e)]
        close |= set(getattr(module, "CLOSE", ()))
    return calls, close


def is_taken(expression):
    """Whether the NumPy that runs here takes this call, or lacks the function; see ``numpys``."""
    if VERSION == (2, 4) or not has(expression):
        return True
    try:
        with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
            run(expression, np)
    except Exception as exc:
        return not isinstance(exc, REFUSALS)
    return True


def public(space, of=np):
    """The names that a namespace of NumPy offers, modules left out."""
    place = look(of, space)
    names = [n for n in dir(place) if not n.startswith("_")] if isinstance(place, type) else (
        place.__all__)  # fmt: skip
    full = {(f"{space}." if space else "") + n: getattr(place, n) for n in names}
    hidden = {"__version__", "random.Generator"}  # Generator's methods are a space by themselves
    return [n for n, thing in full.items()
            if not isinstance(thing, types.ModuleType) and n not in hidden | GONE]  # fmt: skip


def look(xp, name, default=None):
    """What a library has under a dotted name."""
    for part in name.split(".") if name else []:
        xp = getattr(xp, part, default)
    return xp


def is_here(name):
    """Whether lazyarray offers the name as public."""
    space, _, last = name.rpartition(".")
    place = look(la, space)
    return last in (dir(place) if isinstance(place, type) else place.__all__)


def coverage(space):
    """(how many of NumPy's names are here, how many make sense for numeric dtypes)."""
    outside = {name for names in OUTSIDE.values() for name in names}
    names = [n for n in public(space) if n not in outside]
    return len([n for n in names if is_here(n) and n not in ABSENT]), len(names)


def waits_sentence(doc):
    """The sentence of a docstring that tells what is waited for, or nothing."""
    text = " ".join((doc or "").split(">>>")[0].split())
    found = re.search(r"(?:^|[.:;)] )([Ww]aits\b.*?\.)(?: |$)", text + " ")
    plain = re.sub(r":\w+:(?=`)", "", found[1]).replace("``", "`") if found else ""
    return plain[:1].upper() + plain[1:].removesuffix(".")


# ---- running a call -----------------------------------------------------------------------------

HOW = ("host", "native", "op", "sync")  # by what it costs, least first


class Seen(NamedTuple):
    """What a call did: ``how``, one of HOW, and what it waited for."""

    how: str
    waits: tuple[str, ...] = ()


METHOD = re.compile(r"random\.Generator\.|ndarray\.")


class Meter:
    """Calls functions and counts the instructions with the GIL and the waits in them."""

    def __init__(self, no_sync=False):
        self.no_sync, self.results = no_sync, []
        self.gil, self.waits, self.ops = 0, collections.Counter(), 0

    def __call__(self, function, *args, **kwargs):
        gil, waits, ops = gil_ops(), _waits(), _ops()
        with la.no_sync() if self.no_sync else contextlib.nullcontext():
            result = function(*args, **kwargs)
        self.gil += gil_ops() - gil
        self.waits += _waits() - waits
        self.ops += _ops() - ops
        self.results.append(result)
        return result


def _ops():
    return la.engine.get().stats()["ops"]


def _waits():
    found = collections.Counter()
    for _file, _line, _function, what, count, _ns in sync_rows():
        found[what] += count
    return found


class Spy:
    """A library, one function of which is called through a meter."""

    def __init__(self, space, path, meter):
        self._space, self._path, self._meter = space, path, meter

    def __getattr__(self, name):
        thing = getattr(self._space, name)
        head, _, rest = self._path.partition(".")
        if name != head:
            return thing
        if rest:
            return Spy(thing, rest, self._meter)
        apart = callable(thing) and not isinstance(thing, type)
        return functools.partial(self._meter, thing) if apart else thing


def run(expression, xp, meter=None):
    """The value of an expression on new sample arrays, and these after the call."""
    given = arrays(np if xp is np else la)
    with tempfile.TemporaryDirectory() as tmp, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        names = scope(xp, tmp) | given
        value = meter(eval, expression, names) if meter else eval(expression, names)
        return value, given


def scope(xp, tmp):
    """What expressions name, but for the sample arrays."""
    names = {"xp": xp, "np": np, "io": io, "math": math, "operator": operator}
    return {**names, "tmp": pathlib.Path(tmp)}


def observe(expression, name, no_sync=False):
    """What lazyarray does for the function ``name`` in an expression.

    A class, an object to index, or a method is observed with all of the expression. Not what NumPy
    would compute at once, as the sample arrays are small.
    """
    direct = _set_policy("direct_bytes", 0)
    try:
        return _observed(expression, name, no_sync)
    finally:
        _set_policy("direct_bytes", direct)


def _observed(expression, name, no_sync):
    thing = look(la, name)
    apart = callable(thing) and not isinstance(thing, type) and not METHOD.match(name)
    part, whole = Meter(no_sync and apart), Meter(no_sync and not apart)
    draws = _set_policy("draws", -1)  # as large ones are made, not at once
    try:
        run(expression, Spy(la, name, part) if apart else la, whole)
    finally:
        _set_policy("draws", draws)
    used = part if part.results and not any(map(is_function, part.results)) else whole
    if used.waits:
        return Seen("sync", tuple(used.waits))
    if used.gil:
        return Seen("op")
    return Seen("native" if used.ops or any(map(_holds_array, used.results)) else "host")


def is_function(value):
    return callable(value) and not isinstance(value, type)


def _holds_array(value):
    if isinstance(value, (tuple, list)):
        return any(map(_holds_array, value))
    if isinstance(value, la.NDArray):
        return True
    mine = type(value).__module__.startswith("lazyarray")
    return mine and any(map(_holds_array, getattr(value, "__dict__", {}).values()))
