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

    Args:
        buffer: bytes, or an object with a buffer.
        dtype: what the bytes are.
        count: how many elements; -1: all.
        offset: where they begin, in bytes.
    Returns: a vector.
    Raises: ValueError if the buffer is too short, or its length is no multiple of an element's.

    >>> import lazyarray as la
    >>> la.frombuffer(b"\\x01\\x02", dtype=la.uint8).asnumpy()
    array([1, 2], dtype=uint8)
    >>> memory = bytearray(3)
    >>> la.frombuffer(memory, dtype=la.uint8)[1:] = 7
    >>> memory
    bytearray(b'\\x00\\x07\\x07')
    """
    device = like.device if isinstance(like, Tensor) else None
    if isinstance(buffer, Tensor):
        mine: Any = buffer
        buffer = mine.data
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

    Args:
        file: a path, or an open file.
        dtype: what the file holds.
        count: how many elements; -1: all.
        sep: what is between numbers written as text; "" for bytes.
        offset: where they begin, in bytes.
    Returns: a vector.
    Raises: OSError if the file can't be read; ValueError for text that is no number.

    >>> import lazyarray as la, tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(b"\\x01\\x02"), file.flush()
    ...     la.fromfile(file.name, la.uint8).asnumpy()
    array([1, 2], dtype=uint8)
    """
    return _read(np.fromfile(file, dtype, count, sep, offset), like)


def fromiter(iter: Iterable[Any], dtype: Any, count: int = -1, *, like: Any = None) -> NDArray:
    """A vector of what an iterator gives.

    Args:
        iter: what gives the values.
        dtype: the dtype.
        count: how many values; -1: all.
    Returns: a vector.
    Raises: ValueError if there are fewer than ``count``.

    >>> import lazyarray as la
    >>> la.fromiter((i * i for i in range(3)), dtype=int).asnumpy()
    array([0, 1, 4])
    """
    return _read(np.fromiter(iter, dtype, count), like)


def fromstring(
    string: Any, dtype: Any = float, count: int = -1, *, sep: str, like: Any = None
) -> NDArray:
    """A vector of the numbers in a text.

    Args:
        string: the text.
        dtype: the dtype.
        count: how many numbers; -1: all.
        sep: what is between them.
    Returns: a vector.
    Raises: ValueError for text that is no number.

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

    Args:
        fname: a path, a file, or an iterable of lines.
        dtype: the dtype.
        comments: what begins a comment; None: nothing.
        delimiter: what is between values; None: white space.
        converters: a function that reads a value, or a dict of them by column.
        skiprows: how many lines to leave out.
        usecols: which columns; None: all.
        unpack: whether to turn rows and columns round.
        ndmin: the least number of axes.
        encoding: the file's encoding.
        max_rows: how many rows to read; None: all.
        quotechar: what values may be quoted by.
    Returns: a matrix of rows and columns; without axes of length one, beyond ``ndmin``.
    Raises: OSError if the file can't be read; ValueError for a value that is no number, or rows of
        different lengths.

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

    Args:
        fname: a path, a file, or an iterable of lines.
        dtype: the dtype; None: that of each column.
        args: ``numpy.genfromtxt``'s, in its order.
        kwargs: ``numpy.genfromtxt``'s.
    Returns: a matrix of rows and columns, or a vector; what is missing is NaN.
    Raises: OSError if the file can't be read; ValueError for rows of different lengths.

    >>> import lazyarray as la
    >>> la.genfromtxt(["1,2", "3,"], delimiter=",").asnumpy()
    array([[ 1.,  2.],
           [ 3., nan]])
    """
    return _read(np.genfromtxt(fname, dtype, *args, **kwargs), like)


def fromregex(file: Any, regexp: Any, dtype: Any, encoding: str | None = None) -> Any:
    """Records of what a regular expression finds in a text file: one of NumPy's arrays.

    Args:
        file: a path, or an open file.
        regexp: the expression, with a group for each field.
        dtype: the dtype of records.
        encoding: the file's encoding.
    Returns: a vector of NumPy's.
    Raises: TypeError unless ``dtype`` has fields; OSError if the file can't be read.

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

    Args:
        fname: a path, or an open file; ".gz" compresses.
        X: a vector or a matrix.
        fmt: the format of a number, one for each column, or that of a row.
        delimiter: what is put between values.
        newline: what ends a row.
        header: text at the beginning.
        footer: text at the end.
        comments: what is put before header and footer.
        encoding: the file's encoding.
    Returns: None.
    Raises: ValueError for other arrays than vectors and matrices, or formats that don't fit;
        OSError if the file can't be written.

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

    Args:
        file: a path, to which ".npz" is added if it lacks it, or a binary file.
        args: arrays, which are called ``arr_0``, ``arr_1``, ...
        allow_pickle: whether arrays of objects may be pickled.
        kwds: arrays by their names.
    Returns: None.
    Raises: ValueError for a name given twice, or objects that may not be pickled; OSError if the
        file can't be written.

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

    Args:
        file: a path, to which ".npz" is added if it lacks it, or a binary file.
        args: arrays, which are called ``arr_0``, ``arr_1``, ...
        allow_pickle: whether arrays of objects may be pickled.
        kwds: arrays by their names.
    Returns: None.
    Raises: ValueError for a name given twice, or objects that may not be pickled; OSError if the
        file can't be written.

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
