"""Graph: calls of public functions, in the order in which they run; what it can do."""

from __future__ import annotations

import html
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from lazyarray.context import Context, as_device
from lazyarray.functions import memory
from lazyarray.functions._files import replacing
from lazyarray.graph import binding, drawing, running, serial, text
from lazyarray.graph import infer as inference
from lazyarray.graph.nodes import VAR, Entry, Node, Spec, in_order, mapped, output_name
from lazyarray.ops import _rows

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, DeviceLike, DTypeLike, File, PartialShape
    from lazyarray.graph.executor import Executor
    from lazyarray.graph.nodes import DTypes, Shapes, SomeShapes, Tree

__all__ = ["Graph"]

_T = TypeVar("_T")


@dataclass(frozen=True)
class _Of:
    """In a pickle: an output of the node of that number."""

    node: int
    output: int


def _rebuilt(
    rows: list[dict[str, Any]],
    outputs: list[_Of],
    inputs: list[int],
    updates: list[tuple[int, _Of]],
    takes: Any,
    gives: Any,
) -> Graph:
    """What pickle calls."""
    nodes: list[Node] = []

    def entry(x: Any) -> Any:
        return Entry(nodes[x.node], x.output) if isinstance(x, _Of) else x

    for row in rows:
        taken = {"args": mapped(row["args"], entry), "kwargs": mapped(row["kwargs"], entry)}
        nodes.append(Node(**(row | taken)))
    return Graph(
        map(entry, outputs),
        [nodes[i] for i in inputs],
        [(nodes[i], entry(e)) for i, e in updates],
        takes,
        gives,
    )


