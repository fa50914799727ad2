"""``la.compile``: functions whose ops are captured once for each kind of call, then replayed."""

from __future__ import annotations

import html
import sys
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import update_wrapper
from types import FunctionType, MethodType
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, Self, TypeVar, overload

from lazyarray._compile.replay import CLASH, Escaped, Looked, Replay, name_of
from lazyarray._compile.state import Key, State
from lazyarray._compile.trees import LEAF, flattened, frozen, mapped, number_paths
from lazyarray.engine._engine import hold_at_fork
from lazyarray.lazy._lazy import (
    NumberAsked,
    Tensor,
    TracingError,
    call_key,
    is_capturing,
    is_dense,
    is_leaf,
)
from lazyarray.ops._rows import array, holdable

__all__ = ["compile", "Compiled", "CompileWarning"]

_P = ParamSpec("_P")
_Q = ParamSpec("_Q")
_R = TypeVar("_R")


class CompileWarning(UserWarning):
    """A compiled function runs op by op, or is captured often, because of what it depends on."""


# ---- the kinds of calls -------------------------------------------------------------------------

_MOST = 128  # kinds of calls that one function keeps
_STATES = 8  # replays of one kind, that differ in what else the function found
_OFTEN = 6  # captures until it is said that there are many
_ESCAPES = 3  # captures that leave an array with somebody who isn't followed
# Captures of one kind, or of calls that differ in numbers which Python looks at, until they run op
# by op.
_GIVEN_UP = 32
_FEW = 10  # calls that are not worth a capture
# While one thread captures, what stands for arrays is where other threads look for them. A replay
# that writes to the state holds it, too, from what it takes there to what it stores there.
_lock = threading.RLock()
hold_at_fork(_lock, pushes=True)


class _Kind:
    """Calls that differ in the values of arrays alone."""

    __slots__ = ("captures", "plain", "replays", "usual")

    def __init__(self) -> None:
        self.usual: Replay | None = None  # the only one, if it has nothing to do with state
        self.replays: list[Replay] = []
        self.captures = 0
        self.plain = False  # it runs op by op


class _Constants:
    """The numbers among the arguments, for calls that differ in nothing else but arrays."""

    __slots__ = ("captures", "constant", "free", "given_up", "replays", "seen")

    def __init__(self) -> None:
        self.replays = 0  # about: threads may count one for two
        self.given_up = False
        self.seen: list[list[Any]] = []
        self.free: list[int] = []  # those that calls bring anew
        self.constant: set[int] = set()  # those that Python looks at
        self.captures = 0

    def seldom_recur(self) -> bool:
        """Whether most of many values came once: their captures cost more than they save."""
        return self.captures >= _GIVEN_UP and self.replays < self.captures

    def settle(self, numbers: list[Any]) -> None:
        """Has what is the third value of a number be taken anew by each call."""
        if len(self.seen) < 2:
            if not any(frozen(numbers) == frozen(seen) for seen in self.seen):
                self.seen.append(numbers)
            return
        if any(frozen(numbers) == frozen(seen) for seen in self.seen):
            return
        changed = [
            i
            for i, x in enumerate(numbers)
            if any(frozen(x) != frozen(seen[i]) for seen in self.seen) and i not in self.constant
        ]
        self.free = sorted({*self.free, *changed})


class _Call(NamedTuple):
    """The arguments of one call, taken apart."""

    key: Hashable
    arrays: Any
    tree: Any = None
    copies: tuple[tuple[int, Any], ...] = ()  # which of the arrays are copies, and of what
    numbers: tuple[Any, ...] = ()  # those that the replay takes
    constants: _Constants | None = None
    all_numbers: tuple[Any, ...] = ()


# ---- the function -------------------------------------------------------------------------------


