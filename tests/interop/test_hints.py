"""What users of other libraries type first: errors say what to write here, help shows signatures."""

import importlib
import inspect
import pydoc
import subprocess
import sys

import pytest

import lazyarray as la
from lazyarray import _hints
from lazyarray.ops._rows import Row

NAMES = [(module, name) for module, names in _hints.NAMES.items() for name in names]


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_names_of_other_libraries(module, name):
    place = importlib.import_module(module)
    hint = _hints.NAMES[module][name]
    assert name not in place.__all__
    assert not hasattr(place, name)
    with pytest.raises(AttributeError) as raised:
        getattr(place, name)
    assert hint in str(raised.value) and repr(name) in str(raised.value)
    for line in (f"from {module} import {name}", f"import {module}.{name} as it"):
        with pytest.raises(ImportError) as raised:
            exec(line, {})
        assert hint in str(raised.value) and repr(name) in str(raised.value)


def test_below_a_module_that_there_is_not():
    with pytest.raises(ModuleNotFoundError, match=r"la\.nn\.SGD"):
        from lazyarray.optim import Adam  # noqa: F401


@pytest.mark.parametrize(("path", "right"), [("linsapce", "linspace"), ("nn.Relu", "relu")])
def test_slips_of_the_pen(path, right):
    room, _, name = f"lazyarray.{path}".rpartition(".")
    with pytest.raises(AttributeError, match=f"did you mean {right!r}"):
        getattr(importlib.import_module(room), name)
    with pytest.raises(ImportError, match=f"cannot import name {name!r}"):
        exec(f"from {room} import {name}", {})
    with pytest.raises(ModuleNotFoundError, match=f"No module named '{room}.{name}'"):
        exec(f"import {room}.{name}", {})


def test_what_numpy_has_and_we_leave_out():
    with pytest.raises(ImportError, match="vstack"):
        from lazyarray import row_stack  # noqa: F401


def named(text):
    """The names of lazyarray in a hint: "la.nn.relu"."""
    import re

    return re.findall(r"\bla\.([a-z_]\w*(?:\.[A-Za-z_]\w*)*)", text)


@pytest.mark.parametrize("names", [*_hints.NAMES.values(), _hints.ATTRIBUTES])
def test_hints_name_what_is_there(names):
    for path in named(" ".join(names.values())):
        place = la
        for part in path.split("."):
            place = getattr(place, part)


@pytest.mark.parametrize("name", _hints.ATTRIBUTES)
def test_attributes_of_other_libraries(name):
    x = la.ones(2)
    for array in (x, x.sum()):
        assert not hasattr(array, name) and name not in dir(array)
        with pytest.raises(AttributeError, match=f"no attribute '{name}'") as raised:
            getattr(array, name)
        assert _hints.ATTRIBUTES[name] in str(raised.value)


def test_a_class_of_the_users_may_have_them():
    class Mine(la.NDArray):
        def numpy(self):
            return self.asnumpy()

    x = Mine((2,))
    x[:] = 1
    assert x.numpy().tolist() == [1, 1] and "numpy" in dir(x)


@pytest.mark.parametrize(
    "name", ["sum", "max", "matmul", "sin", "add", "mean", "concatenate", "where"]
)
def test_help_shows_the_signature(name):
    text = pydoc.render_doc(getattr(la, name), renderer=pydoc.plaintext)
    assert f"\n{name}(" in text and "Methods" not in text


@pytest.mark.parametrize(
    "name", ["sum", "max", "matmul", "sin", "add", "mean", "clip", "std", "prod", "any"]
)
def test_an_argument_that_is_not_known(name):
    args = [la.ones((2, 2))] * (2 if name in ("matmul", "add") else 1)
    with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument 'foo'"):
        getattr(la, name)(*args, foo=1)


ROWS = [name for name in la.__all__ if isinstance(getattr(la, name), Row)]


@pytest.mark.parametrize("name", ROWS)
def test_arguments_that_are_missing_or_too_many(name):
    function = getattr(la, name)
    needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    x = la.ones((2, 2))
    for given in ([], [x] * (len(needed) - 1), [x] * 9):
        with pytest.raises(TypeError, match=rf"^{function.__name__}\(\) "):
            function(*given)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("la.sum()", "sum() missing 1 required positional argument: 'a'"),
        ("la.max(axis=0)", "max() missing 1 required positional argument: 'a'"),
        ("la.matmul(x)", "matmul() missing 1 required positional argument: 'b'"),
        ("la.sum(x, a=x)", "sum() got multiple values for argument 'a'"),
        ("la.add(x)", "add() takes from 2 to 3 positional arguments but 1 was given"),
    ],
)
def test_what_is_wrong_with_arguments(call, said):
    with pytest.raises(TypeError) as raised:
        eval(call, {"la": la, "x": la.ones(2)})
    assert str(raised.value) == said


def test_other_errors_stay_as_they_are():
    class Odd:
        def __array__(self, dtype=None, copy=None):
            raise TypeError("__call__() of a user's own")

    with pytest.raises(TypeError, match="of a user's own"):
        la.sum(Odd())


def test_python_m_lazyarray():
    done = subprocess.run(
        [sys.executable, "-m", "lazyarray"], capture_output=True, text=True, check=True
    )
    assert "NumPy" in done.stdout and la.__version__ in done.stdout
