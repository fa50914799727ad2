"""Methods of native classes, called on what they are no methods of."""

import importlib
import pkgutil
import sys

import pytest

import lazyarray as la

for _module in pkgutil.walk_packages(la.__path__, "lazyarray."):
    if not _module.name.endswith(".liblazyarray"):  # a library, no module
        try:
            importlib.import_module(_module.name)
        except (
            ImportError
        ) as error:  # of an extra that is not installed (there is no llvmlite for musl)
            if getattr(error, "name", "") != "llvmlite" and "is an extra" not in str(error):
                raise

METHODS = [
    (owner, name)
    for place, module in list(sys.modules.items())
    if place.startswith("lazyarray.")
    for owner in vars(module).values()
    if isinstance(owner, type) and owner.__module__ == module.__name__
    for name, f in vars(owner).items()
    if type(f).__name__ == "cython_function_or_method"
]


def test_there_are_some():
    assert len(METHODS) > 150


@pytest.mark.parametrize("stranger", [[1, 2], None, 5, object(), list])
def test_a_stranger_is_a_type_error(stranger):
    for owner, name in METHODS:
        f = vars(owner)[name]
        for call in (f, lambda *args, f=f: f(*args, wrong=1)):
            with pytest.raises(TypeError):
                call(stranger)
        with pytest.raises(TypeError):
            f()


def test_arguments_arrive():
    f = la.NDArray.reshape
    x = la.arange(6.0)
    assert f(x, 2, 3, order="F").tolist() == x.reshape((2, 3), order="F").tolist()
    assert f(x, *[3, 2]).shape == f(x, *[(3, 2)], order="C").shape == (3, 2)
    with pytest.raises(TypeError):
        f(x, 2, 3, other=1)
    with pytest.raises(TypeError):
        la.NDArray.item(x, 1, wrong=2)