class Compiled(Generic[_P, _R]):
    """A compiled function: see :func:`compile`."""

    def __init__(self, function: Callable[_P, _R]) -> None:
        if not callable(function):
            raise TypeError(f"compile() is of functions, not of {type(function).__name__}")
        self._function: Callable[..., Any] = function
        self._name: str | None = None  # as an attribute of a class
        # Where an object keeps its own: a base class may have a compiled method of the same name.
        self._slot = f"{name_of(function)} of {getattr(function, '__qualname__', '')}"
        # A method: the class's that made it, and of whom.
        self._maker: Compiled[..., Any] | None = None
        self._object: Any = None
        self._replays: OrderedDict[Hashable, _Kind] = OrderedDict()
        self._constants: dict[Hashable, _Constants] = {}
        # Places in the state whose arrays and numbers calls take anew; those of numbers that
        # Python looks at.
        self._varying: dict[Key, str] = {}
        self._fixed: set[Key] = set()
        self._outlived = 0  # captures in a row whose argument, with attach_grad, is gone
        update_wrapper(self, function)

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...

    @overload
    def __get__(
        self: Compiled[Concatenate[Any, _Q], _R], instance: object, owner: type | None = None
    ) -> Compiled[_Q, _R]: ...

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        # A method: one compiled function for each object.
        if instance is None:
            return self
        if isinstance(instance, type):  # a class's own: it is an argument as any other
            return MethodType(self, instance)
        name = self._name or name_of(self._function)
        kept = getattr(instance, "__dict__", None)
        if kept is None:
            raise TypeError(
                f"{type(instance).__name__}.{name} can't be compiled: its objects have no __dict__"
            )
        if name in kept:  # what the program has put there
            return kept[name]
        bound = kept.get(self._slot)
        # A copy of an object has its __dict__, but is not what that was made for.
        if bound is None or bound._object is not instance or bound._maker is not self:
            bound = kept[self._slot] = Compiled(self._function.__get__(instance, owner))
            bound._maker, bound._object = self, instance
        return bound

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __set__(self, instance: object, value: object) -> None:
        # With this __get__ is asked before an object's __dict__.
        instance.__dict__[self._name or name_of(self._function)] = value

    def __reduce__(self) -> str | tuple[object, ...]:
        if self._maker is not None:  # a copy of the object has one of its own
            return _method_of, (self._maker, self._object)
        function = self._function
        if isinstance(function, FunctionType) and _is_named(self, function):
            return function.__qualname__
        return Compiled, (function,)

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        if is_capturing():  # it becomes part of what is captured
            return self._function(*args, **kwargs)
        key = None if kwargs else call_key(args)
        if key is not None:  # arrays alone, and one state: the usual call
            kind = self._replays.get(key)
            if kind is not None and kind.usual is not None and kind.usual.stands():
                result = kind.usual(args, (), (), None)
                return self._function(*args) if result is CLASH else result
        return self._call(args, kwargs, key)

    def _call(self, args: Any, kwargs: Any, key: bytes | None) -> Any:
        call = self._taken_apart(args, kwargs) if key is None else _Call(key, args)
        kind = self._replays.get(call.key)
        replay = None
        held: list[Any] = []
        numbers: list[Any] = []
        result: Any = CLASH
        if kind is not None:
            if kind.plain:
                return self._function(*args, **kwargs)
            replay = _standing(kind, held, numbers)
        if replay is not None and call.constants is not None:
            call.constants.replays += 1
        if replay is not None and not replay.writes:
            result = _replayed(replay, call, held, numbers)
        else:
            # What it takes from the state it may change there: no other thread comes between.
            with _lock:
                held, numbers = [], []
                replay = None if kind is None else _standing(kind, held, numbers)
                if replay is None:
                    try:
                        call, replay = self._captured(call, args, kwargs)
                    except Escaped as once:
                        return once.result
                    held, numbers = [], []
                    # Another thread may have changed what it depends on.
                    if replay is not None and not replay.takes(held, numbers):
                        replay = None
                if replay is not None:
                    result = _replayed(replay, call, held, numbers)
        return self._function(*args, **kwargs) if result is CLASH else result

    def _taken_apart(self, args: Any, kwargs: Any) -> _Call:
        """The arguments as a tree and its arrays, without gaps."""
        leaves: list[Any] = []
        tree = flattened((args, kwargs), leaves)
        numbers: list[Any] = []
        try:
            shape = frozen(tree, numbers)
            hash(shape)
        except TypeError as exc:
            raise TypeError(
                f"the arguments of a compiled function are arrays, nested lists, tuples and dicts "
                f"of them, and hashable constants: {exc}"
            ) from None
        arrays, copies = leaves, list[tuple[int, Any]]()
        for i, x in enumerate(leaves):
            if not isinstance(x, Tensor) or (not is_dense(x) and not is_leaf(x)):
                if not holdable(x):
                    raise TypeError(
                        f"{name_of(self._function)} is compiled: its arguments can't be arrays "
                        f"of what lazyarray can't hold ({x.dtype})"
                    )
                arrays = [*arrays]
                arrays[i] = x.copy() if isinstance(x, Tensor) else array(x)
                copies.append((i, x))
        key: Hashable = (shape, call_key(arrays))
        constants = None
        free: list[int] = []
        if numbers:
            constants = self._constants.setdefault(key, _Constants())
            free = constants.free
            key = (key, tuple([None if i in free else frozen(x) for i, x in enumerate(numbers)]))
        given = tuple([numbers[i] for i in free])
        return _Call(key, arrays, tree, tuple(copies), given, constants, tuple(numbers))

    # -- captures

    def _captured(self, call: _Call, args: Any, kwargs: Any) -> tuple[_Call, Replay | None]:
        """A replay, captured unless another thread did that; None: the call runs op by op."""
        with _lock:
            if call.constants is not None:
                call.constants.settle([*call.all_numbers])
            while True:
                call = self._taken_apart(args, kwargs)
                if not kwargs and not call.all_numbers:
                    plain_key = call_key(args)
                    call = call if plain_key is None else call._replace(key=plain_key)
                kind = self._replays.setdefault(call.key, _Kind())
                if len(self._replays) > _MOST:
                    self._replays.popitem(last=False)
                if len(self._constants) > _MOST:
                    self._constants.clear()
                if kind.plain:
                    return call, None
                found = _standing(kind, [], [])
                if found is not None:
                    return call, found
                if call.constants is not None and call.constants.seldom_recur():
                    kind.plain = True
                    self._give_up(call, call.constants)
                    return call, None
                if self._forgets_outlived(call):
                    kind.plain = True
                    return call, None
                last = kind.replays[0] if kind.replays else None
                # Or the memory that it uses was moved, or gradients reach it in another way.
                why = last.state.failed() if last and last.program.stands() else None
                # One that raises is none: however often it does, its state is put back.
                if kind.captures == _GIVEN_UP:
                    kind.plain, kind.usual = True, None
                    self._warn(f"{name_of(self._function)} runs op by op: {_often(kind, why)}")
                    return call, None
                try:
                    replay = self._capture(call)
                except Escaped as exc:
                    # It may be that the next capture finds what this one made: a cache, say.
                    kind.captures += 1
                    if call.copies or kind.captures >= _ESCAPES:
                        kind.plain, kind.replays, kind.usual = True, [], None
                        self._warn(f"{name_of(self._function)} runs op by op: {exc}")
                    raise
                except TracingError as exc:
                    kind.plain, kind.replays, kind.usual = True, [], None
                    self._warn(f"{name_of(self._function)} runs op by op: {exc}")
                    return call, None
                if replay is None:  # without some numbers
                    continue
                kind.captures += 1
                kind.replays = [replay, *[r for r in kind.replays if r.program.stands()]][:_STATES]
                alone = len(kind.replays) == 1 and not replay.varies and not replay.writes
                kind.usual = replay if alone else None
                self._tell(call, kind, why)
                return call, replay

    def _give_up(self, call: _Call, constants: _Constants) -> None:
        """Forgets the captures of calls that differ in numbers, which keep memory."""
        if constants.given_up:
            return
        constants.given_up = True
        alike: Any = call.key
        for key, kind in list(self._replays.items()):
            if isinstance(key, tuple) and key[0] == alike[0] and kind.replays:
                del self._replays[key]
        self._warn(
            f"{name_of(self._function)} runs op by op for numbers that it has not been given yet: "
            f"it was captured for {constants.captures} of them, and few came again"
        )

    def _forgets_outlived(self, call: _Call) -> bool:
        """Forgets captures of arguments, with gradients, that are gone; whether there were many."""
        if not any(is_leaf(x) for x in call.arrays):
            return False
        for key, kind in list(self._replays.items()):
            if kind.replays and all(replay.is_outlived() for replay in kind.replays):
                del self._replays[key]
                few = sum(replay.calls for replay in kind.replays) < _FEW
                self._outlived = self._outlived + 1 if few else 0
                if self._outlived == _GIVEN_UP:
                    self._warn(
                        f"{name_of(self._function)} runs op by op for new arrays with attach_grad: "
                        "it is captured for each, and the last ones were not given often"
                    )
        return self._outlived >= _GIVEN_UP

    def _capture(self, call: _Call) -> Replay | None:
        """The replay; None if it is to be tried again, with numbers as constants."""
        function, free = self._function, [] if call.constants is None else call.constants.free
        roots = [(function, name_of(function))]
        constants: list[Any] = []
        mapped(call.tree, constants.append)
        roots += [(x, "an argument") for x in constants if x is not LEAF]
        state = State(roots, self._varying, self._fixed)
        try:
            if not (free and state.found.asks_types):
                return Replay(function, call.tree, call.arrays, state, free, call.copies)
        except NumberAsked:
            pass
        except TracingError:
            raise
        except Looked:
            pass
        except Exception:
            if not free and not state.numbers:
                raise
        # What a number's stand-in can't do the number itself may; else it fails again.
        self._fixed.update(state.number_keys)
        if call.constants is not None:
            call.constants.constant.update(free)
            call.constants.free = []
        return None

    def _tell(self, call: _Call, kind: _Kind, why: tuple[str, str] | None) -> None:
        """Warns of many captures, once."""
        name = name_of(self._function)
        if kind.captures == _OFTEN:
            self._warn(f"{name}: {_often(kind, why)}")
        constants = call.constants
        if constants is None or kind.captures > 1:
            return
        constants.captures += 1
        if constants.captures == _OFTEN and len(constants.seen) > 1:
            first, last = constants.seen[0], call.all_numbers
            at = [
                i
                for i, (a, b) in enumerate(zip(first, last, strict=True))
                if frozen(a) != frozen(b)
            ]
            if at:
                paths = number_paths(call.tree, self._function)
                self._warn(
                    f"{name} is captured anew for each value of {', '.join(paths[i] for i in at)} "
                    f"({_OFTEN} times so far, the last for "
                    f"{', '.join(repr(last[i]) for i in at)}), as its Python looks at it: give an "
                    "array, or don't compile it"
                )

    def _warn(self, text: str) -> None:
        depth, frame = 1, sys._getframe()
        while frame.f_back is not None and frame.f_code.co_filename == __file__:
            depth, frame = depth + 1, frame.f_back
        warnings.warn(text, CompileWarning, stacklevel=depth)

    def __repr__(self) -> str:
        kinds = len(self._replays)
        return f"<compiled {name_of(self._function)}, {kinds} kind{'s' * (kinds != 1)} of call>"

    def _repr_html_(self) -> str:
        columns = {
            "instructions": "instructions",
            "operators": "operators",
            "temporaries": "never made",
            "planned": "bytes of intermediates",
            "unplanned": "without sharing",
        }
        head = "".join(f"<th>{title}</th>" for title in ("call", *columns.values()))
        rows = []
        for i, kind in enumerate(self._replays.values()):
            for replay in kind.replays:
                memory = replay.program.memory()
                cells = "".join(f"<td>{memory[name]:,}</td>" for name in columns)
                rows.append(f"<tr><td>{i}</td>{cells}</tr>")
            if kind.plain:
                rows.append(f'<tr><td>{i}</td><td colspan="{len(columns)}">op by op</td></tr>')
        name = html.escape(repr(self))
        table = f"<table><tr>{head}</tr>{''.join(rows)}</table>"
        return f"<div><code>{name}</code></div>{table}"

    def memory(self) -> list[dict[str, int]]:
        """What the intermediates of each kind of call so far need.

        Returns: a list of dicts of ints: the bytes "planned" for them, the bytes if each had memory
            of its own ("unplanned") and the most that are alive at once ("bound"), which no plan
            can go below; how many "instructions", "operators" and "temporaries" there are.
        Raises: nothing.

        >>> import lazyarray as la
        >>> f = la.compile(lambda x: la.exp(x) + 1)
        >>> f(la.ones(3)).shape, f.memory()[0]["instructions"]
        ((3,), 2)
        """
        return [r.program.memory() for kind in self._replays.values() for r in kind.replays]


