from collections.abc import Callable
from typing import Any

# What `walk` is made of.
class Shadow: ...
class Walk: ...

def walk(
    heads: list[Any],
    gradients: list[Any],
    variables: list[Any] | None,
    retain: bool,
    create: bool,
    stops: bool = False,
) -> list[Any]: ...
def watch(watcher: Callable[[list[Any]], None]) -> None: ...
def unwatch(watcher: Callable[[list[Any]], None]) -> None: ...
