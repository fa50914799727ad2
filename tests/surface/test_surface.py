"""Every public name of NumPy is here and answers as NumPy does, or is listed as left out."""

import collections.abc
import inspect

import numpy as np
import pytest

import lazyarray as la
from lazyarray.functions.absent import ABSENT, LEFT_OUT, OUTSIDE

from . import samples

CALLS, CLOSE = samples.load()
NUMPY = {space: samples.public(space) for space in samples.SPACES}
# Names that lazyarray has besides NumPy's.
OWN = sorted(set(CALLS) - {name for names in NUMPY.values() for name in names})


def is_numpys(name):
    """Whether the name is NumPy's own object (a dtype, a constant, a setting) or hands on to it."""
    mine = samples.look(la, name, default=CALLS)
    theirs = samples.look(np, name)
    own = mine is theirs or (name == "bmat" and mine.__wrapped__ is theirs)
    return own or (isinstance(mine, (float, int)) and repr(mine) == repr(theirs))


# ---- what is here -------------------------------------------------------------------------------


@pytest.mark.parametrize("space", samples.SPACES)
def test_each_public_name_of_numpy_is_here_or_listed_as_absent(space):
    names = NUMPY[space]
    here = [n for n in names if samples.is_here(n)]
    assert [n for n in names if n not in here and n not in ABSENT] == [], "neither"
    assert [n for n in here if n in ABSENT] == [], "both"


@pytest.mark.parametrize("space", samples.SPACES)
def test_each_function_that_is_here_has_sample_calls(space):
    bare = [n for n in NUMPY[space] if samples.is_here(n) and not is_numpys(n) and n not in CALLS]
    assert bare == []


def test_the_tables_know_no_other_names():
    missing = [n for n in ABSENT if samples.look(np, n, default=CALLS) is CALLS]
    assert [n for n in missing if n not in samples.GONE] == []
    assert [n for n in CALLS if samples.look(la, n, default=CALLS) is CALLS] == []
    assert [n for n, expressions in CALLS.items() if not expressions] == []
    assert CLOSE <= set(CALLS)
    assert all(reason.strip() for reason in ABSENT.values())
    listed = [n for part in (OUTSIDE, LEFT_OUT) for names in part.values() for n in names]
    assert len(listed) == len(set(listed)) == len(ABSENT)


@pytest.mark.parametrize(("space", "least"), [("", 0.9), ("linalg", 1), ("fft", 1)])
def test_coverage(space, least):
    here, numeric = samples.coverage(space)
    assert here / numeric >= least, f"{here} of {numeric}"


# ---- what it answers ----------------------------------------------------------------------------

# What is in the memory, or which numbers come, is nobody's promise: shapes and dtypes alone.
UNKNOWN = {"empty", "empty_like", "ndarray"}


def compare(got, want, name):
    """The same structure, dtypes, shapes and values."""
    if isinstance(want, dict):
        assert isinstance(got, dict) and list(got) == list(want)
        compare(list(got.values()), list(want.values()), name)
    elif isinstance(want, (tuple, list)):
        assert type(got).__name__ == type(want).__name__ and len(got) == len(want)
        assert getattr(got, "_fields", None) == getattr(want, "_fields", None)
        for g, w in zip(got, want, strict=True):
            compare(g, w, name)
    elif isinstance(got, la.NDArray):
        assert isinstance(got, la.Scalar) == (not isinstance(want, np.ndarray))
        want = np.asarray(want)
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        equal(got.asnumpy(), want, name)
    elif isinstance(want, (np.ndarray, np.generic)) and not (
        isinstance(got, np.generic) and type(got) is type(want)  # of host values
    ):
        raise AssertionError(f"{type(got).__name__} instead of an NDArray")
    elif isinstance(want, collections.abc.Iterator):
        compare(list(got), list(want), name)
    elif isinstance(want, (float, np.generic)):
        equal(got, want, name)
    elif type(got).__module__.startswith("lazyarray"):  # an object: what it holds
        assert type(got).__name__ == type(want).__name__
    else:
        assert type(got) is type(want) and got == want


def equal(got, want, name):
    if name in UNKNOWN:
        return
    if name in CLOSE and want.dtype.kind in "fc":
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)
    else:
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_calls_answer_as_numpys(name, direct):
    theirs = name not in OWN
    for expression in CALLS[name]:
        la.random.seed(5), np.random.seed(5)
        try:
            got, given = samples.run(expression, la)
            if theirs:
                want, wanted = samples.run(expression, np)
                compare(got, want, name)
                compare(given, wanted, name)  # what the call wrote to
        except Exception as exc:
            exc.add_note(f"in {expression}")
            raise


# ---- how it is done -----------------------------------------------------------------------------


EXPLICIT = {"ndarray.item"}  # waits that say so, which la.no_sync() lets pass


@pytest.mark.parametrize("name", sorted(CALLS))
def test_what_waits_says_so(name):
    """A function that waits obeys la.no_sync(), and its docstring says "waits ..."."""
    for expression in CALLS[name]:
        if samples.observe(expression, name).how != "sync":
            continue
        doc = inspect.getdoc(samples.look(la, name))
        assert samples.waits_sentence(doc), f"{expression} waits, and the docstring does not say so"
        if name in EXPLICIT:
            continue
        with pytest.raises(RuntimeError, match="no_sync"):
            samples.observe(expression, name, no_sync=True)


@pytest.mark.parametrize(
    ("expression", "name", "how"),
    [
        ("xp.add(v, xp.sort(w))", "add", "native"),  # the sort is not add's
        ("xp.partition(v, 3)", "partition", "op"),
        ("xp.nonzero(v)", "nonzero", "sync"),
        ("xp.result_type(v, 1)", "result_type", "host"),
        ("m.T", "ndarray.T", "native"),
    ],
)
def test_observations(expression, name, how):
    assert samples.observe(expression, name).how == how
