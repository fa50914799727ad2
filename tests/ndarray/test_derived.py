"""Classes that programs derive from ndarray: what is made of their arrays has NumPy's class."""

import copy
import gc
import operator
import pickle

import numpy as np
import pytest

import lazyarray as la
from lazyarray._derived import Derived

pytestmark = pytest.mark.host


def classes(xp):
    """The classes that programs write, after NumPy's guide to subclassing."""

    class Plain(xp.ndarray):
        pass

    class Info(xp.ndarray):
        def __new__(cls, values, info=None):
            made = xp.asarray(values).view(cls)
            made.info = info
            return made

        def __array_finalize__(self, obj):
            self.info = getattr(obj, "info", None)

    class Sevens(xp.ndarray):
        def __new__(cls, n):
            made = super().__new__(cls, (n,), dtype=int)
            made[...] = 7
            return made

    class Owner(xp.ndarray):
        def __new__(cls, values):
            return xp.asarray(values).view(cls)

        def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
            plain = [x.view(xp.ndarray) if isinstance(x, Owner) else x for x in inputs]
            return ufunc.__name__, getattr(ufunc, method)(*plain, **kwargs)

    class Twice(xp.ndarray):
        def __mul__(self, other):
            return super().__mul__(2 * other)

    class Counted(xp.ndarray):
        """What NumPy's own method makes of inputs without the class."""

        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            plain = [x.view(xp.ndarray) if isinstance(x, Counted) else x for x in inputs]
            made = super().__array_ufunc__(ufunc, method, *plain, **kwargs)
            return type(made) is xp.ndarray, ufunc.__name__, method, made

    class Numbers(xp.ndarray):
        def __array_wrap__(self, made, context=None, *args, **kwargs):
            if made.ndim:
                return xp.ndarray.__array_wrap__(self, made, context, *args, **kwargs)
            return made[()]

    class Wrapped(xp.ndarray):
        def __array_wrap__(self, made, context=None, return_scalar=False):
            called = None if context is None else (context[0].__name__, len(context[1]), context[2])
            return "wrapped", made.view(xp.ndarray), called, bool(return_scalar)

    class Two(xp.ndarray):
        def __array_wrap__(self, made, context=None):
            return "two", made.view(xp.ndarray), context is None

    class One(xp.ndarray):
        def __array_wrap__(self, made):
            return "one", made.view(xp.ndarray)

    class High(xp.ndarray):
        __array_priority__ = 10

    class Low(xp.ndarray):
        __array_priority__ = -1

    kinds = (Plain, Info, Sevens, Owner, Twice, Counted, Numbers, Wrapped, Two, One, High, Low)
    return {c.__name__: c for c in kinds}


CLASSES = {np: classes(np), la: classes(la)}
Plain, Info = CLASSES[la]["Plain"], CLASSES[la]["Info"]  # where pickle finds them
for _kind in CLASSES[la].values():
    _kind.__qualname__, _kind.__module__ = _kind.__name__, __name__
