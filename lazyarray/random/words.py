"""What the distributions' docstrings say of parameters, results and errors: written once, here."""

from __future__ import annotations

_ANY = {
    "dtype": "what the numbers are cast to; None: NumPy's dtype",
    "size": "the shape of what is drawn; None: that to which the parameters broadcast",
    "a": "the exponent, over 0",
    "df": "the degrees of freedom, over 0",
    "dfden": "the degrees of freedom of the denominator, over 0",
    "dfnum": "the degrees of freedom of the numerator, over 0",
    "high": "the upper end",
    "kappa": "how narrow it is, not negative",
    "lam": "the mean, not negative",
    "left": "the lower end",
    "loc": "the centre",
    "low": "the lower end",
    "mean": "the mean",
    "mode": "where the top is, between the ends",
    "mu": "the centre",
    "n": "how many, not negative",
    "nbad": "how many bad items there are",
    "ngood": "how many good items there are",
    "nonc": "the noncentrality, not negative",
    "nsample": "how many items are drawn",
    "p": "the probability of one success",
    "right": "the upper end",
    "scale": "the width, not negative",
    "shape": "the shape of the density, not negative",
    "sigma": "the deviation of the logarithms, not negative",
}
# Of the module's functions, which methods lack.
DEVICE = """\
    ctx: the device whose stream draws; None: that of the arrays given, or
        :func:`lazyarray.current_context`.
    device: the same as ``ctx``, by the array API's name."""
# Where a parameter of that name is another thing.
_OF = {
    "beta": {"a": "the first shape, over 0", "b": "the second shape, over 0"},
    "logseries": {"p": "from 0 to 1: the larger, the longer the tail"},
    "lognormal": {"mean": "the mean of the logarithms"},
    "wald": {"mean": "the mean, over 0", "scale": "the scale, over 0"},
    "weibull": {"a": "the shape, not negative"},
    "zipf": {"a": "the exponent, over 1"},
}


def sections(name: str, spec: str) -> str:
    """The sections of a distribution's docstring; ``spec`` are its parameters in a signature.

    >>> from lazyarray.random.words import sections
    >>> print(sections("poisson", "lam=1.0").splitlines()[1].strip())
    lam: the mean, not negative.
    """
    names = [part.partition("=")[0].strip() for part in spec.split(",") if part]
    words = _ANY | _OF.get(name, {})
    lines = [f"    {n}: {words[n]}." for n in (*names, "size", "dtype")]
    shape = "Returns: an array of the shape ``size``; one number without one."
    range_ = "Raises: ValueError for a parameter out of its range: at the wait if it is an NDArray."
    told = ["Args:", *lines, shape, *[range_] * bool(names)]
    return "\n".join(f"        {line}" for line in told).strip()
