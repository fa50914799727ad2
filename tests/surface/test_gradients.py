"""Every sample call of the surface table, recorded: its gradient is right, or it is refused."""

import pytest

from . import derivatives, samples

CALLS, _ = samples.load()

# What draws from random numbers' distributions has no gradient by their parameters.
REFUSED = {
    "eigenvectors of general matrices": ["linalg.eig", "linalg.eigvals"],
    "vectors that are not determined": ["linalg.qr", "linalg.svd"],
    "values decide lengths": [
        *("unique", "unique_all", "union1d", "intersect1d", "setdiff1d", "setxor1d"),
        *("polymul", "polydiv", "roots", "poly", "poly1d"),
    ],
    "counts": ["histogram", "histogram2d", "histogramdd", "histogram_bin_edges"],
    "a user's function": ["vectorize", "pad"],
    "no function for the derivative": ["i0"],
    "options": ["interp", "geomspace"],
}
NO_GRADIENT = {name for names in REFUSED.values() for name in names}


def draws(name):
    return name.startswith("random.")


@pytest.mark.parametrize("name", sorted(CALLS))
def test_gradients_of_the_sample_calls(name):
    for expression in CALLS[name]:
        try:
            verdict = derivatives.observe(expression, name)
        except Exception as exc:
            exc.add_note(f"in {expression}")
            raise
        assert verdict != "no" or name in NO_GRADIENT or draws(name), f"{expression} is refused"


def test_what_is_listed_as_refused_is_refused():
    for name in NO_GRADIENT:
        assert "no" in [derivatives.observe(e, name) for e in CALLS[name]], name


@pytest.mark.parametrize(
    ("expression", "name", "verdict"),
    [
        ("xp.exp(v)", "exp", "yes"),
        ("xp.exp(i)", "exp", None),
        ("xp.floor(v)", "floor", "zero"),
        ("xp.argsort(v)", "argsort", None),
        ("xp.sort(v)", "sort", "yes"),
        ("xp.roots(v)", "roots", "no"),
        ("v.sort()", "ndarray.sort", "yes"),
        ("xp.put(v, [0, 2], 5)", "put", "yes"),
    ],
)
def test_verdicts(expression, name, verdict):
    assert derivatives.observe(expression, name) == verdict


def test_a_wrong_rule_is_noticed():
    import lazyarray as la
    from lazyarray.lazy._lazy import note_call, paused

    def wrong(x):
        with paused():
            y = x * 2
        note_call("wrong", lambda g, saved: [g[0] * 3], [x], [y])
        return y

    with pytest.raises(derivatives.WrongGradient):
        derivatives.verdict(wrong, [la.array([1.0, 2.0])], {})

    def lost(x):
        return x.detach() * 2

    with pytest.raises(derivatives.WrongGradient):
        derivatives.verdict(lost, [la.array([1.0, 2.0])], {})
