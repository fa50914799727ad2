"""``la.compile``: functions whose ops are captured once for each kind of call, then replayed."""

from __future__ import annotations

import sys
import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import update_wrapper
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.autograd._walk import walk
from lazyarray.lazy._lazy import (
    Program,
    Tensor,
    TracingError,
    attach_leaf,
    call_key,
    is_capturing,
    is_dense,
    is_leaf,
    is_recording,
    note_call,
    note_constant,
    recorded,
    tracked,
)
from lazyarray.ops import creation
from lazyarray.ops._layout import k_order, new
from lazyarray.ops._rows import array

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

__all__ = ["compile", "Compiled", "CompileWarning"]


class CompileWarning(UserWarning):
    """A compiled function runs op by op, because what it does depends on values."""


# ---- arguments and results as trees -------------------------------------------------------------


class _Leaf:
    """A mark, such as for the place of an array in a tree."""

    __slots__ = ()


# Of an array that nobody but us holds: two lists, and what goes over one of them.
_REFERENCES = 3

_LEAF, _CLASH = _Leaf(), _Leaf()


def flattened(tree: Any, leaves: list[Any]) -> Any:
    """A copy of nested lists, tuples and dicts with marks for arrays, which go to ``leaves``."""
    if isinstance(tree, (Tensor, np.ndarray)):
        leaves.append(tree)
        return _LEAF
    if type(tree) in (list, tuple):
        return type(tree)([flattened(t, leaves) for t in tree])
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):  # a named one
        return type(tree)(*[flattened(t, leaves) for t in tree])
    if type(tree) is dict:
        return {key: flattened(t, leaves) for key, t in tree.items()}
    return tree


def filled(tree: Any, leaves: Any) -> Any:
    """The tree with the next of ``leaves``, an iterator, in the place of each mark."""
    if tree is _LEAF:
        return next(leaves)
    if type(tree) in (list, tuple):
        return type(tree)([filled(t, leaves) for t in tree])
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*[filled(t, leaves) for t in tree])
    if type(tree) is dict:
        return {key: filled(t, leaves) for key, t in tree.items()}
    return tree


def _frozen(tree: Any) -> Hashable:
    """A key for a tree: its structure, and the values that are no arrays."""
    if type(tree) in (list, tuple) or isinstance(tree, tuple):
        return (type(tree), tuple([_frozen(t) for t in tree]))
    if type(tree) is dict:
        return (dict, tuple([(key, _frozen(t)) for key, t in tree.items()]))
    if isinstance(tree, (float, complex)):
        return (type(tree), repr(tree))  # 0.0 and -0.0 are not the same, and NaN is
    return (type(tree), tree)  # nor are 1, 1.0 and True


# ---- one captured call --------------------------------------------------------------------------