CALLS = """w.sum() | w.sum(axis=0) | w.mean() | w.max(axis=1) | w.std() | w.var() | w.all() | w.argmax() | w.argsort()
w.cumsum() | w.ravel() | w.T | w.real | w.copy() | w.astype("f4") | w.conj() | w.item(0) | w.flatten()
w.reshape(3, 2) | w.clip(0, 1) | w.take([0]) | w.diagonal() | w.trace() | w.squeeze() | w.swapaxes(0, 1)
w.round() | w.dot(w.T) | w.repeat(2) | w.view() | w.view("i8") | w.view(xp.ndarray) | w.view(Info)
w[0] | w[0, 0] | w[:, 1:] | w[w > 2] | w[[1, 0]] | w[...] | [x for x in w] | w[None] | w[0].sum()
w + 1 | 1 - w | w * w | w / 2 | -w | abs(w) | w > 2 | w == w | w ** 2 | w @ w.T | divmod(w, 2) | w // 2 | w % 4
xp.ones((2, 3)) * w | w * xp.ones((2, 3)) | w + [1, 2, 3] | 2.5 * w[0] | w - w[0] | w & 1 if 0 else w
xp.sum(w) | xp.sum(w, axis=0) | xp.max(w) | xp.mean(w) | xp.mean(w, axis=0) | xp.std(w) | xp.prod(w)
xp.sqrt(w) | xp.exp(w) | xp.add(w, 1) | xp.add(1, w) | xp.hypot(w, 2.0) | xp.isnan(w) | xp.abs(w) | xp.any(w)
xp.cumsum(w) | xp.sort(w) | xp.reshape(w, (3, 2)) | xp.transpose(w) | xp.clip(w, 0, 1) | xp.round(w) | xp.ravel(w)
xp.take(w, [0]) | xp.repeat(w, 2) | xp.dot(w, w.T) | xp.squeeze(w) | xp.diagonal(w) | xp.diff(w) | xp.flip(w)
xp.concatenate([w, w]) | xp.stack([w, w]) | xp.where(w > 0, w, w) | xp.array(w) | xp.asarray(w) | xp.asanyarray(w)
xp.copy(w) | xp.zeros_like(w) | xp.ones_like(w) | xp.full_like(w, 2.0) | xp.empty_like(w).shape | xp.argmax(w)
xp.roll(w, 1) | xp.tile(w, 2) | xp.median(w) | xp.unique(w) | xp.einsum("ij->i", w) | xp.var(w) | xp.trace(w)
xp.maximum(w, 2) | xp.nonzero(w) | xp.argsort(w) | w.tolist() | float(w.sum()) | str(w) | w.nonzero()
Sevens(3) | Sevens(3) + 1 | xp.ndarray.__new__(Plain, (2, 2)).shape | Plain((2,), int).dtype
Info([1.0, 2], "x").info | (Info([1.0, 2], "x") * 2).info | Info([1.0, 2], "x")[1:].info | Info(w, "y").info
copy.copy(Info([1.0], "x")).info | copy.deepcopy(Info([1.0, 2.0], "x"))
Owner([1.0, 4]) + 1 | 1 - Owner([1.0, 4]) | -Owner([1.0, 4]) | Owner([1.0, 4]) > 1 | xp.sqrt(Owner([1.0, 4]))
xp.add(1, Owner([1.0, 4])) | xp.arange(3.0).view(Twice) * 3 | 3 * xp.arange(3.0).view(Twice)
xp.expand_dims(w, 0) | xp.nansum(w, axis=0) | xp.nanmean(w, axis=0) | xp.nancumsum(w) | xp.percentile(w, 50, axis=0)
xp.inner(w, w) | xp.rot90(w) | xp.moveaxis(w, 0, 1) | xp.diag(w) | xp.kron(w, w) | xp.gradient(w) | xp.ediff1d(w)
xp.insert(w, 0, 1) | xp.delete(w, 0) | xp.nan_to_num(w) | xp.fix(w) | xp.partition(w, 1) | xp.linalg.inv(w[:, :2])
xp.linalg.qr(w[:, :2])[1] | xp.linalg.norm(w, axis=0) | xp.isin(w, w) | xp.meshgrid(w[0], w[1]) | xp.imag(w)
xp.take_along_axis(w, xp.argsort(w, 1), 1) | xp.astype(w, int) | xp.clip(w, 0, 1, out=xp.ones((2, 3)))
xp.asanyarray(w, "f4") | xp.asanyarray(w) | xp.require(w, "f4") | xp.require(w, None, "F") | xp.asarray(w, "f4")
isinstance(w, Plain) | isinstance(w[0] + 1, Plain) | issubclass(Plain, xp.ndarray) | type(w.sum()).__name__"""  # noqa: E501


