# Types of the native part of random streams.
from collections.abc import Callable, Sequence
from typing import Any

from lazyarray._ndarray import NDArray
from lazyarray.engine import Device
from lazyarray.lazy._lazy import Tensor

class Source:
    generator: Any
    own: bool
    def __init__(self, generator: Any) -> None: ...
    def now(self) -> Any: ...

class Sharing(Source): ...

class Bits:
    def __init__(self, generator: Any) -> None: ...

class Drawn:
    @property
    def _source(self) -> Source: ...
    @property
    def _resource(self) -> NDArray: ...
    @property
    def _device(self) -> Device: ...
    def _hold(self, source: Source, resource: Tensor, device: Device) -> None: ...
    def _at_once(self, generator: Any) -> bool: ...

def many(
    generator: Any, name: str, given: Sequence[Any], options: dict[str, Any], out: Any = None
) -> Any: ...
def parameters_of(
    way: Callable[..., Any],
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]: ...

class Draw:
    __name__: str
    __qualname__: str
    def __init__(
        self,
        way: Callable[..., Any],
        numpys: Callable[..., Any],
        names: Sequence[str],
        stream: Drawn | None = None,
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class Method(Draw):
    def __get__(self, obj: Any, owner: Any = None, /) -> Any: ...
