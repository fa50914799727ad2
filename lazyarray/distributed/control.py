"""A line from every rank to rank 0, beside the backend: who is there, who died, who waits for what.

It works where the backend doesn't: while MPI waits for a rank that will never come. Rank 0 has the
*hub*, a thread that listens; each rank, 0 too, is a *member*. Messages are lines of JSON.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import selectors
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from lazyarray.distributed.ledger import compare

__all__ = ["Hub", "Member", "answer_seconds", "own_address"]

_ANSWER_SECONDS = 3.0  # for which the hub waits for the ranks' ledgers
_GREETING = 1 << 12  # bytes that a connection may send before it has said who it is
# A machine that lost its power sends no end of file: the kernel asks after a silent connection, and
# ends it after about a minute without an answer. A process that is stopped still answers.
_IDLE, _BETWEEN, _TIMES = 30, 6, 5  # seconds, seconds, questions


def answer_seconds(timeout: float) -> float:
    """How long the hub waits for ledgers, where collectives are overdue after ``timeout``."""
    return min(_ANSWER_SECONDS, max(timeout, 0.5))


def keep_alive(sock: socket.socket) -> None:
    """Has the other machine's end be noticed."""
    options = [
        ("SO_KEEPALIVE", 1),
        ("TCP_KEEPIDLE", _IDLE),
        ("TCP_KEEPINTVL", _BETWEEN),
        ("TCP_KEEPCNT", _TIMES),
        ("TCP_USER_TIMEOUT", 1000 * (_IDLE + _BETWEEN * _TIMES)),  # of what was sent meanwhile
        ("TCP_NODELAY", 1),
    ]
    for name, value in options:
        number = getattr(socket, name, None)  # not every system has all
        if number is not None:
            level = socket.SOL_SOCKET if name.startswith("SO_") else socket.IPPROTO_TCP
            with contextlib.suppress(OSError):
                sock.setsockopt(level, number, value)


def own_address(others: bool) -> str:
    """Where other machines (or only this one) reach this process."""
    if not others:
        return "127.0.0.1"
    name = socket.gethostname()
    try:
        found = socket.getaddrinfo(name, None, socket.AF_INET, socket.SOCK_STREAM)
    except OSError:
        return name
    outside = [str(a[4][0]) for a in found if not str(a[4][0]).startswith("127.")]
    return outside[0] if outside else name


