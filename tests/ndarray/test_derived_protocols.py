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


FUNCTIONS = """concatenate([a, a]) | append(a, a) | any(a) | allclose(a, a)
broadcast_arrays(a, a) | choose([0, 1, 0], [a, a]) | block([a, a]) | histogram(a)
apply_along_axis(sum, 0, a) | average(a) | clip(a, 0, 1) | real(a) | dot(a, a)
where([1, 0, 1], a, a) | stack([a, a]) | linalg.inv(m) | linalg.norm(a) | fft.fft(a) | sort(a)
std(a) | cumsum(a) | sum(a) | mean(a, axis=0) | median(a) | interp(a, a, a)
einsum("i,i", a, a) | tile(a, 2) | full_like(a, 1) | zeros_like(a) | kron(a, a) | cross(a, a)
diff(a) | ptp(a) | trace(m) | outer(a, a) | unique(a) | searchsorted(a, 1) | nonzero(a)
array_equal(a, a) | nan_to_num(a) | percentile(a, 5) | copyto(a, a) | result_type(a)
array_str(a) | put(a, 0, 1) | linalg.solve(m, a) | polyfit(a, a, 1) | asarray(a, like=a)
arange(3, like=a) | broadcast_to(a, (2, 3)) | meshgrid(a, a) | around(a) | hstack([a, a])
pad(a, 1) | roll(a, 1) | select([[1, 0, 1]], [a]) | concatenate([x, a]) | stack((a, x))
max(a, initial=3.0) | nanmax(a) | interp(x, x, a) | concatenate([x, b]) | concatenate([a, s])
max(x) | zeros(3, like=p)"""


def answering(xp):
    asked = []

    class Answers(xp.ndarray):
        def __array_function__(self, func, types, args, kwargs):
            names = [t.__name__.replace("NDArray", "ndarray") for t in types]
            asked.append((type(self).__name__, func.__name__, names, told(args), told(kwargs)))
            return super().__array_function__(func, types, args, kwargs)

    class Under(Answers):
        def __array_function__(self, func, types, args, kwargs):
            asked.append(("under", func.__name__))
            return NotImplemented

    class Plain(xp.ndarray):
        pass

    class Fails(xp.ndarray):
        def __array_function__(self, func, types, args, kwargs):
            return NotImplemented

    a, x = xp.arange(1.0, 4.0), xp.ones(3)
    m = xp.eye(3) * 2 + xp.ones((3, 3))
    names = {"a": a.view(Answers), "m": m.view(Answers), "s": a.view(Under), "b": a.view(Fails)}
    return asked, names | {"x": x, "p": x.view(Plain), "sum": sum, "np": np, "xp": xp}


def values(x):
    if isinstance(x, (tuple, list)):
        return [values(part) for part in x]
    if isinstance(x, (np.ndarray, np.generic, la.NDArray)):
        return np.round(np.asarray(x), 6).tolist()
    return x if isinstance(x, (int, float, str, type(None))) else type(x).__name__


@pytest.mark.parametrize("call", calls(FUNCTIONS))
def test_a_class_is_asked_for_functions(call):
    """Once, with what the call was given; ``super()`` runs the function as if no class answered."""
    found = []
    for xp in (np, la):
        asked, names = answering(xp)
        try:
            made = values(eval("xp." + call, names))
        except TypeError:
            made = "TypeError"
        found.append((asked[:1], made))
    if call != "result_type(a)":  # a class of dtypes
        assert found[1] == found[0]
    assert found[1][0] == found[0][0]


METHODS = """a.sum() | a.mean() | a.std() | a.any() | a.cumsum() | a.dot(a) | a.clip(0, 1)
a.take([0]) | a.argsort() | a.sort() | a.repeat(2) | a.round() | a.ravel() | a.reshape(3, 1)
a.transpose() | m.trace() | a.nonzero() | a.searchsorted(2) | a.copy() | a.astype(int)
a.squeeze() | a.max() | a.argmax() | a.put(0, 1) | a.partition(1) | a.argpartition(1)
m.diagonal() | a.flatten() | repr(a) | str(a) | a + 1 | a @ a | a ** 2 | a[0] | a[[0, 1]]
a.__setitem__(0, a[0]) | 1 in a | a.real | a.T | xp.add(a, 1) | xp.add.reduce(a) | xp.array(a)
xp.asarray(a) | list(a) | a.cumsum(out=a) is a | a.tolist() | a.__copy__() | a.__deepcopy__({})
a.__imatmul__(m) | divmod(a, 2) | a == a"""