class Graph:
    """What computes some outputs from some variables: nodes, each a call of a public function.

    ``nodes`` are in topological order. ``arguments`` are the variables that it reads, ``aux`` those
    that it writes as well (running means); ``updates`` says, for each of these that no node writes
    by itself, what is written to it in the end. Made by :func:`lazyarray.trace`, of a
    :class:`lazyarray.Symbol`, or from JSON. It isn't changed once it is made.

    >>> import lazyarray as la
    >>> graph = la.trace(lambda x, w: la.tanh(x @ w).sum(), la.ones((2, 3)), la.ones((3, 4)))
    >>> print(graph)
    Graph(x: float64 (2, 3), w: float64 (3, 4)):
        %0 = matmul(x, w)
        %1 = tanh(%0)
        %2 = sum(%1)
        return %2
    """

    def __init__(
        self,
        outputs: Iterable[Entry],
        inputs: Sequence[Node] | None = None,
        updates: Sequence[tuple[Node, Entry]] = (),
        takes: Tree = None,
        gives: Tree = None,
        retrace: Callable[[dict[str, Spec]], Graph] | None = None,
    ) -> None:
        self.outputs = tuple(outputs)
        self.updates = tuple(updates)
        states = [node for node, _ in self.updates]
        reached = in_order([*self.outputs, *[e for _, e in self.updates], *map(Entry, states)])
        variables = [n for n in reached if n.op == VAR]
        if inputs is not None:
            known = set(inputs)
            variables = [*inputs, *[n for n in variables if n not in known]]
        self.variables = tuple(variables)
        seen = set(reached)
        unused = [n for n in self.variables if n not in seen]
        self.nodes = tuple(sorted([*reached, *unused], key=lambda n: n.serial))
        self.arguments = tuple([n for n in self.variables if not n.aux])
        self.aux = tuple([n for n in self.variables if n.aux])
        self.takes, self.gives = takes, gives  # trees: what fn took and gave, if it was traced
        self.retrace = retrace
        counts = Counter([n.name for n in self.variables])
        twice = [name for name, count in counts.items() if count > 1]
        if twice:
            raise ValueError(
                f"several variables of the graph are called {', '.join(map(repr, twice))}"
            )

    # -- what it is

    def list_arguments(self) -> list[str]:
        """The names of the variables, but for the auxiliary ones.

        Returns: a list of str.
        Raises: nothing.
        """
        return [n.name for n in self.arguments]

    def list_auxiliary_states(self) -> list[str]:
        """The names of the variables that the graph writes.

        Returns: a list of str.
        Raises: nothing.
        """
        return [n.name for n in self.aux]

    def list_inputs(self) -> list[str]:
        """The names of all variables.

        Returns: a list of str.
        Raises: nothing.
        """
        return [n.name for n in self.variables]

    def list_outputs(self) -> list[str]:
        """The names of the outputs: ``fc1_output``, ``split0_output1``, or a variable's own.

        Returns: a list of str.
        Raises: nothing.
        """
        return [output_name(e) for e in self.outputs]

    def __str__(self) -> str:
        return text.printed(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"{drawing.svg(self)}<pre>{html.escape(str(self))}</pre>"

    def summary(self, **known: PartialShape) -> str:
        """The graph with the shape and dtype of each result, and the line that built it.

        Args:
            **known: shapes or specs of variables, as for :meth:`infer`.
        Returns: a str of several lines.
        Raises: what :meth:`infer` raises.

        >>> import lazyarray as la
        >>> print(la.sym.exp(la.sym.var("x")).graph.summary(x=(2, 3)).splitlines()[0])
        Graph(x: float64 (2, 3)):
        """
        return text.printed(self, self.infer(**known), lines=True)

    def todot(self, **known: PartialShape) -> str:
        """The source of a picture, for Graphviz; with shapes at the edges if they are known.

        Args:
            **known: shapes or specs of variables, as for :meth:`infer`.
        Returns: a str of several lines.
        Raises: what :meth:`infer` raises, if any are given.

        >>> import lazyarray as la
        >>> print(la.sym.exp(la.sym.var("x"), name="y").graph.todot().splitlines()[0])
        digraph Graph {
        """
        specs = self.infer(**known) if known or self._is_known() else None
        return text.dot(self, specs)

    def _is_known(self) -> bool:
        return all(n.spec.complete and n.spec.dtype is not None for n in self.variables)

    # -- JSON

    def tojson(self) -> str:
        """The graph as JSON; arrays that it holds are written with their values (which waits).

        Returns: a str.
        Raises: TypeError, with the line, for an op that has no public name.
        """
        return serial.dumps(self)

    @classmethod
    def fromjson(cls, json: str | bytes) -> Graph:
        """The graph that :meth:`tojson` wrote.

        Args:
            json: the text.
        Returns: a :class:`Graph`.
        Raises: ValueError if it is corrupt or names no op.

        >>> import lazyarray as la
        >>> graph = la.trace(lambda x: la.exp(x) + 1, la.ones(3))
        >>> print(la.Graph.fromjson(graph.tojson()))
        Graph(x: float64 (3,)):
            %0 = exp(x)
            %1 = add(%0, 1.0)
            return %1
        """
        return cls(**serial.loads(json))

    def save(self, file: File) -> None:
        """Writes :meth:`tojson` to a file.

        Args:
            file: a path, or a file that is open for text.
        Returns: None.
        Raises: what :meth:`tojson` raises; OSError if the file can't be written.
        """
        written = self.tojson()
        if hasattr(file, "write"):
            file.write(written)
            return
        with replacing(file, "w") as stream:
            stream.write(written)

    @classmethod
    def load(cls, file: File) -> Graph:
        """Reads what :meth:`save` wrote.

        Args:
            file: a path, or an open file.
        Returns: a :class:`Graph`.
        Raises: OSError if the file can't be read; ValueError if it is corrupt or names no op.
        """
        if hasattr(file, "read"):
            return cls.fromjson(file.read())
        with open(os.fspath(file)) as stream:
            return cls.fromjson(stream.read())

    def __reduce__(self) -> tuple[object, ...]:
        # Node by node, however long a chain they are. Like JSON's it can't be traced again.
        number = {node: i for i, node in enumerate(self.nodes)}

        def noted(x: Any) -> Any:
            return _Of(number[x.node], x.output) if isinstance(x, Entry) else x

        rows = []
        for n in self.nodes:
            row = {f.name: getattr(n, f.name) for f in fields(n) if f.name != "serial"}
            rows.append(row | {"args": mapped(n.args, noted), "kwargs": mapped(n.kwargs, noted)})
        updates = [(number[n], noted(e)) for n, e in self.updates]
        outputs = [noted(e) for e in self.outputs]
        inputs = [number[n] for n in self.variables]
        return _rebuilt, (rows, outputs, inputs, updates, self.takes, self.gives)

    # -- inference

    def infer(self, **known: PartialShape | Spec) -> dict[Entry, Spec]:
        """Shape and dtype of each output of each node, given those of variables.

        Args:
            **known: shapes or specs (:func:`lazyarray.spec`) by the variables' names.
        Returns: a dict of specs by entry.
        Raises: ValueError, naming them, if the shapes of some variable neither are known nor
            follow, or contradict others; TypeError for a name that the graph hasn't; what a
            function refuses is its own error.
        """
        return inference.infer(self, known)

    def infer_shape(
        self, *args: PartialShape, **shapes: PartialShape
    ) -> tuple[Shapes, Shapes, Shapes]:
        """The shapes of arguments, outputs and auxiliary states, given those of some arguments.

        They are given by name, or in the order of ``list_arguments``. A length that is None has to
        follow from others; 0 is the length of an array without elements.

        Args:
            *args: shapes in the arguments' order; None: not known.
            **shapes: shapes by the arguments' names.
        Returns: three lists of tuples: of arguments, outputs, auxiliary states.
        Raises: what :meth:`infer` raises; TypeError for shapes both by name and in order, or too
            many.

        >>> import lazyarray as la
        >>> y = la.sym.nn.linear(la.sym.var("x"), la.sym.var("w", shape=(10, None)))
        >>> y.infer_shape(x=(2, 784))
        ([(2, 784), (10, 784)], [(2, 10)], [])
        """
        return self._inferred(self.infer(**self._listed(args, shapes)), "shape")

    def infer_shape_partial(
        self, *args: PartialShape, **shapes: PartialShape
    ) -> tuple[SomeShapes, SomeShapes, SomeShapes]:
        """As :meth:`infer_shape`, of what is known: where nothing is, the shape is None.

        As in MXNet a length of 0 (or None, or -1) is an unknown one, also in what is given back.

        Args:
            *args: shapes in the arguments' order; None: not known.
            **shapes: shapes by the arguments' names.
        Returns: three lists of tuples, or of None: of arguments, outputs, auxiliary states.
        Raises: ValueError for shapes that contradict others; TypeError for a name that the graph
            hasn't, and for shapes both by name and in order, or too many.

        >>> import lazyarray as la
        >>> y = la.sym.nn.linear(la.sym.var("x"), la.sym.var("w", shape=(10, None)))
        >>> y.infer_shape_partial(x=(0, 784))
        ([(0, 784), (10, 784)], [(0, 10)], [])
        """
        known = {
            name: [None if n in (0, -1) else n for n in ([s] if isinstance(s, int) else s)]
            for name, s in self._listed(args, shapes).items()
            if s is not None
        }
        return self._inferred(inference.infer_partial(self, known), "shape")

    def infer_type(self, *args: DTypeLike, **dtypes: DTypeLike) -> tuple[DTypes, DTypes, DTypes]:
        """The dtypes of arguments, outputs and auxiliary states, given those of some arguments.

        Where one dtype of floats is named, arguments of which none is said have that; else they are
        of float64. No shapes are needed, unless functions take none that could be made up.

        Args:
            *args: dtypes in the arguments' order; None: not known.
            **dtypes: dtypes by the arguments' names.
        Returns: three lists of dtypes: of arguments, outputs, auxiliary states.
        Raises: ValueError for dtypes that contradict others, or that don't follow without shapes;
            TypeError for what is no dtype, a name that the graph hasn't, and for dtypes both by
            name and in order, or too many.

        >>> import lazyarray as la
        >>> (la.sym.var("x") @ la.sym.var("w") > 0).infer_type(x="float32")[:2]
        ([dtype('float32'), dtype('float32')], [dtype('bool')])
        """
        return self._inferred(inference.infer_types(self, self._listed(args, dtypes)), "dtype")

    def _listed(self, args: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
        """What is given by name, or in the order of ``list_arguments`` (None: not known)."""
        names = self.list_arguments()
        if args and named:
            raise TypeError("arguments are given by name or in their order, not both")
        if len(args) > len(names):
            raise TypeError(f"{len(args)} are given for {len(names)} arguments, {names}")
        listed = named or dict(zip(names, args, strict=False))
        return {name: given for name, given in listed.items() if given is not None}

    def _inferred(
        self, specs: dict[Entry, Spec], what: str
    ) -> tuple[list[Any], list[Any], list[Any]]:
        def one(entry: Entry) -> Any:
            found = getattr(specs.get(entry, Spec()), what)
            # An unknown length, as MXNet writes it.
            return tuple([n or 0 for n in found]) if isinstance(found, tuple) else found

        return (
            [one(Entry(n)) for n in self.arguments],
            [one(e) for e in self.outputs],
            [one(Entry(n)) for n in self.aux],
        )

    # -- running it

    def run(
        self,
        arrays: Mapping[Node, NDArray],
        hear: Callable[[Entry, NDArray], object] | None = None,
        devices: Mapping[Node, Context] | None = None,
    ) -> list[NDArray]:
        """Calls the nodes' functions on arrays for the variables, and writes the updates.

        Args:
            arrays: an array for each variable, by its node.
            hear: ``hear(entry, array)`` is told each result.
            devices: on which device a node makes arrays, by the node; others do so on the current
                one.
        Returns: a list of arrays: the outputs.
        Raises: KeyError if a variable has no array; what a node's function raises, with a note of
            the node and its line.
        """
        return running.run(self, arrays, hear, devices)

    def eval(self, ctx: DeviceLike = None, **arguments: ArrayLike) -> list[NDArray]:
        """The outputs for arrays given by the variables' names, computed at once, node by node.

        Args:
            ctx: the device that it is computed on; None: the arrays' own, and the current one for
                new ones.
            **arguments: an array for each variable.
        Returns: a list of arrays: the outputs.
        Raises: TypeError if arguments are missing or unknown; ValueError for what is no device;
            what a node's function raises, with a note of the node and its line.

        >>> import lazyarray as la
        >>> graph = (la.sym.var("x") * 2).graph
        >>> graph.eval(x=la.arange(3))[0].asnumpy()
        array([0, 2, 4])
        """
        device = as_device(ctx)
        arrays = self.named(arguments, "eval")
        given = {n: _rows.asarray(arrays[n.name]) for n in self.variables}
        if device is None:
            return self.run(given)
        with Context(device.device_type, device.device_id):
            return self.run({n: memory.to_device(x, device) for n, x in given.items()})

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """What the traced function gives for these arguments; else as :meth:`eval`."""
        return running.called_with(self, args, kwargs)

    def named(self, arrays: Mapping[str, _T], what: str) -> dict[str, _T]:
        """Arrays by the names of all variables.

        Args:
            arrays: a dict of arrays by name.
            what: who asks, for the error.
        Returns: a dict of the same arrays, in the variables' order.
        Raises: TypeError if some are missing or unknown.
        """
        names = self.list_inputs()
        missing = [n for n in names if n not in arrays]
        unknown = [n for n in arrays if n not in names]
        if missing or unknown:
            problem = f"lacks {missing}" if missing else f"has no arguments {unknown}"
            raise TypeError(f"{what}: the graph {problem}; its arguments are {names}")
        return {n: arrays[n] for n in names}

    # -- executors

    def bind(
        self,
        ctx: DeviceLike,
        args: Mapping[str, NDArray] | Sequence[NDArray],
        args_grad: Mapping[str, NDArray | None] | Sequence[NDArray | None] | None = None,
        grad_req: str | Mapping[str, str] | Sequence[str] = "write",
        aux_states: Mapping[str, NDArray] | Sequence[NDArray] | None = None,
        group2ctx: Mapping[str, DeviceLike] | None = None,
        shared_exec: Executor | None = None,
    ) -> Executor:
        """An :class:`lazyarray.Executor` that computes the graph from given arrays, by reference.

        Args:
            ctx: the device of the arrays; None: :func:`current_context`.
            args: the arguments' arrays: a list, in the order of ``list_arguments``, or a dict by
                name.
            args_grad: the arrays that collect gradients, likewise; None, also in the list: there is
                none.
            grad_req: "write", "add" or "null", for all or in a list or by name; without an array in
                ``args_grad`` it is "null".
            aux_states: the auxiliary states' arrays, likewise.
            group2ctx: on which device nodes with a ``ctx_group`` run, by the group's name.
            shared_exec: an executor whose memory for intermediates is used: the two then run one
                after the other.
        Returns: an :class:`Executor`.
        Raises: TypeError for arrays that are missing, unknown or no arrays, and for the gradient of
            what isn't floats; ValueError for a shape or device that doesn't fit, a gradient that
            can't be written or is of another shape or dtype than its argument, and for another
            ``grad_req``.

        >>> import lazyarray as la
        >>> x = la.array([1.0, 2.0])
        >>> e = la.sym.square(la.sym.var("x")).bind(la.cpu(), [x])
        >>> e.forward()[0].asnumpy()
        array([1., 4.])
        """
        return binding.bind(
            self, ctx, args, args_grad, grad_req, aux_states, group2ctx, shared_exec
        )

    def simple_bind(
        self,
        ctx: DeviceLike = None,
        grad_req: str | Mapping[str, str] | Sequence[str] = "write",
        type_dict: Mapping[str, DTypeLike] | None = None,
        group2ctx: Mapping[str, DeviceLike] | None = None,
        shared_exec: Executor | None = None,
        **shapes: PartialShape,
    ) -> Executor:
        """An :class:`lazyarray.Executor` on new arrays of zeros, whose shapes follow from some.

        Arguments that aren't floats have no gradient.

        Args:
            ctx: the device of the arrays; None: :func:`current_context`.
            grad_req: "write", "add" or "null", for all or in a list or by name.
            type_dict: dtypes by name; float64 is the default.
            group2ctx: on which device nodes with a ``ctx_group`` run, by the group's name.
            shared_exec: an executor whose memory for intermediates is used.
            **shapes: shapes by the arguments' names.
        Returns: an :class:`Executor`.
        Raises: what :meth:`infer` raises; ValueError for another ``grad_req``.

        >>> import lazyarray as la
        >>> x, w = la.sym.var("x"), la.sym.var("w")
        >>> e = (x * w).sum().simple_bind(la.cpu(), x=(3,), w=(3,))
        >>> e.arg_dict["x"][:] = 2
        >>> e.forward(is_train=True)[0].item()
        0.0
        >>> e.backward()
        >>> e.grad_dict["w"].asnumpy()
        array([2., 2., 2.])
        """
        return binding.simple_bind(self, ctx, grad_req, type_dict, group2ctx, shared_exec, shapes)
