"""Docstrings: each public function's and method's names its parameters, its result and its errors.

One rule for all: ``Args:`` if there are parameters, ``Returns:`` and ``Raises:`` always.
"""

import builtins
import importlib.util
import inspect
import pickle
import pkgutil
import pydoc
import re
import subprocess
import sys

import numpy as np
import pytest

import lazyarray as la
from lazyarray._docstrings import WORDS, parts
from lazyarray.ops._rows import Public, Row

# Rooms whose functions are la's own, before their docstrings are completed.
INNER = {"lazyarray.functions", "lazyarray.ops"}


def found_in(space, spaces):
    """A public module, and those that its ``__all__`` names."""
    if space in spaces or space.__name__ in INNER:
        return spaces
    spaces.append(space)
    for name in getattr(space, "__all__", ()):
        if inspect.ismodule(inner := getattr(space, name)) and is_ours(inner):
            found_in(inner, spaces)
    return spaces


def is_ours(thing):
    module = getattr(thing, "__module__", None) or type(thing).__module__
    if inspect.ismodule(thing):
        module = thing.__name__
    if isinstance(thing, Public) and thing.op is None:  # NumPy's function: so is its docstring
        return False
    return isinstance(thing, Row) or module.startswith("lazyarray")


SPACES = found_in(la, [])
HIDDEN = ("lazyarray._", "lazyarray.liblazyarray")
if not all(map(importlib.util.find_spec, ("dask", "distributed"))):
    HIDDEN += ("lazyarray.dask",)
for _, name, _ in pkgutil.iter_modules(la.__path__, "lazyarray."):
    if not name.startswith(HIDDEN):
        found_in(importlib.import_module(name), SPACES)
NAMES = {
    f"{space.__name__}.{name}": thing
    for space in SPACES
    for name in getattr(space, "__all__", ())
    if callable(thing := getattr(space, name)) and is_ours(thing)
}
FUNCTIONS = {
    name: thing
    for name, thing in NAMES.items()
    if not inspect.isclass(thing) and type(thing).__name__ not in ("_Grid", "_Joined")
}


def told(thing):
    """The docstring's parts, and the function's parameters."""
    return parts(thing.__doc__), list(inspect.signature(thing).parameters)


def tells(doc, parameters):
    """The docstring's parts, if it tells of these parameters, and of its result and errors."""
    found = parts(doc)
    assert list(found.args) == parameters
    assert [p for p in parameters if len(found.args[p]) < 5] == []
    assert len(found.returns) > 2 and found.returns.endswith("."), found.returns
    assert len(found.raises) > 2 and found.raises.endswith("."), found.raises
    assert found.head and "Args:" not in found.head and "Returns:" not in found.head
    for word in {"axis", "ctx", "out"} - set(parameters):
        assert not re.search(rf"``{word}``", found.raises), found.raises
    return found


def test_they_are_many():
    assert len(FUNCTIONS) > 600


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_result_and_errors_are_told(name):
    tells(FUNCTIONS[name].__doc__, [*inspect.signature(FUNCTIONS[name]).parameters])


KINDS = [thing for thing in NAMES.values() if inspect.isclass(thing)]
KINDS += la.Scalar.__subclasses__()  # no public names, but what reductions give
METHODS = {
    f"{home.__qualname__}.{name}": thing
    for kind in KINDS
    for name in dir(kind)
    if name[0] != "_"
    and callable(thing := getattr(kind, name, None))
    and not inspect.isclass(thing)
    and is_ours(home := next(c for c in kind.__mro__ if name in vars(c)))
}


def test_methods_are_many():
    assert len(METHODS) > 290
    assert (
        sum(name.startswith(("NDArray.", "Array.", "Values.", "Methods.")) for name in METHODS) > 55
    )


@pytest.mark.parametrize("name", METHODS)
def test_methods_tell_the_same(name):
    parameters = [*inspect.signature(METHODS[name]).parameters]
    tells(METHODS[name].__doc__, [p for p in parameters if p != "self"])


