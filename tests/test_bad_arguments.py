"""Functions that NumPy has too, with bad arguments: NumPy's kind of error, or its success."""

import inspect
import itertools
import warnings
from pathlib import Path

import numpy as np
import pytest

import lazyarray as la
from tests.numpys import NEWER, OLDER

SPACES = {"": (np, la), "linalg.": (np.linalg, la.linalg), "fft.": (np.fft, la.fft)}

# What reads or writes files, asks the system, runs the caller's function, or sets something.
LEFT_OUT = set(
    """
    fromfile fromregex genfromtxt load loadtxt memmap open_memmap save savetxt savez
    savez_compressed show_config show_runtime test info lookfor seterr seterrcall setbufsize
    set_printoptions printoptions errstate get_include apply_along_axis apply_over_axes fromfunction
    fromiter frompyfunc vectorize piecewise getbufsize geterr geterrcall from_dlpack array_repr
    array_str array2string nditer nested_iters ndenumerate ndindex broadcast
    """.split()
)

BAD = {
    "nothing": lambda xp: [],
    "None": lambda xp: [None],
    "text": lambda xp: ["abc"],
    "an object": lambda xp: [object()],
    "a ragged list": lambda xp: [[[1.0, 2.0], [3.0]]],
    "no elements": lambda xp: [xp.zeros((0,))],
    "no elements, two axes": lambda xp: [xp.zeros((2, 0))],
    "no axes": lambda xp: [xp.array(2.5)],
    "bools": lambda xp: [xp.array([True, False])],
    "complex numbers": lambda xp: [xp.array([1j, 2.0])],
    "shapes that differ": lambda xp: [xp.ones((2, 3)), xp.ones((4, 5))],
    "a vector and None": lambda xp: [xp.ones(3), None],
    "a vector and text": lambda xp: [xp.ones(3), "abc"],
    "a vector and -5": lambda xp: [xp.ones(3), -5],
    "a vector and 1.5": lambda xp: [xp.ones(3), 1.5],
    "a vector and a dict": lambda xp: [xp.ones(3), {}],
    "-1": lambda xp: [-1],
    "2**62": lambda xp: [2**62],
    "three arrays": lambda xp: [xp.ones(3), xp.ones(2), xp.ones(4)],
    "matrices": lambda xp: [xp.ones((2, 3))],
    "vectors": lambda xp: [xp.ones(3), xp.ones(3)],
}
KEYWORDS = {
    "axis=7": {"axis": 7},
    "axis='x'": {"axis": "x"},
    "axis=1.5": {"axis": 1.5},
    "axis=(0, 0)": {"axis": (0, 0)},
    "dtype='nope'": {"dtype": "nope"},
    "dtype=3.5": {"dtype": 3.5},
    "out of another shape": {"out": (7,)},
    "out=5": {"out": 5},
    "order='Q'": {"order": "Q"},
    "casting='foo'": {"casting": "foo"},
    "mode='foo'": {"mode": "foo"},
    "foo=1": {"foo": 1},
    "keepdims='x'": {"keepdims": [1, 2]},
    "shape=-1": {"shape": -1},
}


def functions():
    for prefix, (theirs, ours) in SPACES.items():
        for name in sorted(ours.__all__):
            f, g = getattr(theirs, name, None), getattr(ours, name)
            if callable(f) and callable(g) and not inspect.isclass(f) and name not in LEFT_OUT:
                yield prefix + name, f, g


FUNCTIONS = {name: (f, g) for name, f, g in functions()}


def outcome(function, xp, args, keywords):
    """The class of the error, or None; the written ``out``."""
    made = args(xp)
    given = dict(keywords)
    out = None
    if isinstance(given.get("out"), tuple):
        given["out"] = out = xp.full(given["out"], 5.0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = function(*made, **given)
            if xp is la:
                for r in result if isinstance(result, (tuple, list)) else [result]:
                    if isinstance(r, la.NDArray):
                        r.wait_to_read()
    except Exception as error:  # any of them is compared
        return type(error), out
    return None, out


def calls():
    for kind in BAD:
        yield kind, BAD[kind], {}
    for kind, (what, keywords) in itertools.product(("matrices", "vectors"), KEYWORDS.items()):
        yield f"{kind}, {what}", BAD[kind], keywords


CALLS = list(calls())


# Where the errors differ: "kind | NumPy's | ours | functions", with reasons; "recorded:" before it
# where that is so of recorded calls only, as NumPy itself runs small ones.
LISTED: dict[str, set[tuple[str, ...]]] = {"": set(), "recorded: ": set()}
for line in (Path(__file__).parent / "bad_arguments.txt").read_text().splitlines():
    if line and line[0] != "#":
        way = "recorded: " * line.startswith("recorded: ")
        *told, names = line.removeprefix(way).split(" | ")
        LISTED[way] |= {(name, *told) for name in names.split()}


def named(error):
    return "-" if error is None else error.__name__


def differences(name):
    """(function, kind, NumPy's error, ours) of the calls whose errors are not of one kind."""
    theirs, ours = FUNCTIONS[name]
    for kind, args, keywords in CALLS:
        (want, _), (got, out) = (
            outcome(theirs, np, args, keywords),
            outcome(ours, la, args, keywords),
        )
        assert got is None or out is None or out.tolist() == [5.0] * 7, "written, then refused"
        alike = want is got or (want and got and (issubclass(got, want) or issubclass(want, got)))
        if not alike:
            yield name, kind, named(want), named(got)


def test_they_are_many():
    assert len(FUNCTIONS) > 390 and len(CALLS) > 45
    assert {name for listed in LISTED.values() for name, *_ in listed} <= set(FUNCTIONS)


@pytest.mark.host  # nothing runs at once on a GPU, and nothing there is a view of a buffer
@pytest.mark.skipif(OLDER, reason="errors of older NumPys are of other kinds")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_bad_arguments_raise_numpys_errors(name, direct):
    listed = LISTED[""] | (set() if direct else LISTED["recorded: "])
    found = set(differences(name))
    if NEWER:  # it refuses more, as we do
        assert found <= listed
    else:
        assert found == {one for one in listed if one[0] == name}
