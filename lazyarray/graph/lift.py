"""Lifting: from instructions on views of memory to calls of public functions on values.

A traced function's instructions read and write strided views of chunks. Here each chunk stands, at
each moment, for one value: the array last written to all of it, with how that lies in memory. What
is read is that value, seen through ``views.find``; what is written to a part makes a new value, by
``setitem``. So views, aliases and in-place code come out as pure calls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lazyarray.graph import registry
from lazyarray.graph.calls import MARK, SETITEM, Call, arrays_in
from lazyarray.graph.nodes import CONST, OPAQUE, Entry, Node, checked_leaf, mapped
from lazyarray.graph.opaque import Opaque
from lazyarray.graph.scopes import NameManager
from lazyarray.graph.views import Layout, Path, c_layout, find
from lazyarray.lazy._lazy import Program, Tensor
from lazyarray.ops import _rows

Shape = tuple[int, ...]
Operand = dict[str, Any]


@dataclass
class Held:
    """What a chunk holds: a value, and how it lies there."""

    layout: Layout
    entry: Entry


class Lifter:
    """The nodes that a program's instructions are, made in order."""

    def __init__(self, program: Program, calls: list[Call]) -> None:
        self._program, self._calls = program, calls
        self._instructions = program.instructions()
        self._first: dict[int, int] = {}  # the first instruction that names a chunk
        for instr in self._instructions:
            for o in (*instr["inputs"], *instr["outputs"]):
                if "chunk" in o:
                    self._first.setdefault(o["chunk"], instr["index"])
        self._held: dict[int, Held] = {}
        self._begun: dict[int, tuple[Node, Held]] = {}  # what is there from outside
        self._views: dict[Any, Entry] = {}
        self._used: set[Entry] = set()
        self._ranks: dict[Node, int] = {}  # how many axes reductions reduce from
        self._names = NameManager()

    def lift(self, given: dict[int, Node]) -> tuple[list[Entry], list[tuple[Node, Entry]]]:
        """The last mark's arrays as entries, and what was written to variables and constants.

        ``given`` are the nodes of the arrays that the first mark shows, by their chunks.
        """
        first, last = self._instructions[0], self._instructions[-1]
        for o in first["inputs"]:
            held = Held(layout_of(o), Entry(given[o["chunk"]]))
            self._held[o["chunk"]] = held
            self._begun[o["chunk"]] = (held.entry.node, held)
        self._process(self._calls, 1, last["index"])
        outputs = [self.exact(o) for o in last["inputs"]]
        updates = []
        for chunk, (node, held) in self._begun.items():
            if self._held[chunk].entry != held.entry:
                updates.append((node, self._exact(chunk, held.layout)))
        return outputs, updates

    # -- in order

    def _process(self, calls: list[Call], begin: int, end: int) -> None:
        for call in calls:
            if call.end < 0:
                continue
            self._instructions_between(begin, call.begin)
            if not self._whole(call):
                self._process(call.children, call.begin + 1, call.end)
            begin = call.end + 1
        self._instructions_between(begin, end)

    def _instructions_between(self, begin: int, end: int) -> None:
        for instr in self._instructions[begin:end]:
            name, kind = instr["name"], instr["kind"]
            if name == MARK:
                continue
            if kind == "elementwise":
                self._elementwise(instr)
            elif kind == "reduce":
                self._reduce(instr)
            elif kind == "python":
                self._python(instr)
            elif name == "matmul":
                self._matmul(instr)
            elif name == "take":
                self._take(instr)
            elif name == "setitem":
                self._place(instr)
            else:
                raise TypeError(
                    f"{name!r} can't be traced: it has no public name, at {instr['site']}"
                )

    # -- calls of public functions

    def _whole(self, call: Call) -> bool:
        """Makes a node of a call, if it gives new arrays and changes none that were there before."""
        inside = self._instructions[call.begin + 1 : call.end]
        shown = self._instructions[call.end]["inputs"]
        if call.op == SETITEM:
            return self._set(call, inside)
        if not call.results or len(shown) != len(call.results):
            return False
        chunks = {o["chunk"] for o in shown}
        if len(chunks) != len(shown):
            return False
        for o in shown:
            if self._first[o["chunk"]] <= call.begin or not o["born"] or not layout_of(o).dense:
                return False
        for instr in inside:
            for o in instr["outputs"]:
                old = self._first[o["chunk"]] <= call.begin or not o["born"]
                if old and not o["resource"]:
                    return False
        arguments = self._arguments(call)
        if arguments is None:
            return False
        args, kwargs = registry.normal_form(call.op, *arguments)
        count = len(shown) if call.several else 0
        node = self._node(call.op, args, kwargs, call.line, count)
        for o, entry in zip(shown, node.results, strict=True):
            self._held[o["chunk"]] = Held(layout_of(o), entry)
        return True

    def _arguments(self, call: Call) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        """The call's arguments with entries in the place of arrays; None if a node can't hold them."""
        operands = iter(self._instructions[call.begin]["inputs"])

        def check(x: Any) -> Any:
            return x if isinstance(x, (Tensor, np.ndarray)) else checked_leaf(x)

        try:
            tree = mapped((call.args, call.kwargs), check)
        except TypeError:
            return None

        def leaf(x: Any) -> Any:
            if isinstance(x, np.ndarray):
                return Entry(self._constant(_rows.array(x)))
            return self.exact(next(operands)) if isinstance(x, Tensor) else x

        found: tuple[tuple[Any, ...], dict[str, Any]] = mapped(tree, leaf)
        return found

    def _set(self, call: Call, inside: list[dict[str, Any]]) -> bool:
        """``x[key] = value`` by an index that is no view's."""
        arguments = self._arguments(call)
        if arguments is None:
            return False
        x, key, value = call.args[0], arguments[0][1], arguments[0][2]
        target = self._instructions[call.begin]["inputs"][0]
        if not isinstance(x, Tensor) or not arrays_in(call.args[:1]):
            return False
        node = self._node("setitem", (self.exact(target), value), {"key": key}, call.line)
        self._write(target["chunk"], layout_of(target), Entry(node), target["shape"])
        return True

    # -- instructions

    def _elementwise(self, instr: dict[str, Any]) -> None:
        inputs, outputs, line = instr["inputs"], instr["outputs"], instr["site"]
        fresh = [self._is_new(o) for o in outputs]
        known = [o for o in [*inputs, *outputs] if "chunk" in o and not self._is_new(o)]
        groups = self._groups(outputs[0]["shape"], known, outputs[0])
        shape, expanded = _refined(groups, [o for o in [*inputs, *outputs] if "chunk" in o])
        natural = self._natural(shape, known)
        if natural is not None:
            expanded = [_with_ones(layout, natural) for layout in expanded]
            shape = natural
        layouts = iter(expanded)
        read = [self._operand(o, next(layouts) if "chunk" in o else None, inputs) for o in inputs]
        targets = list(layouts)
        if instr["name"] in ("copy", "cast"):
            source = expanded[0] if "chunk" in inputs[0] else None
            self._copy(instr, read[0], source, shape, targets[0], fresh[0])
            return
        args = [r[0] for r in read]
        got = np.broadcast_shapes(*[r[1] for r in read])
        if got != shape:  # all are repeated along some axis
            i = next(i for i, o in enumerate(inputs) if "chunk" in o)
            args[i] = self._step("broadcast_to", args[i], {"shape": shape}, line)
        count = len(outputs) if len(outputs) > 1 else 0
        node = self._call(instr["name"], tuple(args), {}, line, count)
        for o, layout, entry, new in zip(outputs, targets, node.results, fresh, strict=True):
            self._keep(o, layout, entry, shape, new)

    def _copy(
        self,
        instr: dict[str, Any],
        read: tuple[Any, Shape],
        source: Layout | None,
        shape: Shape,
        target: Layout,
        fresh: bool,
    ) -> None:
        (value, has), out, line = read, instr["outputs"][0], instr["site"]
        whole = fresh or self._covers(out["chunk"], target)
        if not whole:  # assignment broadcasts and casts
            self._write(out["chunk"], target, value, has)
            return
        if not isinstance(value, Entry):
            op, kwargs = _filled(shape, value, target.dtype)
            self._keep(out, target, Entry(self._call(op, (), kwargs, line)), shape, fresh)
            return
        if has != shape:
            value = self._step("broadcast_to", value, {"shape": shape}, line)
        if instr["name"] == "cast":
            node = self._call("astype", (value, target.dtype), {}, line)
        elif not shape and value.node.op == "getitem":  # an element, which is a copy by itself
            node = value.node
        else:
            in_c = target == c_layout(shape, target.dtype, target.offset)
            order = "C" if in_c and source is not None and not source.forward else "K"
            node = self._call("copy", (value,), {"order": order}, line)
        self._keep(out, target, Entry(node), shape, fresh)

    def _reduce(self, instr: dict[str, Any]) -> None:
        (source,), (out,) = instr["inputs"], instr["outputs"]
        groups = self._groups(source["shape"], [source], source)
        reduced = [i in instr["reduced"] for i, group in enumerate(groups) for _ in group]
        shape, (view, target) = _refined(groups, [source, out])
        natural = self._natural(shape, [source])
        if natural is not None:
            view, target = _with_ones(view, natural), _with_ones(target, natural)
            marks = iter(reduced)
            reduced = [n != 1 and next(marks) for n in natural]
            shape = natural
        value = self._exact(source["chunk"], view)
        axes = tuple([i for i, r in enumerate(reduced) if r])
        every = all(r or n == 1 for r, n in zip(reduced, shape, strict=True))
        kwargs: dict[str, Any] = {"axis": None if every else axes[0] if len(axes) == 1 else axes}
        if every:
            axes = tuple(range(len(shape)))
        if instr["name"] in ("sum", "prod"):
            usual = np.add.reduce(np.zeros(1, source["dtype"])).dtype
            if usual != out["dtype"]:
                kwargs["dtype"] = out["dtype"]
        node = self._call(instr["name"], (value,), kwargs, instr["site"])
        node.kwargs = {k: v for k, v in node.kwargs.items() if v is not None}
        self._ranks[node] = len(shape)
        kept = [i for i in range(len(shape)) if i not in axes]
        result = target.permuted(tuple(kept))
        self._keep(out, result, Entry(node), result.shape, self._is_new(out))

    def _matmul(self, instr: dict[str, Any]) -> None:
        a, b, out = [layout_of(o) for o in (*instr["inputs"], *instr["outputs"])]
        keep_rows = out.shape[-2] != 1 or out.strides[-2] != 0
        keep_columns = out.shape[-1] != 1 or out.strides[-1] != 0
        # An operand has no more axes of the stack than it needs.
        a_lead, b_lead = _repeated(a), _repeated(b)
        ones = next((i for i, n in enumerate(out.shape[:-2]) if n != 1), len(out.shape) - 2)
        if min(a_lead, b_lead) > ones:
            a_lead = ones
        a, b = _without(a, a_lead), _without(b, b_lead)
        lead = len(out.shape) - max(len(a.shape), len(b.shape))
        out = _without(out, lead)
        if not keep_rows:
            a, out = _drop(a, -2), _drop(out, -2)
        if not keep_columns:
            b, out = _drop(b, -1), _drop(out, -1)
        args = (
            self._exact(instr["inputs"][0]["chunk"], a),
            self._exact(instr["inputs"][1]["chunk"], b),
        )
        node = self._call("matmul", args, {}, instr["site"])
        target = instr["outputs"][0]
        self._keep(target, out, Entry(node), out.shape, self._is_new(target))

    def _take(self, instr: dict[str, Any]) -> None:
        x, index = instr["inputs"]
        out = instr["outputs"][0]
        length, count, block, _ = instr["core"]
        dtype = self._dtype_of(x["chunk"], out["chunk"])
        item = dtype.itemsize
        tail = () if block == item else (block // item,)
        steps = () if block == item else (item,)
        lead = x["shape"]
        view = Layout(
            dtype,
            x["offset"],
            (*lead, length, *tail),
            (*x["strides"], instr["core_steps"][0], *steps),
        )
        picked = Layout(np.dtype(np.intp), index["offset"], (count,), (8,))
        entry, pick = self._exact(x["chunk"], view), self._exact(index["chunk"], picked)
        if lead:
            node = self._call("take", (entry, pick), {"axis": len(lead)}, instr["site"])
        else:
            node = self._call("getitem", (entry,), {"key": pick}, instr["site"])
        shape = (*lead, count, *tail)
        layout = c_layout(shape, dtype, out["offset"])
        self._keep(out, layout, Entry(node), shape, self._is_new(out))

    def _place(self, instr: dict[str, Any]) -> None:
        mask, values = instr["inputs"]
        out = instr["outputs"][0]
        held = self._hold(out["chunk"])
        size, count = instr["core"]
        target = c_layout((size,), held.layout.dtype, out["offset"])
        chosen = self._exact(mask["chunk"], c_layout((size,), np.dtype(bool), mask["offset"]))
        given = self._exact(
            values["chunk"], c_layout((count,), held.layout.dtype, values["offset"])
        )
        old = self._exact(out["chunk"], target)
        node = self._node("setitem", (old, given), {"key": chosen}, instr["site"])
        self._write(out["chunk"], target, Entry(node), (size,))

    def _python(self, instr: dict[str, Any]) -> None:
        """An instruction that calls NumPy: by its public name if it tells it, else held as it is."""
        function, outs = instr["function"], instr["outputs"]
        axes = getattr(function, "axes", None)
        if axes is not None and registry.known(instr["name"]):
            source = self.exact(instr["inputs"][0])
            kwargs: dict[str, Any] = {"axis": axes[0] if len(axes) == 1 else axes}
            if function.keepdims:
                kwargs["keepdims"] = True
            if len(axes) == len(instr["inputs"][0]["shape"]):
                del kwargs["axis"]
            node = self._call(instr["name"], (source,), kwargs, instr["site"])
        else:
            ins = [self.exact(o) for o in instr["inputs"]]
            before = [None if o["resource"] or self._is_new(o) else self.exact(o) for o in outs]
            resources = [
                self._program.array_of(o["chunk"], np.uint8) if o["resource"] else None
                for o in outs
            ]
            run = Opaque(
                instr["name"],
                function,
                len(ins),
                [layout_of(o) for o in outs],
                resources,
                instr["overwrites"],
            )
            args = (*ins, *before)
            count = sum(r is None for r in resources)
            node = Node(
                OPAQUE,
                self._names.get(None, instr["name"]),
                args,
                {},
                count,
                line=instr["site"],
                value=run,
            )
            self._used.update(node.inputs)
        results = iter(node.results)
        for o in outs:
            if not o["resource"]:
                layout = layout_of(o)
                self._keep(o, layout, next(results), layout.shape, self._is_new(o))

    # -- reading

    def exact(self, o: Operand) -> Entry:
        """An operand as a value of exactly its shape."""
        return self._exact(o["chunk"], layout_of(o))

    def _operand(
        self, o: Operand, layout: Layout | None, inputs: list[Operand]
    ) -> tuple[Any, Shape]:
        """An operand of an elementwise op: an entry that broadcasts to the layout, or a number."""
        if layout is None:
            value, dtype = o["constant"], o["dtype"]
            same = any(i["dtype"] == dtype for i in inputs if "chunk" in i)
            return (
                value if same or not isinstance(value, (int, float, complex)) else dtype.type(value)
            ), ()
        return self._read(o["chunk"], layout)

    def _exact(self, chunk: int, layout: Layout) -> Entry:
        entry, shape = self._read(chunk, layout, True)
        if shape != layout.shape:
            entry = self._step("broadcast_to", entry, {"shape": layout.shape})
        return entry

    def _read(self, chunk: int, layout: Layout, exact: bool = False) -> tuple[Entry, Shape]:
        """The value of a view, in a shape that broadcasts to the view's; ``exact``: of its rank."""
        if not layout.size:
            shape = {"shape": layout.shape, "dtype": layout.dtype}
            held = self._held.get(chunk)
            if held is not None and held.layout.shape == layout.shape:
                return held.entry, layout.shape
            return Entry(self._call("zeros", (), shape)), layout.shape
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
        """Whether the value is a reduction that nobody used yet, and the view one with the axes kept.

        Then it keeps them.
        """
        node = held.entry.node
        if node.op not in _REDUCTIONS or held.entry in self._used or node.kwargs.get("keepdims"):
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
        shape = tuple([1 if i in axes else view.shape[i] for i in range(rank)])
        strides = tuple([0 if i in axes else view.strides[i] for i in range(rank)])
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

    def _is_new(self, o: Operand) -> bool:
        return o["born"] and o["chunk"] not in self._held

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
        return any(o["born"] for o in self._operands(chunk))

    def _operands(self, chunk: int) -> list[Operand]:
        return [
            o
            for instr in self._instructions
            for o in (*instr["inputs"], *instr["outputs"])
            if o.get("chunk") == chunk and instr["name"] not in ("take", "setitem")
        ]

    def _natural_layout(self, chunk: int, dtype: np.dtype | None = None) -> Layout:
        """The most telling view of all of a chunk that an instruction has; else a vector."""
        seen = self._operands(chunk)
        best: Layout | None = None
        for o in seen:
            layout = layout_of(o)
            whole = layout.size * layout.dtype.itemsize == o["nbytes"] and layout.dense
            if whole and (best is None or len(layout.shape) > len(best.shape)):
                best = layout
        if best is None:
            dtype = layout_of(seen[0]).dtype if seen else dtype or self._dtype_of(chunk, chunk)
            nbytes = next(
                o["nbytes"]
                for instr in self._instructions
                for o in (*instr["inputs"], *instr["outputs"])
                if o.get("chunk") == chunk
            )
            best = c_layout((nbytes // dtype.itemsize,), dtype)
        return best

    def _dtype_of(self, chunk: int, other: int) -> np.dtype:
        """The dtype of a chunk whose own instruction doesn't tell it; ``other`` has the same."""
        for c in (chunk, other):
            if c in self._held:
                return self._held[c].layout.dtype
            for o in self._operands(c):
                found: np.dtype = o["dtype"]
                return found
        raise TypeError("an index into an array of unknown dtype can't be traced")

    def _constant(self, array: Any) -> Node:
        return Node(CONST, self._names.get(None, "const"), value=array)

    # -- writing

    def _keep(self, o: Operand, layout: Layout, entry: Entry, shape: Shape, fresh: bool) -> None:
        """Notes what an instruction wrote."""
        if fresh and layout.dense and layout.size * layout.dtype.itemsize == o["nbytes"]:
            self._held[o["chunk"]] = Held(layout, entry)
        else:
            self._write(o["chunk"], layout, entry, shape)

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

    # -- shapes

    def _groups(self, space: Shape, known: list[Operand], out: Operand) -> list[tuple[int, ...]]:
        """For each axis of an iteration space the axes that it is made of, as arrays have them."""
        groups: list[tuple[int, ...]] = [(n,) for n in space]
        found = [False] * len(space)
        layouts = [(self._hold(o["chunk"]).layout, layout_of(o)) for o in known]
        if not layouts:
            layouts = [(self._natural_layout(out["chunk"]), layout_of(out))]
        for base, view in layouts:
            path = find(base, view) if view.size else None
            for i, group in enumerate(path.groups if path else ()):
                if group and not found[i]:
                    groups[i], found[i] = group, True
        return [g if math.prod(g) != 1 else () for g in groups]

    def _natural(self, shape: Shape, known: list[Operand]) -> Shape | None:
        """The shape of an array that has ``shape`` but for axes of length one; None if none has."""
        for o in known:
            base = self._hold(o["chunk"]).layout.shape
            if base != shape and tuple([n for n in base if n != 1]) == shape:
                return base
        return None

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


_REDUCTIONS = ("sum", "prod", "max", "min", "any", "all")


def layout_of(o: Operand) -> Layout:
    """The view that an operand is."""
    return Layout(o["dtype"], o["offset"], o["shape"], o["strides"])


def _refined(groups: list[tuple[int, ...]], operands: list[Operand]) -> tuple[Shape, list[Layout]]:
    """The space with each axis cut into its groups, and the operands over it."""
    shape = tuple([n for group in groups for n in group])
    layouts = []
    for o in operands:
        strides: list[int] = []
        for s, group in zip(o["strides"], groups, strict=True):
            strides += [s * math.prod(group[i + 1 :]) for i in range(len(group))]
        layouts.append(Layout(o["dtype"], o["offset"], shape, tuple(strides)))
    return shape, layouts


def _with_ones(layout: Layout, natural: Shape) -> Layout:
    strides = iter(layout.strides)
    steps = tuple([0 if n == 1 else next(strides) for n in natural])
    return layout._replace(shape=natural, strides=steps)


def _repeated(layout: Layout) -> int:
    """How many leading axes, before a matrix, repeat it."""
    stack = layout.strides[:-2]
    return next((i for i, s in enumerate(stack) if s), len(stack))


def _without(layout: Layout, lead: int) -> Layout:
    return layout._replace(shape=layout.shape[lead:], strides=layout.strides[lead:])


def _drop(layout: Layout, axis: int) -> Layout:
    keep = [i for i in range(len(layout.shape)) if i != axis + len(layout.shape)]
    return layout.permuted(tuple(keep))


def _fits(has: Shape, lengths: Shape) -> bool:
    """Whether a value can be assigned to a part of this shape."""
    extra = len(has) - len(lengths)
    if extra > 0:
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


def _filled(shape: Shape, value: Any, dtype: np.dtype) -> tuple[str, dict[str, Any]]:
    """The function that makes an array of one number."""
    if (
        not isinstance(value, complex)
        and value in (0, 1)
        and not (value == 0 and np.signbit(value))
    ):
        return ("ones" if value else "zeros"), {"shape": shape, "dtype": dtype}
    return "full", {"shape": shape, "fill_value": value, "dtype": dtype}
