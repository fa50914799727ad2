"""What tests of waits share: who waits, and no sleep that a busy machine may make too short."""

import contextlib
import threading
import time

import lazyarray as la

PATIENCE = 60  # seconds, for what takes milliseconds


def until(condition):
    """Returns as soon as ``condition()`` is true."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "this never came true"
        time.sleep(0.001)


def settle():
    """A worker lets go of what it ran a moment after it is complete: until it has.

    ``waitall`` waits for that, but for 20 ms at most, and a busy machine takes longer.
    """
    for _ in range(100):
        with contextlib.suppress(Exception):  # of other ops
            la.waitall()


def waits():
    """How many waits there were for something that was not there."""
    return la.engine.get().stats()["waits"]


def once_waited(do):
    """Calls ``do()`` in another thread once somebody waits, as nobody does now."""
    before = waits()

    def run():
        until(lambda: waits() > before)
        do()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread
