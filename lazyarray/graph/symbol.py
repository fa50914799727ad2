"""Symbol: outputs of nodes, on which operators and functions build further nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, overload

import numpy as np

from lazyarray._docstrings import told_as
from lazyarray._ndarray import NDArray
from lazyarray.graph import registry
from lazyarray.graph.graph import Graph
from lazyarray.graph.nodes import (
    CONST,
    VAR,
    Entry,
    Node,
    Spec,
    caller,
    checked_leaf,
    mapped,
    shape_of,
)
from lazyarray.graph.operators import raised
from lazyarray.graph.outputs import number_of_outputs
from lazyarray.graph.parameters import complete, states
from lazyarray.graph.scopes import AttrScope, NameManager, checked_attributes
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops._rows import Row, array, expect_symbols
from lazyarray.ops.names import power
from lazyarray.ops.operators import METHODS, REFLECTED

if TYPE_CHECKING:
    from lazyarray._types import (
        ArrayLike,
        Axis,
        DeviceLike,
        DTypeLike,
        File,
        PartialShape,
        ShapeLike,
    )
    from lazyarray.graph.executor import Executor
    from lazyarray.graph.nodes import DTypes, Shapes, SomeShapes

__all__ = ["Group", "Symbol", "Variable", "fromjson", "load", "var"]


class Symbol:
    """A value that a graph will compute: one output of a node, or several.

    Operators, NDArray's methods, indexing, lazyarray's functions (those of ``la.sym`` also take
    names and attributes) and NumPy's own build new nodes of it. Of several outputs ``symbol[i]`` or
    ``symbol["name"]`` is one, and iteration gives each.

    >>> import lazyarray as la
    >>> x = la.sym.var("x")
    >>> y = la.clip(x * x, 0, 1).sum(axis=0)
    >>> y.list_arguments()
    ['x']
    >>> y.eval(x=la.ones((2, 3)))[0].asnumpy()
    array([2., 2., 2.])
    """

    __slots__ = ("_entries",)
    __array_priority__ = 2000.0

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries: tuple[Entry, ...] = tuple(entries)

    # -- what it is

    @property
    def name(self) -> str | None:
        """The name of its node; None for outputs of several nodes."""
        nodes = {id(e.node) for e in self._entries}
        return self._entries[0].node.name if len(nodes) == 1 else None

    @property
    def graph(self) -> Graph:
        """The graph that computes it."""
        return Graph(self._entries)

    def attr(self, key: str) -> str | None:
        """An attribute of its node.

        Args:
            key: the attribute's name.
        Returns: a str; None if the node hasn't it.
        Raises: ValueError for outputs of which there are several.
        """
        return self._only("attr").node.attributes.get(key)

    def list_attr(self) -> dict[str, str]:
        """The attributes of its node.

        Returns: a dict of str by str.
        Raises: ValueError for outputs of which there are several.
        """
        return dict(self._only("list_attr").node.attributes)

    def attr_dict(self) -> dict[str, dict[str, str]]:
        """The attributes of all nodes that have any, by their names.

        Returns: a dict of dicts of str by str.
        Raises: nothing.

        >>> import lazyarray as la
        >>> y = la.sym.exp(la.sym.var("x", attr={"lr_mult": "2"}), name="y")
        >>> y.attr_dict()
        {'x': {'lr_mult': '2'}}
        """
        return {n.name: dict(n.attributes) for n in self.graph.nodes if n.attributes}

    @told_as(Graph.list_arguments)
    def list_arguments(self) -> list[str]:
        """The names of the variables that it is computed from, but for the auxiliary ones."""
        return self.graph.list_arguments()

    @told_as(Graph.list_auxiliary_states)
    def list_auxiliary_states(self) -> list[str]:
        """The names of the variables that computing it writes."""
        return self.graph.list_auxiliary_states()

    @told_as(Graph.list_inputs)
    def list_inputs(self) -> list[str]:
        """The names of all variables."""
        return self.graph.list_inputs()

    @told_as(Graph.list_outputs)
    def list_outputs(self) -> list[str]:
        """The names of its outputs."""
        return self.graph.list_outputs()

    def get_internals(self) -> Symbol:
        """All outputs of all nodes, to pick one: ``net.get_internals()["fc1_output"]``.

        Returns: a :class:`Symbol` of several outputs.
        Raises: nothing.

        >>> import lazyarray as la
        >>> y = la.sym.exp(la.sym.sin(la.sym.var("x"), name="s"), name="y")
        >>> y.get_internals()
        <Symbol group [x, s_output, y_output]>
        """
        return Symbol([e for node in self.graph.nodes for e in node.results])

    def get_children(self) -> Symbol | None:
        """What its nodes take, each node's once.

        Returns: a :class:`Symbol`; None if that is nothing.
        Raises: nothing.

        >>> import lazyarray as la
        >>> la.sym.exp(la.sym.sin(la.sym.var("x"), name="s")).get_children()
        <Symbol s_output>
        """
        nodes = dict.fromkeys([head.node for head in self._entries])
        found = [e for node in nodes for e in node.inputs]
        return Symbol(found) if found else None

    @told_as(Graph.infer_shape)
    def infer_shape(
        self, *args: PartialShape, **shapes: PartialShape
    ) -> tuple[Shapes, Shapes, Shapes]:
        """Shapes of arguments, outputs and auxiliary states, given those of some arguments."""
        return self.graph.infer_shape(*args, **shapes)

    @told_as(Graph.infer_shape_partial)
    def infer_shape_partial(
        self, *args: PartialShape, **shapes: PartialShape
    ) -> tuple[SomeShapes, SomeShapes, SomeShapes]:
        """The same of what is known: see :meth:`lazyarray.Graph.infer_shape_partial`."""
        return self.graph.infer_shape_partial(*args, **shapes)

    @told_as(Graph.infer_type)
    def infer_type(self, *args: DTypeLike, **dtypes: DTypeLike) -> tuple[DTypes, DTypes, DTypes]:
        """Dtypes of arguments, outputs and auxiliary states, given those of some arguments."""
        return self.graph.infer_type(*args, **dtypes)

    @told_as(Graph.tojson)
    def tojson(self) -> str:
        """The graph as JSON, which :func:`lazyarray.sym.fromjson` reads."""
        return self.graph.tojson()

    @told_as(Graph.save)
    def save(self, file: File) -> None:
        """Writes the graph as JSON to a file."""
        self.graph.save(file)

    def debug_str(self) -> str:
        """The graph, a line for each node.

        Returns: a str of several lines.
        Raises: nothing.
        """
        return str(self.graph)

    # -- running it

    @told_as(Graph.eval)
    def eval(self, ctx: DeviceLike = None, **arguments: ArrayLike) -> list[NDArray]:
        """Its outputs for arrays given by the arguments' names, computed at once, node by node."""
        return self.graph.eval(ctx, **arguments)

    @told_as(Graph.bind)
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
        """An executor on given arrays, by reference: see :meth:`lazyarray.Graph.bind`."""
        return self.graph.bind(ctx, args, args_grad, grad_req, aux_states, group2ctx, shared_exec)

    @told_as(Graph.simple_bind)
    def simple_bind(
        self,
        ctx: DeviceLike = None,
        grad_req: str | Mapping[str, str] | Sequence[str] = "write",
        type_dict: Mapping[str, DTypeLike] | None = None,
        group2ctx: Mapping[str, DeviceLike] | None = None,
        shared_exec: Executor | None = None,
        **shapes: PartialShape,
    ) -> Executor:
        """An executor on new arrays of zeros: see :meth:`lazyarray.Graph.simple_bind`."""
        return self.graph.simple_bind(ctx, grad_req, type_dict, group2ctx, shared_exec, **shapes)

    # -- Python's protocols

    def _repr_html_(self) -> str:
        return self.graph._repr_html_()

    def __repr__(self) -> str:
        if len(self._entries) == 1:
            return f"<Symbol {self.list_outputs()[0]}>"
        return f"<Symbol group [{', '.join(self.list_outputs())}]>"

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Symbol]:
        if len(self._entries) == 1 and not self._entries[0].node.outputs:
            raise TypeError(
                "a Symbol of one output has no items: its shape isn't known. If it stands for "
                "several, give num_outputs= to the function that makes it"
            )
        return (Symbol([e]) for e in self._entries)

    def __getitem__(self, key: object) -> Symbol:
        if len(self._entries) == 1 and not self._entries[0].node.outputs:
            return apply("getitem", (self,), {"key": key})
        if isinstance(key, str):
            found = [e for e, n in zip(self._entries, self.list_outputs(), strict=True) if n == key]
            if len(found) != 1:
                raise ValueError(f"{len(found)} outputs are called {key!r}: {self.list_outputs()}")
            return Symbol(found)
        if isinstance(key, slice):
            return Symbol(self._entries[key])
        if not isinstance(key, int):
            raise TypeError(f"outputs are picked by name or number, not by {key!r}")
        return Symbol([self._entries[key]])

    def __setitem__(self, key: object, value: object) -> NoReturn:
        raise TypeError(
            "a Symbol is a value, which doesn't change: use la.sym.setitem(x, value, key=...)"
        )

    def __bool__(self) -> NoReturn:
        raise TypeError("a Symbol has no value yet: it can't decide what is built")

    def __float__(self) -> NoReturn:
        raise TypeError("a Symbol has no value yet: bind or eval it")

    __int__ = __complex__ = __index__ = __float__

    def __hash__(self) -> int:
        return hash(self._entries[0])

    if TYPE_CHECKING:  # the operators, which the table below makes

        def _unary(self) -> Symbol: ...
        def _binary(self, other: ArrayLike, /) -> Symbol: ...

        __neg__ = __pos__ = __abs__ = __invert__ = _unary
        __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = _binary
        __divmod__ = __pow__ = __matmul__ = __and__ = __or__ = __xor__ = __lshift__ = _binary
        __rshift__ = __lt__ = __le__ = __gt__ = __ge__ = _binary
        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = _binary
        __rdivmod__ = __rpow__ = __rmatmul__ = __rand__ = __ror__ = __rxor__ = _binary
        __rlshift__ = __rrshift__ = _binary

        def __eq__(self, other: object, /) -> Symbol: ...  # type: ignore[override]
        def __ne__(self, other: object, /) -> Symbol: ...  # type: ignore[override]

    def _only(self, what: str) -> Entry:
        if len(self._entries) != 1:
            raise ValueError(f"{what} is of one output, not of {len(self._entries)}: pick one")
        return self._entries[0]

    # -- NDArray's methods

    @property
    def T(self) -> Symbol:
        """With the axes reversed."""
        return apply("transpose", (self,), {})

    @property
    def mT(self) -> Symbol:
        """With the last two axes exchanged."""
        return apply("matrix_transpose", (self,), {})

    @property
    def real(self) -> Symbol:
        """The real part."""
        return apply("real", (self,), {})

    @property
    def imag(self) -> Symbol:
        """The imaginary part."""
        return apply("imag", (self,), {})

    def reshape(self, *shape: ShapeLike, order: str = "C") -> Symbol:
        """The same elements in another shape.

        Args:
            *shape: the lengths of the axes: ints or a tuple.
            order: in which order elements are read and placed: "C", "F" or "A".
        Returns: a :class:`Symbol`.
        Raises: nothing; running or inferring it raises ValueError for a shape of another size.
        """
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return apply("reshape", (self, tuple(wanted)), {"order": order})

    def transpose(self, *axes: Axis) -> Symbol:
        """With the axes permuted, reversed by default.

        Args:
            *axes: the axes in their new order: ints or a tuple; none: reversed.
        Returns: a :class:`Symbol`.
        Raises: nothing; running or inferring it raises ValueError for axes that don't fit.
        """
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
            axes = tuple(axes[0] or ())
        return apply("transpose", (self, axes or None), {})

    def astype(self, dtype: DTypeLike) -> Symbol:
        """As another dtype.

        Args:
            dtype: the dtype.
        Returns: a :class:`Symbol`.
        Raises: nothing; running or inferring it raises TypeError for what is no dtype.
        """
        return apply("astype", (self, dtype), {})

    def var(self, *args: object, **kwargs: object) -> Symbol:
        """The variance over axes.

        Args:
            *args: those of :meth:`lazyarray.NDArray.var`.
            **kwargs: the same, by name.
        Returns: a :class:`Symbol`.
        Raises: TypeError for an argument that ``var`` doesn't have.
        """
        return apply("var", (self, *args), kwargs)

    def compress(self, condition: ArrayLike, axis: int | None = None) -> Symbol:
        """The entries along an axis for which a condition is true.

        Args:
            condition: a mask along the axis.
            axis: the axis; None: of the flattened array.
        Returns: a :class:`Symbol`.
        Raises: nothing; running it raises IndexError for an axis that there isn't.
        """
        return apply("compress", (condition, self), {"axis": axis})

    def __getattr__(self, name: str) -> Callable[..., Symbol]:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in _IN_PLACE:
            raise AttributeError(f"a Symbol is a value, which doesn't change: it has no {name}")
        if name in _OF_ARRAYS or not callable(getattr(NDArray, name, None)):
            hint = ": ask infer_shape for it" if name in ("shape", "ndim", "size", "dtype") else ""
            raise AttributeError(f"a Symbol has no {name}{hint}")
        op = name if registry.known(name) else f"ndarray.{name}"

        def method(*args: Any, **kwargs: Any) -> Symbol:
            return apply(op, (self, *args), kwargs)

        return method

    # -- NumPy's protocols

    # Where NumPy looks for values. An ``__array__`` would make Symbols operands of NDArray's
    # operators, which leave them to the Symbol's own.
    @property
    def __array_interface__(self) -> NoReturn:
        raise TypeError("a Symbol has no values: build on it with the functions of la.sym")

    def __lazyarray_function__(
        self, name: str, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> Symbol:
        """A call of a public function: ``la.exp(symbol)``."""
        if not registry.known(name):
            raise TypeError(f"la.{name} is no op of graphs: it takes no Symbol")
        return apply(name, args, kwargs)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object
    ) -> Symbol:
        if method != "__call__":
            raise TypeError(
                f"np.{ufunc.__name__}.{method} can't be built: call the functions of la.sym"
            )
        return apply(ufunc.__name__, inputs, kwargs)

    def __array_function__(
        self,
        func: Callable[..., object],
        types: object,
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> Symbol:
        space = func.__module__.partition(".")[2]
        return apply(f"{space}.{func.__name__}" if space else func.__name__, args, kwargs)


_IN_PLACE = {"fill", "sort", "partition", "put", "resize", "setflags"}
_OF_ARRAYS = set(
    """asnumpy asscalar attach_grad backward copyto dump dumps item tobytes tofile tolist
    wait_to_read wait_to_write""".split()
)


def _binary(op: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(self: Symbol, other: Any) -> Any:
        return apply(op, (self, other), {})

    def backward(self: Symbol, other: Any) -> Any:
        return apply(op, (other, self), {})

    return forward, backward


def _unary(op: str) -> Callable[[Symbol], Any]:
    return lambda self: apply(op, (self,), {})


def _named(row: Row) -> str:
    """The function of an operator: a power asks as it runs whether it is a square."""
    return raised.__name__ if row is power else row.name


for _name, _row in METHODS.items():
    _made: Any = _unary(_named(_row)) if _row.ufunc.nin == 1 else _binary(_named(_row))[0]
    setattr(Symbol, _name, _made)
for _name, _row in REFLECTED.items():
    setattr(Symbol, _name, _binary(_named(_row))[1])


expect_symbols()


# ---- building -----------------------------------------------------------------------------------


def apply(
    op: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    name: str | None = None,
    attr: dict[str, str] | None = None,
    num_outputs: int | None = None,
) -> Symbol:
    """The outputs of a new node that calls ``op``."""
    op = registry.canonical(op)
    attributes = AttrScope.current() | checked_attributes(attr or {})
    named = NameManager.current().get(name, op.rpartition(".")[2].lower())

    def parameter(of: str, shape: Any) -> Symbol:
        return Variable(f"{named}_{of}", shape=shape)

    args, kwargs = complete(op, args, kwargs, parameter)
    positional, keywords = registry.normal_form(op, mapped(args, leaf), mapped(kwargs, leaf))
    for state in states(op, positional, keywords):
        state.aux = True
    outputs = num_outputs or number_of_outputs(op, positional, keywords)
    if outputs < 0:
        raise ValueError(f"a node has no {outputs} outputs")
    node = Node(op, named, positional, keywords, outputs, attributes, caller())
    return Symbol(node.results)


def leaf(x: Any) -> Any:
    """A leaf of a call's arguments as nodes keep it: Symbols as entries, arrays as constants."""
    if isinstance(x, Symbol):
        return x._only("an argument")
    if isinstance(x, (Tensor, np.ndarray)):
        return Entry(constant(x))
    return checked_leaf(x)


def constant(x: Any) -> Node:
    """A node that is an array: itself if it is an NDArray."""
    value = x if isinstance(x, Tensor) else array(x)
    return Node(CONST, NameManager.current().get(None, "const"), value=value, line=caller())


def Variable(
    name: str,
    attr: dict[str, str] | None = None,
    shape: PartialShape = None,
    dtype: DTypeLike = None,
    aux: bool = False,
) -> Symbol:
    """A variable: an argument of graphs that it is used in, or (``aux``) a state that they write.

    Its other name is ``var``.

    Args:
        name: what it is called.
        attr: attributes, strings by their names.
        shape: its shape; a length that is to be inferred may be None (or, as in MXNet, 0).
        dtype: its dtype.
        aux: whether it is a state.
    Returns: a :class:`Symbol`.
    Raises: TypeError for a name that is no string.

    >>> import lazyarray as la
    >>> la.sym.Variable("x", shape=(2, 3), dtype="float32")
    <Symbol x>
    """
    if not isinstance(name, str) or not name:
        raise TypeError(f"a variable's name is a string, not {name!r}")
    known = Spec(
        None if shape is None else tuple([n or None for n in shape_of(shape, partial=True)]),
        None if dtype is None else np.dtype(dtype),
    )
    attributes = AttrScope.current() | checked_attributes(attr or {})
    node = Node(VAR, name, spec=known, aux=bool(aux), attributes=attributes, line=caller())
    return Symbol([Entry(node)])


@overload
def var(
    name: str,
    attr: dict[str, str] | None = None,
    shape: PartialShape = None,
    dtype: DTypeLike = None,
    aux: bool = False,
) -> Symbol: ...
@overload
def var(x: Symbol, /, *args: object, **kwargs: object) -> Symbol: ...
def var(*args: Any, **kwargs: Any) -> Symbol:
    """A variable, ``var("x", shape=(2, 3))``: see :func:`Variable`; of a Symbol the variance.

    Args:
        args: those of :func:`Variable`, or a Symbol and those of NumPy's ``var``.
        kwargs: the same, by name.
    Returns: a :class:`Symbol`.
    Raises: TypeError for a name that is no string.

    >>> import lazyarray as la
    >>> x = la.sym.var("x")
    >>> la.sym.var(x, axis=0).eval(x=la.array([1.0, 3.0]))[0].item()
    1.0
    """
    first = args[0] if args else kwargs.get("name")
    if isinstance(first, str):
        return Variable(*args, **kwargs)
    own = {key: kwargs.pop(key) for key in ("name", "attr") if key in kwargs}
    return apply("var", args, kwargs, **own)


def Group(symbols: Iterable[Symbol]) -> Symbol:
    """The outputs of several symbols as one.

    Args:
        symbols: a sequence of Symbols.
    Returns: a :class:`Symbol` of all their outputs.
    Raises: TypeError for what is no Symbol.

    >>> import lazyarray as la
    >>> x = la.sym.var("x")
    >>> la.sym.Group([x, x + 1]).list_arguments()
    ['x']
    """
    listed = list(symbols)
    for s in listed:
        if not isinstance(s, Symbol):
            raise TypeError(f"a Group is made of Symbols, not of {type(s).__name__}")
    return Symbol([e for s in listed for e in s._entries])


def fromjson(text: str) -> Symbol:
    """The outputs of a graph in JSON.

    Args:
        text: what ``tojson`` gave.
    Returns: a :class:`Symbol`.
    Raises: ValueError for what is no graph, and as :func:`load`.

    >>> import lazyarray as la
    >>> la.sym.fromjson(la.sym.exp(la.sym.var("x"), name="y").tojson())
    <Symbol y_output>
    """
    return _outputs_of(Graph.fromjson(text), "fromjson")


def load(file: File) -> Symbol:
    """The outputs of a graph that ``save`` wrote to a file.

    Args:
        file: a path, or an open file.
    Returns: a :class:`Symbol`.
    Raises: OSError if the file can't be read; ValueError for what is no graph, and for a traced one
        that writes auxiliary states besides: that is for :meth:`lazyarray.Graph.load`.

    >>> import io, lazyarray as la
    >>> file = io.StringIO()
    >>> la.sym.var("x").save(file)
    >>> _ = file.seek(0)
    >>> la.sym.load(file)
    <Symbol x>
    """
    return _outputs_of(Graph.load(file), "load")


def _outputs_of(graph: Graph, name: str) -> Symbol:
    if graph.updates:  # no output leads to them
        states = ", ".join([repr(node.name) for node, _ in graph.updates])
        raise ValueError(f"a Symbol would not write {states}, as the graph does: la.Graph.{name}")
    return Symbol(graph.outputs)
