"""Checkpoints: saved by one rank while training goes on, loaded by all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from lazyarray import engine
from lazyarray.context import cpu
from lazyarray.distributed.arguments import rank_of
from lazyarray.distributed.process import current
from lazyarray.functions import archives
from lazyarray.functions.creation import empty
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops._rows import asarray

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike

__all__ = ["load", "save"]


def save(
    file: str | os.PathLike[str] | IO[bytes], data: Mapping[str, ArrayLike], root: int = 0
) -> NDArray | None:
    """One rank writes arrays, as :func:`lazyarray.save` does, with the values that they have now.

    It does not wait: the arrays are copied by ops, and a thread writes the copies while training
    goes on, one file after the other. :func:`load` and the program's end wait for it.

    Args:
        file: a path or a binary file, at the root.
        data: a dict of arrays or numbers by name: parameters, and an optimiser's ``state_dict()``.
        root: the rank that writes; the others do nothing.
    Returns: at the root an array whose ``wait_to_read()`` returns once the file is there, and
        raises what went wrong; None elsewhere.
    Raises: TypeError unless data is a dict of arrays and numbers, with strings for keys; ValueError
        for a root that is no rank, or a path that ends in ".npy"; RuntimeError before :func:`init`.

    >>> import io, lazyarray as la
    >>> la.distributed.init()
    >>> file = io.BytesIO()
    >>> _ = la.distributed.save(file, {"w": la.ones(2)}).wait_to_read()
    >>> _ = file.seek(0)
    >>> la.distributed.load(file)["w"].asnumpy()
    array([1., 1.])
    """
    if not isinstance(data, Mapping) or not all(isinstance(key, str) for key in data):
        raise TypeError("save takes a dict of arrays, with strings for keys")
    if isinstance(file, (str, os.PathLike)) and str(file).endswith(".npy"):
        raise ValueError(
            "save writes an archive of named arrays, which is no .npy file: name it .npz"
        )
    process = current()
    if process.rank != rank_of("root", root, process.size):
        return None
    copies = {
        key: x.to_device(cpu(0)).copy() if isinstance(x, Tensor) else asarray(np.array(x), cpu(0))
        for key, x in data.items()
    }
    done = empty(1, "int8", device=cpu(0))

    def write(run_ctx: Any, on_complete: Any) -> None:
        try:
            archives.save(file, {key: run_ctx.numpy(x) for key, x in copies.items()})
        except BaseException as error:
            on_complete(error)
        else:
            on_complete()

    engine.get().push_async(
        write,
        cpu(0),
        const_vars={x.var for x in copies.values()},
        overwrites=[done.var, process.files],  # whatever became of the file before
        prop=engine.FnProperty.CPU_PRIORITIZED,
        name="save",
    )
    return done


def load(file: str | os.PathLike[str] | IO[bytes], root: int = 0) -> dict[str, NDArray]:
    """One rank reads a file, all get its arrays. A collective that waits for the file.

    What any rank has saved before is written by then.

    Args:
        file: what :func:`save` or :func:`lazyarray.save` wrote; only the root reads it.
        root: the rank that reads.
    Returns: a dict of arrays by name; those of a list are ``arr_0``, ``arr_1``, ...
    Raises: what went wrong at the root, there; :class:`RankError` on the others; ValueError for a
        root that is no rank; RuntimeError before :func:`init`.

    >>> import io, lazyarray as la
    >>> la.distributed.init()
    >>> file = io.BytesIO()
    >>> la.save(file, [la.ones(2), la.zeros(1)])
    >>> _ = file.seek(0)
    >>> sorted(la.distributed.load(file))
    ['arr_0', 'arr_1']
    """
    process = current()
    root = rank_of("root", root, process.size)
    found: dict[str, Any] = {}
    failure: BaseException | None = None
    process.drain(process.files)
    process.world.barrier()
    if process.rank == root:
        try:
            read = archives.load(file)
            if isinstance(read, Mapping):
                found = dict(read)
            else:
                each = read if isinstance(read, list) else [read]
                found = {f"arr_{i}": x for i, x in enumerate(each)}
        except Exception as error:
            failure = error
    told = {key: (x.shape, str(x.dtype)) for key, x in found.items()}
    why = None if failure is None else f"{type(failure).__name__}: {failure}"
    shapes, wrong = process.world.exchange((told, why))[root]
    if failure is not None:
        raise failure
    if wrong is not None:
        from lazyarray.distributed.errors import RankError

        raise RankError(f"rank {root} could not load the file: {wrong}", root)
    for key, (shape, dtype) in shapes.items():
        if key not in found:
            found[key] = empty(shape, dtype)  # on the device where the root's is: the current one
        found[key] = process.world.broadcast(found[key], root, out=found[key])
    return found
