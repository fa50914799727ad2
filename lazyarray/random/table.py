"""The table of distributions, and how their methods and functions are made of it.

A row gives the parameters, as a signature has them, neutral values for these, what is drawn, and an
example. ``method`` makes a generator's method of it, ``function`` the function of ``la.random``.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any

from lazyarray.random._draws import parameters_of
from lazyarray.random.stream import Distribution
from lazyarray.random.words import DEVICE, sections

# Name, parameters, neutral ones, what it draws, an example's arguments and results, coupled.
TABLE = [
    Distribution(
        "beta",
        "a, b",
        (1.0, 1.0),
        "Beta-distributed numbers, between 0 and 1.",
        "2.0, 3.0, 2",
        "array([0.32240531, 0.16457302])",
        "array([0.60358975, 0.79868334])",
    ),
    Distribution(
        "binomial",
        "n, p",
        (1, 0.5),
        "How many of ``n`` trials of probability ``p`` succeed.",
        "10, 0.5, 3",
        "array([6, 4, 2])",
        "array([5, 6, 5])",
    ),
    Distribution(
        "chisquare",
        "df",
        (1.0,),
        "Sums of ``df`` squared normal numbers (chi-square).",
        "3.0, 2",
        "array([2.61561668, 4.00824511])",
        "array([8.59517635, 3.30891648])",
    ),
    Distribution(
        "exponential",
        "scale=1.0",
        (1.0,),
        "Exponentially distributed numbers of mean ``scale``.",
        "2.0, 2",
        "array([1.35986381, 2.0391942 ])",
        "array([1.59174902, 2.51186153])",
    ),
    Distribution(
        "f",
        "dfnum, dfden",
        (1.0, 1.0),
        "Numbers of Fisher's F distribution, by its two degrees of freedom.",
        "2.0, 8.0, 2",
        "array([0.79536345, 0.00332063])",
        "array([0.60317345, 0.29324539])",
    ),
    Distribution(
        "gamma",
        "shape, scale=1.0",
        (1.0, 1.0),
        "Gamma-distributed numbers.",
        "2.0, 1.0, 2",
        "array([1.83431007, 2.63769797])",
        "array([5.13882958, 2.23848091])",
    ),
    Distribution(
        "geometric",
        "p",
        (0.5,),
        "How many trials of probability ``p`` it takes to succeed.",
        "0.3, 3",
        "array([2, 3, 1])",
        "array([3, 4, 3])",
    ),
    Distribution(
        "gumbel",
        "loc=0.0, scale=1.0",
        (0.0, 1.0),
        "Numbers of Gumbel's distribution of extremes.",
        "1.0, 2.0, 2",
        "array([0.97368013, 3.31406003])",
        "array([1.45662752, 0.54424612])",
    ),
    Distribution(
        "hypergeometric",
        "ngood, nbad, nsample",
        (1, 1, 1),
        "How many of ``nsample`` items, drawn without replacement, are good ones.",
        "15, 10, 5, 3",
        "array([2, 3, 2])",
        "array([4, 2, 3])",
        True,
    ),
    Distribution(
        "laplace",
        "loc=0.0, scale=1.0",
        (0.0, 1.0),
        "Numbers of Laplace's double exponential distribution.",
        "1.0, 2.0, 2",
        "array([ 1.64019945, -0.2339528 ])",
        "array([1.20545466, 2.12556716])",
    ),
    Distribution(
        "logistic",
        "loc=0.0, scale=1.0",
        (0.0, 1.0),
        "Numbers of the logistic distribution.",
        "1.0, 2.0, 2",
        "array([ 2.12440227, -0.99140993])",
        "array([1.39175582, 2.84144568])",
    ),
    Distribution(
        "lognormal",
        "mean=0.0, sigma=1.0",
        (0.0, 1.0),
        "Numbers whose logarithms are normal, of mean ``mean`` and deviation ``sigma``.",
        "0.0, 0.5, 2",
        "array([1.06488319, 0.93608178])",
        "array([2.41578956, 1.22149877])",
    ),
    Distribution(
        "logseries",
        "p",
        (0.5,),
        "Counts of the logarithmic series distribution.",
        "0.6, 3",
        "array([1, 1, 7])",
        "array([1, 1, 1])",
    ),
    Distribution(
        "negative_binomial",
        "n, p",
        (1.0, 0.5),
        "How many trials of probability ``p`` fail before ``n`` succeed.",
        "3, 0.5, 3",
        "array([0, 6, 1])",
        "array([11,  0,  5])",
    ),
    Distribution(
        "noncentral_chisquare",
        "df, nonc",
        (1.0, 1.0),
        "Chi-square numbers with noncentrality ``nonc``.",
        "3.0, 2.0, 2",
        "array([3.00366652, 2.3473197 ])",
        "array([ 6.23924552, 10.37824663])",
    ),
    Distribution(
        "noncentral_f",
        "dfnum, dfden, nonc",
        (1.0, 1.0, 1.0),
        "Numbers of the F distribution with noncentrality ``nonc``.",
        "3.0, 8.0, 2.0, 2",
        "array([0.79544513, 0.83743784])",
        "array([1.1067568, 0.2145148])",
    ),
    Distribution(
        "normal",
        "loc=0.0, scale=1.0",
        (0.0, 1.0),
        "Normal numbers of mean ``loc`` and deviation ``scale``.",
        "10, 2, 2",
        "array([10.25146044,  9.73579027])",
        "array([13.52810469, 10.80031442])",
    ),
    Distribution(
        "pareto",
        "a",
        (1.0,),
        "Numbers of the Pareto distribution of the second kind (Lomax), from 0 on.",
        "3.0, 2",
        "array([0.25438319, 0.40475892])",
        "array([0.30381098, 0.51989855])",
    ),
    Distribution(
        "poisson",
        "lam=1.0",
        (1.0,),
        "Poisson-distributed counts of mean ``lam``.",
        "4.0, 3",
        "array([2, 0, 7])",
        "array([6, 7, 1])",
    ),
    Distribution(
        "power",
        "a",
        (1.0,),
        "Numbers between 0 and 1 whose density is a power, ``a * x ** (a - 1)``.",
        "5.0, 2",
        "array([0.86822196, 0.91439843])",
        "array([0.88692104, 0.93515631])",
    ),
    Distribution(
        "rayleigh",
        "scale=1.0",
        (1.0,),
        "Rayleigh-distributed numbers.",
        "2.0, 2",
        "array([2.33226397, 2.85600714])",
        "array([2.52329072, 3.16977067])",
    ),
    Distribution(
        "standard_cauchy",
        "",
        (),
        "Numbers of the Cauchy distribution around 0.",
        "2",
        "array([-0.95174559,  6.10507088])",
        "array([4.40839827, 0.43676244])",
    ),
    Distribution(
        "standard_t",
        "df",
        (1.0,),
        "Numbers of Student's t distribution of ``df`` degrees of freedom.",
        "5.0, 2",
        "array([0.14135121, 0.13680213])",
        "array([ 1.66370595, -1.64009533])",
    ),
    Distribution(
        "triangular",
        "left, mode, right",
        (0.0, 0.5, 1.0),
        "Numbers whose density is a triangle with its top at ``mode``.",
        "0.0, 1.0, 3.0, 2",
        "array([1.52411726, 0.89964445])",
        "array([1.35466752, 1.69276483])",
        True,
    ),
    Distribution(
        "uniform",
        "low=0.0, high=1.0",
        (0.0, 1.0),
        "Uniform floats in [low, high).",
        "-1, 1, 2",
        "array([ 0.27392337, -0.46042657])",
        "array([0.09762701, 0.43037873])",
        True,
    ),
    Distribution(
        "vonmises",
        "mu, kappa",
        (0.0, 1.0),
        "Angles in [-pi, pi] of the von Mises distribution around ``mu``.",
        "0.0, 4.0, 2",
        "array([-0.74207299,  0.01295832])",
        "array([0.5664411 , 0.55977779])",
    ),
    Distribution(
        "wald",
        "mean, scale",
        (1.0, 1.0),
        "Numbers of the inverse Gaussian distribution (Wald).",
        "3.0, 2.0, 2",
        "array([2.57223863, 1.39526977])",
        "array([0.46052439, 1.84651223])",
    ),
    Distribution(
        "weibull",
        "a",
        (1.0,),
        "Numbers of the Weibull distribution of shape ``a``.",
        "5.0, 2",
        "array([0.92574864, 1.00388905])",
        "array([0.9553641 , 1.04662991])",
    ),
    Distribution(
        "zipf",
        "a",
        (2.0,),
        "Counts of the Zipf distribution.",
        "2.5, 3",
        "array([1, 1, 1])",
        "array([1, 1, 1])",
    ),
]


def _arguments(row: Distribution) -> str:
    """The parameters' names, as they stand in a call."""
    return "".join(part.partition("=")[0].strip() + ", " for part in row.spec.split(",") if part)


