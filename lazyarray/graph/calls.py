"""Which public functions a traced function calls: the trace keeps them whole where it can."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lazyarray.context import Context
from lazyarray.engine import Device
from lazyarray.engine._engine import Scope
from lazyarray.graph import registry
from lazyarray.graph.nodes import caller, mapped
from lazyarray.lazy._lazy import Program, Tensor, detached, note_calls, paused
from lazyarray.ops import _rows

SETITEM = "setitem"  # x[key] = value: the one call here that changes its argument


@dataclass(eq=False)
class Call:
    """A call of a public function, made of the instructions ``begin`` to ``end`` of the program."""

    op: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    line: str
    begin: int  # a mark that shows the layouts of the arrays among the arguments
    end: int = -1  # one that shows those of the results
    results: list[Any] = field(default_factory=list)
    several: bool = False
    children: list[Call] = field(default_factory=list)


class Watch(Scope):
    """Within the block, the calls of public functions that this thread makes while capturing."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._open: list[Call] = []
        self.calls: list[Call] = []

    def _enter(self) -> Watch:
        note_calls(self)
        return self

    def _leave(self) -> None:
        note_calls(None)

    def begin(self, op: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A call begins."""
        op = registry.canonical(op)
        args, kwargs = mapped(_given(op, args, kwargs), _plain)
        call = Call(op, args, kwargs, caller(), self._count())
        (self._open[-1].children if self._open else self.calls).append(call)
        self._open.append(call)
        mark(arrays_in((args, kwargs)))

    def end(self, result: Any) -> None:
        """The call that began last has this result; None: it has none, or failed."""
        call = self._open.pop()
        call.several = isinstance(result, (tuple, list))
        call.results = list(result) if call.several else [result]
        if call.op == SETITEM:
            call.results = []
        call.end = self._count()
        mark([r for r in call.results if isinstance(r, Tensor)])

    def _count(self) -> int:
        return self._program.memory()["instructions"]


MARK = "mark"


def mark(arrays: list[Any]) -> None:
    """An instruction that does nothing, but shows how arrays lie in memory."""
    with paused():
        _rows.call(MARK, _nothing, [detached(x) for x in arrays], [])


def _nothing(outs: list[Any], ins: list[Any]) -> None:
    pass


def arrays_in(tree: Any) -> list[Any]:
    """The arrays among the leaves, in order."""
    found: list[Any] = []

    def leaf(x: Any) -> Any:
        if isinstance(x, Tensor):
            found.append(x)
        return x

    mapped(tree, leaf)
    return found


def _plain(x: Any) -> Any:
    if isinstance(x, Device) and not isinstance(x, Context):
        return Context(x.device_type, x.device_id)
    return x


def _given(
    op: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments but for defaults, which may be what no node can hold."""
    signature = registry.signature_of(op)
    parameters = signature.parameters if signature is not None else {}
    named = list(parameters.values())
    count = len(args)
    while 0 < count <= len(named) and args[count - 1] is named[count - 1].default:
        count -= 1
    rest = {
        key: value
        for key, value in kwargs.items()
        if key not in parameters or value is not parameters[key].default
    }
    return args[:count], rest
