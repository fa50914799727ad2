"""la.compile of random programs with state, against the plain function."""

import collections
import warnings

from hypothesis import given, settings
from hypothesis import strategies as st

import lazyarray as la

from .stateful import Object, host, same

# Where state is: how one writes it in the program's source.
PLACES = ["o.a", "o.b", "o.c.d", "xs[0]", "xs[1]", "d['k']", "g", "n"]
VALUES = ["x", *PLACES, "t", "u", "o.pair[0]", "o.pair[1]", "h[0]"]


def statements():
    place, value = st.sampled_from(PLACES), st.sampled_from(VALUES)
    number = st.sampled_from(["o.k", "2", "0.5", "len(log)", "rate"])
    return st.one_of(
        st.builds("{} = {} * 0.5 + {}".format, place, value, value),
        st.builds("{} = {} * {}".format, place, value, number),
        st.builds("{} = {}".format, place, value),
        st.builds("{0}, {1} = {1}, {0}".format, place, place),
        st.builds("{} += {}".format, place, value),
        st.builds("{}[...] = {} + 1".format, place, value),
        st.builds("{}[1:] = {}[:-1] * 0.5".format, place, value),
        st.builds("t = {} - {}".format, value, value),
        st.builds("u = {}[::-1]".format, value),
        st.builds("{}[...] = u * 1".format, place),
        st.builds("o.pair = ({} + 1, {})".format, value, value),
        st.builds("log.append({} * 2)".format, value),
        st.builds("h.append({} + 1); h.popleft()".format, value),
        st.builds("o.k = o.k {}".format, st.sampled_from(["+ 1", "* 0.5", "- rate", "% 3"])),
        st.builds("if o.k > 1: {} = {} - 1".format, place, value),
        st.builds("o.extra = {}".format, value),
        st.just("del o.extra\n    o.extra = x"),
    )


def build(lines, result):
    body = "\n".join(f"    {line}" for line in lines)
    source = f"""
def make(la, collections, Object):
    global g
    g = la.zeros(3)
    n = la.ones(3)
    xs, d, log = [la.ones(3), la.zeros(3)], {{"k": la.ones(3)}}, []
    h = collections.deque([la.zeros(3), la.ones(3)])
    o = Object(a=la.zeros(3), b=la.ones(3), c=Object(d=la.ones(3)), k=1.0)
    o.pair, o.extra = (la.ones(3), la.zeros(3)), None

    def step(x, rate):
        global g
        nonlocal n
        t, u = x * 2, x - 1
    {body.replace(chr(10), chr(10) + "    ")}
        return {result}

    def state():
        return [o.a, o.b, o.c.d, o.k, o.pair, o.extra, xs, d, log, h, n, g]

    return step, state
"""
    namespace = {}
    exec(source, namespace)
    return namespace["make"](la, collections, Object)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(statements(), min_size=1, max_size=6),
    st.lists(st.sampled_from(VALUES), min_size=0, max_size=3),
    st.lists(st.sampled_from([0.5, 0.25, 2.0, 3]), min_size=9, max_size=9),
    st.integers(0, 5),
)
def test_random_programs_with_state(lines, results, rates, disturbed):
    """Attributes, globals, cells and containers, bound anew and written in place."""
    seen = []
    for compiled in (False, True):
        step, state = build(lines, f"({''.join(r + ', ' for r in results)})")
        f = la.compile(step) if compiled else step
        kept, trail = [], []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", la.CompileWarning)
            for i, rate in enumerate(rates):
                if i == disturbed:  # somebody else stores what was an argument
                    state()[6][0] = la.array([5.0, 6.0, 7.0])
                y = f(la.array([1.0 + i, 2.0, 3.0]), rate)
                if disturbed % 2:
                    kept.append(host(y))
                trail.append(host(state()))
        seen.append((kept, trail))
    same([*seen[1]], [*seen[0]])
