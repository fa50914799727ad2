"""What docstrings say of parameters and errors that many functions share: written once, here.

A docstring has a summary, sentences, sections, and an example::

    Args:
        axis: the axis, or several as a tuple; None: all.
    Returns: an array without these axes.
    Raises: ValueError if there is no element to choose from.

The source of a function leaves out the parameters that `WORDS` knows. ``completed`` adds them, and
the errors that come with them; it runs when somebody reads a public function's ``__doc__``.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])
_ARRAY = "an array, or what :func:`array` makes one of"

# By a parameter's name: what it is, and the errors that it brings.
WORDS: dict[str, tuple[str, str]] = {
    **dict.fromkeys("a arr ar1 ar2 a1 a2 ary b m v x x1 x2".split(), (_ARRAY, "")),
    "axes": ("the axes; None: all", ""),
    "axis": (
        "the axis, counted from the end if negative",
        "AxisError (a ValueError and an IndexError) if there is no such axis",
    ),
    "casting": (
        'which casts are allowed: "no", "equiv", "safe", "same_kind" or "unsafe"',
        "TypeError for a cast that ``casting`` forbids",
    ),
    "correction": ("the array API's name of ``ddof``; the one that is given counts", ""),
    "ctx": ("the device of the result; None: :func:`current_context`", ""),
    "ddof": ("what is subtracted from the number of elements in the denominator", ""),
    "device": ("the device of the result; None: :func:`current_context`", ""),
    "dtype": (
        "the dtype that is computed in and that the result has; None: as NumPy",
        "TypeError for what is no dtype",
    ),
    "initial": ("what the result starts from, as one more element", ""),
    "k": ("the diagonal: 0 is the main one, positive ones lie above it", ""),
    "keepdims": ("whether these axes stay, with length one", ""),
    "like": ("an array: the result is on its device", ""),
    "n": ("the length that the axis is cut or padded with zeros to; None: its own", ""),
    "norm": (
        'which way is divided by the length: "backward" (None: that), "forward", or "ortho"',
        "ValueError for another ``norm``, or for a length under 1",
    ),
    "order": (
        'how the elements lie in memory: "C", "F", "A" or "K", as in NumPy',
        "ValueError for another ``order``",
    ),
    "out": (
        "an array of the result's shape, which is written and returned",
        "ValueError for an ``out`` of another shape, TypeError for one whose dtype can't hold the "
        "result",
    ),
    "overwrite_input": ("for NumPy's signature: the input stays as it is", ""),
    "s": ("the lengths that the axes are cut or padded with zeros to; None: their own", ""),
    "shape": (
        "the lengths of the axes: an int or a tuple",
        "ValueError for a negative length, TypeError for one that is no integer",
    ),
    "signature": (
        'the dtypes of the loop that computes: "dd->d", or a tuple of them with None for any',
        "TypeError for a ``signature`` that no loop has, or with a ``dtype``",
    ),
    "subok": ("for NumPy's signature: there are no subclasses", ""),
    "where": ("a mask that broadcasts to the array: only elements where it is true count", ""),
}

_NAMESAKE = "the same as ``ctx``, by the array API's name"
_TWO_DEVICES = "ValueError if ``ctx`` and ``device`` are different devices"
_NOTHING = f"what :func:`array` raises, where an argument is not {_ARRAY}"


class Parts(NamedTuple):
    """A docstring, taken apart."""

    head: str
    args: dict[str, str]
    returns: str
    raises: str
    example: str


# One error ends where the next one begins: after a semicolon in the source, on a line in what is
# completed.
_NEXT = re.compile(r"; |\. (?=[A-Z]\w*(?:Error|Warning)\b)")

_SECTION = re.compile(r"^(Args|Returns|Raises):(.*(?:\n(?: +.*)?)*)", re.M)


def parts(doc: str) -> Parts:
    """Takes a docstring apart.

    >>> from lazyarray._docstrings import parts
    >>> parts("Sum.\\n\\nArgs:\\n    x: one,\\n        or two.\\nReturns: a number.").args
    {'x': 'one, or two.'}
    """
    head, mark, example = inspect.cleandoc(doc).partition(">>>")
    found = {title: " ".join(text.split()) for title, text in _SECTION.findall(head)}
    args = {}
    listed = _SECTION.search(head)
    if listed and listed[1] == "Args":
        for item in re.split(r"\n {4}(?! )", listed[2])[1:]:
            name, _, text = item.partition(":")
            args[name.strip().lstrip("*")] = " ".join(text.split())
    plain = _SECTION.sub("", head).strip()
    return Parts(plain, args, found.get("Returns", ""), found.get("Raises", ""), mark + example)


def completed(doc: str | None, function: Any, like: str | None = None) -> str | None:
    """The docstring with each of the function's parameters, in order, and with their errors.

    What it does not say is taken from the docstring ``like``, of a function of the same arguments.
    """
    if not doc or (like is None and "\nReturns:" not in inspect.cleandoc(doc)):
        return doc
    found = parts(doc)
    names = [name for name in inspect.signature(function).parameters if name != "self"]
    if like is not None:
        found = _filled(found, parts(like), names)
    errors = _NEXT.split(found.raises.rstrip(".")) if found.raises else []
    lines = []
    for name in names:
        text, error = WORDS.get(name, ("", ""))
        if name == "device" and "ctx" in names:
            text, error = _NAMESAKE, _TWO_DEVICES
        for part in error.split("; ") if error and not _told(name, found) else ():
            if part not in errors:
                errors.append(part)
        lines += _wrapped(f"{name}: {found.args.get(name) or text + '.'}", 4)
    sections = [found.head]
    if lines:
        sections.append("\n".join(["Args:", *lines]))
    sections.append("\n".join(["Returns:", *_wrapped(_sentence(found.returns), 4, 0)]))
    raised = [line for error in errors or [_NOTHING] for line in _wrapped(_sentence(error), 4)]
    sections.append("\n".join(["Raises:", *raised]))
    return "\n\n".join(filter(None, [*sections, found.example]))


def told_as(other: Callable[..., Any]) -> Callable[[_F], _F]:
    """A decorator of what does the same as ``other``: its docstring goes on as the other's does.

    >>> from lazyarray._docstrings import told_as
    >>> def total(x):
    ...     "The sum.\\n\\nReturns: a number."
    >>> @told_as(total)
    ... def total_of_group(x):
    ...     "The sum in a group."
    >>> print(total_of_group.__doc__)
    The sum in a group.
    <BLANKLINE>
    Returns: a number.
    """

    def tell(function: _F) -> _F:
        if function.__doc__ and other.__doc__:  # there are none with python -OO
            rest = inspect.cleandoc(other.__doc__).partition("\n\n")[2]
            function.__doc__ = f"{function.__doc__}\n\n{rest}"
        return function

    return tell


def _filled(found: Parts, other: Parts, names: list[str]) -> Parts:
    """``found`` with what only ``other`` says, but the errors of arguments that there are not."""
    lacking = {"axis", "ctx"} - set(names)
    errors = [
        e
        for e in _NEXT.split(other.raises.rstrip("."))
        if not any(re.search(rf"\b{n}\b", e) for n in lacking)
    ]
    return found._replace(
        args={**other.args, **found.args},
        returns=found.returns or other.returns,
        raises=found.raises or "; ".join(errors),
    )


def _told(name: str, found: Parts) -> bool:
    """Whether a function has words of its own for what a parameter raises."""
    if name == "axis":
        return "AxisError" in found.raises or "no such axis" in found.raises
    return name in ("shape", "order") and name in found.args


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _wrapped(text: str, indent: int, more: int = 4) -> list[str]:
    first, later = " " * indent, " " * (indent + more)
    return textwrap.wrap(
        text, 96, initial_indent=first, subsequent_indent=later, break_long_words=False
    )
