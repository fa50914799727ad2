"""einsum equals NumPy's up to rounding, errors and views included; pairs never take the GIL."""

import contextlib
import random

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy._lazy import gil_ops

from ..ops.compare import asynchronous, call, lay, layouts, pending, rng

A, B, C = rng.random((3, 4)), rng.random((4, 5)), rng.random((2, 3, 4))
SQUARE = rng.random((4, 4))


def close(got, want):
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    single = want.dtype.char in "fFe"
    rtol = 1e-2 if want.dtype.char == "e" else 1e-5 if single else 1e-12
    np.testing.assert_allclose(got.asnumpy(), want, rtol=rtol, atol=rtol / 100)


def check(*args, **kwargs):
    """The same call on both: the values, or the very same error."""
    mine = [lay(a) if isinstance(a, np.ndarray) else a for a in args]
    got, want = call(la.einsum, mine, kwargs), call(np.einsum, args, {**kwargs, "optimize": False})
    if isinstance(want, Exception):
        assert (type(got), str(got)) == (type(want), str(want))
        return want
    if isinstance(got, Exception):
        raise got
    close(got, want)
    return got


@pytest.mark.parametrize(
    "args",
    [
        ("ij,jk->ik", A, B),
        ("ij,jk", A, B),
        ("ij,jk->ki", A, B),
        ("ij,kj->", A, A),
        ("ij->", A),
        ("ij->ji", A),
        ("ij", A),
        ("ba", A),
        ("ii->i", A[:, :3]),
        ("ii", A[:, :3]),
        ("iii->i", rng.random((3, 3, 3))),
        ("ijj,j->i", rng.random((2, 4, 4)), SQUARE[0]),
        ("kij,ij->k", C, A),
        ("kij,kij->k", C, C),
        ("kij,kij", C, C),
        ("kij,klj->kil", C, C),
        ("kij,klj->lki", C, C),
        ("i,j->ij", A[0], B[0]),
        ("i,j->ji", A[0], B[0]),
        ("i,i", A[0], A[1]),
        ("i,i->i", A[0], A[1]),
        ("ij,j->ij", A, A[0]),
        ("ij,j", A, A[0]),
        ("j,ij", A[0], A),
        ("bij,bj->bi", C, C[:, 0]),
        ("...ij,jk->...ik", C, B),
        ("...ij,...ij", C, A),
        ("...,...", C, A),
        ("...,...", C, 2),
        ("i...->...", C),
        ("ij...->i", C),
        ("...i->...", C),
        ("k i j , i j -> k", C, A),
        (A, [0, 1], B, [1, 2], [0, 2]),
        (A, [0, 1], B, [1, 2]),
        (A, [30, 1], B, (1, 51)),
        (C, [..., 0], [0, ...]),
        ("ij,ij->ij", A, A[:1]),
        ("ij,jk->ik", A[:, :1], B),
        ("ij,ij", A[:, :1], A),
        ("ij,jk,kl->il", A, B, B.T),
        ("ij,jk,kl->il", A[:, :1], B, B.T),
        ("ij,ij,jk", A[:1], A[:, :1], B),
        ("i,j,k->ijk", A[0], B[0], B[:, 0]),
        ("ia,ja,ka->ijk", A, A, A),
        ("i,i,i,i->i", A[0], A[0], A[1], A[2]),
        ("kij,ij,jl,lm,m->k", C, A, B, B.T, A[0]),
        ("", 3.0),
        (",", 3, 4.5),
        ("i", [1, 2]),
        ("ij,j", np.zeros((0, 4)), A[0]),
        ("ij,j", np.zeros((3, 0)), np.zeros(0)),
        ("ij,jk,kl", np.zeros((3, 0)), np.zeros((0, 2)), np.ones((2, 2))),
    ],
    ids=lambda args: str(args[0]) if isinstance(args[0], str) else "list",
)
def test_einsum(args):
    check(*args)
    check(*args, optimize=True)
    for dtype in "fFDelb?":
        check(*[a.astype(dtype) if isinstance(a, np.ndarray) else a for a in args])


@pytest.mark.parametrize(
    "args",
    [
        (),
        (A,),
        ("ij",),
        ("ij,jk->ik", A),
        ("ij", A, A),
        ("ij,jk->ik", A, A),
        ("ij,jk->il", A, B),
        ("ijk->i", A),
        ("ij,jk", A),
        ("i1->i", A),
        ("ij->ii", A),
        ("ij->i->j", A),
        ("ij-i", A),
        ("i.j", A),
        ("...i->i", C),
        ("ii", A[:, :1]),
        ("ii->i", A[:1]),
        ("...i,...j->...ij", A, C[:, :2]),
        (A, [0, 52]),
        (A, [0, -1]),
        (A, [0, "a"]),
        (A, [0, 1.0]),
    ],
    ids=str,
)
def test_errors(args):
    assert isinstance(check(*args), Exception)