def told(x):
    """A value, and the names of the classes in it: those of scalars aside."""
    if isinstance(x, (tuple, list)):
        return [told(part) for part in x]
    if isinstance(x, (np.ndarray, la.NDArray)) and not isinstance(x, np.generic):
        name = type(x).__name__
        return "ndarray" if name == "NDArray" else name, x.shape, x.tolist()
    return x.item() if isinstance(x, (np.generic, la.Scalar)) else x


def calls(text):
    return [c.strip() for c in text.replace("\n", "|").split("|") if c.strip()]


@pytest.mark.parametrize("call", calls(CALLS))
def test_classes_of_results(call):
    found = []
    for xp in (np, la):
        names = {"xp": xp, "copy": copy, **CLASSES[xp]}
        names["w"] = xp.arange(1.0, 7.0).reshape(2, 3).view(names["Plain"])
        found.append(told(eval(call, names)))
    assert found[0] == found[1]


PRIORITIES = """w + h | h + w | w ** h | xp.add(w, h) | xp.add(h, w) | w > h | divmod(w, h) | w @ h.T | xp.matmul(w, h.T)
w + n | n + w | o + n | n + o | n + h | xp.hypot(n, o) | -n | n.sum(0) | n + 1 | xp.matmul(n, o.T) | n @ h.T
o + w | w + o | n + n | np.add(w, h) | np.add(n, o) | np.ones((2, 3)) + n | n + np.ones((2, 3)) | np.add(n, n)
xp.add(w, h, out=o) | operator.iadd(w, h) | xp.modf(n) | w + h + n | 2 * n | w[0, 0] + n"""  # noqa: E501


@pytest.mark.parametrize("call", calls(PRIORITIES))
def test_the_class_of_a_ufuncs_result_is_the_operands_of_the_greatest_priority(call):
    found = []
    for xp in (np, la):
        o = xp.arange(1.0, 7.0).reshape(2, 3)
        views = [o.view(CLASSES[xp][name]) for name in ("Plain", "High", "Low")]
        names = dict(zip("whn", views, strict=True))
        found.append(told(eval(call, {"xp": xp, "np": np, "operator": operator, "o": o, **names})))
    assert found[0] == found[1]


NUMPYS = """np.sqrt(w) | np.float64(2) * w | np.add(1, w) | np.ones(3) * w | np.sum(w, axis=0) | w.T @ np.ones(2)
np.multiply.reduce(w) | np.add.accumulate(w) | np.multiply.outer(w, w[0]) | np.add.reduceat(w, [0, 1]) | np.modf(w)
xp.multiply.reduce(w, axis=1) | xp.multiply.reduce(w, axis=None) | xp.add.accumulate(w) | xp.add.reduceat(w, [0])
xp.maximum.reduce(w, axis=1, initial=3.0) | xp.add.reduce(w, out=xp.zeros(3)) | np.add(w, 1, out=xp.zeros((2, 3)))
np.sqrt(w[0, 0]) | np.float64(2) * w[0] | xp.multiply.outer(w, w)"""  # noqa: E501


@pytest.mark.parametrize("call", calls(NUMPYS))
def test_classes_of_results_of_numpys_ufuncs(call):
    found = []
    for xp in (np, la):
        w = xp.arange(1.0, 7.0).reshape(2, 3).view(CLASSES[xp]["Plain"])
        found.append(told(eval(call, {"xp": xp, "np": np, "w": w})))
    assert found[0] == found[1]


WRAPS = """w.max() | w.sum(axis=0) | w.prod() | xp.max(w) | xp.sum(w, axis=1) | xp.any(w) | w.all()
w + 1 | 1 - w | w * w | -w | w > 1 | xp.add(w, 1) | xp.sqrt(w) | xp.modf(w) | abs(w)
xp.hypot(1.0, w) | w @ w.T | w[0] | w[0, 0] | w.T | w.reshape(-1) | w.copy() | w.astype(int)
xp.concatenate([w, w]) | w.argmax()
np.float64(2) * w | np.sqrt(w) | np.multiply.reduce(w) | xp.where([True, False, True], w, 0)"""


