# Counts in bins, off the GIL: what np.histogram computes from layers of arrays.


cdef extern from "ops/bins.h" namespace "lazyarray" nogil:
    bint count_bins[T, E](const char*, npy_intp, const char*, npy_intp, npy_intp*)
    bint count_between[T, E](const char*, npy_intp, const char*, npy_intp, npy_intp*)
    void count_integers(const int64_t*, npy_intp, int64_t, npy_intp, npy_intp*) except +
    void least_and_most(const int64_t*, npy_intp, int64_t*, int64_t*)
    void weigh_integers(const int64_t*, npy_intp, const double*, npy_intp, double*)
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
    cdef cnp.ndarray v = cnp.PyArray_GETCONTIGUOUS(x), found = cnp.PyArray_ZEROS(1, &length, cnp.NPY_INTP, 0)
    cdef const int64_t* data = <const int64_t*>cnp.PyArray_DATA(v)
    cdef npy_intp n = cnp.PyArray_SIZE(v)
    cdef npy_intp* to = <npy_intp*>cnp.PyArray_DATA(found)
    with nogil:
        count_integers(data, n, low, length, to)
    return found


cdef bint is_row_of(object o, int kind, npy_intp size):
    """Whether ``o`` is a vector of NumPy's of that dtype and length (-1: any but 0) whose elements lie in a row."""
    if not cnp.PyArray_CheckExact(o):
        return False
    cdef cnp.ndarray a = o
    return cnp.PyArray_TYPE(a) == kind and cnp.PyArray_NDIM(a) == 1 and cnp.PyArray_ISCARRAY_RO(a) \
        and (cnp.PyArray_SIZE(a) == size or size < 0 and cnp.PyArray_SIZE(a) > 0)


def bincount(x, weights=None, minlength=0):
    """``numpy.bincount``, which writes past its memory where the largest integer that there is is among those given."""
    given = x if cnp.PyArray_Check(x) else cnp.PyArray_FROM_O(x)
    if cnp.PyArray_TYPE(<cnp.ndarray>given) == cnp.NPY_LONG and cnp.PyArray_NDIM(<cnp.ndarray>given) == 1:
        given = cnp.PyArray_GETCONTIGUOUS(<cnp.ndarray>given)
    if not is_row_of(given, cnp.NPY_LONG, -1):
        return np.bincount(x, weights, minlength)
    cdef npy_intp n = cnp.PyArray_SIZE(<cnp.ndarray>given), length = 0
    cdef const int64_t* places = <const int64_t*>cnp.PyArray_DATA(<cnp.ndarray>given)
    cdef int64_t least, most
    with nogil:
        least_and_most(places, n, &least, &most)
    if most == PY_SSIZE_T_MAX:
        raise ValueError("array is too big: no length is beyond the largest integer")
    if least < 0 or type(minlength) is not int or not 0 <= minlength < PY_SSIZE_T_MAX \
            or not (weights is None or is_row_of(weights, cnp.NPY_DOUBLE, n)):
        return np.bincount(given, weights, minlength)
    length = max(most + 1, <npy_intp>minlength)
    if weights is None:
        return of_each(given, 0, length)
    cdef cnp.ndarray sums = cnp.PyArray_ZEROS(1, &length, cnp.NPY_DOUBLE, 0)
    cdef const double* each = <const double*>cnp.PyArray_DATA(<cnp.ndarray>weights)
    cdef double* to = <double*>cnp.PyArray_DATA(sums)
    with nogil:
        weigh_integers(places, n, each, length, to)
    return sums
