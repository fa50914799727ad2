"""Arrays from buffers, iterators and files, and to files, in NumPy's formats.

Reading is done at the call; the arrays are made on the device given, that of ``like``, or the
current one. Writing waits for the values. (``save`` and ``load`` are in ``ops/interop.py``.)
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray import _numpy_facts
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops._files import replacing
from lazyarray.ops._layout import values
from lazyarray.ops._rows import holdable
from lazyarray.ops.hosts import given
from lazyarray.ops.interop import on_memory

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

__all__ = [
    "frombuffer",
    "fromfile",
    "fromiter",
    "fromstring",
    "loadtxt",
    "genfromtxt",
    "fromregex",
    "savetxt",
    "savez",
    "savez_compressed",
]


def _read(made: Any, like: Any) -> Any:
    return given(made, like.device if isinstance(like, Tensor) else None)


# ---- reading ------------------------------------------------------------------------------------


def frombuffer(
    buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0, *, like: Any = None
) -> NDArray:
    """A vector on the memory of a buffer, read-only if the buffer is.

    Ops on shared memory have run when their call returns, as with :func:`from_dlpack`; on that of
    ``bytes``, which never changes, they run as on any array. A copy where the memory isn't aligned
    for the dtype, and on another device than the host.

    >>> import lazyarray as la
    >>> la.frombuffer(b"\\x01\\x02", dtype=la.uint8).asnumpy()
    array([1, 2], dtype=uint8)
    >>> memory = bytearray(3)
    >>> la.frombuffer(memory, dtype=la.uint8)[1:] = 7
    >>> memory
    bytearray(b'\\x00\\x07\\x07')
    """
    device = like.device if isinstance(like, Tensor) else None
    host = np.frombuffer(buffer, dtype, count, offset)
    return on_memory(host, device) if holdable(host) else given(host, device)


def fromfile(
    file: Any,
    dtype: Any = float,
    count: int = -1,
    sep: str = "",
    offset: int = 0,
    *,
    like: Any = None,
) -> NDArray:
    """A vector of what a file holds: bytes, or text if there is a separator.

    >>> import lazyarray as la, tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(b"\\x01\\x02"), file.flush()
    ...     la.fromfile(file.name, la.uint8).asnumpy()
    array([1, 2], dtype=uint8)
    """
    return _read(np.fromfile(file, dtype, count, sep, offset), like)


def fromiter(iter: Iterable[Any], dtype: Any, count: int = -1, *, like: Any = None) -> NDArray:
    """A vector of what an iterator gives.

    >>> import lazyarray as la
    >>> la.fromiter((i * i for i in range(3)), dtype=int).asnumpy()
    array([0, 1, 4])
    """
    return _read(np.fromiter(iter, dtype, count), like)


def fromstring(
    string: Any, dtype: Any = float, count: int = -1, *, sep: str, like: Any = None
) -> NDArray:
    """A vector of the numbers in a text.

    >>> import lazyarray as la
    >>> la.fromstring("1, 2", dtype=int, sep=",").asnumpy()
    array([1, 2])
    """
    return _read(np.fromstring(string, dtype, count, sep=sep), like)


def loadtxt(
    fname: Any,
    dtype: Any = float,
    comments: Any = "#",
    delimiter: str | None = None,
    converters: Any = None,
    skiprows: int = 0,
    usecols: Any = None,
    unpack: bool = False,
    ndmin: Any = 0,
    encoding: str | None = None,
    max_rows: int | None = None,
    *,
    quotechar: str | None = None,
    like: Any = None,
) -> NDArray:
    """A table of numbers from a text file, or from an iterable of lines.

    >>> import lazyarray as la
    >>> la.loadtxt(["1 2", "3 4  # a comment"]).asnumpy()
    array([[1., 2.],
           [3., 4.]])
    """
    table = np.loadtxt(
        fname,
        dtype,
        comments,
        delimiter,
        converters,
        skiprows,
        usecols,
        unpack,
        ndmin,
        encoding,
        max_rows,
        quotechar=quotechar,
    )
    return _read(table, like)


def genfromtxt(fname: Any, dtype: Any = float, *args: Any, like: Any = None, **kwargs: Any) -> Any:
    """A table of numbers from a text file with gaps; arguments as ``numpy.genfromtxt``.

    Named columns, text and masks (``names=True``, ``dtype=None``, ``usemask=True``) make it one of
    NumPy's arrays, with a :class:`HostArrayWarning`.

    >>> import lazyarray as la
    >>> la.genfromtxt(["1,2", "3,"], delimiter=",").asnumpy()
    array([[ 1.,  2.],
           [ 3., nan]])
    """
    return _read(np.genfromtxt(fname, dtype, *args, **kwargs), like)


def fromregex(file: Any, regexp: Any, dtype: Any, encoding: str | None = None) -> Any:
    """Records of what a regular expression finds in a text file: one of NumPy's arrays.

    >>> import io, warnings, lazyarray as la
    >>> warnings.simplefilter("ignore", la.HostArrayWarning)
    >>> pair = [("key", "U1"), ("n", int)]
    >>> found = la.fromregex(io.StringIO("a 1, b 2"), r"([a-z]) ([0-9])", pair)
    >>> found["n"].tolist()
    [1, 2]
    """
    return given(np.fromregex(file, regexp, dtype, encoding))


# ---- writing ------------------------------------------------------------------------------------


def savetxt(
    fname: Any,
    X: Any,
    fmt: Any = "%.18e",
    delimiter: str = " ",
    newline: str = "\n",
    header: str = "",
    footer: str = "",
    comments: str = "# ",
    encoding: str | None = None,
) -> None:
    """Writes a vector or matrix as text. Waits for the values.

    >>> import io, lazyarray as la
    >>> file = io.StringIO()
    >>> la.savetxt(file, la.array([[1, 2], [3, 4]]), fmt="%d", delimiter=",")
    >>> file.getvalue()
    '1,2\\n3,4\\n'
    """
    host = values(X, "savetxt()")
    np.savetxt(fname, host, fmt, delimiter, newline, header, footer, comments, encoding)


def savez(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Writes arrays to an ``.npz`` file, named by keyword or ``arr_0``, ``arr_1``. Waits for them.

    >>> import io, lazyarray as la
    >>> file = io.BytesIO()
    >>> la.savez(file, la.ones(2), b=la.zeros(1))
    >>> _ = file.seek(0)
    >>> sorted(la.load(file))
    ['arr_0', 'b']
    """
    _write("savez", file, args, kwds, allow_pickle)


def savez_compressed(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """:func:`savez`, compressed. Waits for the values.

    >>> import io, lazyarray as la
    >>> file = io.BytesIO()
    >>> la.savez_compressed(file, a=la.ones(2))
    >>> _ = file.seek(0)
    >>> la.load(file)["a"].asnumpy()
    array([1., 1.])
    """
    _write("savez_compressed", file, args, kwds, allow_pickle)


def _write(
    name: str, file: Any, args: tuple[Any, ...], kwds: dict[str, Any], allow_pickle: bool
) -> None:
    what = f"{name}()"
    write = getattr(np, name)
    if _numpy_facts.SAVEZ_ALLOWS_PICKLE:
        write = functools.partial(write, allow_pickle=allow_pickle)
    hosts = [values(a, what) for a in args]
    named = {key: values(a, what) for key, a in kwds.items()}
    if not isinstance(file, (str, os.PathLike)):
        write(file, *hosts, **named)
        return
    path = os.fspath(file)
    with replacing(path if path.endswith(".npz") else path + ".npz") as stream:
        write(stream, *hosts, **named)