@pytest.mark.parametrize("call", calls(METHODS))
def test_a_class_is_not_asked_for_methods(call):
    found = []
    for xp in (np, la):
        asked, names = answering(xp)
        found.append(told(eval(call, names)))
        assert not asked
    assert found[0] == found[1]


def test_a_module_with_lazyarray_in_numpys_place_is_told_of_its_functions():
    module = types.ModuleType("here")
    module.np = la
    exec(
        """
seen = []
class Mine(np.ndarray):
    def __array_function__(self, func, types, args, kwargs):
        seen.append(func)
        return func._implementation(*[a.view(np.ndarray) for a in args], **kwargs)
""",
        vars(module),
    )
    d = la.arange(3.0).view(module.Mine)
    assert la.sort(d).tolist() == np.sort(d).tolist() == [0, 1, 2]
    assert float(la.median(d)) == 1
    assert float(la.sum(d)) == float(np.sum(d)) == 3
    assert module.seen == [la.sort, la.sort, la.median, la.sum, la.sum]
    assert not hasattr(la.asarray, "_implementation") and not hasattr(la.add, "_implementation")


@pytest.mark.parametrize("call", ["w * 2", "np.multiply(w, 2)", "numpy.multiply(w, 2)", "f * w",
                                  "np.multiply(w, 2, out=w)", "operator.imul(w, 2)"])  # fmt: skip
def test_what_wraps_results_is_told_of_the_ufunc_that_its_module_knows(call):
    module = types.ModuleType("here")
    module.np = la
    exec(
        """
seen = []
class Mine(np.ndarray):
    def __array_wrap__(self, array, context=None, return_scalar=False):
        if context is not None:
            seen.append((context[0], len(context[1])))
        return super().__array_wrap__(array, context, return_scalar)
""",
        vars(module),
    )
    w = la.ones(2).view(module.Mine)
    names = {"np": la, "numpy": np, "w": w, "f": np.float64(2), "operator": operator}
    assert type(eval(call, names)) is module.Mine
    assert module.seen == [(la.multiply, 3 if "out" in call or "imul" in call else 2)]


KEPT = """xp.array(p, subok=True) | xp.array(p) | xp.broadcast_to(p, (2, 3), subok=True)
p[..., 0] | xp.broadcast_to(p, (2, 3)) | xp.empty_like(p, subok=False)
xp.ones_like(p, subok=True) | xp.count_nonzero(p) | xp.count_nonzero(p[None], axis=0)
p.dot(p) | xp.dot(p, p) | xp.inner(p, p) | xp.take(p, 0) | p.take(0)
xp.percentile(p, 50) | xp.quantile(p, [0.5]) | xp.dot(p, 2) | p.take([0])
xp.compress([1, 0, 1], p) | xp.extract([True, False, True], p) | xp.linspace(p, x, 3)
p[0] | p[1:] | xp.inner(p, 2.0) | xp.copy(p, subok=True) | xp.copy(p)"""


@pytest.mark.parametrize("call", calls(KEPT))
def test_where_a_class_is_kept(call):
    found = []
    for xp in (np, la):
        result = eval(call, answering(xp)[1])
        if isinstance(result, (np.generic, la.Scalar, int)):
            result = "a number"
        found.append(type(result).__name__.replace("NDArray", "ndarray"))
    assert found[0] == found[1]


@pytest.mark.parametrize("what", ["a proxy", "an array named xp"])
def test_a_module_knows_lazyarray_by_what_stands_for_it(what):
    module = types.ModuleType("here")
    module.np = types.SimpleNamespace(add=la.add) if what == "a proxy" else la
    module.xp = la.linspace(0, 1, 5)
    exec(
        """
class Mine:
    def __array_function__(self, func, types, args, kwargs):
        return func
    def __array_ufunc__(self, ufunc, method, *inputs, **named):
        return ufunc
""",
        vars(module),
    )
    mine = module.Mine()
    assert la.concatenate([mine, mine]) is la.concatenate
    assert la.add(mine, 1) is la.add
