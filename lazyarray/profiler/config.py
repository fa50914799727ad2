"""The profiler's settings: their defaults, and what they may be."""

from __future__ import annotations

import dataclasses
import difflib
import math
import os

__all__ = ["Config", "changed"]


@dataclasses.dataclass(frozen=True)
class Config:
    """The settings, under MXNet's names; ``set_config`` says what each is for."""

    filename: str = "profile.json"
    profile_imperative: bool = True
    profile_memory: bool = True
    aggregate_stats: bool = True
    continuous_dump: bool = True
    dump_period: float = 1.0


def changed(config: Config, options: dict[str, object]) -> Config:
    """The settings with some of them changed."""
    names = [f.name for f in dataclasses.fields(Config)] + ["profile_all"]
    for name in options:
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f": did you mean {near[0]!r}?" if near else f" (they are {', '.join(names)})"
            raise TypeError(f"the profiler has no setting {name!r}{hint}")
    found = {name: _checked(name, value) for name, value in options.items()}
    if "profile_all" in found:
        whole = found.pop("profile_all")
        found = {"profile_imperative": whole, "profile_memory": whole} | found
    return dataclasses.replace(config, **found)  # type: ignore[arg-type]


def _checked(name: str, value: object) -> object:
    if name == "filename":
        if not isinstance(value, (str, os.PathLike)) or not os.fspath(value):
            raise ValueError(f"filename is the path of a file, not {value!r}")
        return os.fsdecode(value)
    if name == "dump_period":
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not 0 < value < math.inf:  # type: ignore[operator]
            raise ValueError(f"dump_period is a number of seconds above 0, not {value!r}")
        return float(value)  # type: ignore[arg-type]
    if value not in (True, False) or not isinstance(value, int):
        raise ValueError(f"{name} is True or False, not {value!r}")
    return bool(value)
