"""``await x``: the event loop goes on until an array is complete, and a worker wakes it."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from lazyarray import engine
from lazyarray.context import cpu

if TYPE_CHECKING:
    import asyncio

    from lazyarray._ndarray import NDArray

__all__ = ["completed"]


def awaited(x: NDArray) -> Generator[Any, None, NDArray]:
    """``x.__await__()``: gives ``x`` once its values are there; raises what made it fail."""
    if x._state() == "pending":
        import asyncio

        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        _wake(loop, future, x)
        yield from future
    else:
        x.wait_to_read()
    return x


def _wake(loop: asyncio.AbstractEventLoop, future: asyncio.Future[None], x: NDArray) -> None:
    """Has an op that reads ``x``, and so runs after its writers, tell the future."""

    def settle() -> None:
        if future.done():  # cancelled: its error is still for who asks next
            return
        try:
            if x._state() == "failed":
                x.wait_to_read()  # raises
        except StopIteration as error:  # asyncio takes none, and the one who awaits would hang
            stopped = RuntimeError("an op raised StopIteration")
            stopped.__cause__ = error
            future.set_exception(stopped)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(None)

    def run(run_ctx: Any, on_complete: Any) -> None:
        try:
            if not x.device._on_host and x._state() != "failed":
                x.wait_to_read()  # for the device, by a worker
        finally:
            try:
                on_complete()
            finally:
                try:
                    loop.call_soon_threadsafe(settle)
                except RuntimeError:
                    pass  # the loop was closed: nobody waits

    # NO_SKIP: also where an op before it failed.
    engine.get().push_async(
        run, cpu(0), const_vars=[x.var], prop=engine.FnProperty.NO_SKIP, name="await"
    )


async def completed(*arrays: NDArray) -> tuple[NDArray, ...]:
    """The arrays, once all of them are complete.

    ``await x`` is for one. ``asyncio.gather(a, b)`` takes arrays, too, and makes a task of each.

    Args:
        arrays: arrays.
    Returns: a tuple of them, when it is awaited.
    Raises: what made the first one fail that did, when it is awaited.

    >>> import asyncio, lazyarray as la
    >>> async def sums():
    ...     a, b = await la.completed(la.ones(3).sum(), la.arange(3).sum())
    ...     return float(a), float(b)
    >>> asyncio.run(sums())
    (3.0, 3.0)
    """
    for x in arrays:
        await x
    return arrays
