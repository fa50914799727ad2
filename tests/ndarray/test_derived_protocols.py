"""NumPy's protocols of classes that programs derive from ndarray: who is asked, and of what."""

import operator
import types

import numpy as np
import pytest

import lazyarray as la

pytestmark = pytest.mark.host


def told(x):
    """What an array, or what is told of it, is: by classes, those of arrays alike."""
    if isinstance(x, (tuple, list)):
        return [told(part) for part in x]
    if isinstance(x, dict):
        return {name: told(part) for name, part in x.items()}
    if isinstance(x, np.dtype):
        return str(x)
    if isinstance(x, (np.generic, la.Scalar)):
        return x.item()
    if isinstance(x, (np.ndarray, la.NDArray)):
        name = type(x).__name__
        if not x.ndim:  # NumPy's scalars are arrays in some calls
            return x.item()
        return "ndarray" if name == "NDArray" else name, x.shape
    return x if isinstance(x, (int, float, str, type(None))) else type(x).__name__


def classes(xp):
    class Plain(xp.ndarray):
        pass

    class Asked(xp.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **named):
            if any(isinstance(x, (str, Other, Passes)) for x in inputs):
                return NotImplemented
            return type(self).__name__, ufunc.__name__, method, told(inputs), told(named)

    class Sub(Asked):
        pass

    class Passes(xp.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **named):
            return NotImplemented

    class Supers(xp.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **named):
            return super().__array_ufunc__(ufunc, method, *inputs, **named)

    class Refuses(xp.ndarray):
        __array_ufunc__ = None

    class Other:
        def __array_ufunc__(self, ufunc, method, *inputs, **named):
            return "Other", ufunc.__name__, method

        def __rmul__(self, other):
            return "never"

    class Unit:
        __array_priority__ = 3.0

        def back(self, other):
            return "Unit"

        __rmul__ = __rpow__ = __gt__ = __rdivmod__ = __rmatmul__ = back

    class Nope(Unit):
        __array_ufunc__ = None

    class Low(Unit):
        __array_priority__ = -2.0

    class High(Asked):
        __array_priority__ = 5.0

    kinds = (Plain, Asked, Sub, Passes, Supers, Refuses, High)
    made = {c.__name__.lower(): xp.arange(1.0, 4.0).view(c) for c in kinds}
    made |= {c.__name__.lower(): c() for c in (Other, Unit, Nope, Low)}
    return made | {"low": Low(), "plain_m": xp.ones((3, 3)), "asked_m": xp.ones((3, 3)).view(Asked)}


def compared(call, **more):
    """What a call gives, or of what class its error is, by NumPy and by lazyarray."""
    found = []
    for xp in (np, la):
        names = {"xp": xp, "np": np, "o": operator, **vars(operator), **classes(xp), **more}
        names |= {"x": xp.ones(3), "s": xp.ones(3).sum(), "i": xp.arange(3)[1], "z": xp.array(3.0)}
        try:
            found.append(told(eval(call, names)))
        except Exception as error:
            found.append(type(error).__name__)
    return found


def calls(text):
    return [c.strip() for c in text.replace("\n", "|").split("|") if c.strip()]


LEFT = """add sub mul truediv pow floordiv mod lt eq iadd imul ipow matmul imatmul divmod""".split()


@pytest.mark.parametrize("kind", ["plain", "asked", "refuses", "supers"])
@pytest.mark.parametrize("left", ["s", "i", "z", "x", "2.0", "np.float64(2)", "plain", "plain_m"])
@pytest.mark.parametrize("name", LEFT)
def test_a_class_on_the_right_is_asked(name, left, kind):
    if name in ("lt", "eq") and left == "np.float64(2)":
        kind = "plain"  # NumPy's scalars leave these to its own arrays only
    want, got = compared(f"{name}({left}, {kind})", divmod=divmod)
    assert got == want


