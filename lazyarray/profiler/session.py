"""The profiler's state: started, paused, stopped; the recording, and the thread that writes it."""

from __future__ import annotations

import _thread
import atexit
import json
import os
import sys
import threading
import time
from typing import Self

from lazyarray.engine._engine import Scope, hold_at_fork
from lazyarray.engine.settings import int_env
from lazyarray.profiler import _profiler as native
from lazyarray.profiler import config as settings
from lazyarray.profiler import pictures

__all__ = [
    "autostart",
    "dump",
    "pause",
    "profile",
    "resume",
    "set_config",
    "start",
    "state",
    "stop",
]


class Session:
    """The process's one session.

    `lock` guards everything here and all use of the recording. Who holds it may be waiting for the
    disk, never for an operator. A fork waits for it, so that the child finds nothing half done.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.config = settings.Config()
        self.recording: native.Recording | None = None  # the last one, also when it is finished
        self.state = "stopped"
        self.writer: Writer | None = None
        self.block: profile | None = None  # the `with` block that this is the session of
        self.seconds = 0.0  # how long it was running, less what goes on
        self.since = 0.0

    # All with the lock held.

    def run(self) -> None:
        """Begins to profile, into the recording that is open or else a new one."""
        if self.recording is None or self.recording.finished:
            self.recording = native.Recording(
                os.path.realpath(self.config.filename), _tail(), self.config.aggregate_stats
            )
            self.seconds = 0.0
        anew = self.state == "stopped"
        self.since = time.monotonic()
        self.state = "running"
        native.profile(self.config.profile_imperative, self.config.profile_memory, anew)
        if self.config.continuous_dump and self.writer is None:
            self.writer = Writer(self)
            try:
                self.writer.start()
            except RuntimeError:  # no thread can be started
                self.writer = None
                self.halt("stopped")
                raise

    def halt(self, state: str) -> None:
        """Ends profiling."""
        native.profile_off()
        if self.state == "running":
            self.seconds += time.monotonic() - self.since
        self.state = state

    def profiled(self) -> float:
        """For how many seconds it was running."""
        now = time.monotonic() - self.since if self.state == "running" else 0.0
        return self.seconds + now

    def begin_anew(self) -> None:
        """Counts the seconds from now on."""
        self.seconds, self.since = 0.0, time.monotonic()

    def drain(self) -> None:
        """Takes in what was collected so far. A file that can't be written ends the recording."""
        if self.recording is None or self.recording.finished:
            return
        try:
            self.recording.drain()
        except (OSError, MemoryError):
            self.halt("stopped")
            raise

    def finish(self) -> None:
        """Ends the recording; its file is complete."""
        if self.recording is None or self.recording.finished:
            return
        self.drain()
        self.recording.finish()


class Writer:
    """Drains while the profiler runs, every `dump_period` seconds, or sooner if much has come.

    A thread and a lock of `_thread`: those of `threading` run code in Python, where an interrupt
    that comes in between is lost (in a callback of its set of threads) or breaks a lock.
    """

    def __init__(self, owner: Session) -> None:
        self._owner = owner
        self._goes_on = _thread.allocate_lock()  # locked until the end
        self._goes_on.acquire()

    def start(self) -> None:
        """RuntimeError if no thread can be started."""
        _thread.start_new_thread(self._run, ())

    def end(self) -> None:
        """With the session's lock; again where that was interrupted."""
        if self._goes_on.locked():
            self._goes_on.release()

    def _run(self) -> None:
        period = self._owner.config.dump_period
        last = time.monotonic()
        while not self._goes_on.acquire(timeout=min(period, 0.1)):
            if time.monotonic() - last < period and native.full_blocks() < 16:
                continue
            with self._owner.lock:
                if self._owner.writer is not self:
                    return
                try:
                    self._owner.drain()
                except (OSError, MemoryError) as exc:
                    print(f"lazyarray: the profiler stops: {exc}", file=sys.stderr)
                    self._owner.writer = None
                    return
            last = time.monotonic()


session = Session()


def _tail() -> str:
    """What follows the events: the file's end."""
    more = {
        "program": " ".join(sys.argv),
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "clock": "microseconds since the start",
    }
    return f'\n],"displayTimeUnit":"ns","otherData":{json.dumps(more)}}}\n'


def set_config(**options: object) -> None:
    """Changes the settings that are named; the others keep their values.

    It ends the recording that was made before, so the next :func:`start` begins a file anew.

    filename : path, default ``"profile.json"``
        The file to write. What was there before is replaced at the start.
    profile_all : bool
        Sets ``profile_imperative`` and ``profile_memory``, where they are not named beside it.
    profile_imperative : bool, default True
        Operators, and the tiny operations that run in the caller's thread. (Waits, and what the
        program names itself, are recorded whenever the profiler runs.)
    profile_memory : bool, default True
        The counters: operators and bytes that are pending, memory of the pools.
    aggregate_stats : bool, default True
        Keeps the sums that :func:`dumps` and :func:`summary` read.
    continuous_dump : bool, default True (False in MXNet)
        Writes the file while the program runs, every ``dump_period`` seconds, so that a process
        that is killed leaves what happened until then. Else :func:`dump` and :func:`stop` write
        it; of what comes in between, 2 million entries find room.
    dump_period : float, default 1.0
        Seconds.

    Args:
        options: these settings, by name.
    Returns: None.
    Raises: TypeError for an unknown name; ValueError for a value that makes no sense; RuntimeError
        while the profiler runs.

    >>> import lazyarray as la
    >>> la.profiler.set_config(filename="trace.json", profile_memory=False)
    >>> la.profiler.set_config(filename="profile.json", profile_all=True)
    """
    with session.lock:
        config = settings.changed(session.config, options)
        if session.state != "stopped":
            raise RuntimeError("the profiler is running: stop() it before set_config()")
        session.finish()
        session.config = config


