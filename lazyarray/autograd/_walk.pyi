from typing import Any

def walk(
    heads: list[Any], gradients: list[Any], variables: list[Any] | None, retain: bool, create: bool
) -> list[Any]: ...