class _Replay:
    """What a call with one signature became."""

    def __init__(self, function: Callable[..., Any], tree: Any, arrays: list[NDArray]) -> None:
        self._function, self._tree = function, tree
        # The arrays that are by reference, because they collect gradients: weights, mostly.
        self._fixed = [x if is_leaf(x) else None for x in arrays]
        stand_ins = [
            new(x.shape, x.dtype, k_order([x], x.ndim), x.device) if fixed is None else x
            for x, fixed in zip(arrays, self._fixed, strict=True)
        ]
        self._given = [i for i, fixed in enumerate(self._fixed) if fixed is None]
        inputs = [stand_ins[i] for i in self._given]
        self._followed = [i for i in self._given if is_recording() and tracked(arrays[i])]
        for i in self._followed:
            attach_leaf(stand_ins[i], stand_ins[i], "null")
        for i in self._given:
            if not arrays[i].flags.writeable:
                stand_ins[i].setflags(write=False)
        self.program = program = Program()
        outputs: list[NDArray] = []
        self._heads: list[int] = []
        self._constants: list[int] = []  # recorded, but don't change with the arguments
        self._outside: list[NDArray] = []
        with program:
            args, kwargs = filled(tree, iter(stand_ins))
            self._result = flattened(function(*args, **kwargs), outputs)
            made = [y for y in outputs if isinstance(y, Tensor) and program.bore(y)]
            if max(map(sys.getrefcount, made), default=0) > _REFERENCES:
                warnings.warn(
                    f"{_name_of(function)} keeps an array that it returns: what was kept has no "
                    "value, as each call returns a new array. Keep what the call gives",
                    CompileWarning,
                    stacklevel=4,
                )
            outputs = [y if isinstance(y, Tensor) else array(y) for y in outputs]
            if program.writes_tracked():
                raise TracingError(
                    "an argument or an array from outside is written with values that gradients "
                    "are taken of"
                )
            # What shares memory with an argument, or is used by reference, is given as that.
            self._heads = [
                i
                for i, y in enumerate(outputs)
                if is_recording() and tracked(y) and program.bore(y)
            ]
            self._constants = [
                i
                for i, y in enumerate(outputs)
                if is_recording() and recorded(y) and not tracked(y) and program.bore(y)
            ]
            if self._heads or self._constants:
                self._outside = program.tracked_outside()
            shown = {program.chunk_of(y) for y in outputs}
            # The arguments whose memory the caller can see again: no copies may be in their place.
            self.seen = {
                i
                for i in self._given
                if program.touches(stand_ins[i]) or program.chunk_of(stand_ins[i]) in shown
            }
            if not self._heads:
                program.finish_calls([inputs], [outputs])
                return
            self._impure = program.impure()
            program.split()
            seeds = [new(outputs[i].shape, outputs[i].dtype) for i in self._heads]
            variables = [stand_ins[i] for i in self._followed] + self._outside
            found = walk([outputs[i] for i in self._heads], seeds, variables, False, False)
            # What nothing leads to has no gradient; the others' are outputs of the second phase.
            self._reached = [i for i, g in enumerate(found) if g is not None]
            gradients = [found[i].copy() for i in self._reached]
        for i in self._followed:
            attach_leaf(stand_ins[i], None, "null")
        program.finish_calls([inputs, seeds], [outputs, gradients])
        self._kept = program.read_after(0)
        # The arguments that the gradient reads; if the function runs again, it reads them all.
        self._read = [i for i, x in enumerate(stand_ins) if program.uses_after(x, 0)]

    def __call__(self, arrays: Any) -> Any:
        """The call's result, or ``_CLASH`` if its arrays share memory."""
        begun = self.program.begin([arrays[i] for i in self._given])
        if begun is None:
            return _CLASH
        call, outputs = begun
        if self._heads:
            self._note(call, arrays, outputs)
        if self._constants:
            given = [*[arrays[i] for i in self._followed], *self._outside]
            note_constant(given, [outputs[i] for i in self._constants])
        return outputs[0] if self._result is _LEAF else filled(self._result, iter(outputs))

    def _note(self, call: Any, arrays: Any, outputs: list[NDArray]) -> None:
        followed = [arrays[i] for i in self._followed]
        many = len(followed) + len(self._outside)
        again = [] if self._impure else arrays

        def rule(gradients: list[Any], saved: list[Any]) -> list[Any]:
            if is_recording():
                return self._again(saved[first:], gradients)
            heads = [
                creation.zeros_like(y) if g is None else _like(g, y)
                for g, y in zip(gradients, heads_like, strict=True)
            ]
            found = call.go_on(heads)
            results: list[Any] = [None] * many
            for i, g in zip(self._reached, found, strict=True):
                results[i] = g
            return results

        saves = [*[arrays[i] for i in self._read], *self._kept]
        first = len(saves)
        heads_like = self.program.inputs[1]  # type: ignore[index]
        note_call(
            _name_of(self._function),
            rule,
            [*followed, *self._outside],
            [outputs[i] for i in self._heads],
            saves,
            again,
        )

    def _again(self, arrays: list[NDArray], gradients: list[Any]) -> list[Any]:
        """The gradients as recorded ops, for those of higher order: the function runs op by op."""
        if self._impure:
            raise NotImplementedError(
                f"gradients of gradients run {_name_of(self._function)} again, which draws random "
                "numbers or writes arrays in place: take them without la.compile"
            )
        args, kwargs = filled(self._tree, iter(arrays))
        outputs: list[Any] = []
        flattened(self._function(*args, **kwargs), outputs)
        heads, seeds = [], []
        for i, g in zip(self._heads, gradients, strict=True):
            if g is not None:
                heads.append(outputs[i])
                seeds.append(g)
        variables = [arrays[i] for i in self._followed] + self._outside
        return walk(heads, seeds, variables, True, True)


