"""Executor: a graph bound to arrays, run forward and backward as few cached operators."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray import autograd
from lazyarray.engine._engine import Scope, Turn
from lazyarray.functions import creation
from lazyarray.graph import memory
from lazyarray.graph.infer import infer, reshaped
from lazyarray.graph.nodes import Entry, Node, Spec, output_name, shape_of
from lazyarray.graph.placement import devices_of, groups, placed
from lazyarray.lazy._lazy import (
    History,
    Program,
    Tensor,
    attach_leaf,
    is_recording,
    recorded,
    tracked,
    undetached,
)
from lazyarray.ops import _rows

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import Array, ArrayLike, DeviceLike, ShapeLike
    from lazyarray.context import Context
    from lazyarray.graph.graph import Graph

__all__ = ["Executor"]

Arrays = dict[str, "NDArray"]
Monitor = Callable[[str, "NDArray"], object]


class _Use(Turn):
    """Who uses an executor, or those that share memory: one thread at a time."""

    def __init__(self) -> None:
        self.ran: Executor | None = None  # backward needs what its own forward left

    def _refuse(self, thread: int, inside: bool) -> None:
        name = _thread_name(thread)
        if not inside and name is None:  # it ended, and will not call backward any more
            return
        raise RuntimeError(
            f"an executor is not to be shared by threads: {name or 'another'} is "
            + ("inside a call of it" if inside else "between forward and backward")
            + ". Bind one for each, or hold a lock from forward until the results are read"
        )


def _thread_name(ident: int) -> str | None:
    """The name of a thread that lives."""
    return next((repr(t.name) for t in threading.enumerate() if t.ident == ident), None)


class _Leaves(Scope):
    """Within the block an executor's arguments collect gradients in its arrays.

    ``arrays`` are those to compute with. One that shares memory with an earlier argument is a copy:
    a gradient is that of an argument, and memory has only one.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._before: list[History] = []
        self.arrays: dict[Node, NDArray] = {}

    def _enter(self) -> _Leaves:
        executor = self._executor
        self.arrays = arrays = dict(executor._given)
        nodes = executor.graph.arguments
        taken: set[Any] = set()
        for node in nodes:
            if arrays[node].var in taken:
                arrays[node] = arrays[node].copy()
            taken.add(arrays[node].var)
        self._before = [History(arrays[n]) for n in nodes]
        for node in nodes:
            grad = executor._gradients.get(node.name)
            attach_leaf(arrays[node], grad, executor._requests.get(node.name, "null"))
        return self

    def _leave(self) -> None:
        for history in self._before:
            history.put_back()


