"""Arrays from iterators and files of other formats than NumPy's, and to text files.

Reading is done at the call; the arrays are made on the device given, that of ``like``, or the
current one. Writing waits for the values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lazyarray.lazy._lazy import Tensor
from lazyarray.ops._layout import values
from lazyarray.ops._rows import dtype_of
from lazyarray.ops.hosts import given

if TYPE_CHECKING:
    import re

    from lazyarray._ndarray import NDArray
    from lazyarray._types import Array, ArrayLike, DTypeLike, File, Lines

__all__ = ["fromfile", "fromiter", "fromstring", "loadtxt", "genfromtxt", "fromregex", "savetxt"]


def _read(made: Any, like: Any) -> Any:
    return given(made, like.device if isinstance(like, Tensor) else None, alone=True)


def fromfile(
    file: File,
    dtype: DTypeLike = float,
    count: int = -1,
    sep: str = "",
    offset: int = 0,
    *,
    like: object = None,
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


def fromiter(
    iter: Iterable[object], dtype: DTypeLike, count: int = -1, *, like: object = None
) -> NDArray:
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
    return _read(np.fromiter(iter, dtype_of(dtype), count), like)


def fromstring(
    string: str | bytes,
    dtype: DTypeLike = float,
    count: int = -1,
    *,
    sep: str,
    like: object = None,
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
    fname: Lines,
    dtype: DTypeLike = float,
    comments: str | Sequence[str] | None = "#",
    delimiter: str | None = None,
    converters: Mapping[int | str, Callable[[str], object]] | Callable[[str], object] | None = None,
    skiprows: int = 0,
    usecols: int | Sequence[int] | None = None,
    unpack: bool = False,
    ndmin: Literal[0, 1, 2] = 0,
    encoding: str | None = None,
    max_rows: int | None = None,
    *,
    quotechar: str | None = None,
    like: object = None,
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


def genfromtxt(
    fname: Lines,
    dtype: DTypeLike = float,
    comments: str | None = "#",
    delimiter: str | int | Iterable[int] | None = None,
    skip_header: int = 0,
    skip_footer: int = 0,
    converters: Mapping[int | str, Callable[[str], object]] | None = None,
    missing_values: str | Sequence[str] | Mapping[int | str, str | Sequence[str]] | None = None,
    filling_values: object = None,
    usecols: int | str | Sequence[int | str] | None = None,
    names: bool | str | Sequence[str] | None = None,
    excludelist: Sequence[str] | None = None,
    deletechars: str = r""" !#$%&'()*+,-./:;<=>?@[\]^{|}~""",
    replace_space: str = "_",
    autostrip: bool = False,
    case_sensitive: bool | Literal["upper", "lower"] = True,
    defaultfmt: str = "f%i",
    unpack: bool | None = None,
    usemask: bool = False,
    loose: bool = True,
    invalid_raise: bool = True,
    max_rows: int | None = None,
    encoding: str | None = None,
    *,
    ndmin: Literal[0, 1, 2] = 0,
    like: object = None,
) -> Array:
    """A table of numbers from a text file with gaps.

    Named columns, text and masks (``names=True``, ``dtype=None``, ``usemask=True``) make it one of
    NumPy's arrays, with a :class:`HostArrayWarning`.

    Args:
        fname: a path, a file, or an iterable of lines.
        dtype: the dtype; None: that of each column.
        comments: what begins a comment; None: nothing.
        delimiter: what is between values, or their widths; None: white space.
        skip_header: how many lines to leave out at the start.
        skip_footer: how many lines to leave out at the end.
        converters: a function that reads a value, by column.
        missing_values: the text of what is missing: one for all, or by column.
        filling_values: what stands for it: one for all, or by column.
        usecols: which columns; None: all.
        names: the columns' names; True: they are in the first line.
        excludelist: names that get an underscore.
        deletechars: characters that names lose.
        replace_space: what stands in names for a space.
        autostrip: whether spaces around values are left out.
        case_sensitive: whether names keep their case; "upper" or "lower": they get that one.
        defaultfmt: the pattern of names that are not told.
        unpack: whether to turn rows and columns round.
        usemask: whether the result is a masked array.
        loose: whether a value that can't be read is missing, and no error.
        invalid_raise: whether rows of other lengths are an error; else they are left out.
        max_rows: how many rows to read; None: all.
        encoding: the file's encoding.
        ndmin: the least number of axes.
    Returns: a matrix of rows and columns, or a vector; what is missing is NaN.
    Raises: OSError if the file can't be read; ValueError for rows of different lengths.

    >>> import lazyarray as la
    >>> la.genfromtxt(["1,2", "3,"], delimiter=",").asnumpy()
    array([[ 1.,  2.],
           [ 3., nan]])
    """
    arguments = {name: value for name, value in locals().items() if name != "like"}
    return _read(np.genfromtxt(**arguments), like)


def fromregex(
    file: File,
    regexp: str | bytes | re.Pattern[str] | re.Pattern[bytes],
    dtype: DTypeLike,
    encoding: str | None = None,
) -> np.ndarray:
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
    fname: File,
    X: ArrayLike,
    fmt: str | Sequence[str] = "%.18e",
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
