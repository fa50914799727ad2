"""Settings from the environment, read once."""

from __future__ import annotations

import os


def int_env(name: str, default: int, least: int = 1) -> int:
    """The integer in environment variable ``name``, or ``default`` where it is unset or blank.

    ValueError, naming the variable, for what is no integer or under ``least``.

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
    if value < least:
        raise ValueError(f"{name}={text!r}: at least {least} is wanted")
    return value
