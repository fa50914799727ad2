"""One captured call: its program, what it is given, what it gives and stores."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from lazyarray._compile.numbers import Mistaken, Numbers
from lazyarray._compile.state import Effect, State
from lazyarray._compile.trees import (
    OUTPUT,
    Encoder,
    Source,
    built,
    filled,
    frozen,
    same_tree,
    with_numbers,
)
from lazyarray.autograd._walk import walk
from lazyarray.autograd.scopes import is_training
from lazyarray.functions import creation
from lazyarray.lazy._lazy import (
    Program,
    Tensor,
    TracingError,
    attach_leaf,
    detached,
    is_leaf,
    is_recording,
    leaf_grad,
    made_of,
    note_call,
    note_constant,
    recorded,
    tracked,
    veiled,
)
from lazyarray.ops._layout import k_order, new
from lazyarray.ops._rows import scalar_like, writable

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

__all__ = ["Replay", "Escaped", "Looked", "CLASH", "name_of"]


class Escaped(TracingError):
    """An array is kept where nobody follows it. ``result`` is that of this call, which was run."""

    def __init__(self, text: str, result: Any) -> None:
        super().__init__(text)
        self.result = result


class Looked(Exception):
    """The capture holds for the values of its numbers alone."""


class _Mark:
    __slots__ = ()


CLASH = _Mark()


class Replay:
    """What a call with one signature became.

    ``arrays`` are the call's own, ``state.arrays`` follow them. ``free`` says which of the numbers
    in ``tree`` are given anew by each call; those of the state follow them. ``copies``: which of
    the arrays are copies, and of what.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        tree: Any,
        arrays: list[NDArray],
        state: State,
        free: list[int],
        copies: Iterable[tuple[int, Any]] = (),
    ) -> None:
        self._function, self._tree, self.state = function, tree, state
        self.calls = 0
        self._guard = state.guard
        self.varies = state.guard.varies
        self._own = len(arrays)
        arrays = [*arrays, *state.arrays]
        # The arrays that are by reference, because they collect gradients: weights, mostly.
        self._fixed = [x if is_leaf(x) else None for x in arrays]
        stand_ins = [
            scalar_like(veiled(new(x.shape, x.dtype, k_order(x), x.device)), x)
            if fixed is None
            else x
            for x, fixed in zip(arrays, self._fixed, strict=True)
        ]
        self._given = [i for i, fixed in enumerate(self._fixed) if fixed is None]
        self._followed = [i for i in self._given if is_recording() and tracked(arrays[i])]
        for i in self._followed:
            attach_leaf(stand_ins[i], stand_ins[i], "null")
        for i in self._given:
            if not arrays[i].flags.writeable:
                stand_ins[i].setflags(write=False)
        constants: list[Any] = []
        frozen(tree, constants)
        numbers = self._numbers = Numbers([*[constants[i] for i in free], *state.numbers])
        for k, i in enumerate(free):
            constants[i] = numbers.numbers[k]
        with_free = with_numbers(tree, iter(constants)) if free else tree
        self.program = program = Program()
        self._heads: list[int] = []
        self._constants: list[int] = []  # recorded, but don't change with the arguments
        self._outside: list[NDArray] = []
        self._flat: list[tuple[int, list[int]]] = []
        before = [sys.getrefcount(x) for x in stand_ins]
        try:
            with program:
                encoder = Encoder(stand_ins, state.known)
                self._capture(encoder, stand_ins, with_free, numbers.numbers[len(free) :])
                outputs = encoder.outputs
                if program.writes_tracked():
                    raise TracingError(
                        "an argument or an array from outside is written with values that "
                        "gradients are taken of"
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
                    self._find_origins(stand_ins, outputs)
                phases: list[list[NDArray]] = [outputs]
                seeds: list[NDArray] = []
                if self._heads:
                    seeds, gradients = self._differentiate(stand_ins, outputs)
                    phases.append(gradients)
        finally:
            numbers.closed = True
            for i in self._followed:
                attach_leaf(stand_ins[i], None, "null")
        del with_free, constants
        numbers.close()
        if numbers.looked:
            raise Looked
        # One array is the result, and nothing else is done.
        self._is_plain = (
            not self._effects and isinstance(self._result, Source) and self._result.of == OUTPUT
        )
        escaped = self._escaped(stand_ins, before, phases, seeds)
        if escaped is not None:
            if self._heads:
                raise TracingError(escaped)
            for i, x in copies:
                if isinstance(x, Tensor):  # it may be written, or be the result
                    arrays[i] = x
            raise Escaped(escaped, self._once(arrays, stand_ins, outputs))
        self._find_unknown(arrays, stand_ins)
        shown = {program.chunk_of(y) for y in outputs}
        # The arguments whose memory the caller can see again.
        self._by_reference = set(program.used_outside())
        self._seen = encoder.handed_on | {
            i
            for i in self._given
            if program.touches(stand_ins[i]) or program.chunk_of(stand_ins[i]) in shown
        }
        inputs = [*[stand_ins[i] for i in self._given], *numbers.arrays]
        program.finish_calls([inputs, seeds][: len(phases)], phases)
        if self._heads:
            self._kept = program.read_after(0)
            # The arguments that the gradient reads; if the function runs again, it reads them all.
            self._read = [i for i, x in enumerate(stand_ins) if program.uses_after(x, 0)]
            self._read_outputs = [i for i, y in enumerate(outputs) if program.uses_after(y, 0)]
            self._trains = is_training()

    def _capture(
        self, encoder: Encoder, stand_ins: list[NDArray], tree: Any, numbers: list[Any]
    ) -> None:
        """Runs the function. Leaves everything as it was before."""
        state = self.state
        captured = False
        try:
            args, kwargs = filled(tree, iter(stand_ins))
            state.put(stand_ins[self._own :], numbers)
            result = self._function(*args, **kwargs)
            if not same_tree((args, kwargs), tree, iter(stand_ins)):
                raise TracingError("it changes a list or dict that it was given")
            args = kwargs = None
            self._result = encoder.encoded(result, "the result", strict=False)
            result = None
            self._effects: list[Effect] = state.effects(encoder)
            self.writes = bool(self._effects)
            captured = not self._numbers.looked
        finally:
            encoder.close()
            state.put_back(captured=captured)

    def _differentiate(
        self, stand_ins: list[NDArray], outputs: list[NDArray]
    ) -> tuple[list[NDArray], list[NDArray]]:
        """Captures the call's gradient: what it is of, and it."""
        program = self.program
        self._impure = (
            program.impure() or bool(self._effects) or self.varies or self._numbers.given > 0
        )
        program.split()
        seeds = [new(outputs[i].shape, outputs[i].dtype) for i in self._heads]
        variables = self._variables(stand_ins)
        try:
            found = walk([outputs[i] for i in self._heads], seeds, variables, False, False, True)
        except TracingError:
            raise
        except Exception as exc:  # backward's to tell, if it is asked for at all
            raise TracingError(f"its gradient can't be computed: {exc}") from exc
        # What nothing leads to has no gradient; the others' are outputs of the second phase.
        self._reached = [i for i, g in enumerate(found) if g is not None]
        return seeds, [found[i].copy() for i in self._reached]

    def _find_origins(self, stand_ins: list[NDArray], outputs: list[NDArray]) -> None:
        """Finds which arrays each result was made of, as the walk of an uncompiled call would."""
        around = self._around(stand_ins)
        origins = {i: made_of(outputs[i], around) for i in (*self._heads, *self._constants)}
        inputs = sorted({k for i in self._heads for k in origins[i][0]})
        many = len(self._followed)
        self._flows_to = [self._followed[k] for k in inputs if k < many]
        self._flows_outside = [around[k] for k in inputs if k >= many]
        # By head, places among these. Where they differ each head names its own.
        self._origins = [[inputs.index(k) for k in origins[i][0]] for i in self._heads]
        self._differ = any(origins[i] != origins[self._heads[0]] for i in self._heads)
        # What a result was made of, but doesn't change with.
        self._flat = [(i, flat) for i, (_, flat) in origins.items() if flat]
        named = {self.program.chunk_of(x) for x in self._variables(stand_ins)}
        # The gradient may read what no result's gradient flows to.
        self._apart = [
            i
            for i, x in enumerate(stand_ins)
            if tracked(x) and self.program.chunk_of(x) not in named
        ]

    def _around(self, arrays: Any) -> list[NDArray]:
        """All arrays of a call that gradients can reach."""
        return [*[arrays[i] for i in self._followed], *self._outside]

    def _variables(self, arrays: Any) -> list[NDArray]:
        """Those that they flow to."""
        return [*[arrays[i] for i in self._flows_to], *self._flows_outside]

    # -- what can't be replayed

    def _escaped(
        self, stand_ins: list[NDArray], before: list[int], phases: list[Any], seeds: list[NDArray]
    ) -> str | None:
        """What is wrong if somebody keeps an array of the capture that is no result."""
        known = [*stand_ins, *seeds, *[y for phase in phases for y in phase], *self._outside]
        known += self._numbers.arrays
        for last in (False, True):
            where = self.program.kept_elsewhere(known)
            held = [sys.getrefcount(y) for y in phases[0]]
            if where is None and max(held, default=0) <= _REFERENCES:
                now = [sys.getrefcount(x) - 1 for x in stand_ins]  # `known`
                if all(a <= b for a, b in zip(now, before, strict=True)):
                    return None
                where = "an argument"
            if not last:
                gc.collect()
        what = (
            where
            if where == "an argument"
            else f"an array (made at {where})"
            if where
            else "a result"
        )
        return f"{what} is kept where la.compile can't follow it: no replay would change that"

    def _once(self, arrays: list[NDArray], stand_ins: list[NDArray], outputs: list[NDArray]) -> Any:
        """Runs what was captured this once, so that all of it has values; gives the result."""
        program = self.program
        written = [i for i in self._given if program.touches(stand_ins[i])]
        for i in self._given:
            x = writable(stand_ins[i])  # that of a scalar, too, gets its value now
            x.setflags(write=True)
            x[...] = arrays[i]
            scalar_like(x, arrays[i])
        numbers = self._numbers.values(self._numbers.values_given)
        for stand_in, x in zip(self._numbers.arrays, self._numbers.arrays_of(numbers), strict=True):
            stand_in[...] = x
        program.finish(outputs)
        program.run()
        for i in written:
            arrays[i][...] = stand_ins[i]
        return self._stored((outputs, arrays, numbers))

    def _find_unknown(self, arrays: list[NDArray], stand_ins: list[NDArray]) -> None:
        """TracingError if an array is used that was found in no place."""
        program = self.program
        found = self.state.found.arrays
        known = {program.chunk_of(x) for x in (*arrays, *stand_ins, *found)}
        known |= {program.chunk_of(leaf[0]) for leaf in map(leaf_grad, arrays) if leaf is not None}
        for chunk, where in program.used_outside().items():
            if chunk not in known:
                raise TracingError(
                    f"it uses an array (at {where}) that la.compile doesn't see how it comes to: "
                    "that may be another one later"
                )

    # -- calls

    def stands(self) -> bool:
        """Whether all is as it was at the capture, where nothing varies."""
        return self._guard.stands(self.program)

    def is_outlived(self) -> bool:
        """Whether an argument that it has by reference is nobody's any more but its own."""
        fixed, own = self._fixed, range(self._own)
        # Held by the list and the question.
        return any(fixed[i] is not None and sys.getrefcount(fixed[i]) <= 2 for i in own)

    def takes(self, arrays: list[Any], numbers: list[Any]) -> bool:
        """Whether all is as it was at the capture. What the state holds is appended."""
        return self.program.stands() and self._guard.check(arrays, numbers)

    def shows(self, copies: Iterable[tuple[int, Any]], arrays: list[Any]) -> bool:
        """Whether copies in the place of some of the arrays show: that of an array which the caller
        sees again, or of one that shares memory with such, or with what is used by reference."""
        chunk_of = self.program.chunk_of
        shown = {chunk_of(arrays[i]) for i in self._seen} | self._by_reference
        return any(
            i in self._seen or (isinstance(x, Tensor) and chunk_of(x) in shown) for i, x in copies
        )

    def __call__(self, own: Any, held: Any, numbers: Any, tree: Any) -> Any:
        """The call's result, or ``CLASH`` if its arrays share memory."""
        self.calls += 1
        arrays = [*own, *held] if held else own
        given = [arrays[i] for i in self._given]
        if numbers:
            try:
                numbers = self._numbers.values(numbers)
                given += self._numbers.arrays_of(numbers)
            except Mistaken:
                return CLASH
        begun = self.program.begin(given)
        if begun is None:
            return CLASH
        call, outputs = begun
        if self._heads:
            self._note(call, arrays, outputs, self._tree if tree is None else tree)
        for i, flat in self._flat:
            around = self._around(arrays)
            note_constant([around[k] for k in flat], [outputs[i]])
        if self._is_plain:
            return outputs[0]
        return self._stored((outputs, arrays, numbers))

    def _stored(self, parts: tuple[list[Any], Any, list[Any]]) -> Any:
        """Does what the function does to its state; gives its result."""
        for effect in self._effects:
            if effect.appends:
                effect.place.holder.extend(built(effect.tree, parts))
            else:
                effect.place.write(built(effect.tree, parts))
        return built(self._result, parts)

    def _note(self, call: Any, arrays: Any, outputs: list[NDArray], tree: Any) -> None:
        inputs = self._variables(arrays)
        many = len(inputs)
        if self._apart:
            arrays = list(arrays)
            for i in self._apart:
                arrays[i] = detached(arrays[i])
        again = [] if self._impure else arrays

        def rule(gradients: list[Any], saved: list[Any]) -> list[Any]:
            if is_recording():
                return self._again(saved[first:], gradients, tree)
            heads = [
                creation.zeros_like(y) if g is None else _like(g, y)
                for g, y in zip(gradients, heads_like, strict=True)
            ]
            found = call.go_on(heads)
            results: list[Any] = [None] * many
            for k, g in zip(self._reached, found, strict=True):
                results[k] = g
            if self._differ:
                given = [
                    of for g, of in zip(gradients, self._origins, strict=True) if g is not None
                ]
                wanted = set().union(*given)
                results = [g if k in wanted else None for k, g in enumerate(results)]
            return results

        saves = [*[arrays[i] for i in self._read], *[outputs[i] for i in self._read_outputs]]
        saves += self._kept
        first = len(saves)
        heads_like = self.program.inputs[1]  # type: ignore[index]
        name, made = name_of(self._function), [outputs[i] for i in self._heads]
        note_call(name, rule, inputs, made, saves, again, loose=self._differ)
        if self._differ:
            for y, of in zip(made, self._origins, strict=True):
                note_call(name, partial(_passed_on, len(of)), [y, *[inputs[k] for k in of]], [y])

    def _again(self, arrays: list[NDArray], gradients: list[Any], tree: Any) -> list[Any]:
        """The gradients as recorded ops, for those of higher order: the function runs op by op."""
        if self._impure:
            raise NotImplementedError(
                f"gradients of gradients run {name_of(self._function)} again, which draws random "
                "numbers, writes arrays in place or changes its state: take them without la.compile"
            )
        if not self._guard.check([], []) or is_training() != self._trains:
            raise RuntimeError(
                f"gradients of gradients run {name_of(self._function)} again, and what it uses "
                "is not what it was any more"
            )
        args, kwargs = filled(tree, iter(arrays))
        encoder = Encoder(arrays, self.state.known)
        encoder.encoded(self._function(*args, **kwargs), "the result", strict=False)
        heads, seeds = [], []
        for i, g in zip(self._heads, gradients, strict=True):
            if g is not None:
                heads.append(encoder.outputs[i])
                seeds.append(g)
        return walk(heads, seeds, self._variables(arrays), True, True, True)


# Of an array that nobody but us holds: two lists, and what goes over one of them.
_REFERENCES = 4


def name_of(function: Any) -> str:
    """What messages call a function."""
    return getattr(function, "__name__", type(function).__name__)


def _passed_on(many: int, gradients: list[Any], saved: list[Any]) -> list[Any]:
    """The rule of a note that only names what one result of a call was made of."""
    return [*gradients, *[None] * many]


def _like(g: NDArray, y: NDArray) -> NDArray:
    """``g`` laid out as ``y`` is: in C order."""
    return g if g.strides == y.strides else g.copy()