@pytest.mark.parametrize(
    "kwargs",
    [
        {"dtype": "D"},
        {"dtype": "f4"},
        {"dtype": "f4", "casting": "same_kind"},
        {"dtype": "i4", "casting": "unsafe"},
        {"casting": "bad"},
        {"order": "bad"},
        {"order": "F"},
        {"order": "C"},
        {"order": "A"},
    ],
    ids=str,
)
def test_keywords(kwargs):
    for args in (("ij,jk", A, B), ("ij->i", A), ("ij,jk->ki", A.T.copy().T, np.asfortranarray(B))):
        got = check(*args, **kwargs)
        if kwargs.get("order") in ("F", "C", "A") and got.ndim == 2:
            want = np.einsum(*args, **kwargs)
            assert got.strides == want.strides
    with pytest.raises(TypeError, match="keyword"):
        la.einsum("i", la.ones(1), foo=1)


def test_out():
    x, y = la.array(A), la.array(B)
    out = la.zeros((3, 5))
    assert la.einsum("ij,jk", x, y, out=out) is out
    close(out, A @ B)
    la.einsum("ij,jk->ki", x, y, out=out.T)
    close(out, A @ B)
    la.einsum("ij->ji", x, out=x.reshape(4, 3))  # the input is its own output
    close(x, A.T.reshape(3, 4))
    wide = la.einsum("ij,jk", la.array(A, "f4"), la.array(B, "f4"), out=out)
    close(wide, np.einsum("ij,jk", A.astype("f4"), B.astype("f4"), out=np.zeros((3, 5))))
    with pytest.raises(TypeError, match="float32"):
        la.einsum("ij,jk", la.array(A), y, out=la.zeros((3, 5), dtype="f4"))
    with pytest.raises(ValueError, match="shape"):
        la.einsum("ij,jk", la.array(A), y, out=la.zeros((3, 6)))
    host = np.zeros((3, 5))
    assert la.einsum("ij,jk", la.array(A), y, out=host) is host
    close(la.array(host), A @ B)
    with pytest.raises(TypeError, match="NDArray"):
        la.einsum("ij,jk", la.array(A), y, out=[0.0] * 15)


def test_views():
    x = la.array(SQUARE)
    for subscripts in ("ij", "ij->ji", "ii->i", "...->..."):
        assert la.shares_memory(x, la.einsum(subscripts, x))
    la.einsum("ii->i", x)[...] = 0
    assert not x.asnumpy().diagonal().any()
    assert not la.shares_memory(x, la.einsum("ij->i", x))


@pytest.mark.parametrize("shape", [(6, 1), (1, 6), (1, 1), (5, 1, 4)])
def test_a_sum_over_an_axis_of_one_element_is_no_view(shape):
    for a in layouts(rng.random(shape)):
        for kept in ("", "...", "...i"):
            for subscripts in (f"...i->{kept}", f"{'ijk'[: a.ndim]}->{'ijk'[1 : a.ndim]}"):
                if kept == "" and a.ndim > 1 and subscripts == "...i->":
                    continue
                x = la.array(a)
                got, want = la.einsum(subscripts, x), np.einsum(subscripts, a)
                close(got, want)
                assert la.shares_memory(got, x) == np.shares_memory(want, a), subscripts


def test_layouts():
    for a in layouts(rng.random((4, 4, 6))):
        for b in layouts(rng.random((4, 4, 6))):
            if a.shape == b.shape:
                check("ijk,ijk->j", a, b)
                check("ijk,ljk->il", a, b)
                check("ijk,ilk->ijl", a, b)
                check("kji,lji->kl", a, b)


def test_many_random_ones():
    choose = random.Random(3)
    sizes = {"a": 2, "b": 3, "c": 4, "d": 1, "e": 5}
    for _ in range(400):
        terms = ["".join(choose.choices("abcde", k=choose.randrange(4)))
                 for _ in range(choose.choice([1, 2, 2, 2, 3, 4]))]  # fmt: skip
        letters = sorted(set("".join(terms)))
        result = "".join(choose.sample(letters, choose.randrange(len(letters) + 1)))
        arrays = [rng.random([sizes[c] for c in term]) for term in terms]
        optimize = choose.choice([False, True, "optimal", ("greedy", 30)])
        check(f"{','.join(terms)}->{result}", *arrays, optimize=optimize)


def test_pairs_run_without_the_gil():
    before = gil_ops()
    for subscripts in ("ij,jk->ik", "kij,ij->k", "ij,ij->", "i...,i...->...i", "ij,lm,jl->im"):
        first, *rest = subscripts.split("->")[0].split(",")
        shapes = [[3] * (len(t) if "." not in t else 3) for t in (first, *rest)]
        la.einsum(subscripts, *[la.ones(shape) for shape in shapes]).wait_to_read()
    assert gil_ops() == before
    la.einsum("i,i,i", *[la.ones(3)] * 3, optimize=["einsum_path", (0, 1, 2)]).wait_to_read()
    assert gil_ops() == before + 1