DEFERS = """asked * unit | asked * nope | asked ** unit | asked ** nope | asked < unit
asked < nope | asked * low | high * unit | high * low | divmod(asked, unit) | asked @ unit
asked * sub | sub * asked | asked * other | asked + other | other + asked | asked * "s"
imul(asked, unit) | imul(asked, nope) | imul(asked, other) | imul(asked, sub) | imul(x, asked)
asked * passes | passes * asked | passes * x | x * passes | plain * passes | plain * asked
asked * plain | plain * unit | plain * nope | x * unit | s * unit | s * nope | x * sub
xp.add(x, passes) | xp.add(passes, 1) | xp.add(asked, other) | xp.add(other, asked)
xp.add(asked, nope) | xp.add(asked, sub) | xp.add(x, 1, out=asked) | xp.sqrt(passes)
xp.add(x, 1, out=(asked,)) | np.add(x, asked) | np.add(asked, sub) | np.add(passes, x)
supers + 1 | refuses + 1 | xp.add(refuses, 1) | xp.add.reduce(refuses) | xp.add.reduce(passes)
refuses * refuses | xp.add.reduce(x, out=asked_m[0]) | xp.add.outer(asked, sub)
xp.matmul(x, asked) | xp.matmul(asked, other) | xp.matmul(x, plain_m, out=asked)
xp.matmul(plain_m, plain)"""


@pytest.mark.parametrize("call", calls(DEFERS))
def test_who_is_asked(call):
    want, got = compared(call)
    assert got == want


TOLD = """asked ** 2 | asked ** 0.5 | asked ** -1 | asked ** 1 | asked ** 3 | asked ** 2.0
asked ** [2] | asked.astype(int).view(type(asked)) ** -1
asked.astype(int).view(type(asked)) ** 2 | ipow(asked, 2) | ipow(asked, 0.5)
asked ** np.float64(2) | asked.__pow__(2, None) | pow(asked, 3, None)
xp.multiply(asked, 1, out=None) | xp.multiply(asked, 1, out=(None,))
xp.add.reduce(asked, out=None) | xp.add(asked, 1, x) | xp.add(asked, 1, None)
xp.modf(asked, out=(None, None)) | xp.modf(asked, out=(x, None))
xp.add.accumulate(asked, out=None) | xp.add.reduceat(asked, [0], out=None)
imatmul(asked_m, asked_m) | xp.add(asked, 1, casting="same_kind", where=True) | -asked
abs(asked) | ~asked | divmod(asked, 2) | imatmul(asked, asked_m) | xp.matmul(asked, asked)
asked @ x | x @ asked | xp.add.reduce(asked, initial=2.0) | xp.add.at(asked, [0], 1)"""


@pytest.mark.parametrize("call", calls(TOLD))
def test_what_a_class_is_told(call):
    want, got = compared(call, pow=pow)
    assert got == want


HERE = """
seen = []
class Mixin:
    def __array_ufunc__(self, ufunc, method, *inputs, **named):
        seen.append(ufunc)
        plain = [x.view(np.ndarray) if isinstance(x, Mine) else x for x in inputs]
        if isinstance(self, Duck):
            return 1
        return super().__array_ufunc__(ufunc, method, *plain, **named)
class Mine(Mixin, np.ndarray):
    pass
class Sub(Mine):
    def __array_ufunc__(self, ufunc, method, *inputs, **named):
        return super().__array_ufunc__(ufunc, method, *inputs, **named)
class Duck:
    __array_ufunc__ = Mixin.__array_ufunc__
"""


@pytest.mark.parametrize("kind", ["Mine", "Sub"])
def test_a_class_is_told_of_the_ufunc_that_its_module_knows(kind):
    """In a module with lazyarray in NumPy's place it finds the ufunc in tables of its own."""
    module = types.ModuleType("here")
    module.np = la
    exec(HERE, vars(module))
    d, duck = la.arange(1.0, 4.0).view(getattr(module, kind)), module.Duck()
    for call, ufunc in {
        "np.multiply(d, 1)": la.multiply,
        "d * 2": la.multiply,
        "2 * d": la.multiply,
        "f * d": la.multiply,
        "s * d": la.multiply,
        "x * d": la.multiply,
        "numpy.multiply(d, 1)": la.multiply,
        "d * duck": la.multiply,
        "d ** 2": la.square,
        "-d": la.negative,
        "d @ d": la.matmul,
        "np.add.reduce(d)": la.add,
        "d.sum()": la.add,
        "d.max()": la.maximum,
    }.items():
        module.seen.clear()
        names = {"np": la, "numpy": np, "d": d, "x": la.ones(3), "s": la.ones(3).sum()}
        eval(call, names | {"f": np.float64(2), "duck": duck})
        assert module.seen and all(u is ufunc for u in module.seen), call
