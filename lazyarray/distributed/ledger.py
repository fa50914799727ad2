"""What this rank has issued last, and where ranks differ."""

from __future__ import annotations

import collections
import itertools
import sys
import threading
from typing import Any

from lazyarray.distributed._task import QUEUED, UNDER_WAY, UNREADY, WAITING, Entry

__all__ = ["QUEUED", "UNDER_WAY", "UNREADY", "WAITING", "Entry", "Ledger", "compare"]

_KEPT = 32  # entries that a rank remembers


def _from_one() -> itertools.count[int]:
    return itertools.count(1)


class Ledger:
    """What this rank has issued last, and what its communication has got to.

    The two differ where a program runs ahead: the place that others wait at was issued long ago.

    All of it changes under the GIL only, by single operations: ``add`` where a collective is
    pushed, ``current`` and ``begun`` by the thread that brings one on. Readers copy, in any thread.
    """

    def __init__(self) -> None:
        self._entries: collections.deque[Entry] = collections.deque(maxlen=_KEPT)
        self._counts: dict[str, itertools.count[int]] = collections.defaultdict(_from_one)
        self._order = itertools.count(1)
        self.begun: collections.deque[Entry] = collections.deque(maxlen=_KEPT)
        self.current: Entry | None = None  # what waits for other ranks now

    def add(self, comm: str, text: str, line: int, ranks: tuple[int, ...], message: bool) -> Entry:
        number = 0
        if not message:
            number = next(self._counts[comm])
        entry = Entry(comm, number, next(self._order), text, line, ranks)
        self._entries.append(entry)
        return entry

    def told(self) -> dict[str, Any]:
        current = self.current
        every = {e.order: e for e in (*list(self.begun), *list(self._entries))}
        return {
            "current": None if current is None else current.told(),
            "entries": [every[order].told() for order in sorted(every)],
            "at": _program_line(),
        }

    def lines(self, count: int = 10) -> list[str]:
        """The last entries as text."""
        return [
            f"{_place(e)} {e['text']}, {e['state']} ({e['seconds']:.1f} s), from {e['where']}"
            for e in (entry.told() for entry in list(self._entries)[-count:])
        ]


def _place(entry: dict[str, Any]) -> str:
    return f"{entry['comm']} #{entry['number']}:" if entry["number"] else f"{entry['comm']}:"