@pytest.mark.parametrize("kind", ["Numbers", "Wrapped", "Counted"])
@pytest.mark.parametrize("call", calls(WRAPS))
def test_a_class_may_wrap_results_itself(call, kind):
    found = []
    for xp in (np, la):
        w = xp.arange(6.0).reshape(2, 3).view(CLASSES[xp][kind])
        found.append(told(eval(call, {"xp": xp, "np": np, "w": w})))
    assert found[0] == found[1]


def test_in_place_keeps_the_array():
    w = kept = la.arange(6.0).view(Plain)
    w += 1
    w *= 2
    w[0] = 5
    w[1:3] -= w[3:5]
    assert w is kept and type(w) is Plain and w.tolist() == [5, -4, -4, 8, 10, 12]


def test_views_share_memory():
    x = la.zeros(3)
    w = x.view(Plain)
    w[1] = 5
    assert x.tolist() == [0, 5, 0] and w.view(la.ndarray).tolist() == [0, 5, 0]


def test_pickle():
    w = pickle.loads(pickle.dumps(Info([1.0, 2.0], "x")))
    assert type(w) is Info and w.info == "x" and w.tolist() == [1, 2]


def test_repr_is_numpys():
    for shape in ((3,), (2, 3), (2, 2, 2), (40, 40)):
        want, got = (xp.ones(shape).view(CLASSES[xp]["Sevens"]) for xp in (np, la))
        assert repr(got) == repr(want)
    for values in (np.array(3.0), np.zeros((0, 2)), np.arange(30, dtype="i2") * 100):
        want, got = (xp.array(values).view(CLASSES[xp]["Plain"]) for xp in (np, la))
        assert repr(got) == repr(want) == la.array_repr(got)
        assert la.array_repr(got, 40, 2) == np.array_repr(want, 40, 2)


@pytest.mark.parametrize("xp", [np, la])
def test_a_method_with_fewer_parameters_than_numpys_function_gives(xp):
    class Short(xp.ndarray):
        def round(self, decimals=0):
            return xp.around(self, decimals, out=self)

        def cumsum(self):
            return xp.cumsum(self, axis=0)

    x = xp.array([[1.26, 2.0], [3.0, 4.0]]).view(Short)
    for made in (x.cumsum(), xp.around(x, 1), x.round(1)):
        assert type(made) is Short
    assert x.tolist() == [[1.3, 2.0], [3.0, 4.0]]
    with pytest.raises(TypeError):
        xp.cumsum(x, axis=2.5)


def test_missing_shape():
    with pytest.raises(TypeError):
        Plain()


def test_truth_is_not_shared():
    w = la.ones(3).view(Plain)
    w.all()[...] = False
    assert w.all() and (la.ones(2) > 0).all()


def test_they_come_and_go():
    # Their objects are the collector's, as scalars and arrays are not: types must not be exchanged.
    for _ in range(20):
        w = la.arange(6.0).reshape(2, 3).view(Plain)
        results = [w.sum(), w.mean(), la.sqrt(w.max()), w[0].sum(), la.std(w), w.any(), la.trace(w)]
        results += [la.squeeze(w[:1, :1]), la.median(w), w.reshape(6)[2:3].squeeze() + 1]
        results[0].me = results
        del results
        gc.collect()
    assert [float(la.arange(3.0)[i]) for i in range(3)] == [0, 1, 2]


def test_training_with_them():
    w = la.arange(3.0).view(Plain)
    w.attach_grad()
    with la.autograd.record():
        loss = (w * w).sum()
    loss.backward()
    assert w.grad.tolist() == [0, 2, 4]


