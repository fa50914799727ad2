# Types of the native part: collectives on their way, and their line.
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from lazyarray.distributed.communicator import Communicator
from lazyarray.distributed.ledger import Entry, Ledger
from lazyarray.engine import RunContext

AGREEING: int
MOVING: int
OVER: int
AGREED: int
DIFFERS: int

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
    pushing: bool
    def __init__(
        self,
        line: Line,
        comm: Communicator,
        entry: Entry,
        mark: int | None,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        work: Callable[[Task], None],
        small: tuple[Any, ...] | None,
    ) -> None: ...
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
    def __init__(self, ledger: Ledger, lost: dict[int, str], left: dict[int, float]) -> None: ...
    def call(self, item: Any) -> None: ...
    def put(self, task: Task) -> None: ...
    def fail(self) -> None: ...
    def get(self, timeout: float = -1) -> Any: ...

def let_waiters_help(line: Line | None) -> None: ...