@asynchronous
def test_nothing_waits():
    x = la.array(A)
    with pending(x), la.no_sync():
        got = la.einsum("ij,kj,kl->il", x, x, x)
    close(got, np.einsum("ij,kj,kl->il", A, A, A))


@pytest.mark.parametrize(
    "optimize",
    [True, "greedy", "optimal", ("greedy", 1000), ("greedy", 0), False, None,
     ["einsum_path", (0, 1), (0, 1)], ["einsum_path", (0, 1, 2)]],
)  # fmt: skip
def test_einsum_path(optimize):
    args = ("ij,jk,kl->il", rng.random((9, 9)), rng.random((9, 9)), rng.random((9, 2)))
    path, report = la.einsum_path(*args, optimize=optimize)
    assert path == np.einsum_path(*args, optimize=optimize)[0]
    assert "Complete contraction:  ij,jk,kl->il" in report
    check(*args, optimize=optimize)
    check(*args, optimize=path)


def test_einsum_path_of_other_forms():
    x = la.array(A)
    assert la.einsum_path(x, [0, 1])[0] == ["einsum_path", (0,)]
    assert la.einsum_path("...,...", x, 2.0)[0] == ["einsum_path", (0, 1)]
    with la.no_sync():
        assert la.einsum_path("ij,jk", x, x.T)[0] == ["einsum_path", (0, 1)]
    assert la.einsum_path("ab,bc,cd,de", *[np.ones((2, 2))] * 4, optimize="dp")[0]
    many = [f"{chr(97 + i)}{chr(98 + i)}" for i in range(20)]  # a chain, far too long for one loop
    close(la.einsum(",".join(many), *[la.full((2, 2), 0.5)] * 20), np.full((2, 2), 0.5))


@pytest.mark.parametrize("optimize", [3, ["x", 1, 2], ("greedy", "x"), "x",
                                      ["einsum_path", (0, 1)]])  # fmt: skip
def test_wrong_paths(optimize):
    args = ("i,i,i", *[np.ones(3)] * 3)
    for function in ("einsum", "einsum_path"):
        want = call(getattr(np, function), args, {"optimize": optimize})
        got = call(getattr(la, function), args, {"optimize": optimize})
        assert isinstance(want, Exception) and type(got) is type(want)


@pytest.mark.parametrize("n", [3, 300])
def test_numbers_and_arrays_without_axes(n):
    """NumPy gives arrays where it optimizes, ours gave numbers for large or pending operands."""
    for subscripts in ("ab,bc,ca->", "ab,ab->", "ab->", "ab,ba"):
        for optimize in (False, True, "greedy"):
            found = []
            for m in (np, la):
                xs = [m.ones((n, n)) * 2] * (subscripts.count(",") + 1)
                result = m.einsum(subscripts, *xs, optimize=optimize)
                found.append((hasattr(result, "__setitem__"), float(result)))
            assert found[0] == found[1], (subscripts, optimize)


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize(
    ("subscripts", "d", "options"),
    [
        ("ij,jk->ik", "f8", {"optimize": True, "dtype": "f4"}),
        ("ij,jk->ik", "f8", {"dtype": "f4"}),
        ("ij,jk->ik", "f8", {"dtype": "f4", "casting": "unsafe"}),
        ("ij,jk->ik", "i8", {"optimize": True, "dtype": "f8"}),
        ("ij,kj->", "f2", {"dtype": "f", "order": "F"}),
    ],
)
def test_dtypes_as_numpy_takes_them(subscripts, d, options, later):
    a = np.arange(9).reshape(3, 3).astype(d)
    try:
        want = np.einsum(subscripts, a, a, **options)
    except TypeError:
        want = None
    x = la.array(a)
    with pending(x) if later else contextlib.nullcontext():
        if want is None:
            with pytest.raises(TypeError):
                la.einsum(subscripts, x, x, **options)
            return
        got = la.einsum(subscripts, x, x, **options)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got.asnumpy(), want)


def test_subscripts_that_only_turn_axes_give_a_view():
    host = np.arange(24.0).reshape(2, 3, 4)
    x = la.array(host)
    for subscripts in ("kji", "kji->kji", "ijk->kij", "abC", "aBc->Bca"):
        want, got = np.einsum(subscripts, host), la.einsum(subscripts, x)
        assert got.shape == want.shape and got.strides == want.strides
        np.testing.assert_array_equal(got.asnumpy(), want)
    la.einsum("ijk->kji", x)[0, 0, 0] = 7
    assert x[0, 0, 0] == 7
    for wrong in ("ij", "ijkl->lkji", "i1k", "ijk->ijl"):
        with pytest.raises(ValueError):
            la.einsum(wrong, x)


def test_errors_of_einsum():
    with pytest.raises(ValueError, match="number of indices for operand 0"):
        la.einsum_path("ij,jk", la.ones(3), la.ones((3, 4)))
    for optimize in (False, True):
        with pytest.raises(ValueError, match="casting must be one of"):
            la.einsum("i,i", la.ones(3), la.ones(3), casting="none", optimize=optimize)
