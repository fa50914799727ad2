"""Lifting: from instructions on views of memory to calls of public functions on values.

A traced function's instructions read and write strided views of chunks. Here each chunk stands, at
each moment, for one value (``values.py``); so views, aliases and in-place code come out as pure
calls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lazyarray.functions.memory import to_device
from lazyarray.graph import registry
from lazyarray.graph.calls import MARK, SETITEM, Call, arrays_in
from lazyarray.graph.nodes import OPAQUE, Entry, Node, checked_leaf, mapped
from lazyarray.graph.opaque import Opaque
from lazyarray.graph.parameters import states
from lazyarray.graph.placement import context
from lazyarray.graph.values import Held, Shape, Values
from lazyarray.graph.views import find
from lazyarray.lazy._lazy import Pieces, Program, Tensor
from lazyarray.lazy.captured import Instruction, Kind, Layout, View, c_layout
from lazyarray.lazy.formulas import JOINS
from lazyarray.ops import _rows
from lazyarray.ops.names import matmul


class Lifter(Values):
    """The nodes that a program's instructions are, made in order."""

    def __init__(self, program: Program, calls: list[Call]) -> None:
        super().__init__(program)
        self._calls = calls

    def lift(self, given: dict[int, Node]) -> tuple[list[Entry], list[tuple[Node, Entry]]]:
        """The last mark's arrays as entries, and what was written to variables and constants.

        ``given`` are the nodes of the arrays that the first mark shows, by their chunks.
        """
        first, last = self._instructions[0], self._instructions[-1]
        for o in first.views:
            held = Held(o.layout, Entry(given[o.chunk]))
            self._held[o.chunk] = held
            self._begun[o.chunk] = (held.entry.node, held)
        self._process(self._calls, 1, last.number)
        outputs = [self.exact(o) for o in last.views]
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
            if instr.name == MARK:
                continue
            lift = self._way_of(instr)
            if lift is None:
                raise TypeError(
                    f"{instr.name!r} can't be traced: it has no public name, at {instr.site}"
                )
            lift(instr)

    def _way_of(self, instr: Instruction) -> Callable[[Instruction], None] | None:
        """What lifts an instruction of its kind; None: nothing."""
        match instr.kind:
            case Kind.ELEMENTWISE:
                return self._elementwise
            case Kind.TRANSFER:
                return self._transfer
            case Kind.REDUCE:
                return self._reduce
            case Kind.PYTHON:
                return self._python
        match instr.name:
            case matmul.name:
                return self._matmul
            case "take":
                return self._take
            case "setitem":
                return self._place
        return None

    # -- calls of public functions

    def _whole(self, call: Call) -> bool:
        """Makes a node of a call, if it gives new arrays and changes none that were there."""
        inside = self._instructions[call.begin + 1 : call.end]
        shown = self._instructions[call.end].views
        if call.op == SETITEM:
            return self._set(call, inside)
        if not call.results or len(shown) != len(call.results):
            return False
        chunks = {o.chunk for o in shown}
        if len(chunks) != len(shown):
            return False
        for o in shown:
            if self._first[o.chunk] <= call.begin or not o.born or not o.layout.dense:
                return False
        written = {
            o.chunk
            for instr in inside
            for o in instr.outputs
            if not o.resource and (self._first[o.chunk] <= call.begin or not o.born)
        }
        if any(c not in self._begun or self._is_touched(c) for c in written):
            return False
        arguments = self._arguments(call)
        if arguments is None:
            return False
        args, kwargs = registry.normal_form(call.op, *arguments)
        # Running means and the like: the layer writes them when it is called.
        known = states(call.op, args, kwargs)
        mine = [self._begun[c][0] for c in written]
        if any(node not in known for node in mine):
            return False
        for node in mine:
            node.aux = True
        count = len(shown) if call.several else 0
        node = self._node(call.op, args, kwargs, call.line, count)
        for o, entry in zip(shown, node.results, strict=True):
            self._held[o.chunk] = Held(o.layout, entry)
        return True

    def _is_touched(self, chunk: int) -> bool:
        """Whether what a chunk held in the beginning was written, or used."""
        entry = self._begun[chunk][1].entry
        return self._held[chunk].entry != entry or entry in self._used

    def _arguments(self, call: Call) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        """The arguments with entries in the place of arrays; None if a node can't hold them."""
        operands = iter(self._instructions[call.begin].views)

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

    def _set(self, call: Call, inside: list[Instruction]) -> bool:
        """``x[key] = value`` by an index that is no view's."""
        arguments = self._arguments(call)
        if arguments is None:
            return False
        x, key, value = call.args[0], arguments[0][1], arguments[0][2]
        target = self._instructions[call.begin].views[0]
        if not isinstance(x, Tensor) or not arrays_in(call.args[:1]):
            return False
        node = self._node("setitem", (self.exact(target), value), {"key": key}, call.line)
        self._write(target.chunk, target.layout, Entry(node), target.layout.shape)
        return True

    # -- instructions

    def _elementwise(self, instr: Instruction) -> None:
        inputs, outputs, line = instr.inputs, instr.outputs, instr.site
        fresh = [self._is_new(o) for o in outputs]
        known = [o for o in instr.views if not self._is_new(o)]
        groups = self._groups(outputs[0].layout.shape, known, outputs[0])
        shape, expanded = _refined(groups, instr.views)
        natural = self._natural(shape, known)
        if not outputs[0].layout.size:
            # Of its axes the instruction has none left: they are those of an operand.
            held = [self._held[o.chunk].layout.shape for o in known if o.chunk in self._held]
            shape = next((has for has in held if 0 in has), shape)
            expanded = [c_layout(shape, o.layout.dtype) for o in instr.views]
        elif natural is not None:
            expanded = [_with_ones(layout, natural) for layout in expanded]
            shape = natural
        layouts = iter(expanded)
        read = [
            self._operand(o, next(layouts) if isinstance(o, View) else None, inputs) for o in inputs
        ]
        targets = list(layouts)
        if instr.name in ("copy", "cast"):
            source = expanded[0] if isinstance(inputs[0], View) else None
            self._copy(instr, read[0], source, shape, targets[0], fresh[0])
            return
        args = [r[0] for r in read]
        got = np.broadcast_shapes(*[r[1] for r in read])
        if got != shape:  # all are repeated along some axis
            i = next(i for i, o in enumerate(inputs) if isinstance(o, View))
            args[i] = self._step("broadcast_to", args[i], {"shape": shape}, line)
        count = len(outputs) if len(outputs) > 1 else 0
        node = self._call(instr.name, tuple(args), {}, line, count)
        for o, layout, entry, new in zip(outputs, targets, node.results, fresh, strict=True):
            self._keep(o, layout, entry, shape, new)

    def _copy(
        self,
        instr: Instruction,
        read: tuple[Any, Shape],
        source: Layout | None,
        shape: Shape,
        target: Layout,
        fresh: bool,
    ) -> None:
        (value, has), out, line = read, instr.outputs[0], instr.site
        whole = fresh or self._covers(out.chunk, target)
        if not whole:  # assignment broadcasts and casts
            self._write(out.chunk, target, value, has)
            return
        if not isinstance(value, Entry):
            op, kwargs = _filled(shape, value, target.dtype)
            self._keep(out, target, Entry(self._call(op, (), kwargs, line)), shape, fresh)
            return
        if has != shape:
            value = self._step("broadcast_to", value, {"shape": shape}, line)
        if instr.name == "cast":
            node = self._call("astype", (value, target.dtype), {}, line)
        elif not shape and value.node.op == "getitem":  # an element, which is a copy by itself
            node = value.node
        else:
            in_c = _steps(target) == _steps(c_layout(shape, target.dtype))
            # What was repeated has no order of its own to keep.
            turned = has != shape or (source is not None and not source.forward)
            order = "C" if in_c and turned else "K"
            node = self._call("copy", (value,), {"order": order}, line)
        self._keep(out, target, Entry(node), shape, fresh)

    def _transfer(self, instr: Instruction) -> None:
        """To or from a GPU; what the host gave in the trace is a constant where it goes."""
        (source,), (target,) = instr.sources, instr.outputs
        layout, device, fresh = source.layout, target.device, self._is_new(target)
        given = self._program.array_of(source.chunk, layout.dtype) if self._is_new(source) else None
        if given is not None:
            array = _rows.strided(given, layout.shape, layout.strides, layout.offset)
            entry = Entry(self._constant(to_device(array, device)))
        else:
            kwargs = {"device": context(device)}
            entry = Entry(self._call("to_device", (self.exact(source),), kwargs, instr.site))
        self._keep(target, target.layout, entry, layout.shape, fresh)

    def _reduce(self, instr: Instruction) -> None:
        (source,), (out,) = instr.sources, instr.outputs
        groups = self._groups(source.layout.shape, [source], source)
        reduced = [i in instr.reduced for i, group in enumerate(groups) for _ in group]
        shape, (view, target) = _refined(groups, [source, out])
        natural = self._natural(shape, [source])
        if natural is not None:
            view, target = _with_ones(view, natural), _with_ones(target, natural)
            marks = iter(reduced)
            reduced = [n != 1 and next(marks) for n in natural]
            shape = natural
        value = self._exact(source.chunk, view)
        axes = tuple([i for i, r in enumerate(reduced) if r])
        every = all(r or n == 1 for r, n in zip(reduced, shape, strict=True))
        kwargs: dict[str, Any] = {"axis": None if every else axes[0] if len(axes) == 1 else axes}
        if every:
            axes = tuple(range(len(shape)))
        kwargs |= _dtype(instr.name, source.layout.dtype, out.layout.dtype)
        node = self._call(instr.name, (value,), kwargs, instr.site)
        node.kwargs = {k: v for k, v in node.kwargs.items() if v is not None}
        self._ranks[node] = len(shape)
        kept = [i for i in range(len(shape)) if i not in axes]
        result = target.permuted(tuple(kept))
        self._keep(out, result, Entry(node), result.shape, self._is_new(out))

    def _matmul(self, instr: Instruction) -> None:
        a, b, out = [o.layout for o in instr.views]
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
            self._exact(instr.sources[0].chunk, a),
            self._exact(instr.sources[1].chunk, b),
        )
        node = self._call(matmul.name, args, {}, instr.site)
        target = instr.outputs[0]
        self._keep(target, out, Entry(node), out.shape, self._is_new(target))

    def _take(self, instr: Instruction) -> None:
        x, index = instr.sources
        out = instr.outputs[0]
        length, count, block, _ = instr.core
        dtype = self._dtype_of(x.chunk, out.chunk)
        item = dtype.itemsize
        tail = () if block == item else (block // item,)
        steps = () if block == item else (item,)
        lead = x.layout.shape
        view = Layout(
            dtype,
            x.layout.offset,
            (*lead, length, *tail),
            (*x.layout.strides, instr.core_steps[0], *steps),
        )
        picked = Layout(np.dtype(np.intp), index.layout.offset, (count,), (8,))
        entry, pick = self._exact(x.chunk, view), self._exact(index.chunk, picked)
        if lead:
            node = self._call("take", (entry, pick), {"axis": len(lead)}, instr.site)
        else:
            node = self._call("getitem", (entry,), {"key": pick}, instr.site)
        shape = (*lead, count, *tail)
        layout = c_layout(shape, dtype, out.layout.offset)
        self._keep(out, layout, Entry(node), shape, self._is_new(out))

    def _place(self, instr: Instruction) -> None:
        mask, values = instr.sources
        out = instr.outputs[0]
        held = self._hold(out.chunk)
        size, count = instr.core
        target = c_layout((size,), held.layout.dtype, out.layout.offset)
        chosen = self._exact(mask.chunk, c_layout((size,), np.dtype(bool), mask.layout.offset))
        given = self._exact(
            values.chunk, c_layout((count,), held.layout.dtype, values.layout.offset)
        )
        old = self._exact(out.chunk, target)
        node = self._node("setitem", (old, given), {"key": chosen}, instr.site)
        self._write(out.chunk, target, Entry(node), (size,))

    def _python(self, instr: Instruction) -> None:
        """An instruction that calls NumPy: by its public name if known, else held as it is."""
        outs = instr.outputs
        function: Any = instr.function
        if isinstance(function, Pieces):
            function = function.whole
        axes = getattr(function, "axes", None)
        if axes is not None and registry.known(instr.name):
            source = self.exact(instr.sources[0])
            kwargs: dict[str, Any] = {"axis": axes[0] if len(axes) == 1 else axes}
            if function.keepdims:
                kwargs["keepdims"] = True
            if len(axes) == len(instr.sources[0].layout.shape):
                del kwargs["axis"]
            kwargs |= _dtype(instr.name, instr.sources[0].layout.dtype, outs[0].layout.dtype)
            node = self._call(instr.name, (source,), kwargs, instr.site)
        elif getattr(function, "operands", None) is not None:  # an elementwise op
            operands = [
                self.exact(instr.sources[o.index]) if hasattr(o, "index") else o
                for o in function.operands
            ]
            node = self._call(instr.name, tuple(operands), {}, instr.site)
        else:
            ins = [self.exact(o) for o in instr.sources]
            before = [None if o.resource or self._is_new(o) else self.exact(o) for o in outs]
            resources = [
                self._program.array_of(o.chunk, np.uint8) if o.resource else None for o in outs
            ]
            run = Opaque(
                instr.name,
                function,
                len(ins),
                [o.layout for o in outs],
                resources,
                instr.overwrites,
            )
            entries = (*ins, *before)
            count = sum(r is None for r in resources)
            node = Node(
                OPAQUE,
                self._names.get(None, instr.name),
                entries,
                {},
                count,
                line=instr.site,
                value=run,
            )
            self._used.update(node.inputs)
        results = iter(node.results)
        for o in outs:
            if not o.resource:
                layout = o.layout
                self._keep(o, layout, next(results), layout.shape, self._is_new(o))

    # -- shapes

    def _groups(self, space: Shape, known: list[View], out: View) -> list[tuple[int, ...]]:
        """For each axis of an iteration space the axes that it is made of, as arrays have them."""
        groups: list[tuple[int, ...]] = [(n,) for n in space]
        found = [False] * len(space)
        layouts = [(self._hold(o.chunk).layout, o.layout) for o in known]
        if not layouts:
            layouts = [(self._natural_layout(out.chunk), out.layout)]
        for base, view in layouts:
            path = find(base, view) if view.size else None
            for i, group in enumerate(path.groups if path else ()):
                if group and not found[i]:
                    groups[i], found[i] = group, True
        return [g if math.prod(g) != 1 else () for g in groups]

    def _natural(self, shape: Shape, known: list[View]) -> Shape | None:
        """The shape of an array that has ``shape`` but for axes of length one; None if none has."""
        for o in known:
            base = self._hold(o.chunk).layout.shape
            if base != shape and tuple([n for n in base if n != 1]) == shape:
                return base
        return None


def _refined(groups: list[tuple[int, ...]], operands: list[View]) -> tuple[Shape, list[Layout]]:
    """The space with each axis cut into its groups, and the operands over it."""
    shape = tuple([n for group in groups for n in group])
    layouts = []
    for o in operands:
        strides: list[int] = []
        for s, group in zip(o.layout.strides, groups, strict=True):
            strides += [s * math.prod(group[i + 1 :]) for i in range(len(group))]
        layouts.append(Layout(o.layout.dtype, o.layout.offset, shape, tuple(strides)))
    return shape, layouts


def _with_ones(layout: Layout, natural: Shape) -> Layout:
    strides = iter(layout.strides)
    steps = tuple([0 if n == 1 else next(strides) for n in natural])
    return layout._replace(shape=natural, strides=steps)


def _steps(layout: Layout) -> tuple[int, ...]:
    """The steps of the axes that have any."""
    return tuple([s for s, n in zip(layout.strides, layout.shape, strict=True) if n != 1])


def _repeated(layout: Layout) -> int:
    """How many leading axes, before a matrix, repeat it."""
    stack = layout.strides[:-2]
    return next((i for i, s in enumerate(stack) if s), len(stack))


def _without(layout: Layout, lead: int) -> Layout:
    return layout._replace(shape=layout.shape[lead:], strides=layout.strides[lead:])


def _drop(layout: Layout, axis: int) -> Layout:
    keep = [i for i in range(len(layout.shape)) if i != axis + len(layout.shape)]
    return layout.permuted(tuple(keep))


def _dtype(name: str, source: np.dtype, target: np.dtype) -> dict[str, Any]:
    """The dtype= of a reduction whose result is not of the usual one."""
    join = JOINS.get(name)
    usual = target if join is None else getattr(np, join.op).reduce(np.zeros(1, source)).dtype
    return {} if usual == target else {"dtype": target}


def _filled(shape: Shape, value: Any, dtype: np.dtype) -> tuple[str, dict[str, Any]]:
    """The function that makes an array of one number."""
    if (
        not isinstance(value, complex)
        and value in (0, 1)
        and not (value == 0 and np.signbit(value))
    ):
        return ("ones" if value else "zeros"), {"shape": shape, "dtype": dtype}
    return "full", {"shape": shape, "fill_value": value, "dtype": dtype}