@pytest.mark.parametrize("name", ["nanmax", "nanmin"])
def test_extremes_without_nans(name):
    class Mine(la.ndarray):
        pass

    x = la.array([[1.0, la.nan], [3.0, 2.0]]).view(Mine)
    rows = getattr(la, name)(x, axis=1)
    assert type(rows) is Mine
    assert rows.tolist() == getattr(np, name)(x.asnumpy(), axis=1).tolist()
    assert float(getattr(la, name)(x, initial=2.5)) == getattr(np, name)(x.asnumpy(), initial=2.5)


OWNED = """xp.add.reduce(w) | xp.add.reduce(w, axis=-1) | xp.add.accumulate(w)
xp.add.outer(w, w) | xp.add.at(w, [0], 1)
xp.add.reduceat(w, [0, 1]) | xp.add.reduce(w, keepdims=True) | xp.multiply.reduce(w, initial=2.0)"""


@pytest.mark.parametrize("call", calls(OWNED))
def test_methods_of_ufuncs_ask_the_class(call):
    found = [told(eval(call, {"xp": xp, "w": CLASSES[xp]["Owner"]([1.0, 4.0])})) for xp in (np, la)]
    assert found[0] == found[1]


@pytest.mark.parametrize("operator", ["+=", "-=", "*=", "/=", "//=", "%=", "**="])
def test_operators_in_place_ask_the_class(operator):
    found = []
    for xp in (np, la):
        names = {"w": CLASSES[xp]["Owner"]([1.0, 4.0])}
        exec(f"w {operator} 3", names)
        found.append(told(names["w"]))
    assert found[0] == found[1]


def test_a_class_keeps_what_it_likes_by_names_that_numpys_arrays_lack():
    class Field(la.ndarray):
        def __array_finalize__(self, parent):
            self.grad = getattr(parent, "grad", None)
            self.ctx = "field"

    x = la.ones(3).view(Field)
    x.grad = "up"
    assert ((x * 2)[1:].grad, x.ctx) == ("up", "field")
    del x.grad
    assert x.grad is None
    with pytest.raises(AttributeError):
        del x.grad

    y = la.ones(3).view(Plain)
    y.attach_grad()
    with la.autograd.record():
        loss = (y * y).sum()
    loss.backward()
    assert y.grad.tolist() == [2.0, 2.0, 2.0]
    assert y.ctx == la.cpu(0)


class Kept(la.ndarray):
    """As NumPy's users pickle what they put on arrays: behind NumPy's own state."""

    def __array_finalize__(self, obj):
        self.note = getattr(obj, "note", None)

    def __reduce__(self):
        made, arguments, state = super().__reduce__()
        return made, arguments, (*state, self.note)

    def __setstate__(self, state):
        self.note = state[-1]
        super().__setstate__(state[:5])


@pytest.mark.parametrize("protocol", range(6))
def test_pickles_with_a_state_of_their_own(protocol):
    for values in (la.arange(6.0).reshape(2, 3), la.arange(6).reshape(2, 3).T, la.zeros((0, 2))):
        x = values.view(Kept)
        x.note = "kept"
        found = pickle.loads(pickle.dumps(x, protocol))
        assert type(found) is Kept and found.note == "kept" and found.dtype == x.dtype
        assert found.strides == x.strides or not x.size
        assert found.tolist() == x.tolist() and found.shape == x.shape
        found += 1
        assert x.tolist() == values.tolist()


@pytest.mark.parametrize("protocol", [2, 5])
def test_pickles_of_a_class_that_calls_numpys_methods_by_name(protocol):
    x = la.arange(6).reshape(2, 3).view(Named)
    x.note = "kept"
    found = pickle.loads(pickle.dumps(x, protocol))
    assert (type(found), found.note, found.tolist()) == (Named, "kept", x.tolist())
    for values in (la.arange(6.0).reshape(2, 3), la.zeros((0, 2))):
        found = pickle.loads(pickle.dumps(values.view(Bytes), protocol))
        assert (type(found), found.dtype, found.tolist()) == (Bytes, "f8", values.tolist())
        found += 1  # memory of its own


