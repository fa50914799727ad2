"""The state of one capture: what is guarded, what varies, what the function changed."""

from __future__ import annotations

import pickle
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lazyarray._compile.places import ASKED, COUNT, DICT_OF, Finder, Place, is_compiled
from lazyarray._compile.trees import Encoder, exchanged, flattened, is_atom, taken
from lazyarray.lazy._lazy import (
    ABSENT,
    Guard,
    Number,
    Tensor,
    TracingError,
    Varying,
    alike,
    call_key,
    leaf_grad,
)

__all__ = ["State", "Effect", "Key"]

Key = tuple[int, Any]  # a holder's id, and what of it


class Effect(NamedTuple):
    """What each call stores: in a place, or at the end of a list."""

    place: Place
    tree: Any
    appends: bool


class State:
    """What a function's Python can come to, as it was before its capture.

    ``arrays`` and ``numbers`` are those that each call takes anew: what is in the places that
    ``varying`` names.
    """

    def __init__(
        self, roots: list[tuple[Any, str]], varying: dict[Key, str], fixed: set[Key]
    ) -> None:
        self.found = found = Finder(roots)
        if found.iterators:
            raise TracingError(
                f"{found.iterators[0]} is an iterator: a replay would not advance it"
            )
        if found.makes:
            raise TracingError(
                f"it makes a generator of random numbers ({found.makes}) that isn't lazyarray's: a "
                "replay would not make it anew"
            )
        self.arrays: list[Any] = []
        self.numbers: list[Any] = []
        self.number_keys: list[Key] = []
        self._before = [place.read() for place in found.places]
        self._logs = [len(place.holder) for place in found.logs]
        self._streams = [(g, _state_of(g)) for g in (*found.generators, random, np.random)]
        self._varying, self._fixed = varying, fixed
        expected = [
            self._expected(p, was) for p, was in zip(found.places, self._before, strict=True)
        ]
        self.guard = Guard(
            [(p.kind, p.holder, p.key, was) for p, was in zip(found.places, expected, strict=True)]
        )
        self._expected_values = expected
        self._put: list[Any] = [*self._before]
        self._stand_ins: list[Any] = []
        self._trees: list[tuple[Varying, Any]] = []  # lists and dicts that were put

    # -- before

    def _expected(self, place: Place, was: Any) -> Any:
        if not place.is_whole:
            return self._one(_key(place), was)
        return tuple([self._one((id(place.holder), i), x) for i, x in enumerate(was)])

    def _one(self, key: Key, was: Any) -> Any:
        if key not in self._varying:
            return was
        if type(was) in (int, float) and key not in self._fixed and not self.found.asks_types:
            self.numbers.append(was)
            self.number_keys.append(key)
            return Varying(len(self.numbers) - 1, None, None, None, type(was))
        leaves: list[Any] = []
        tree = None if isinstance(was, Tensor) else taken(was, leaves)
        if tree is None:
            if not isinstance(was, Tensor):
                return was
            leaves = [was]
        key_of_all = call_key(leaves) if leaves else None
        if key_of_all is None or any(leaf_grad(x) is not None for x in leaves):
            return was
        held = [i for i, x in enumerate(self.arrays) if any(x is y for y in leaves)]
        if held and len(leaves) == 1:
            return Varying(held[0], tree, taken, key_of_all)
        if held or len({id(x) for x in leaves}) < len(leaves):
            return was
        self.arrays += leaves
        return Varying(len(self.arrays) - len(leaves), tree, taken, key_of_all)

    def put(self, stand_ins: list[Any], numbers: list[Any]) -> None:
        """Puts what stands for them in the places of what varies."""
        self._stand_ins = stand_ins
        for i, (place, expected) in enumerate(
            zip(self.found.places, self._expected_values, strict=True)
        ):
            was = self._before[i]
            if type(expected) is Varying:
                self._put[i] = self._standing(expected, was, numbers)
            elif type(expected) is tuple and any(type(x) is Varying for x in expected):
                self._put[i] = tuple(
                    [
                        self._standing(e, x, numbers) if type(e) is Varying else x
                        for e, x in zip(expected, was, strict=True)
                    ]
                )
            else:
                continue
            place.write(self._put[i])

    def _standing(self, expected: Varying, was: Any, numbers: list[Any]) -> Any:
        if expected.kind is not None:
            return numbers[expected.first]
        if expected.tree is None:
            return self._stand_ins[expected.first]
        put = exchanged(was, iter(self._stand_ins[expected.first :]))
        self._trees.append((expected, put))
        return put

    # -- after

    def known(self, x: Any) -> bool:
        """Whether an object was there before the capture."""
        return self.found.seen.get(id(x), self) is x or is_compiled(x)

    def effects(self, encoder: Encoder) -> list[Effect]:
        """What the function stored. TracingError for what a replay can't do."""
        if self._drawn():
            raise TracingError(
                "it draws random numbers that aren't lazyarray's: a replay would not draw again"
            )
        for expected, put in self._trees:
            found: list[Any] = []
            same = taken(put, found) == expected.tree
            if not same or not _same(found, self._stand_ins[expected.first :][: len(found)]):
                raise TracingError("it changes a list or dict in place that each call makes anew")
        effects = []
        for place, put in zip(self.found.places, self._put, strict=True):
            if place.kind == COUNT:
                continue
            now = place.read()
            if now is put or (place.is_whole and _same(now, put)) or alike(now, put):
                continue
            what = f"{place.path}{self.found.line_of(place.path)}"
            if isinstance(place.holder, np.ndarray):
                raise TracingError(f"it changes {what}, an array of NumPy")
            if place.kind == DICT_OF:
                raise TracingError(f"it changes {what}.__dict__")
            effects.append(Effect(place, encoder.encoded(now, what, strict=True), False))
            self._mark(place, put, now)
        for place, n in zip(self.found.logs, self._logs, strict=True):
            new = place.holder[n:]
            what = f"{place.path}{self.found.line_of(place.path)}"
            tree = [encoder.encoded(x, f"what is appended to {what}", strict=True) for x in new]
            leaves: list[Any] = []
            flattened(new, leaves)
            if leaves:
                effects.append(Effect(place, tree, True))
        return effects

    def _mark(self, place: Place, was: Any, now: Any) -> None:
        """Has the next capture take anew what this one changed."""
        if not place.is_whole:
            if _may_vary(now):
                self._varying[_key(place)] = place.path
        elif len(was) == len(now):
            for i, (a, b) in enumerate(zip(was, now, strict=True)):
                if a is not b and _may_vary(b):
                    self._varying[(id(place.holder), i)] = place.item(i)

    def put_back(self, *, captured: bool) -> None:
        """Leaves all as it was; if all was captured, lists keep constants that were appended."""
        self._put, self._trees, self._stand_ins = [], [], []
        for place, was in zip(self.found.places, self._before, strict=True):
            if place.kind == COUNT:
                continue
            now = place.read()
            if now is not was and not (place.is_whole and _same(now, was)):
                place.write(was)
        for place, n in zip(self.found.logs, self._logs, strict=True):
            leaves: list[Any] = []
            flattened(place.holder[n:], leaves)
            if leaves or not captured:
                del place.holder[n:]
        for generator, was in self._drawn():
            _restore(generator, was)

    def _drawn(self) -> list[tuple[Any, Any]]:
        """The generators that numbers were drawn from since, and their states before."""
        return [
            (g, was) for g, was in self._streams if pickle.dumps(_state_of(g)) != pickle.dumps(was)
        ]

    def failed(self) -> tuple[str, str]:
        """Where the guard's last check failed, and from what to what it changed: it varies."""
        i = self.guard.failure()
        place, was = self.found.places[i], self._expected_values[i]
        now = place.read()
        if place.kind == COUNT:
            return place.path, f"{was} to {now} attributes"
        if not place.is_whole and not isinstance(place.holder, np.ndarray):
            if _may_vary(now) and _may_vary(self._before[i]):
                self._varying[_key(place)] = place.path
            return place.path, f"{_shown(self._before[i])} to {_shown(now)}"
        if isinstance(place.holder, np.ndarray):
            return place.path, "some values to others"
        if len(now) != len(was):
            return place.path, f"{len(was)} to {len(now)} items"
        for k, (a, b, c) in enumerate(zip(was, now, self._before[i], strict=True)):
            if a is not b and not (type(a) is Varying and type(b) is type(c)):
                if _may_vary(b) and _may_vary(c):
                    self._varying[(id(place.holder), k)] = place.path
                return place.item(k), f"{_shown(c)} to {_shown(b)}"
        return place.path, "what it was to something else"


def _key(place: Place) -> Key:
    return (id(place.holder), place.key if place.kind != ASKED else repr(place.path))


def _same(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


def _may_vary(x: Any) -> bool:
    """Whether it is a number, an array, or a tree with one."""
    if type(x) in (int, float, Number):
        return True
    leaves: list[Any] = []
    return (
        taken(x, leaves) is not None and bool(leaves) and all(isinstance(y, Tensor) for y in leaves)
    )


def _shown(x: Any) -> str:
    if isinstance(x, Tensor):
        return f"an array of shape {x.shape}"
    text = repr(x) if is_atom(x) or x is ABSENT else ""
    return text if 0 < len(text) < 60 else f"a {type(x).__name__}"


# ---- generators that are not lazyarray's --------------------------------------------------------


def _state_of(generator: Any) -> Any:
    if generator is random or isinstance(generator, random.Random):
        return generator.getstate()
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    return generator.get_state()


def _restore(generator: Any, state: Any) -> None:
    if generator is random or isinstance(generator, random.Random):
        generator.setstate(state)
    elif isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    else:
        generator.set_state(state)
