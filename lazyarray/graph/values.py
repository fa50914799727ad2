"""Values: what each chunk of memory holds while instructions are lifted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lazyarray.graph import registry
from lazyarray.graph.nodes import CONST, Entry, Node
from lazyarray.graph.scopes import NameManager
from lazyarray.graph.views import Path, find
from lazyarray.lazy._lazy import Program
from lazyarray.lazy.captured import Layout, Number, View, c_layout
from lazyarray.ops import _rows, reductions

Shape = tuple[int, ...]


@dataclass
class Held:
    """What a chunk holds: a value, and how it lies there."""

    layout: Layout
    entry: Entry


class Values:
    """The value that each chunk stands for, as nodes, at one moment of a program.

    A read is that value, seen through the steps that ``views.find`` names; a write to a part makes
    a new value, by ``setitem``.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._instructions = program.instructions()
        self._first: dict[int, int] = {}  # the first instruction that names a chunk
        for instr in self._instructions:
            for o in instr.views:
                self._first.setdefault(o.chunk, instr.number)
        self._held: dict[int, Held] = {}
        self._begun: dict[int, tuple[Node, Held]] = {}  # what is there from outside
        self._views: dict[Any, Entry] = {}
        self._used: set[Entry] = set()
        self._ranks: dict[Node, int] = {}  # how many axes reductions reduce from
        self._names = NameManager()

    # -- reading

    def exact(self, o: View) -> Entry:
        """An operand as a value of exactly its shape."""
        return self._exact(o.chunk, o.layout)

    def _operand(
        self, o: View | Number, layout: Layout | None, inputs: list[View | Number]
    ) -> tuple[Any, Shape]:
        """An operand of an elementwise op: an entry that broadcasts to the layout, or a number."""
        if isinstance(o, View):
            return self._read(o.chunk, layout or o.layout)
        same = any(i.layout.dtype == o.dtype for i in inputs if isinstance(i, View))
        if same or not isinstance(o.value, (int, float, complex)):
            return o.value, ()
        return o.dtype.type(o.value), ()

    def _exact(self, chunk: int, layout: Layout) -> Entry:
        entry, shape = self._read(chunk, layout, True)
        if shape != layout.shape:
            entry = self._step("broadcast_to", entry, {"shape": layout.shape})
        return entry

    def _read(self, chunk: int, layout: Layout, exact: bool = False) -> tuple[Entry, Shape]:
        """The value of a view, in a shape that broadcasts to the view's; ``exact``: of its rank."""
        if not layout.size:
            return self._read_empty(chunk, layout)
        held = self._hold(chunk, layout.dtype)
        if self._spans(held.layout, layout, exact) or self._keeps_axes(held, layout):
            self._used.add(held.entry)
            return held.entry, held.layout.shape
        path = find(held.layout, layout)
        if path is None:
            return self._by_strides(held, layout), layout.shape
        entry = self._follow(held.entry, path)
        rank = [math.prod(group) if group else 1 for group in path.groups]
        has: Sequence[int] = path.lengths
        if not exact:
            while rank and rank[0] == 1 and len(rank) > len(has):
                del rank[0]
        if list(has) == rank:
            return entry, tuple(has)
        if list(has) == [
            n
            for n, group in zip(rank, path.groups[-len(rank) :] if rank else (), strict=True)
            if group
        ]:
            key = tuple([slice(None) if group else None for group in path.groups[-len(rank) :]])
            return self._step("getitem", entry, {"key": key}), tuple(rank)
        return self._step("reshape", entry, {"shape": tuple(rank)}), tuple(rank)

    def _read_empty(self, chunk: int, layout: Layout) -> tuple[Entry, Shape]:
        """A view without elements: made of what is there wherever shapes allow it."""
        kwargs: dict[str, Any] = {"shape": layout.shape}
        held = self._held.get(chunk)
        if held is not None and held.layout.dtype == layout.dtype:
            if len(held.layout.shape) <= len(layout.shape) and _fits(
                held.layout.shape, layout.shape
            ):
                self._used.add(held.entry)
                return held.entry, held.layout.shape
            if not held.layout.size:
                return self._step("reshape", held.entry, kwargs), layout.shape
        kwargs["dtype"] = layout.dtype
        return Entry(self._call("zeros", (), kwargs)), layout.shape

    @staticmethod
    def _spans(base: Layout, view: Layout, exact: bool) -> bool:
        """Whether an array, broadcast, is the view."""
        if base.dtype != view.dtype or base.offset != view.offset:
            return False
        extra = len(view.shape) - len(base.shape)
        if extra < 0 or (exact and extra):
            return False
        if any(n != 1 and s for n, s in zip(view.shape[:extra], view.strides[:extra], strict=True)):
            return False
        rest = zip(base.shape, base.strides, view.shape[extra:], view.strides[extra:], strict=True)
        return all((n == m and (s == t or n == 1)) or (n == 1 and t == 0) for n, s, m, t in rest)

    def _keeps_axes(self, held: Held, view: Layout) -> bool:
        """Whether the value is a reduction nobody used yet, and the view one with its axes kept.

        Then it keeps them.
        """
        node = held.entry.node
        if (
            node.op not in reductions.TABLE
            or held.entry in self._used
            or node.kwargs.get("keepdims")
        ):
            return False
        rank = len(view.shape)
        if rank != self._ranks.get(node):
            return False
        axis = node.kwargs.get("axis")
        axes = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        kept = [i for i in range(rank) if i not in axes]
        ones = any(view.strides[i] for i in axes)
        if ones or not self._spans(held.layout, view.permuted(tuple(kept)), True):
            return False
        if not any(i > min(kept, default=-1) for i in axes) and axis is not None:
            return False  # it broadcasts as it is
        node.kwargs["keepdims"] = True
        lengths = iter(zip(held.layout.shape, held.layout.strides, strict=True))
        pairs = [(1, 0) if i in axes else next(lengths) for i in range(rank)]
        shape, strides = tuple([n for n, _ in pairs]), tuple([s for _, s in pairs])
        held.layout = held.layout._replace(shape=shape, strides=strides)
        return True

    def _follow(self, entry: Entry, path: Path) -> Entry:
        """The steps of a path as nodes."""
        if path.part in ("real", "imag"):
            entry = self._step(path.part, entry, {})
        if path.order is not None:
            entry = self._step("transpose", entry, {"axes": path.order})
        if path.part not in (None, "real", "imag"):
            entry = self._step("view", entry, {"dtype": np.dtype(path.part)})
        if path.shape is not None:
            entry = self._step("reshape", entry, {"shape": path.shape})
        if path.key is not None:
            key = path.key
            while len(key) > 1 and key[-1] == slice(None):
                key = key[:-1]
            entry = self._step("getitem", entry, {"key": key[0] if len(key) == 1 else key})
        if path.axes is not None:
            entry = self._step("transpose", entry, {"axes": path.axes})
        return entry

    def _by_strides(self, held: Held, view: Layout) -> Entry:
        entry, base = held.entry, held.layout
        if base.order != tuple(range(len(base.shape))):
            entry = self._step("transpose", entry, {"axes": base.order})
        if base.dtype != view.dtype:
            entry = self._step("view", entry, {"dtype": view.dtype})
        return self._step("strided", entry, _strides_of(base, view))

    def _step(
        self, op: str, entry: Entry, kwargs: dict[str, Any], line: str | None = None
    ) -> Entry:
        """A view of an entry: the same node where it was taken before."""
        if op == "transpose" and kwargs["axes"] == tuple(reversed(range(len(kwargs["axes"])))):
            kwargs = {}
        key = (op, entry, repr(kwargs))
        if key not in self._views:
            self._views[key] = Entry(self._call(op, (entry,), kwargs, line))
        return self._views[key]

    # -- what is held

    def _is_new(self, o: View) -> bool:
        return o.born and o.chunk not in self._held

    def _hold(self, chunk: int, dtype: np.dtype | None = None) -> Held:
        """What a chunk holds; of one that wasn't written in the trace, a constant or nothing yet.

        ``dtype`` is what to take it for where no instruction tells.
        """
        if chunk not in self._held:
            layout = self._natural_layout(chunk, dtype)
            vector = self._program.array_of(chunk, layout.dtype)
            if vector is None:
                kwargs = {"shape": layout.shape, "dtype": layout.dtype}
                held = Held(layout, Entry(self._call("empty", (), kwargs)))
            else:
                array = _rows.strided(vector, layout.shape, layout.strides, layout.offset)
                held = Held(layout, Entry(self._constant(array)))
                if not self._born(chunk):
                    self._begun[chunk] = (held.entry.node, held)
            self._held[chunk] = held
        return self._held[chunk]

    def _born(self, chunk: int) -> bool:
        return any(o.born for o in self._operands(chunk))

    def _operands(self, chunk: int) -> list[View]:
        return [
            o
            for instr in self._instructions
            for o in instr.views
            if o.chunk == chunk and instr.name not in ("take", "setitem")
        ]

    def _natural_layout(self, chunk: int, dtype: np.dtype | None = None) -> Layout:
        """The most telling view of all of a chunk that an instruction has; else a vector."""
        seen = self._operands(chunk)
        best: Layout | None = None
        for o in seen:
            layout = o.layout
            whole = layout.size * layout.dtype.itemsize == o.nbytes and layout.dense
            if whole and (best is None or len(layout.shape) > len(best.shape)):
                best = layout
        if best is None:
            dtype = seen[0].layout.dtype if seen else dtype or self._dtype_of(chunk, chunk)
            nbytes = next(
                o.nbytes for instr in self._instructions for o in instr.views if o.chunk == chunk
            )
            best = c_layout((nbytes // dtype.itemsize,), dtype)
        return best

    def _dtype_of(self, chunk: int, other: int) -> np.dtype:
        """The dtype of a chunk whose own instruction doesn't tell it; ``other`` has the same."""
        for c in (chunk, other):
            if c in self._held:
                return self._held[c].layout.dtype
            for o in self._operands(c):
                found: np.dtype = o.layout.dtype
                return found
        raise TypeError("an index into an array of unknown dtype can't be traced")

    def _constant(self, array: Any) -> Node:
        return Node(CONST, self._names.get(None, "const"), value=array)

    # -- writing

    def _keep(self, o: View, layout: Layout, entry: Entry, shape: Shape, fresh: bool) -> None:
        """Notes what an instruction wrote."""
        if fresh and layout.dense and layout.size * layout.dtype.itemsize == o.nbytes:
            self._held[o.chunk] = Held(layout, entry)
        else:
            self._write(o.chunk, layout, entry, shape)

    def _covers(self, chunk: int, layout: Layout) -> bool:
        held = self._hold(chunk).layout
        same = held.dtype == layout.dtype and held.offset == layout.offset
        return same and layout.dense and layout.size == held.size

    def _write(self, chunk: int, layout: Layout, value: Any, has: Shape) -> None:
        """A value, of shape ``has``, written to a view."""
        if not layout.size:
            return
        if isinstance(value, Entry) and has == layout.shape and self._covers(chunk, layout):
            self._held[chunk] = Held(layout, value)
            return
        held = self._hold(chunk)
        path = find(held.layout, layout)
        if path is None:
            base, entry = held.layout, held.entry
            kwargs = _strides_of(base, layout)
            if base.order != tuple(range(len(base.shape))):
                kwargs["order"] = base.order
            if base.dtype != layout.dtype:
                kwargs["part"] = layout.dtype.str
            new = self._node("setview", (entry, value), kwargs)
            self._held[chunk] = Held(base, Entry(new))
            return
        if isinstance(value, Entry) and not _fits(has, path.lengths):
            if math.prod(has) != math.prod(path.lengths):
                value = self._step("broadcast_to", value, {"shape": layout.shape})
            value = self._step("reshape", value, {"shape": path.lengths})
        if path.is_key:
            key = path.key if path.key is not None else Ellipsis
            if isinstance(key, tuple):
                while len(key) > 1 and key[-1] == slice(None):
                    key = key[:-1]
                key = key[0] if len(key) == 1 else key
            new = self._node("setitem", (held.entry, value), {"key": key})
        else:
            kwargs = {
                k: getattr(path, k)
                for k in ("part", "order", "shape", "key", "axes")
                if getattr(path, k) is not None
            }
            new = self._node("setview", (held.entry, value), kwargs)
        self._held[chunk] = Held(held.layout, Entry(new))

    # -- nodes

    def _call(
        self,
        op: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        line: str | None = None,
        count: int = 0,
    ) -> Node:
        """A node in normal form."""
        if not registry.known(op):
            if not registry.known(f"nn.{op}"):
                raise TypeError(f"{op!r} can't be traced: it has no public name, at {line}")
            op = f"nn.{op}"
        op = registry.canonical(op)
        return self._node(op, *registry.normal_form(op, args, kwargs), line, count)

    def _node(
        self,
        op: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        line: str | None = None,
        count: int = 0,
    ) -> Node:
        name = self._names.get(None, op.rpartition(".")[2].lower())
        node = Node(op, name, args, kwargs, count, line=line)
        self._used.update(node.inputs)
        return node


def _fits(has: Shape, lengths: Shape) -> bool:
    """Whether a value can be assigned to a part of this shape."""
    extra = len(has) - len(lengths)
    if extra > 0:
        if not lengths:  # an element takes a number alone
            return False
        if any(n != 1 for n in has[:extra]):
            return False
        has = has[extra:]
    wanted = lengths[len(lengths) - len(has) :]
    return all(n in (1, m) for n, m in zip(has, wanted, strict=True))


def _strides_of(base: Layout, view: Layout) -> dict[str, Any]:
    item = view.dtype.itemsize
    return {
        "shape": view.shape,
        "strides": tuple([s // item for s in view.strides]),
        "offset": (view.offset - base.offset) // item,
    }