# Classes that a program calls. Of native ones inspect knows no parameters.
NATIVE = {
    la.NDArray: "shape dtype buffer offset strides order",
    la.Context: "device_type device_id",
    la.engine.Device: "device_type device_id",
    la.engine.NaiveEngine: "num_workers",
    la.engine.ThreadedEnginePooled: "num_workers",
    la.engine.ThreadedEnginePerDevice: "num_workers",
}
# What functions and methods give, bases of classes, and what takes no arguments.
NOT_CALLED = (
    "Communicator Compiled Engine Executor Function Graph KVStore LazyarrayBackend NameManager Opr "
    "RunContext Scalar Symbol SyncReport Tensor Ufunc Var FnProperty no_sync"
).split()
CALLED = {
    f"{kind.__module__}.{kind.__qualname__}": kind
    for kind in NAMES.values()
    if inspect.isclass(kind)
    and not issubclass(kind, BaseException)
    and kind.__name__ not in NOT_CALLED
    and kind.__module__ != "lazyarray.random.seeds"  # their docstrings are NumPy's
}


@pytest.mark.parametrize("name", CALLED)
def test_classes_tell_their_parameters_and_errors(name):
    kind = CALLED[name]
    found = parts(kind.__doc__)
    named = NATIVE[kind].split() if kind in NATIVE else [*inspect.signature(kind).parameters]
    assert [p for args in found.args for p in args.split(", ")] == named
    assert found.head and len(found.raises) > 2 and found.raises.endswith(".")


@pytest.mark.parametrize("name", FUNCTIONS | METHODS)
def test_no_error_is_told_twice(name):
    lines = parts((FUNCTIONS | METHODS)[name].__doc__).raises.rstrip(".")
    errors = re.split(r"[.;] (?=[A-Z]\w*(?:Error|Warning)\b)", lines)
    assert len(errors) == len(set(errors)), errors


@pytest.mark.parametrize("name", FUNCTIONS | METHODS | CALLED)
def test_no_default_is_a_nameless_object(name):
    thing = (FUNCTIONS | METHODS | CALLED)[name]
    if thing not in NATIVE:
        assert "<object object" not in str(inspect.signature(thing))


def test_a_default_that_stands_for_nothing_is_numpys():
    for thing in (la.where, la.clip, la.vectorize, la.linalg.pinv):
        assert "<no value>" in pydoc.plain(pydoc.render_doc(thing))


def test_properties_are_documented():
    bare = {
        f"{kind.__name__}.{name}"
        for kind in {home for kind in KINDS for home in kind.__mro__ if is_ours(home)}
        for name, thing in vars(kind).items()
        if name[0] != "_" and inspect.isdatadescriptor(thing) and not inspect.getdoc(thing)
    }
    # Cython gives attributes of native classes no docstrings: the classes' own tell of them.
    assert {name.partition(".")[0] for name in bare} <= {"Row", "Ufunc", "RunContext"}, bare


DRAWS = {
    f"{kind.__name__}.{name}": getattr(kind, name)
    for kind in (la.random.Generator, la.random.RandomState)
    for name in dir(kind)
    if name[0] != "_" and callable(getattr(kind, name))
}


@pytest.mark.parametrize("name", DRAWS)
def test_methods_of_generators_tell_the_same(name):
    found, (_, *parameters) = told(DRAWS[name])
    assert found.example
    for word in {"axis", "ctx"} - set(parameters):
        assert not re.search(rf"\b{word}\b", found.raises)


def test_names_are_where_a_user_finds_them():
    for thing in (la.add, la.sum, la.matmul, la.mean, la.max):
        assert (thing.__module__, thing.__qualname__) == ("lazyarray", thing.__name__)
        assert pickle.loads(pickle.dumps(thing)) is thing
    for method in (la.NDArray.sum, la.NDArray.sort, la.NDArray.item):
        assert method.__qualname__ == f"NDArray.{method.__name__}"
        assert method.__module__ == "lazyarray"
        assert pickle.loads(pickle.dumps(method)) is method


SHAPED = re.compile(
    r"shape|\(\.\.\.|\(n, |\(deg|, then|vector|matri|view|axis|axes|tuple|list|pair|three|four|"
    r"None|bool|ints?\b|text|str\b|dtype|itself|same object|iterator|dict|scalar|object|:class:|"
    r"[Bb]ytes|scope|number|function|it raises"
)


@pytest.mark.parametrize("name", FUNCTIONS | METHODS)
def test_the_result_has_a_shape_or_a_kind(name):
    assert SHAPED.search(parts((FUNCTIONS | METHODS)[name].__doc__).returns)