class Named(Kept):
    def __reduce__(self):
        made, arguments, state = la.ndarray.__reduce__(self)
        return made, arguments, (*state, self.note)

    def __setstate__(self, state):
        self.note = state[-1]
        la.ndarray.__setstate__(self, state[:-1])


class Bytes(la.ndarray):
    def __reduce__(self):
        return no_bytes, (), (1, self.shape, self.dtype, False, self.tobytes())

    def __setstate__(self, state):
        super().__setstate__(state)


def no_bytes():
    return la.empty(0).view(Bytes)


def test_copies_do_not_call_a_copy_of_the_class():
    class Mine(la.ndarray):
        def copy(self):
            return "own"

    x = la.arange(3.0).view(Mine)
    for found in (copy.copy(x), copy.deepcopy(x)):
        assert type(found) is Mine and found is not x and found.tolist() == x.tolist()
    assert x.copy() == "own"


def test_a_class_made_by_a_call():
    made = type("Mine", (la.ndarray,), {})
    assert type(la.ones(2).view(made) + 1) is made


WRITTEN = """operator.iadd(w, 1) | operator.ipow(w, 2) | xp.add(w, 1, out=w) | xp.add(1, 2, w) | np.add(w, 1, out=w)
xp.modf(w, w, w.copy()) | xp.add(w, 1, out=xp.zeros((2, 3))) | xp.sum(w, axis=0, out=w[0]) | xp.negative(w, w)
xp.add.reduce(w, 0, out=w[0]) | xp.add.accumulate(w, out=w) | np.add(xp.ones((2, 3)), 1, out=w)"""  # noqa: E501


@pytest.mark.parametrize("call", calls(WRITTEN))
def test_a_class_wraps_what_is_written_in_place(call):
    found = []
    for xp in (np, la):
        w = xp.arange(6.0).reshape(2, 3).view(CLASSES[xp]["Wrapped"])
        names = {"xp": xp, "np": np, "w": w, "operator": operator}
        found.append((told(eval(call, names)), told(w)))
    assert found[0] == found[1]


@pytest.mark.parametrize("call", ["w + 1", "w.sum()", "operator.iadd(w, 1)", "xp.add(w, 1, out=w)"])
@pytest.mark.parametrize("kind", ["Two", "One"])
def test_a_class_may_wrap_by_a_method_of_fewer_parameters(call, kind):
    found = []
    for xp in (np, la):
        w = xp.ones(2).view(CLASSES[xp][kind])
        with pytest.warns(DeprecationWarning, match="__array_wrap__ must accept"):
            found.append(told(eval(call, {"xp": xp, "w": w, "operator": operator})))
    assert found[0] == found[1]


METHODS = """argmax argmin argpartition:1 argsort choose:[1,2] clip:0,1 cumprod cumsum diagonal mean nonzero
put:0,1 ravel repeat:2 reshape:(3,1) round searchsorted:1 squeeze std swapaxes:0,0 take:0 trace transpose
var sum prod max min any all"""  # noqa: E501


@pytest.mark.parametrize("call", METHODS.split())
def test_functions_call_methods_of_the_class(call):
    name, _, arguments = call.partition(":")
    found = []
    for xp in (np, la):

        class Mine(xp.ndarray):
            pass

        setattr(Mine, name, lambda *args, **named: "own")
        x = xp.array([0, 1, 0]).view(Mine)
        found.append(eval(f"xp.{name}(x, {arguments})", {"xp": xp, "x": x}))
    assert found == ["own", "own"]


