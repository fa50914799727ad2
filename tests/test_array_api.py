"""The array API standard, and libraries that compute with arrays of any library by it.

What the standard asks of each function is tested by its own suite: ``make conformance``.
"""

import itertools
import os
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

import lazyarray as la

ONE = la.cpu(1)


# ---- the namespace ------------------------------------------------------------------------------


def test_the_namespace_of_an_array():
    x = la.ones(2)
    assert x.__array_namespace__() is la
    for version in ("2021.12", "2024.12", la.__array_api_version__):
        assert x.__array_namespace__(api_version=version) is la
    with pytest.raises(ValueError, match=r"'2020\.01'.*2025\.12"):
        x.__array_namespace__(api_version="2020.01")
    with pytest.raises(TypeError):
        x.__array_namespace__("2025.12")


def test_inspection():
    info = la.__array_namespace_info__()
    assert info.capabilities() == {
        "boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64,
    }  # fmt: skip
    la.zeros((1,) * 64)
    with pytest.raises(ValueError, match="64"):
        la.zeros((1,) * 65)
    assert info.default_device() == la.current_context() and la.cpu(0) in info.devices()
    assert type(info.devices()) is list  # SciPy adds another one to it
    with ONE:
        assert info.default_device() == ONE and ONE in info.devices()
    for device in info.devices():
        assert la.zeros(1, device=device).device == device
    found = info.default_dtypes(device=ONE)
    assert found["real floating"] == la.zeros(1).dtype and found["integral"] == la.array(1).dtype
    assert found["complex floating"] == la.array(1j).dtype
    assert found["indexing"] == la.argsort(la.zeros(1)).dtype


@pytest.mark.parametrize(
    "kind",
    [
        None, "bool", "signed integer", "unsigned integer", "integral", "real floating",
        "complex floating", "numeric", ("bool", "integral"), (),
    ],
)  # fmt: skip
def test_dtypes_by_kind(kind):
    ours, theirs = (xp.__array_namespace_info__() for xp in (la, np))
    assert ours.dtypes(kind=kind) == theirs.dtypes(kind=kind)
    assert all(la.isdtype(dtype, kind) for dtype in ours.dtypes(kind=kind).values() if kind)


def test_unknown_kinds_and_devices():
    info = la.__array_namespace_info__()
    with pytest.raises(ValueError, match="unsupported kind: 'float'"):
        info.dtypes(kind="float")
    with pytest.raises(RuntimeError, match=r"gpu\(9\)"):
        info.dtypes(device="gpu:9")
    with pytest.raises(TypeError, match="Context"):
        info.default_dtypes(device=1)


def test_numpys_names_for_dtypes_and_settings():
    for name in (
        "generic number integer signedinteger unsignedinteger inexact floating complexfloating "
        "int_ uint intc uintc short ushort long ulong longlong ulonglong byte ubyte csingle "
        "cdouble clongdouble half True_ False_ ScalarType typecodes sctypeDict little_endian "
        "getbufsize setbufsize seterrcall geterrcall"
    ).split():
        assert getattr(la, name) is getattr(np, name)
    assert hasattr(la, "float128") == hasattr(np, "float128")
    assert np.issubdtype(la.ones(1).dtype, la.floating)
    assert isinstance(la.add, la.ufunc) and isinstance(la.ones(1), la.ndarray)


def test_absent_names_tell_why():
    with pytest.raises(AttributeError, match=r"get_include.*NumPy's own build"):
        la.get_include


def test_testing_compares_values():
    la.testing.assert_equal(la.ones(3), [1, 1, 1])
    la.testing.assert_equal({"a": [la.ones(2), 3]}, {"a": [np.ones(2), 3]})
    la.testing.assert_allclose(la.ones(2), la.ones(2) + 1e-9)
    with pytest.raises(AssertionError, match="Mismatched elements: 1 / 2"):
        la.testing.assert_array_equal(la.array([1, 2]), np.array([1, 3]))
    with la.testing.assert_raises(ValueError):
        la.ones(2) + la.ones(3)
    assert "assert_allclose" in dir(la.testing)


# ---- devices ------------------------------------------------------------------------------------


def test_a_device_given_moves():
    x = la.arange(3)
    for y in (
        la.asarray(x, device=ONE),
        la.asarray(x, dtype="float32", device="cpu:1"),
        la.array(x, copy=None, device=ONE),
        la.astype(x, "float32", device=ONE),
        la.astype(x, x.dtype, copy=False, device=ONE),
        la.array([x[0], x[1], x[2]], device=ONE),
    ):
        assert y.device == ONE and y.asnumpy().tolist() == [0, 1, 2]
    assert la.asarray(x, device=la.current_context()) is x
    with pytest.raises(ValueError, match=r"copy.*pu\(0\).*cpu\(1\)"):
        la.asarray(x, copy=False, device=ONE)