class Executor:
    """A graph on arrays: ``forward`` and ``backward`` push a few operators planned before.

    Made by ``bind`` and ``simple_bind``. Its arrays are used by reference: what is written to them
    between calls counts. ``outputs`` are arrays of its own, overwritten by each ``forward``. Calls
    return before the work is done, as ops do. For one thread at a time: a call while another thread
    is inside one, or between ``forward(is_train=True)`` and ``backward``, is a RuntimeError.

    >>> import lazyarray as la
    >>> x = la.array([1.0, 2.0])
    >>> e = la.sym.square(la.sym.var("x")).bind(la.cpu(), {"x": x}, {"x": la.zeros(2)})
    >>> e.forward(is_train=True)[0].asnumpy()
    array([1., 4.])
    >>> e.backward(la.array([1.0, 10.0]))
    >>> e.grad_dict["x"].asnumpy()
    array([ 2., 40.])
    """

    def __init__(
        self,
        graph: Graph,
        ctx: Context,
        arrays: Arrays,
        gradients: Arrays,
        requests: Mapping[str, str],
        group2ctx: Mapping[str, DeviceLike] | None = None,
        shared: Executor | None = None,
    ) -> None:
        self.graph = graph
        self._ctx, self._group2ctx = ctx, group2ctx
        self._arrays, self._gradients = arrays, gradients
        self._requests = {
            n.name: requests[n.name] if n.name in gradients else "null" for n in graph.arguments
        }
        if shared is not None and not isinstance(shared, Executor):
            raise TypeError(f"shared_exec is an Executor, not {type(shared).__name__}")
        self._shared = shared
        self._use: _Use = _Use() if shared is None else shared._use
        devices = devices_of(graph, ctx, groups(group2ctx))
        several = len(set(devices.values())) > 1
        self._placed, self._devices = placed(graph, devices) if several else (graph, devices)
        self._given = {node: undetached(arrays[node.name]) for node in graph.variables}
        self._runs: dict[bool, _Run] = {}
        self._monitor: Monitor | None = None
        self._monitor_all = False
        # What the last forward(is_train=True) left to be done backward.
        self._backward: Callable[[list[Any]], None] | None = None
        self.outputs: list[NDArray] = []

    # -- its arrays

    @property
    def arg_dict(self) -> Arrays:
        """The arguments' arrays by name."""
        return {n.name: self._arrays[n.name] for n in self.graph.arguments}

    @property
    def aux_dict(self) -> Arrays:
        """The auxiliary states' arrays by name."""
        return {n.name: self._arrays[n.name] for n in self.graph.aux}

    @property
    def grad_dict(self) -> dict[str, NDArray | None]:
        """The arguments' gradients by name; None where there is none."""
        return {n.name: self._gradients.get(n.name) for n in self.graph.arguments}

    @property
    def arg_arrays(self) -> list[NDArray]:
        """The arguments' arrays, in the order of ``list_arguments``."""
        return [*self.arg_dict.values()]

    @property
    def aux_arrays(self) -> list[NDArray]:
        """The auxiliary states' arrays, in their order."""
        return [*self.aux_dict.values()]

    @property
    def grad_arrays(self) -> list[NDArray | None]:
        """The arguments' gradients, in their order."""
        return [*self.grad_dict.values()]

    @property
    def output_dict(self) -> Arrays:
        """The outputs of the last forward by name."""
        return dict(zip(self.graph.list_outputs(), self.outputs, strict=False))

    def copy_params_from(
        self,
        arg_params: Mapping[str, ArrayLike],
        aux_params: Mapping[str, ArrayLike] | None = None,
        allow_extra_params: bool = False,
    ) -> None:
        """Copies values into the arrays of arguments and auxiliary states.

        Args:
            arg_params: values of arguments, by name.
            aux_params: values of auxiliary states, by name.
            allow_extra_params: whether names that aren't the graph's are left out.
        Returns: None.
        Raises: ValueError for other shapes and read-only arrays, and for names that aren't the
            graph's unless ``allow_extra_params``; TypeError for complex values of real arrays. Then
            nothing was copied.
        """
        copies = []
        for given, mine, what in (
            (arg_params, self.arg_dict, "argument"),
            (aux_params or {}, self.aux_dict, "auxiliary state"),
        ):
            if not isinstance(given, Mapping):
                raise TypeError(f"each {what} is given by its name, not as {type(given).__name__}")
            for name, value in given.items():
                if name in mine:
                    copies.append(_copy(mine[name], value, f"{what} {name!r}"))
                elif not allow_extra_params:
                    raise ValueError(f"the graph has no {what} {name!r}: it has {[*mine]}")
        for x, value in copies:
            _put(x, value)

    # -- running

    def forward(self, is_train: bool = False, **kwargs: ArrayLike) -> list[NDArray]:
        """Computes and gives the outputs; arrays given by name are copied into arguments first.

        Args:
            is_train: whether ops run as in training, and :meth:`backward` may follow.
            **kwargs: values of arguments, by name.
        Returns: a list of arrays: the outputs, which the next ``forward`` overwrites.
        Raises: TypeError for a name that is no argument's, and a complex value of a real one;
            ValueError for a value of another shape, or of a read-only argument;
            RuntimeError while another thread uses the executor; NotImplementedError where ops on an
            argument are recorded, as those here would not be.
        """
        if is_recording() and any(map(tracked, (*self._given.values(), *kwargs.values()))):
            raise NotImplementedError(
                "an executor's forward is not recorded: call its graph, or its own backward()"
            )
        with self._use:
            mine = self.arg_dict
            for name in kwargs:
                if name not in mine:
                    raise TypeError(
                        f"forward: the graph has no argument {name!r}: it has {[*mine]}"
                    )
            copies = [_copy(mine[n], value, f"argument {n!r}") for n, value in kwargs.items()]
            for x, value in copies:
                _put(x, value)
            is_train = bool(is_train)
            use = self._use
            if self._backward is not None:
                self._backward = None
                use.owe(False)
            use.ran = self
            if self._monitor is not None:
                outputs = self._step_by_step(is_train)
            else:
                run = self._prepared(is_train)
                run.program.run(0)
                outputs = self.outputs = [*run.outputs]
                if is_train:
                    issued = [var._issued for _, var in run.needed]
                    self._backward = lambda gradients: self._run_backward(run, issued, gradients)
            if is_train and self._wanted:
                use.owe(True)
            return outputs

    def backward(self, out_grads: Array | Sequence[ArrayLike | None] | None = None) -> None:
        """Computes the gradients, into ``grad_dict``'s arrays.

        Args:
            out_grads: the gradients of the outputs: an array if there is one, or a list of one for
                each; None, also in the list: ones.
        Returns: None.
        Raises: RuntimeError unless ``forward(is_train=True)`` came before, if no argument has a
            gradient, where what it needs was overwritten since, and while another thread uses the
            executor; ValueError for another number of gradients, or one of another shape, or where
            an argument's gradient is read-only; TypeError for a complex gradient of a real output.
            Then nothing was written.
        """
        with self._use:
            if not self._wanted:
                raise RuntimeError(
                    "backward: no argument has a gradient: bind with args_grad, or a grad_req that "
                    "isn't 'null'"
                )
            if self._backward is None:
                raise RuntimeError(
                    "backward comes after forward(is_train=True)"
                    + (": the last forward kept nothing for gradients" if self.outputs else "")
                )
            if self._use.ran is not self:
                raise RuntimeError(
                    "backward: another executor that shares this one's memory ran since forward"
                )
            given = [out_grads] if isinstance(out_grads, (Tensor, np.ndarray)) else out_grads
            gradients = [None] * len(self.outputs) if given is None else [*given]
            if len(gradients) != len(self.outputs):
                raise ValueError(f"{len(gradients)} gradients for {len(self.outputs)} outputs")
            names = self.graph.list_outputs()
            gradients = [
                g if g is None else _fitting(y, g, f"backward: output {name!r}")
                for name, y, g in zip(names, self.outputs, gradients, strict=True)
            ]
            for name, grad in self._gradients.items():
                if not grad.flags.writeable:
                    raise ValueError(f"the gradient of {name!r} is a read-only array")
            self._backward(gradients)
            self._use.owe(False)

    def set_monitor_callback(self, callback: Monitor | None, monitor_all: bool = False) -> None:
        """Has ``callback(name, array)`` told each node's results.

        The graph then runs node by node, until this is called with None.

        Args:
            callback: what is called; None: nobody is told any more.
            monitor_all: whether it is told the arguments, too.
        Returns: None.
        Raises: nothing.

        >>> import lazyarray as la
        >>> e = la.sym.exp(la.sym.var("x"), name="y").simple_bind(x=(2,))
        >>> e.set_monitor_callback(lambda name, x: print(name, x.shape))
        >>> _ = e.forward()
        y_output (2,)
        """
        self._monitor, self._monitor_all = callback, monitor_all
        self._backward = None

    def reshape(
        self, partial_shaping: bool = False, allow_up_sizing: bool = True, **shapes: ShapeLike
    ) -> Executor:
        """An executor for other shapes of some arguments; arrays that keep their shape are shared.

        Its intermediates lie in this one's memory if they fit.

        Args:
            partial_shaping: whether the shapes of other arguments may change, too.
            allow_up_sizing: whether arrays may become larger.
            **shapes: the new shapes, by the arguments' names.
        Returns: an :class:`Executor`.
        Raises: ValueError for a change that these forbid, or shapes that don't fit; TypeError for a
            name that is no argument's.

        >>> import lazyarray as la
        >>> e = la.sym.exp(la.sym.var("x")).simple_bind(x=(2, 3))
        >>> e.reshape(x=(1, 3)).arg_dict["x"].shape
        (1, 3)
        """
        graph = self.graph
        dtypes = {name: x.dtype for name, x in self._arrays.items()}
        if graph.retrace is not None:
            specs = {
                n.name: Spec(shape_of(shapes.get(n.name, n.spec.shape)), dtypes[n.name])
                for n in graph.variables
            }
            unknown = [name for name in shapes if name not in specs]
            if unknown:
                raise TypeError(f"the graph has no arguments {unknown}: it has {[*specs]}")
            graph = graph.retrace(specs)
            found = infer(graph, specs)
        else:
            found = reshaped(graph, shapes, self._arrays)
        arrays, gradients = {}, {}
        for node in graph.variables:
            name, spec = node.name, found[Entry(node)]
            old = self._arrays[name]
            if spec.shape == old.shape:
                arrays[name] = old
                if name in self._gradients:
                    gradients[name] = self._gradients[name]
                continue
            if name not in shapes and not partial_shaping:
                raise ValueError(
                    f"reshape: the shape of {name!r} changes from {old.shape} to {spec.shape}: "
                    "give it too, or partial_shaping=True"
                )
            if math.prod(spec.known) > old.size and not allow_up_sizing:
                raise ValueError(
                    f"reshape: {name!r} grows from {old.shape} to {spec.shape}: it may not with "
                    "allow_up_sizing=False"
                )
            arrays[name] = creation.zeros(spec.known, old.dtype, device=old.device)
            if name in self._gradients:
                gradients[name] = creation.zeros(spec.known, old.dtype, device=old.device)
        return Executor(graph, self._ctx, arrays, gradients, self._requests, self._group2ctx, self)

    def debug_str(self) -> str:
        """The nodes with where their results lie, and what that needs.

        In the last line: bytes planned for intermediates, bytes if each had memory of its own, and
        the most bytes that are alive at once, which no plan can go below.

        Returns: a str of several lines.
        Raises: what a node's function raises, if the executor has not run before.
        """
        is_train = bool(self._wanted)
        run = self._prepared(is_train)
        return memory.described(
            self._placed, run, self._requests if is_train else {}, self._devices
        )

    # -- the two ways to run

    @property
    def _wanted(self) -> list[Node]:
        """The arguments whose gradients are asked for."""
        return [n for n in self.graph.arguments if n.name in self._gradients]

    def _prepared(self, is_train: bool) -> _Run:
        if is_train not in self._runs:
            other = self._runs.get(not is_train)
            if other is None and self._shared is not None:
                other = self._shared._prepared(is_train)
            self._runs[is_train] = _Run(self, is_train, other.program if other else None)
        return self._runs[is_train]

    def compute(
        self,
        is_train: bool,
        hear: Callable[[Entry, NDArray], object] | None = None,
        arrays: Mapping[Node, NDArray] | None = None,
    ) -> list[NDArray]:
        """The graph's outputs, recorded for gradients in training; none is an argument itself.

        Args:
            is_train: whether ops run as in training, and are recorded.
            hear: ``hear(entry, array)`` is told each result.
            arrays: those of the variables; None: the executor's own.
        Returns: a list of arrays.
        Raises: what a node's function raises, with a note of the node and its line.
        """
        scope = autograd.predict_mode()
        if is_train:
            scope = autograd.record() if self._wanted else autograd.train_mode()
        with scope:
            arrays = self._given if arrays is None else arrays
            outputs = self._placed.run(arrays, hear, self._devices)
            taken = {id(x) for x in arrays.values()}
            results = []
            for y in outputs:
                results.append(y.copy() if id(y) in taken else y)
                taken.add(id(y))
        return results

    def _step_by_step(self, is_train: bool) -> list[NDArray]:
        monitor = self._monitor
        if monitor is not None and self._monitor_all:
            for name, x in self._arrays.items():
                monitor(name, x)
        with _Leaves(self) as used:
            self.outputs = self.compute(is_train, self._tell, used.arrays)
            # Outputs that don't change with an argument name it, but don't hold it.
            leaves = [History(used.arrays[n]) for n in self.graph.arguments]
        if is_train:
            self._backward = lambda gradients: self._backward_step_by_step(gradients, leaves)
        return [*self.outputs]

    def _tell(self, entry: Entry, x: NDArray) -> None:
        if self._monitor is not None:
            self._monitor(output_name(entry), x)

    def _backward_step_by_step(self, gradients: list[Any], leaves: list[History]) -> None:
        heads = [i for i, y in enumerate(self.outputs) if recorded(y)]
        seeds = [_seed(gradients[i], self.outputs[i]) for i in heads]
        if heads:
            autograd.backward([self.outputs[i] for i in heads], seeds, retain_graph=True)

    def _run_backward(self, run: _Run, issued: list[int], gradients: list[Any]) -> None:
        for (name, var), before in zip(run.needed, issued, strict=True):
            if var._issued != before:
                raise RuntimeError(
                    f"backward needs {name!r} as it was in forward, and it was overwritten since: "
                    "run forward again"
                )
        for i, seed in zip(run.heads, run.seeds, strict=True):
            g = gradients[i]
            seed[...] = 1 if g is None else g
        run.program.run(1)