def test_a_method_of_the_class_calls_that_of_arrays():
    class Mine(la.ndarray):
        def argmax(self, *args, **named):
            return super().argmax(*args, **named) + 10

        def take(self, *args, **named):
            return super().take(*args, **named) * 2

    x = la.array([[0, 2, 1], [3, 0, 0]]).view(Mine)
    assert la.argmax(x) == 13 and la.argmax(x, axis=1).tolist() == [11, 10]
    assert type(la.argmax(x, axis=1)) is Mine
    assert la.take(x, [1, 3]).tolist() == [4, 6]
    out = la.zeros(2, int)
    assert la.ndarray.argmax(x, axis=1, out=out) is out and out.tolist() == [1, 0]
    assert la.cumsum(x[0, 1:], out=out) is out and out.tolist() == [2, 3]


BY_NAME = """all any argmax argmin argpartition:1 argsort choose:[1,2] clip:0,1 cumprod cumsum diagonal max
mean min nonzero prod put:0,1 ravel repeat:2 reshape:(3,1) round searchsorted:1 squeeze std sum swapaxes:0,0
take:0 trace transpose"""  # noqa: E501


@pytest.mark.parametrize("call", BY_NAME.split())
@pytest.mark.parametrize("to_super", [False, True])
def test_a_method_of_the_class_may_call_that_of_arrays_by_name(call, to_super):
    name, _, arguments = call.partition(":")
    found = []
    for xp in (np, la):

        class Mine(xp.ndarray):
            pass

        def own(self, *args, xp=xp, Mine=Mine, **named):
            if to_super:
                return "own", getattr(super(Mine, self), name)(*args, **named)
            return "own", getattr(xp.ndarray, name)(self, *args, **named)

        setattr(Mine, name, own)
        x = xp.array([[0], [1], [0]]) if name in ("trace", "diagonal") else xp.array([0, 1, 0])
        names = {"xp": xp, "x": x.view(Mine)}
        calls = [f"xp.{name}(x, {arguments})", f"xp.ndarray.{name}(x, {arguments})"]
        found.append([told(eval(c, names)) for c in calls])
    assert found[0] == found[1]


def test_means_are_no_sums_of_the_class():
    found = []
    for xp in (np, la):

        class Counts(xp.ndarray):
            def sum(self, *args, **named):
                return -1.0

        x = xp.array([1.0, 2.0, 6.0]).view(Counts)
        means = [xp.mean(x), x.mean(), xp.std(x), x.std(), xp.var(x), x.var(), xp.average(x)]
        found.append([float(m) for m in means])
    assert found[0] == found[1]