@pytest.mark.host
def test_exports_by_dlpack():
    x = la.arange(4.0)
    assert x.__dlpack_device__() == (1, 0)
    x.__dlpack__(stream=None, max_version=(1, 0), dl_device=(1, 0), copy=False)
    copied = np.from_dlpack(x, copy=True)
    copied[0] = 9
    assert x[0].item() == 0
    with pytest.raises(RuntimeError, match="stream"):
        x.__dlpack__(stream=1)
    with pytest.raises(BufferError, match="device"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="readonly"):
        la.broadcast_to(x, (2, 4)).__dlpack__()  # an older DLPack can't say so
    view = np.from_dlpack(la.broadcast_to(x, (2, 4)))
    assert not view.flags.writeable and view.strides == (0, 8)
    assert not np.asarray(la.broadcast_to(x, (2, 4)), copy=False).flags.writeable


# ---- arrays in lists ----------------------------------------------------------------------------


def of_lists(xp):
    """Arrays made of lists that hold arrays."""
    x, f = xp.arange(6.0), xp.arange(6, dtype="f4")
    y, z = xp.arange(6.0), xp.arange(6.0)
    y[:2] = [x[1], 7]
    z[xp.asarray([0, 1])] = (x[1], 7)
    return [
        xp.array([x[0], 2, x[1]]),
        xp.array([[x[0], 1], [f[1], 2]]),
        xp.array((f[0], f[1])),
        xp.array([f[0], 1.0]),
        xp.array([x, list(range(6))]),
        xp.asarray([x[0], x[1]], dtype="i4"),
        xp.array([f, f], order="F"),
        xp.array([f[0], 1], dtype=complex, ndmin=3),
        xp.array([[x[:0]]]),
        xp.add(x[:2], [x[0], 1]),
        xp.stack([[x[0], 1], [2, 3]]),
        xp.max([x[0], x[1]]),
        xp.zeros_like([f[0], 1]),
        xp.full(2, [x[0], 1]),
        xp.full_like(f[:2], [x[0], 1]),
        y,
        z,
    ]


