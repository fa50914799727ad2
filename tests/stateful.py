"""Programs whose Python keeps state, compiled and plain: how they are noted, run and compared."""

import collections
import functools
import warnings

import numpy as np

import lazyarray as la

CALLS = 7


class Programs(dict):
    """The programs of one file."""

    def __call__(self, make=None, **options):
        """Notes one: ``make(compile)`` gives a function of a new state, and that state."""
        if make is None:
            return functools.partial(self, **options)
        self[make.__name__] = (make, options)
        return make


def arguments(i):
    return (la.array([1.0 + i, 2.0]),)


def host(tree):
    """A tree's values, as they are now."""
    if isinstance(tree, la.NDArray):
        return tree.asnumpy()
    if isinstance(tree, (list, tuple, collections.deque)):
        return [host(t) for t in tree]
    if isinstance(tree, dict):
        return {key: host(t) for key, t in tree.items()}
    return tree


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        np.testing.assert_array_equal(a, b, strict=True)
    elif isinstance(a, list):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    elif isinstance(a, dict):
        assert [*a] == [*b]
        for key in a:
            same(a[key], b[key])
    else:
        assert a == b or (a != a and b != b)


class Object:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def run(program, compiled):
    make, options = program
    functions = []

    def compile(f):
        functions.append(la.compile(f))
        return functions[-1]

    f, state = make(compile if compiled else lambda f: f)
    results, first, states = [], [], []
    for i in range(CALLS):
        results.append(f(*options.get("arguments", arguments)(i)))
        first.append(host(results[-1]))
        states.append(host(state() if callable(state) else state))
    return results, first, states, functions


def check(program):
    """Has a program do the same compiled as plain, with the captures and warnings that it names."""
    options = program[1]
    _, want, want_states, _ = run(program, compiled=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results, got, states, functions = run(program, compiled=True)
    same(got, want)
    same(states, want_states)
    same([host(r) for r in results], want)  # nothing changed under its holder
    told = [w for w in caught if issubclass(w.category, la.CompileWarning)]
    if "warns" in options:
        assert any(options["warns"] in str(w.message) for w in told), [str(w.message) for w in told]
        assert {w.filename for w in told} <= {__file__, program[0].__code__.co_filename}
    else:
        assert not told, [str(w.message) for w in told]
    if "captures" in options:
        kinds = [kind for f in functions for kind in f._replays.values()]
        assert max(kind.captures for kind in kinds) == options["captures"]
        assert len(kinds) == options.get("kinds", len(kinds))
