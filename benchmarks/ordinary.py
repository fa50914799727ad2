"""Rows of the ordinary programs (tests/programs/ordinary)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from benchmarks.row import Module, Row


def _run(program: Callable[[Module], Any], xp: Module) -> None:
    """Without its result: the tests compare those."""
    program(xp)


def rows() -> list[Row]:
    """A row a program."""
    from tests.programs import ordinary  # other tables do without the tests

    return [
        Row(f"{program.__module__.removeprefix('ordinary_')}.{name}",
            functools.partial(_run, program), list)
        for name, program in ordinary.load().items()
    ]  # fmt: skip