def _method_of(maker: Compiled[..., Any], instance: Any) -> Any:
    return maker.__get__(instance, type(instance))


def _is_named(compiled: Compiled[..., Any], function: FunctionType) -> bool:
    """Whether it is what the function's name leads to."""
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is compiled


def _standing(kind: _Kind, held: list[Any], numbers: list[Any]) -> Replay | None:
    """The replay that fits what the function would find now; gives what it takes anew."""
    for replay in kind.replays:
        if replay.takes(held, numbers):
            return replay
        held.clear()
        numbers.clear()
    return None


def _replayed(replay: Replay, call: _Call, held: list[Any], numbers: list[Any]) -> Any:
    """The call's result, or ``CLASH`` if the function is to run op by op."""
    if call.copies and replay.shows(call.copies, [*call.arrays, *held]):
        return CLASH
    return replay(call.arrays, held, [*call.numbers, *numbers], call.tree)


def _often(kind: _Kind, why: tuple[str, str] | None) -> str:
    path, change = why or ("what it uses", "what it was to something else")
    return f"it was captured {kind.captures} times, as {path} changes (the last time from {change})"


def compile(function: Callable[_P, _R]) -> Compiled[_P, _R]:
    """``function``, captured at its first call and then replayed, without Python, as few operators.

    Each combination of the arguments' shapes, dtypes and constants is captured once, by running the
    function on stand-ins. Arrays that it uses without being given them, and arguments with
    ``attach_grad``, are captured by reference: each call reads and writes them as they are then
    (weights, gradients, running means). Attributes, globals, cells and containers that its code
    comes to are looked at before each call, and what it stores there each call stores: so it does
    what the function does, and else says so. Numbers that change are taken anew, too, unless Python
    looks at them. Its intermediates lie in memory planned once. Inside ``autograd.record()`` the
    call is differentiable: its gradient is a replay, too.

    Where the function asks for a value (``if x.sum() > 0``) it can't be captured: a
    :class:`CompileWarning` says so, with the line, and it runs op by op.

    Args:
        function: what takes and gives arrays, also in lists, tuples and dicts.
    Returns: a :class:`Compiled`, which is called as ``function`` is, and gives what that gives.
    Raises: TypeError for what can't be called. When it is called: what ``function`` raises.

    >>> import lazyarray as la
    >>> @la.compile
    ... def f(x, y):
    ...     return la.tanh(x * y) + 1
    >>> f(la.zeros(3), la.ones(3)).asnumpy()
    array([1., 1., 1.])
    """
    return Compiled(function)