def _defined(source: str, name: str, scope: dict[str, Any], doc: str) -> Callable[..., Any]:
    # Under a name in the package, so that an op's note tells of the user's line.
    file = os.path.join(os.path.dirname(__file__), f"<{name}>")
    exec(compile(source, file, "exec"), scope)
    function: Callable[..., Any] = scope[name]
    function.__doc__ = doc
    return function


def method(row: Distribution, owner: str, module: str) -> Callable[..., Any]:
    """The method that draws from a row's distribution.

    Besides NumPy's arguments it takes ``dtype``, which what is drawn is cast to.
    """
    source = (
        f"def {row.name}(self, {row.spec}{row.spec and ', '}size=None, dtype=None):\n"
        f"    return self._draw(_row, ({_arguments(row)}), size, dtype)\n"
    )
    doc = f"""{row.text}

        {sections(row.name, row.spec)}

        >>> import lazyarray as la
        >>> la.random.default_rng(0).{row.name}({row.example}).asnumpy()
        {row.drawn}
        """
    made = _defined(source, row.name, {"_row": row, "__name__": module}, doc)
    made.__qualname__ = f"{owner}.{row.name}"
    return made


def function(
    method: Callable[..., Any], here: Callable[..., Any], row: Distribution | None = None
) -> Callable[..., Any]:
    """The function of ``la.random`` that calls a method of the stream which ``here`` finds.

    ``row`` is the method's in the table. It has two more arguments: ``ctx`` and ``device``, either
    of which names the device.
    """
    name = method.__name__
    way = inspect.unwrap(method)
    (_, *plain), _, named = parameters_of(way)
    default = {**dict.fromkeys(("ctx", "device")), **(way.__kwdefaults__ or {})}
    default.update(zip(plain[::-1], (way.__defaults__ or ())[::-1], strict=False))

    def shown(n: str) -> str:
        return f"{n}=_default[{n!r}]" if n in default else n

    parameters = [*map(shown, [*plain, "ctx"]), "*", *map(shown, [*named, "device"])]
    arguments = ", ".join([*plain, *[f"{n}={n}" for n in named]])
    source = (
        f"def {name}({', '.join(parameters)}):\n"
        f"    return _here(ctx, device, {', '.join(plain)}).{name}({arguments})\n"
    )
    doc = inspect.cleandoc(inspect.unwrap(method).__doc__ or "")
    doc = doc.replace("\nReturns:", f"\n{DEVICE}\nReturns:", 1)
    if row is not None:
        doc = doc.replace(row.drawn, row.older)
    if "default_rng(0)" in doc:
        head = ">>> import lazyarray as la\n"
        doc = doc.replace(head, f"{head}>>> la.random.seed(0)\n", 1)
        doc = doc.replace("la.random.default_rng(0).", "la.random.")
    scope = {"_here": here, "_default": default, "__name__": "lazyarray.random"}
    return _defined(source, name, scope, doc)