def _program_line() -> str:
    """Where the main thread is: its innermost line outside of this package."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    inner = __name__.partition(".")[0]
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == inner:
        frame = frame.f_back
    if frame is None:
        return ""
    code = frame.f_code
    return f"{code.co_filename}:{frame.f_lineno} in {code.co_name}"


Key = tuple[str, int]  # a communicator's name, and the number of a collective of it


def _difference(states: dict[int, dict[str, Any]]) -> str | None:
    """The first place where ranks differ, or None."""
    found = [*_other_calls(states), *_other_orders(states)]
    return min(found)[1] if found else None


def _said(rank: int, entry: dict[str, Any]) -> str:
    return f"rank {rank} {entry['text']} from {entry['where']}"


def _other_orders(states: dict[int, dict[str, Any]]) -> list[tuple[int, str]]:
    """Where two ranks issued collectives of several communicators in another order: (when, text).

    Each waits in what the other will come to later, so the numbers within a communicator agree.
    """
    found = []
    orders: dict[int, dict[Key, dict[str, Any]]] = {
        rank: {(e["comm"], e["number"]): e for e in state["entries"] if e["number"]}
        for rank, state in states.items()
    }
    for a, b in itertools.combinations(sorted(orders), 2):
        mine, theirs = orders[a], orders[b]
        both = mine.keys() & theirs.keys()
        one = sorted(both, key=lambda k: mine[k]["order"])
        other = sorted(both, key=lambda k: theirs[k]["order"])
        for p, q in zip(one, other, strict=True):
            if p != q:
                x, y = mine[p], theirs[q]
                found.append(
                    (
                        min(x["order"], y["order"]),
                        f"the order of {p[0]} and {q[0]}: rank {a} first {_place(x)} {x['text']} "
                        f"from {x['where']}; rank {b} first {_place(y)} {y['text']} from "
                        f"{y['where']}",
                    )
                )
                break
    return found


def _other_calls(states: dict[int, dict[str, Any]]) -> list[tuple[int, str]]:
    """Collectives that ranks called otherwise, or that one has not called: (when, text)."""
    found = []
    issued: dict[tuple[str, int], dict[int, dict[str, Any]]] = {}
    last: dict[tuple[str, int], int] = {}  # by communicator and rank
    for rank, state in states.items():
        for e in state["entries"]:
            if e["number"]:
                issued.setdefault((e["comm"], e["number"]), {})[rank] = e
                last[e["comm"], rank] = max(last.get((e["comm"], rank), 0), e["number"])
    for (comm, number), entries in sorted(issued.items(), key=lambda item: item[0][1]):
        members = next(iter(entries.values()))["ranks"]
        texts = {e["text"] for e in entries.values()}
        behind = [r for r in members if r in states and last.get((comm, r), 0) < number]
        if len(texts) == 1 and not behind:
            continue
        parts = [_said(r, e) for r, e in sorted(entries.items())]
        for r in behind:
            now = states[r]["current"]
            there = f", but waits in {_place(now)} {now['text']} from {now['where']}" if now else ""
            parts.append(f"rank {r} nothing so far{there}")
        first = min(e["order"] for e in entries.values())
        found.append((first, f"{comm} #{number}: " + "; ".join(parts)))
    return found


def _past(state: dict[str, Any], comm: str, number: int) -> bool:
    """Whether a rank has got to a collective of a communicator, and waits there, or is further."""
    for e in state["entries"]:
        if e["comm"] == comm and e["number"] == number:
            return e["state"] not in (UNREADY, QUEUED)
    return any(e["comm"] == comm and e["number"] > number for e in state["entries"])


def compare(
    states: dict[int, dict[str, Any]], gone: set[int], least: float, alone: bool = False
) -> tuple[str, dict[int, Any] | None]:
    """Where the ranks differ, as text; and what each of them waits for, if none can go on.

    ``states`` is what :meth:`Ledger.told` gave on the ranks that are there; ``gone`` are those that
    have ended. A rank that waits for fewer than ``least`` seconds may go on, and one that the
    others have met: so may all, then. (They were asked one after the other: only who finds the
    same twice is sure.) ``alone``: only this rank's state is known, so there is nothing to compare.
    """
    texts = []
    waits: dict[int, Any] = {}
    stuck = bool(states)
    for rank, state in sorted(states.items()):
        now = state["current"]
        if now is None:
            stuck = False
            late = [e for e in state["entries"] if e["state"] == UNREADY]
            what = (
                f", but for the arrays of {late[0]['text']} from {late[0]['where']}" if late else ""
            )
            if state["at"]:
                what += f"; its program is at {state['at']}"
            texts.append(f"  rank {rank} waits for no other rank{what}")
            continue
        comm, number = now["comm"], now["number"]
        waits[rank] = [comm, number, now["text"], now["where"]]
        met = number and all(r in states and _past(states[r], comm, number) for r in now["ranks"])
        if met or now["seconds"] < least or now["state"] == UNDER_WAY:
            stuck = False
        what = "moves data for" if now["state"] == UNDER_WAY else "waits for"
        texts.append(
            f"  rank {rank} {what} {now['seconds']:.1f} s in {_place(now)} {now['text']} "
            f"from {now['where']}"
        )
    texts += [f"  rank {rank} has ended" for rank in sorted(gone)]
    difference = None if alone else _difference(states)
    if difference:
        texts.append(f"  the ranks differ first at {difference}")
    return "\n".join(texts), waits if stuck else None
