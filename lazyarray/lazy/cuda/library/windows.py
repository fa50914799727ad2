"""The kernels of la.nn: windows over planes, maxima of windows, choices by an index in each row."""

from __future__ import annotations

from lazyarray.lazy.cuda.library import calls
from lazyarray.lazy.cuda.library.calls import Array, Call, runs
from lazyarray.lazy.cuda.library.kernels import launch

_LOW = (1 << 32) - 1


def _address(call: Call, k: int) -> Array:
    return call.view(k, (1,), (call.dtypes[k].itemsize,))


def _windows(call: Call) -> list[int]:
    """Plane, windows, then kernel, stride, padding and dilation, as nn/windows.h has them."""
    pairs = [(word >> 32, word & _LOW) for word in call.core_steps[:4]]
    return [*call.core, *[length for pair in pairs for length in pair]]


@runs()
def unfold(call: Call) -> None:
    """The windows of planes (channels, images) as columns."""
    _, _, oh, ow = call.core
    windows = _windows(call)
    channels, images = call.shape
    threads = channels * images * windows[4] * windows[5] * oh * ow
    _launch_windows("unfold", call, 0, threads, windows)


@runs()
def fold(call: Call) -> None:
    """The adjoint of ``unfold``."""
    h, w, _, _ = call.core
    channels, images = call.shape
    _launch_windows("fold", call, 1, channels * images * h * w, _windows(call))


def _launch_windows(name: str, call: Call, plane: int, threads: int, windows: list[int]) -> None:
    (channel, image), (column, beside) = call.steps[plane], call.steps[1 - plane]
    row, tap = call.core_steps[4:]
    launch(
        name,
        call.dtypes[plane],
        threads,
        _address(call, plane),
        _address(call, 1 - plane),
        call.shape[1],
        *windows,
        *(channel, image, row, column, tap, beside),
    )


@runs()
def max_pool(call: Call) -> None:
    """The windows' maxima and where in the plane they are."""
    _, _, oh, ow = call.core
    steps = [step for (step,) in call.steps]
    launch(
        "max_pool",
        call.dtypes[0],
        call.shape[0] * oh * ow,
        *[_address(call, k) for k in range(3)],
        *_windows(call),
        *(*steps, call.core_steps[4]),
    )


@runs()
def pick(call: Call) -> None:
    """Of each row the elements at its indices; 0 where one is outside."""
    _choose("pick", call, call.shape[0] * call.core[1])


@runs()
def spread(call: Call) -> None:
    """The adjoint of ``pick``."""
    rows, length = call.shape[0], call.core[0]
    step, item = call.steps[2][0], call.dtypes[2].itemsize
    call.view(2, (rows, length), (step, item)).fill(0)
    _choose("spread", call, rows)


def _choose(name: str, call: Call, threads: int) -> None:
    launch(
        name,
        call.dtypes[0],
        threads,
        *[_address(call, k) for k in range(3)],
        *call.core,
        *[step for (step,) in call.steps],
        index=call.dtypes[1],
    )


@runs()
def cross_entropy(call: Call) -> None:
    """Losses of rows by their classes, and which count; IndexError for a class there isn't."""
    classes, ignored = call.core
    (rows,) = call.shape
    if rows == 0:
        return
    targets = call.view(3, (rows,), call.steps[3])
    wrong = (targets != ignored) & ((targets < 0) | (targets >= classes))
    if bool(wrong.any()):
        first = int(targets[int(wrong.argmax())])
        raise IndexError(f"target {first} is out of bounds for {classes} classes")
    # Constants, of which there is no memory, are 0.
    pair = [
        _address(call, k) if call.constant(k) is None else calls.cupy().zeros(1, call.dtypes[k])
        for k in (1, 2)
    ]
    launch(
        "cross_entropy",
        call.dtypes[0],
        rows,
        *[_address(call, 0), *pair],
        *[_address(call, k) for k in (3, 4, 5)],
        ignored,
        *[call.steps[k][0] for k in range(3)],
    )