def test_arrays_in_lists_are_not_waited_for():
    with la.no_sync():
        found = of_lists(la)
    for got, want in zip(found, of_lists(np), strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_array_equal(got.asnumpy(), want)
    x = la.arange(3)
    for ragged in ([x, x[0]], [[x[0]], 1], [x, [1, 2]]):
        with pytest.raises(ValueError, match="inhomogeneous"):
            la.array(ragged)
    for odd in ([x[0], "a"], [x[0], None]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", la.HostArrayWarning)
            assert la.array(odd).tolist() == np.array([np.int64(0), odd[1]]).tolist()


# ---- where the standard asks for other values than NumPy's -------------------------------------


@pytest.mark.parametrize("dtype", "FDG")
def test_expm1_of_infinities(dtype):
    parts = [0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan]
    z = np.array([complex(a, b) for a, b in itertools.product(parts, parts)] * 5, dtype)
    with np.errstate(all="ignore"):
        got, want, limit = la.expm1(la.array(z)).asnumpy(), np.expm1(z), np.exp(z) - 1
        x = la.array(z)
        la.expm1(x, out=x)
    np.testing.assert_array_equal(got, np.where(np.isfinite(z), want, limit))
    np.testing.assert_array_equal(x.asnumpy(), got)
    strided = la.array(np.stack([z, z], 1))[:, 1]
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(la.expm1(strided).asnumpy(), got)


def test_sorting_descending():
    a = np.random.default_rng(0).integers(0, 5, (3, 40))
    x = la.array(a)
    for axis in (0, 1, -1):
        got = la.argsort(x, axis=axis, stable=True, descending=True)
        np.testing.assert_array_equal(got.asnumpy(), np.argsort(-a, axis=axis, stable=True))
        got = la.sort(x, axis=axis, descending=True)
        np.testing.assert_array_equal(got.asnumpy(), -np.sort(-a, axis=axis))


# ---- libraries that take arrays of any library ---------------------------------------------------

# Each script runs `try_all`, in a process of its own: SciPy reads its environment when imported.
PRELUDE = """
import warnings
import numpy as np
import lazyarray as la

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
COPIES = ("__array__", "__dlpack__", "tolist()")

def try_all(functions, *arrays):
    for name, (function, copies) in functions.items():
        want = function(*arrays)
        given = [la.array(a) for a in arrays]
        la.sync_report(reset=True)
        got = function(*given)
        report = la.sync_report()
        assert isinstance(got, la.NDArray), f"{name}: {type(got)}"
        np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-11, atol=1e-14, err_msg=name)
        made = sum(row.count for row in report if row.what in COPIES)
        assert made == copies, f"{name}: {made} copies to NumPy\\n{report}"
"""

COMPAT = """
import array_api_compat as compat

x = la.arange(6.0).reshape(2, 3)
assert compat.array_namespace(x) is la and compat.array_namespace(x, 1.0, None) is la
assert compat.is_array_api_obj(x) and compat.device(x) == la.cpu(0) and compat.size(x) == 6
assert compat.to_device(x, la.cpu(1)).device == la.cpu(1)
assert not compat.is_numpy_array(x)

locked = la.ones(3)
locked.flags.writeable = False
assert compat.is_writeable_array(x) and not compat.is_writeable_array(locked)
assert not compat.is_writeable_array(x.sum())  # a Scalar, as NumPy's
"""

SCIPY = """
import scipy.fft, scipy.integrate, scipy.ndimage, scipy.optimize, scipy.signal
import scipy.spatial.distance, scipy.special, scipy.stats

from scipy._lib import array_api_extra as xpx

special, stats = scipy.special, scipy.stats
try_all({
    "logsumexp": (lambda a, b: special.logsumexp(a, axis=0), 0),
    "softmax": (lambda a, b: special.softmax(a, axis=1), 0),
    "log_softmax": (lambda a, b: special.log_softmax(a, axis=1), 0),
    "xlogy": (lambda a, b: special.xlogy(a, b), 0),
    "expit": (lambda a, b: special.expit(a), 1),  # SciPy's own copy, for libraries it doesn't know
    "zscore": (lambda a, b: stats.zscore(a, axis=0), 0),
    "gmean": (lambda a, b: stats.gmean(a, axis=0), 0),
    "skew": (lambda a, b: stats.skew(a, axis=0), 0),
    "kurtosis": (lambda a, b: stats.kurtosis(a, axis=0), 0),
    "variation": (lambda a, b: stats.variation(a, axis=0), 0),
    "trapezoid": (lambda a, b: scipy.integrate.trapezoid(a, axis=0), 0),
    "rosen": (lambda a, b: scipy.optimize.rosen(a), 0),
    "fft": (lambda a, b: scipy.fft.fft(a, axis=0), 0),
    "fftconvolve": (lambda a, b: scipy.signal.fftconvolve(a, b), 0),
    # (They set elements of Scalars, and compute p values by functions that take NumPy's.)
    "pearsonr": (lambda a, b: stats.pearsonr(a[:, 0], b[:, 0]).statistic, 3),
    "f_oneway": (lambda a, b: stats.f_oneway(a[:, 0], b[:, 0]).statistic, 1),
    "pdist": (lambda a, b: scipy.spatial.distance.pdist(a), 0),  # in NumPy, on the memory itself
    "gaussian_filter": (lambda a, b: scipy.ndimage.gaussian_filter(a, 1), 0),
    "label": (lambda a, b: scipy.ndimage.label(a > 0.5)[0], 0),
    "isclose": (lambda a, b: xpx.isclose(a.sum(), b.sum()), 0),
    "hilbert": (lambda a, b: scipy.signal.hilbert(a, axis=0), 0),
}, rng.random((50, 4)), rng.random((50, 4)))
"""

SKLEARN = """
import sklearn
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.class_weight import compute_class_weight

def weights(X, c, t):
    return compute_class_weight("balanced", classes=c.__array_namespace__().unique_values(c), y=c)

X = rng.normal(size=(120, 6))
classes = (X[:, 0] + 0.3 * rng.normal(size=120) > 0).astype(np.int64)
target = X @ rng.normal(size=6) + 0.1 * rng.normal(size=120)
with sklearn.config_context(array_api_dispatch=True):
    try_all({
        "LDA": (lambda X, c, t: LinearDiscriminantAnalysis().fit(X, c).predict(X), 0),
        "LDA.coef_": (lambda X, c, t: LinearDiscriminantAnalysis().fit(X, c).coef_, 0),
        "class weights": (weights, 2),
        "Ridge": (lambda X, c, t: Ridge(solver="svd").fit(X, t).predict(X), 0),
        "Ridge.coef_": (lambda X, c, t: Ridge(solver="svd").fit(X, t).coef_, 0),
        "PCA": (lambda X, c, t: PCA(2, svd_solver="full").fit_transform(X), 0),
        "MinMaxScaler": (lambda X, c, t: MinMaxScaler().fit_transform(X), 0),
        "StandardScaler": (lambda X, c, t: StandardScaler().fit_transform(X), 0),
    }, X, classes, target)
"""


@pytest.mark.parametrize(
    ("library", "script"),
    [("array_api_compat", COMPAT), ("scipy", SCIPY), ("sklearn", SKLEARN)],
    ids=["array_api_compat", "scipy", "sklearn"],
)
def test_libraries(library, script):
    pytest.importorskip(library)
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(script)],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