class _Run:
    """One mode of an executor as a program: forward, then (in training) backward."""

    def __init__(self, executor: Executor, is_train: bool, shared: Program | None) -> None:
        self.program = Program()
        self.chunks: dict[Entry, int] = {
            Entry(n): self.program.chunk_of(x) for n, x in executor._given.items()
        }
        self.heads: list[int] = []
        self.seeds: list[NDArray] = []
        self.outputs: list[NDArray] = []
        with self.program, _Leaves(executor) as used:
            self.outputs = executor.compute(is_train, self._note, used.arrays)
            self.program.split()
            self.heads = [i for i, y in enumerate(self.outputs) if is_train and recorded(y)]
            heads = [self.outputs[i] for i in self.heads]
            self.seeds = [creation.empty_like(y) for y in heads]
            if heads:
                autograd.backward(heads, self.seeds)
            del heads
        self.outputs = [y.detach() for y in self.outputs]
        read = [*executor.arg_dict.items(), *executor.aux_dict.items()]
        read += [*zip(executor.graph.list_outputs(), self.outputs, strict=True)]
        # What the gradients are computed with: nobody may write to it before.
        self.needed = [(name, x.var) for name, x in read if self.program.uses_after(x, 0)]
        self.program.finish([*self.outputs, *self.seeds], shared)
        self.places = self.program.places()

    def _note(self, entry: Entry, x: NDArray) -> None:
        self.chunks[entry] = self.program.chunk_of(x)


def _copy(x: NDArray, value: Any, what: str) -> tuple[NDArray, Any]:
    """What :func:`_put` takes: all that a call copies is checked before the first is copied."""
    if not x.flags.writeable:
        raise ValueError(f"{what} is a read-only array")
    return x, _fitting(x, value, what)


def _fitting(x: NDArray, value: Any, what: str) -> Any:
    """``value`` as an array of x's shape, and a real one if ``x`` is."""
    if np.shape(value) != x.shape:
        raise ValueError(f"{what} has shape {x.shape}; a value has shape {np.shape(value)}")
    if not isinstance(value, (Tensor, np.ndarray)):
        value = np.array(value, x.dtype)
    if value.dtype.kind == "c" and x.dtype.kind != "c":
        raise TypeError(f"{what} is of {x.dtype}, which is real; a value is of {value.dtype}")
    return value


def _put(x: NDArray, value: Any) -> None:
    if isinstance(value, Tensor) and value.device != x.device:
        value.copyto(x)
        return
    x[...] = value


def _seed(g: Any, y: NDArray) -> NDArray:
    if g is None:
        return creation.ones_like(y)
    return _rows.asarray(g, y.device)