class _Line:
    """A connection that carries messages."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        keep_alive(sock)
        self.known = True  # whether we know who is there; else it may send only little
        self._lock = threading.Lock()  # held to send: several threads do
        self._rest = b""  # of a message: only the thread that receives has it

    def send(self, message: dict[str, Any]) -> None:
        """Nothing if nobody is there any more: whoever reads from it learns that."""
        try:
            with self._lock:
                self.sock.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            pass

    def receive(self) -> list[dict[str, Any]] | None:
        """The messages that have come; None at the end, and for what are none."""
        try:
            data = self.sock.recv(1 << 16)
        except OSError:
            return None
        *lines, self._rest = (self._rest + data).split(b"\n")
        if not data or (not self.known and len(self._rest) > _GREETING):
            return None
        try:
            messages = [json.loads(line) for line in lines]
        except ValueError:
            return None
        return messages if all(isinstance(m, dict) for m in messages) else None


class Hub(threading.Thread):
    """Rank 0's: passes on who died or left, and compares ledgers when a rank waits too long."""

    def __init__(self, size: int, token: str, outside: bool, timeout: float) -> None:
        super().__init__(name="lazyarray hub", daemon=True)
        self._size, self._token, self._timeout = size, token, timeout
        self._server = socket.create_server(("" if outside else "127.0.0.1", 0), backlog=size)
        self.port: int = self._server.getsockname()[1]
        self._members: dict[int, _Line] = {}
        self._left: set[int] = set()  # by themselves: they call nothing more
        self._done: set[int] = set()  # those of them whose messages have come, too
        self._lost: dict[int, str] = {}  # and why
        self._told: dict[int, dict[str, Any]] | None = None  # while ledgers are asked for
        self._until = 0.0
        self._stuck: dict[int, Any] | None = None  # what all waited for, when they last told
        self._selector = selectors.DefaultSelector()
        self._end_sent: float | None = None

    def run(self) -> None:
        self._selector.register(self._server, selectors.EVENT_READ, None)
        while self._end_sent is None or (self._members and time.monotonic() < self._end_sent + 5):
            # Until the members have hung up: what was sent might be lost otherwise.
            wait = None if self._told is None else max(0.0, self._until - time.monotonic())
            wait = wait if self._end_sent is None else 0.2
            for key, _ in self._selector.select(wait):
                if key.data is None:
                    self._accept()
                    continue
                line, rank = key.data
                messages = line.receive()
                if messages is not None and rank is None and messages:
                    rank = key.data[1] = self._greeted(line, messages.pop(0))
                    messages = None if rank is None else messages
                if messages is None:
                    self._hang_up(line, rank)
                    continue
                for message in messages:
                    self._take(key.data[1], message)
            if self._told is not None and time.monotonic() >= self._until:
                self._compare()
        self._selector.close()
        self._server.close()
        for line in self._members.values():
            line.sock.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # who called has gone, or there are too many files
            sock, _ = self._server.accept()
            line = _Line(sock)
            line.known = False
            self._selector.register(sock, selectors.EVENT_READ, [line, None])

    def _greeted(self, line: _Line, message: dict[str, Any]) -> int | None:
        """The rank that a new connection is of; None for others: any program can call a port."""
        token, rank = message.get("token"), message.get("rank")
        if not isinstance(token, str) or not secrets.compare_digest(
            token.encode(), self._token.encode()
        ):
            return None
        if not isinstance(rank, int) or rank in self._members:
            return None
        line.known = True
        self._members[rank] = line
        # A rank may come and go before another's greeting is read, rank 0's own too.
        for lost, why in self._lost.items():
            line.send({"lost": lost, "why": why})
        for left in self._left:
            line.send({"left": left})
        return rank

    def _hang_up(self, line: _Line, rank: int | None) -> None:
        self._selector.unregister(line.sock)
        line.sock.close()
        if rank is not None:
            self._members.pop(rank, None)
            if rank not in self._done and self._end_sent is None:
                self._lose(rank, "died")

    def _all(self, message: dict[str, Any]) -> None:
        for line in list(self._members.values()):
            line.send(message)

    def _lose(self, rank: int, why: str) -> None:
        if rank not in self._lost:
            self._lost[rank] = why
            self._all({"lost": rank, "why": why})
            self._end()

    def _take(self, rank: int, message: dict[str, Any]) -> None:
        if "bye" in message:
            self._left.add(rank)
            self._all({"left": rank})
        elif "done" in message:
            self._done.add(rank)
            self._end()
        elif "died" in message:
            self._lose(rank, message["died"])
        elif "overdue" in message and self._told is None:
            self._told = {}
            self._until = time.monotonic() + answer_seconds(self._timeout)
            self._all({"tell": True})
        elif "told" in message and self._told is not None:
            self._told[rank] = message["told"]
            if self._members.keys() - self._left - self._lost.keys() <= self._told.keys():
                self._compare()

    def _end(self) -> None:
        if self._end_sent is None and len(self._done | self._lost.keys()) == self._size:
            self._all({"end": not self._lost})
            self._end_sent = time.monotonic()

    def _compare(self) -> None:
        told, self._told = self._told or {}, None
        gone = self._left | self._lost.keys()
        states = {rank: state for rank, state in told.items() if rank not in gone}
        text, stuck = compare(states, gone, self._timeout / 2)
        silent = set(range(self._size)) - told.keys() - gone
        for rank in sorted(silent):
            text += f"\n  rank {rank} " + (
                "does not answer" if rank in self._members else "has not come out of init() yet"
            )
        sure = stuck is not None and stuck == self._stuck and not silent
        self._stuck = stuck
        self._all({"stuck" if sure else "report": text})


class Member(threading.Thread):
    """A rank's end. ``heard(message)`` is called in its thread; ``{"lost": 0}`` without a hub."""

    def __init__(
        self, address: tuple[str, int], rank: int, token: str, heard: Callable[[Any], None]
    ) -> None:
        super().__init__(name="lazyarray control", daemon=True)
        self._heard = heard
        self._line = _Line(socket.create_connection(address, timeout=30))
        self._line.sock.settimeout(None)
        self.send({"rank": rank, "token": token})

    def send(self, message: dict[str, Any]) -> None:
        self._line.send(message)

    def run(self) -> None:
        while (messages := self._line.receive()) is not None:
            for message in messages:
                self._heard(message)
                if "end" in message:
                    self._line.sock.close()
                    return
        self._heard({"lost": 0, "why": "died"})
        self._heard({"end": False})
