# Counts in bins, off the GIL: what np.histogram computes from layers of arrays.


cdef extern from "ops/bins.h" namespace "lazyarray" nogil:
    bint count_bins[T, E](const char*, npy_intp, const char*, npy_intp, npy_intp*)
    bint count_between[T, E](const char*, npy_intp, const char*, npy_intp, npy_intp*)
    void count_integers(const int64_t*, npy_intp, int64_t, npy_intp, npy_intp*) except +
    npy_intp last_not_above[E](const E*, npy_intp, E)
    bint weigh_bins[T, E](const char*, npy_intp, const char*, npy_intp, const double*, double*, double*)


def in_bins(cnp.ndarray x not None, cnp.ndarray edges not None, cnp.ndarray weights=None):
    """What ``np.histogram`` counts, or adds up of float64 ``weights``, between ``edges`` of bins of one width.

    None where NumPy must do it: for dtypes other than numbers, and edges that are not apart.
    """
    cdef int kind = edges.descr.type_num
    cdef bint whole = x.descr.kind in b"iu"
    if kind not in (cnp.NPY_DOUBLE, cnp.NPY_FLOAT) or not (whole or x.descr.type_num in (cnp.NPY_DOUBLE, cnp.NPY_FLOAT)):
        return None
    if weights is not None and weights.descr.type_num != cnp.NPY_DOUBLE:
        return None
    # Larger integers are no doubles; NumPy compares them as they are.
    if whole and x.descr.itemsize == 8 and not (-2.0**53 < edges[0] and edges[-1] < 2.0**53 and x.descr.kind == b"i"):
        return None
    cdef bint single = kind == cnp.NPY_FLOAT
    if single and x.descr.type_num != cnp.NPY_FLOAT:
        return None
    cdef bint longs = whole and x.descr.itemsize == 8
    cdef cnp.ndarray v = np.ascontiguousarray(x, np.int64 if longs else edges.dtype)
    cdef cnp.ndarray w = None if weights is None else np.ascontiguousarray(weights)
    cdef cnp.ndarray limits = np.ascontiguousarray(edges)
    cdef npy_intp bins = cnp.PyArray_SIZE(limits) - 1, n = cnp.PyArray_SIZE(v)
    cdef cnp.ndarray found = np.zeros(bins, np.intp if w is None else np.float64)
    cdef cnp.ndarray block = None if w is None else np.empty(bins)
    cdef const char* data = cnp.PyArray_BYTES(v)
    cdef const char* ends = cnp.PyArray_BYTES(limits)
    cdef char* to = cnp.PyArray_BYTES(found)
    cdef double* sums
    cdef const double* weight
    cdef bint done
    if w is None:
        with nogil:
            done = count_bins[float, float](data, n, ends, bins, <npy_intp*>to) if single else \
                count_bins[int64_t, double](data, n, ends, bins, <npy_intp*>to) if longs else \
                count_bins[double, double](data, n, ends, bins, <npy_intp*>to)
        return found if done else None
    weight, sums = <const double*>cnp.PyArray_BYTES(w), <double*>cnp.PyArray_BYTES(block)
    with nogil:
        done = weigh_bins[float, float](data, n, ends, bins, weight, <double*>to, sums) if single else \
            weigh_bins[int64_t, double](data, n, ends, bins, weight, <double*>to, sums) if longs else \
            weigh_bins[double, double](data, n, ends, bins, weight, <double*>to, sums)
    return found if done else None


def between(cnp.ndarray x not None, cnp.ndarray edges not None):
    """What ``np.histogram`` counts between any ``edges``; None where NumPy must do it, or refuse them.

    Both are compared as float64, or as int64 where both are such.
    """
    cdef bint longs = x.descr.type_num == edges.descr.type_num == cnp.NPY_LONG
    cdef bint doubles = edges.descr.type_num == cnp.NPY_DOUBLE and cnp.PyArray_CanCastSafely(x.descr.type_num, cnp.NPY_DOUBLE)
    if not (longs or doubles) or cnp.PyArray_SIZE(edges) < 2:
        return None
    cdef cnp.ndarray v = np.ascontiguousarray(x, edges.dtype), limits = np.ascontiguousarray(edges)
    cdef npy_intp bins = cnp.PyArray_SIZE(limits) - 1, n = cnp.PyArray_SIZE(v)
    cdef cnp.ndarray found = np.zeros(bins, np.intp)
    cdef const char* data = cnp.PyArray_BYTES(v)
    cdef const char* ends = cnp.PyArray_BYTES(limits)
    cdef npy_intp* to = <npy_intp*>cnp.PyArray_BYTES(found)
    cdef bint done
    with nogil:
        done = count_between[int64_t, int64_t](data, n, ends, bins, to) if longs else \
            count_between[double, double](data, n, ends, bins, to)
    return found if done else None


def of_each(cnp.ndarray x not None, int64_t low, npy_intp length):
    """How often each of ``length`` integers from ``low`` on is among those of ``x``, which are of int64."""
    cdef cnp.ndarray v = np.ascontiguousarray(x), found = np.zeros(length, np.intp)
    cdef const int64_t* data = <const int64_t*>cnp.PyArray_DATA(v)
    cdef npy_intp n = cnp.PyArray_SIZE(v)
    cdef npy_intp* to = <npy_intp*>cnp.PyArray_DATA(found)
    with nogil:
        count_integers(data, n, low, length, to)
    return found


def bincount(x, weights=None, minlength=0):
    """``numpy.bincount``, which writes past its memory where the largest integer that there is is among those given."""
    cdef cnp.ndarray given = np.asarray(x)
    if cnp.PyArray_TYPE(given) == cnp.NPY_LONG and cnp.PyArray_NDIM(given) == 1 and cnp.PyArray_SIZE(given) \
            and given.max() == PY_SSIZE_T_MAX:
        raise ValueError("array is too big: no length is beyond the largest integer")
    return np.bincount(x, weights, minlength)