@pytest.mark.parametrize("name", FUNCTIONS | METHODS)
def test_the_errors_are_errors(name):
    places = (builtins, la.exceptions, np.linalg, np.exceptions, la, la.distributed)
    doc = (FUNCTIONS | METHODS)[name].__doc__
    for error in re.findall(r"\b[A-Z]\w*(?:Error|Warning)\b", doc):
        if error not in ("TracingError",):
            assert any(hasattr(place, error) for place in places), error


def test_every_word_is_used():
    used = {name for thing in FUNCTIONS.values() for name in inspect.signature(thing).parameters}
    assert set(WORDS) - used == set()


ARGUMENTS = {
    "condition": np.ones(2),
    "arrays": [np.ones((2, 3))] * 2,
    "indices_or_sections": 1,
    "kth": 0,
    "n": 1,
    "obj": 0,
    "q": 0.5,
    "repeats": 1,
    "shift": 1,
    "target": np.zeros(2, int),
}
# What has its axis before the array, or needs values that depend on the axis.
OTHER = "apply_along_axis put_along_axis tensordot nested_iters rot90 apply_over_axes transpose"


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, thing in FUNCTIONS.items()
        if "axis" in inspect.signature(thing).parameters
        and "no such axis" in thing.__doc__
        and not name.endswith(tuple(OTHER.split()))
    ],
)
def test_no_such_axis_is_the_error_that_is_told(name):
    thing = FUNCTIONS[name]
    given = [
        ARGUMENTS.get(p.name, np.ones((2, 3)))
        for p in inspect.signature(thing).parameters.values()
        if p.default is p.empty and p.kind is not p.VAR_POSITIONAL and p.name != "axis"
    ]
    (error,) = re.findall(r"(\w+Error)[^;.]*if there is no such axis", thing.__doc__)
    with pytest.raises(IndexError) as caught:  # AxisError is one
        thing(*given, axis=7)
    assert error != "AxisError" or isinstance(caught.value, np.exceptions.AxisError)


def test_errors_that_the_words_promise_come():
    """Each general sentence holds for functions that it is written for."""
    x = la.ones((2, 3))
    for call in (la.add, la.sum, la.cumsum, la.mean):
        given = (1,) if call is la.add else ()
        with pytest.raises(ValueError):
            call(x, *given, out=la.ones(7))
        with pytest.raises(TypeError):
            call(x, *given, dtype="no dtype")
    for call in (la.zeros, la.ones, la.empty):
        with pytest.raises(ValueError):
            call(-1)
        with pytest.raises(TypeError):
            call("a")
        with pytest.raises(ValueError):
            call(2, order="Q")
        with pytest.raises(ValueError):
            call(2, ctx=la.cpu(0), device=la.cpu(1))
    for call in (la.fft.fft, la.fft.irfftn):
        with pytest.raises(ValueError):
            call(x, norm="Q")
    with pytest.raises(TypeError):
        la.add(x, 1, casting="no", dtype="i4")


@pytest.mark.parametrize(
    ("thing", "line"),
    [
        (la.sum, "sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=<no value>"),
        (la.add, "add(x1, x2, /, out=None, *, where=True, dtype=None, casting='same_kind')"),
        (la.matmul, "matmul(a, b, /, out=None, *, axes=None, dtype=None, casting='same_kind')"),
        (la.mean, "mean(a: 'ArrayLike', axis: 'Axis' = None"),
        (la.take, "take(a: 'ArrayLike', indices: 'ArrayLike', axis"),
        (la.random.normal, "normal(loc=0.0, scale=1.0, size=None, dtype=None, ctx=None"),
    ],
)
def test_help_has_the_signature(thing, line):
    text = pydoc.plain(pydoc.render_doc(thing, "%s"))
    assert any(shown.startswith(line) for shown in text.splitlines()), text
    assert "Args:" in text and "Raises:" in text


def test_rows_are_as_functions_in_classes():
    class Has:
        op, draw = la.add, la.random.normal

    assert Has().op is la.add and Has.op is la.add and Has().draw is la.random.normal


def test_they_are_made_when_they_are_read():
    code = (
        "import lazyarray, sys; a = 'lazyarray._docstrings' in sys.modules; lazyarray.sort.__doc__"
    )
    code += "; print(a, 'lazyarray._docstrings' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False True\n"