def state() -> str:
    """``"running"``, ``"paused"`` or ``"stopped"``.

    Returns: a str.
    Raises: nothing.

    >>> import lazyarray as la
    >>> la.profiler.state()
    'stopped'
    """
    return session.state


def start() -> None:
    """Starts to profile; nothing new where that is being done, and the end of a pause.

    The file of the settings is written anew, unless :func:`stop` has left one that :func:`dump` has
    not finished: then this goes on with it.

    Returns: None.
    Raises: OSError if the file can't be written; BlockingIOError where another process profiles
        into it.
    """
    with session.lock:
        if session.state != "running":
            session.run()


def stop() -> None:
    """Waits for the operators that were pushed, and stops to profile; the file then has everything.

    ``start()`` goes on in the same file, until ``dump()`` finishes it.

    Returns: None.
    Raises: OSError if the file can't be written.
    """
    if session.state == "stopped" and session.writer is None:
        return
    try:
        if session.state == "running":
            native.settle()  # with no lock held: what is waited for may use the profiler
    finally:  # also where Ctrl-C ended the wait
        with session.lock:
            session.halt("stopped")
            if session.writer is not None:
                session.writer.end()
                session.writer = None
            session.drain()


def pause() -> None:
    """Stops to record for a while. What is pushed before and ends meanwhile is not recorded.

    Returns: None.
    Raises: nothing.
    """
    with session.lock:
        if session.state == "running":
            session.halt("paused")


def resume() -> None:
    """Ends a pause.

    Returns: None.
    Raises: nothing.
    """
    with session.lock:
        if session.state == "paused":
            session.run()


def dump(finished: bool = True) -> None:
    """Writes the file: with ``finished``, stops first, and closes it.

    Otherwise it writes what has ended so far, and goes on.

    Args:
        finished: whether it is the end of the file.
    Returns: None.
    Raises: RuntimeError if nothing was profiled; OSError if the file can't be written.
    """
    if finished:
        stop()
    with session.lock:
        if session.recording is None:
            raise RuntimeError("nothing was profiled yet: call start() first")
        if finished:
            session.finish()
        else:
            session.drain()


class profile(Scope):
    """A block that is profiled into a file.

    At its end it waits for the operators that were pushed in it, so that they are in the file.
    Blocks don't nest.

    Args:
        filename: the file that is written.
        **options: settings by name, those of :func:`set_config`.
    Raises: when the block begins, RuntimeError if the profiler runs; ValueError and TypeError for
        what :func:`set_config` refuses.

    >>> import json
    >>> import lazyarray as la
    >>> with la.profiler.profile("trace.json", profile_memory=False):
    ...     x = la.arange(1000) + 1
    >>> "traceEvents" in json.load(open("trace.json"))
    True
    """

    def __init__(self, filename: str | os.PathLike[str] = "profile.json", **options: object):
        self.options = {"filename": filename, **options}

    def _enter(self) -> Self:
        with session.lock:
            if session.state != "stopped":
                raise RuntimeError("the profiler is running already: profile() blocks don't nest")
            config = settings.changed(session.config, self.options)
            session.finish()
            self.before = session.config
            session.block = self
            session.config = config
            try:
                session.run()
            except Exception:
                self._over()
                raise
        return self

    def _leave(self) -> None:
        if session.block is not self:  # not begun, over, or a forked child
            return
        try:
            try:
                stop()
            finally:
                dump()
        except KeyboardInterrupt:
            raise  # this is called again
        except BaseException:
            self._over()
            raise
        self._over()

    def _over(self) -> None:
        session.config = self.before
        session.block = None

    def _repr_html_(self) -> str:
        name = os.fspath(self.options["filename"])  # type: ignore[call-overload]
        return pictures.counters(name)


# ---- the process ---------------------------------------------------------------------------------


def autostart() -> None:
    """Starts if ``LAZYARRAY_PROFILER_AUTOSTART`` says so, as lazyarray is imported."""
    wanted = int_env("LAZYARRAY_PROFILER_AUTOSTART", 0, least=0)
    if wanted > 1:
        raise ValueError(f"LAZYARRAY_PROFILER_AUTOSTART={wanted}: 0 or 1 is wanted")
    if not wanted:
        return
    try:
        start()
    except OSError as exc:  # for one, in a process that the profiled one has started
        print(f"lazyarray: this process is not profiled: {exc}", file=sys.stderr)


def _at_exit() -> None:
    if session.recording is None or session.recording.finished:
        return
    try:
        dump()
    except OSError as exc:
        print(f"lazyarray: the profile is not complete: {exc}", file=sys.stderr)


def _after_fork_in_child() -> None:
    # The file is the parent's: to let go of it here neither writes nor unlocks it.
    config, lock = session.config, session.lock
    session.__init__()  # type: ignore[misc]
    session.config, session.lock = config, lock


# The engine's own functions were registered before: they run after these at exit, and inside them
# at a fork.
atexit.register(_at_exit)
hold_at_fork(session.lock)
os.register_at_fork(after_in_child=_after_fork_in_child)
