"""Which public functions a traced function calls: the trace keeps those calls whole where it can.

Python tells a thread's profile hook of each call, so the functions themselves need know nothing.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass, field
from functools import cache
from types import CodeType, FrameType, FunctionType
from typing import Any

from lazyarray import autograd
from lazyarray.context import Context
from lazyarray.engine import Device
from lazyarray.engine._engine import Scope
from lazyarray.functions import indexing, manipulation, memory
from lazyarray.graph import registry
from lazyarray.graph.nodes import caller, mapped
from lazyarray.lazy._lazy import Program, Tensor
from lazyarray.ops import _rows
from lazyarray.ops._rows import Public

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
        self._open: list[tuple[FrameType, Call]] = []
        self.calls: list[Call] = []

    def _enter(self) -> Watch:
        self._table = _table()
        self._outer = sys.getprofile()
        sys.setprofile(self._hear)
        return self

    def _leave(self) -> None:
        if sys.getprofile() == self._hear:
            sys.setprofile(self._outer)

    def _hear(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "call" and frame.f_code in self._table:
            self._begin(frame)
        elif event == "return" and self._open and self._open[-1][0] is frame:
            self._end(arg)

    def _begin(self, frame: FrameType) -> None:
        op = _op_of(frame, self._table[frame.f_code])
        if op is None:
            return
        args, kwargs = mapped(_given(op, *_arguments(frame)), _plain)
        call = Call(op, args, kwargs, caller(), self._count())
        if self._open:
            self._open[-1][1].children.append(call)
        else:
            self.calls.append(call)
        self._open.append((frame, call))
        mark(arrays_in((args, kwargs)))

    def _end(self, result: Any) -> None:
        call = self._open.pop()[1]
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
    with autograd.pause(train_mode=autograd.is_training()):
        _rows.call(MARK, _nothing, [x.detach() for x in arrays], [])


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


# ---- which function a frame runs ----------------------------------------------------------------

Candidates = list[tuple[str, FunctionType]]


@cache
def _table() -> dict[CodeType, Candidates]:
    """The public functions that are Python's, by their code."""
    found: dict[CodeType, Candidates] = {}
    special: list[tuple[str, Any]] = [
        ("getitem", indexing.get),
        (SETITEM, indexing.set),
        ("to_device", memory.to_device),
        ("ndarray.flatten", manipulation.flatten),
    ]
    public = [(registry.canonical(op), registry.function_of(op)) for op in registry.names()]
    for op, function in [*special, *public]:
        if isinstance(function, Public):
            function = function.recorded
        if isinstance(function, FunctionType):
            listed = found.setdefault(function.__code__, [])
            if all(f is not function for _, f in listed):
                listed.append((op, function))
    return found


def _op_of(frame: FrameType, candidates: Candidates) -> str | None:
    """The op: several functions that one decorator made have the same code."""
    if len(candidates) == 1 and not candidates[0][1].__closure__:
        return candidates[0][0]
    for op, function in candidates:
        names = function.__code__.co_freevars
        cells = zip(names, function.__closure__ or (), strict=True)
        if all(frame.f_locals.get(name, cells) is cell.cell_contents for name, cell in cells):
            return op
    return None


def _arguments(frame: FrameType) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments that a frame began with."""
    code, local = frame.f_code, frame.f_locals
    names = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    args = [local[name] for name in names[: code.co_argcount]]
    kwargs = {name: local[name] for name in names[code.co_argcount :]}
    at = len(names)
    if code.co_flags & inspect.CO_VARARGS:
        args += local[code.co_varnames[at]]
        at += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        kwargs |= local[code.co_varnames[at]]
    return tuple(args), kwargs


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
