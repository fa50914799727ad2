# Types of the recorder's Python face.
from types import TracebackType

from lazyarray._ndarray import NDArray
from lazyarray.engine import Device

Tensor = NDArray  # once the package is imported, each tensor is one

class no_sync:
    def __enter__(self) -> None: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

def swap_current_device(device: Device) -> Device: ...
def waitall() -> None: ...
def sync_rows(reset: bool = False) -> list[tuple[str, int, str, str, int, int]]: ...
def _set_policy(name: str, value: float) -> float: ...