def test_joins_are_of_the_class_with_the_greatest_priority():
    found = []
    names = "concatenate vstack hstack dstack column_stack stack block append".split()
    for xp in (np, la):

        class Plain(xp.ndarray):
            def __array_finalize__(self, obj):
                self.made_of = type(obj).__name__.replace("NDArray", "ndarray")

        class Low(Plain):
            __array_priority__ = 1

        class High(Plain):
            __array_priority__ = 2

        values = xp.arange(4.0).reshape(2, 2)
        operands = [values, values.tolist(), *[values.view(k) for k in (Plain, Low, High)]]
        for name in names:
            taken = [x for x in operands if name != "block" or type(x) is not list]
            for a in taken:
                for b in taken:
                    call = getattr(xp, name)
                    y = call(a, b, 0) if name == "append" else call([a, b])
                    kind = type(y).__name__.replace("NDArray", "ndarray")
                    found.append((name, kind, getattr(y, "made_of", None), y.tolist()))
        out = xp.zeros((4, 2))
        assert xp.concatenate([operands[4], values], out=out) is out
        assert type(xp.concatenate([operands[4], values], dtype="f4")) is High
    assert found[: len(found) // 2] == found[len(found) // 2 :]


def test_calls_without_the_class_pay_nothing_for_it(monkeypatch):
    class Plain(la.ndarray):
        pass

    ours = la.ones(2).view(Plain)
    assert type(la.concatenate([ours, ours])) is la.NDArray
    monkeypatch.setattr(Derived, "_joined", None)  # what is called asks for the class
    x = la.ones(2)
    assert la.concatenate([x, x]).tolist() == la.hstack((x, x)).tolist() == [1.0] * 4
    assert la.vstack([x, [2, 3]]).tolist() == [[1.0, 1.0], [2.0, 3.0]]
    with pytest.raises(TypeError, match="not callable"):
        la.block([[x, x], [ours, x]])


def test_arrays_made_of_them_are_copies_of_no_class():
    class Mine(la.ndarray):
        def copy(self, order="C"):
            raise AssertionError

    x = la.arange(4.0).reshape(2, 2)
    for ours in (x.view(Mine), x.T.view(Mine), x[:, ::2].view(Mine), x[0].view(Mine)):
        for made in (la.array(ours), la.array(ours, "f4"), la.array(ours, ndmin=2)):
            assert type(made) is la.NDArray and not la.shares_memory(made, ours)
            np.testing.assert_array_equal(made.asnumpy().reshape(ours.shape), ours)
    assert la.array(x.T.view(Mine)).strides == np.array(np.ones((2, 2)).T).strides


def test_a_trace_is_of_the_class():
    found = []
    for xp in (np, la):

        class Mine(xp.ndarray):
            pass

        for shape in ((3, 3), (3, 3, 3)):
            x = xp.arange(float(np.prod(shape))).reshape(shape).view(Mine)
            for y in (xp.trace(x), x.trace(), x.trace(1, dtype=int)):
                found.append((type(y) is Mine, y.dtype, y.tolist()))
    assert found[:6] == found[6:]


def test_what_the_second_argument_selects_is_of_its_class():
    for xp in (np, la):

        class Mine(xp.ndarray):
            pass

        x, keep = xp.arange(6.0).reshape(3, 2).view(Mine), xp.array([True, False, True])
        assert type(xp.compress(keep, x, axis=0)) is type(xp.compress(keep, x, 0)) is Mine
        out = xp.zeros((2, 2))
        assert xp.compress(keep, x, axis=0, out=out) is out


def test_subok_says_whether_a_ufunc_keeps_the_class():
    for xp in (np, la):

        class Mine(xp.ndarray):
            __array_priority__ = 10

        x = xp.ones(3).view(Mine)
        for subok in (True, False):
            assert (type(xp.add(x, 2, subok=subok)) is Mine) is subok
            assert (type(xp.sqrt(x, None, subok=subok)) is Mine) is subok


@pytest.mark.parametrize(
    "call",
    [
        "xp.dot(x, y)",
        "xp.inner(x, y)",
        "xp.kron(x, y)",
        "xp.outer(x, y)",
        "xp.correlate(x[0], y[0])",
        "xp.linalg.solve(x, y)",
        "xp.linalg.lstsq(x, y)[0]",
        "xp.clip(x, 0, y)",
        "xp.clip(x, y, 9)",
        "xp.quantile(x, y / 10)",
        "xp.percentile(x, y, 0)",
        "xp.linspace(x, y, 3)",
        "xp.geomspace(x, y, 3)",
        "xp.union1d(x, y)",
        "xp.setdiff1d(x, y)",
        "xp.compress([1, 0], y, axis=0)",
        "xp.insert(x, 1, y[0], 0)",
        "xp.full_like(x, y)",
        "xp.where(x > 1, x, y)",
    ],
)
def test_which_of_two_operands_decides_the_class(call):
    found = []
    for xp in (np, la):

        class Mine(xp.ndarray):
            pass

        class First(xp.ndarray):
            __array_priority__ = 5

        x = xp.array([[2.0, 1.0], [1.0, 3.0]])
        operands = [x, x.view(Mine), x.view(First)]
        pairs = [(a, b) for a in operands for b in operands]
        if "clip" in call:  # a method of x's own
            pairs = pairs[:3]
        names = [type(eval(call, {"xp": xp, "x": a, "y": b})).__name__ for a, b in pairs]
        found.append([name.replace("NDArray", "ndarray") for name in names])
    assert found[0] == found[1]
