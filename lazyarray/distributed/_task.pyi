# Types of the native part: collectives on their way, and their line.
from collections import deque
from collections.abc import Callable
from typing import Any

from lazyarray.distributed.communicator import Communicator
from lazyarray.distributed.ledger import Ledger
from lazyarray.engine import Device, RunContext, Var

UNREADY: str
QUEUED: str
WAITING: str
UNDER_WAY: str

AGREEING: int
MOVING: int
OVER: int
AGREED: int
DIFFERS: int

class Entry:
    comm: str
    number: int
    order: int
    text: str
    line: int
    lines: str
    ranks: tuple[int, ...]
    state: str
    since: float
    def __init__(
        self, comm: str, number: int, order: int, text: str, line: int, ranks: tuple[int, ...]
    ) -> None: ...
    @property
    def where(self) -> str: ...
    def becomes(self, state: str) -> None: ...
    def told(self) -> dict[str, Any]: ...

class Agreement:
    request: Any
    busy: bool
    def __init__(self, mine: Any, all: Any, request: Any) -> None: ...

class Repeated:
    def __init__(self, begins: Callable[..., Any], *arguments: Any) -> None: ...
    def Start(self) -> None: ...
    def Test(self) -> bool: ...

def on_host(x: Any) -> bool: ...
def is_profiled() -> bool: ...
def is_writable(x: Any) -> bool: ...

class Task:
    comm: Communicator
    entry: Entry
    mark: int | None
    work: Callable[[Task], None]
    failure: BaseException | None
    run_ctx: RunContext
    inputs: list[Any]
    state: int
    stream: int
    def __init__(
        self,
        line: Line,
        comm: Communicator,
        entry: Entry,
        mark: int | None,
        inputs: list[Any],
        outputs: list[Any],
        work: Callable[[Task], None],
        small: tuple[Any, ...] | None,
    ) -> None: ...
    def push(self, place: Device, channel: Var, name: str) -> bool: ...
    def starts(self, run_ctx: RunContext, done: Any) -> None: ...
    def ends(self, error: BaseException | None = None) -> None: ...
    def own(self, x: Any) -> Any: ...
    def view(self, x: Any) -> Any: ...
    def advance(self) -> int: ...
    def gives_up(self) -> None: ...

class Line:
    items: deque[Any]
    task: Task | None
    over: BaseException | None
    brought: int
    in_turn: int
    def __init__(self, ledger: Ledger, lost: dict[int, str], left: dict[int, float]) -> None: ...
    def call(self, item: Any) -> None: ...
    def put(self, task: Task) -> None: ...
    def fail(self) -> None: ...
    def get(self, timeout: float = -1) -> Any: ...

def let_waiters_help(line: Line | None) -> None: ...
