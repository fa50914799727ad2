"""Settings from the environment, read once."""

from __future__ import annotations

import os

_MOST = 2**63 - 1


def int_env(name: str, default: int, least: int = 1) -> int:
    """The integer in environment variable ``name``, or ``default`` where it is unset or blank.

    ValueError, naming the variable, for what is no integer, under ``least``, or of over 63 bits.

    >>> from lazyarray.engine.settings import int_env
    >>> int_env("LAZYARRAY_NOT_SET", 4)
    4
    """
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    try:
        value = int(text)
    except ValueError:
        raise ValueError(f"{name}={text!r}: an integer is wanted") from None
    if value > _MOST:
        raise ValueError(f"{name}={text!r}: at most {_MOST} is possible")
    if value < least:
        raise ValueError(f"{name}={text!r}: at least {least} is wanted")
    return value