def _name_of(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _like(g: NDArray, y: NDArray) -> NDArray:
    """``g`` laid out as ``y`` is: in C order."""
    return g if g.strides == y.strides else g.copy()


# ---- the function -------------------------------------------------------------------------------

_MOST = 128  # replays that one function keeps


class Compiled:
    """A compiled function: see :func:`compile`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._name: str | None = None  # as an attribute of a class
        self._object: Any = None  # whose method it is
        self._replays: OrderedDict[Hashable, _Replay | None] = OrderedDict()
        update_wrapper(self, function)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        # A method: one compiled function for each object.
        if instance is None:
            return self
        name = self._name or _name_of(self._function)
        kept = getattr(instance, "__dict__", None)
        if kept is None:
            raise TypeError(
                f"{type(instance).__name__}.{name} can't be compiled: its objects have no __dict__"
            )
        bound = kept.get(name)
        # A copy of an object has its __dict__, but is not what that was made for.
        if bound is None or (isinstance(bound, Compiled) and bound._object is not instance):
            bound = kept[name] = Compiled(self._function.__get__(instance, owner))
            bound._object = instance
        return bound

    def __set_name__(self, owner: Any, name: str) -> None:
        self._name = name

    def __set__(self, instance: Any, value: Any) -> None:
        # With this __get__ is asked before an object's __dict__.
        instance.__dict__[self._name or _name_of(self._function)] = value

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if is_capturing():  # it becomes part of what is captured
            return self._function(*args, **kwargs)
        key: Hashable = None if kwargs else call_key(args)
        arrays: Any = args
        tree: Any = None
        copies: set[int] = set()
        if key is None:
            tree, arrays, copies = self._taken_apart(args, kwargs)
            key = (_frozen(tree), call_key(arrays))
        replay = self._replays.get(key, self)
        if replay is self or (isinstance(replay, _Replay) and not replay.program.stands()):
            if tree is None:
                tree, arrays, copies = self._taken_apart(args, kwargs)
            replay = self._capture(key, tree, arrays)
        result = _CLASH
        if isinstance(replay, _Replay) and not (copies and copies & replay.seen):
            result = replay(arrays)
        return self._function(*args, **kwargs) if result is _CLASH else result

    def _taken_apart(self, args: Any, kwargs: Any) -> tuple[Any, list[NDArray], set[int]]:
        """The arguments as a tree and its arrays, without gaps; which of them are copies."""
        leaves: list[Any] = []
        tree = flattened((args, kwargs), leaves)
        try:
            hash(_frozen(tree))
        except TypeError as exc:
            raise TypeError(
                f"the arguments of a compiled function are arrays, nested lists, tuples and dicts "
                f"of them, and hashable constants: {exc}"
            ) from None
        arrays = [x if isinstance(x, Tensor) else array(x) for x in leaves]
        copies = {i for i, x in enumerate(arrays) if not is_dense(x) and not is_leaf(x)}
        return tree, [x.copy() if i in copies else x for i, x in enumerate(arrays)], copies

    def _capture(self, key: Hashable, tree: Any, arrays: list[NDArray]) -> _Replay | None:
        replay: _Replay | None = None
        try:
            replay = _Replay(self._function, tree, arrays)
        except TracingError as exc:
            warnings.warn(
                f"{_name_of(self._function)} runs op by op: {exc}", CompileWarning, stacklevel=3
            )
        self._replays[key] = replay
        if len(self._replays) > _MOST:
            self._replays.popitem(last=False)
        return replay

    def memory(self) -> list[dict[str, int]]:
        """Of each kind of call so far, what its intermediates need: see ``Program.memory``."""
        return [r.program.memory() for r in self._replays.values() if r is not None]


def compile(function: Callable[..., Any]) -> Compiled:
    """``function``, captured at its first call and then replayed, without Python, as few operators.

    Each combination of the arguments' shapes, dtypes and constants is captured once, by running the
    function on stand-ins. Arrays that it uses without being given them, and arguments with
    ``attach_grad``, are captured by reference: each call reads and writes them as they are then
    (weights, gradients, running means). All else that Python does, it does once, while capturing.
    Its intermediates lie in memory planned once. Inside ``autograd.record()`` the call is
    differentiable: its gradient is a replay, too.

    Where the function asks for a value (``if x.sum() > 0``) it can't be captured: a
    :class:`CompileWarning` says so, with the line, and it runs op by op.

    >>> import lazyarray as la
    >>> @la.compile
    ... def f(x, y):
    ...     return la.tanh(x * y) + 1
    >>> f(la.zeros(3), la.ones(3)).asnumpy()
    array([1., 1., 1.])
    """
    return Compiled(function)
