# Searches of many numbers in a vector, for NumPy's arrays: search.h. They let go of the GIL.


cdef extern from "ops/search.h" namespace "lazyarray" nogil:
    bint searched[T](const char*, npy_intp, const char*, npy_intp, bint, npy_intp*)
    bint interpolated_at "lazyarray::interpolated"(const double*, npy_intp, const double*, const double*, npy_intp,
                                                  double, double, double*)


cdef enum:
    _SEARCHED = 8  # keys from which on it pays
    _TABLE = 16    # times as many numbers as keys are looked through, whether they are in order


cdef bint searched_as(int number, const char* table, npy_intp n, const char* keys, npy_intp m, bint right,
                      npy_intp* places) noexcept nogil:
    """Writes where each key belongs; false where the table isn't in order, or a key is no number.

    ``number``: NumPy's of the dtype.
    """
    if number == cnp.NPY_DOUBLE:
        return searched[double](table, n, keys, m, right, places)
    if number == cnp.NPY_FLOAT:
        return searched[float](table, n, keys, m, right, places)
    if number == cnp.NPY_LONG:
        return searched[long](table, n, keys, m, right, places)
    return number == cnp.NPY_INT and searched[int](table, n, keys, m, right, places)


cdef bint is_table(object x, object keys) except -1:
    """Whether they are a vector and keys of one dtype, both without gaps."""
    if type(x) is not np.ndarray or type(keys) is not np.ndarray:
        return False
    cdef cnp.ndarray table = x, wanted = keys
    cdef int number = cnp.PyArray_TYPE(table)
    return cnp.PyArray_NDIM(table) == 1 and cnp.PyArray_NDIM(wanted) > 0 and cnp.PyArray_TYPE(wanted) == number \
        and number in (cnp.NPY_DOUBLE, cnp.NPY_FLOAT, cnp.NPY_LONG, cnp.NPY_INT) and cnp.PyArray_SIZE(wanted) >= _SEARCHED \
        and cnp.PyArray_SIZE(table) <= _TABLE * cnp.PyArray_SIZE(wanted) and cnp.PyArray_ISCARRAY_RO(table) \
        and cnp.PyArray_ISCARRAY_RO(wanted)


cdef object places_in(object x, object keys, bint right):
    """Where the keys belong in a vector; None where it isn't in order, or that is NumPy's to find."""
    if not is_table(x, keys):
        return None
    cdef cnp.ndarray table = x, wanted = keys
    cdef cnp.ndarray found = cnp.PyArray_EMPTY(cnp.PyArray_NDIM(wanted), cnp.PyArray_DIMS(wanted), cnp.NPY_INTP, 0)
    cdef const char* numbers = <const char*>cnp.PyArray_DATA(table)
    cdef const char* each = <const char*>cnp.PyArray_DATA(wanted)
    cdef npy_intp n = cnp.PyArray_SIZE(table), m = cnp.PyArray_SIZE(wanted)
    cdef npy_intp* places = <npy_intp*>cnp.PyArray_DATA(found)
    cdef int number = cnp.PyArray_TYPE(table)
    cdef bint done
    with nogil:
        done = searched_as(number, numbers, n, each, m, right, places)
    return found if done else None


def searchsorted(a, v, side="left", sorter=None):
    """NumPy's ``searchsorted``, of NumPy's arrays."""
    found = places_in(a, v, side == "right") if sorter is None and side in ("left", "right") else None
    return np.searchsorted(a, v, side, sorter) if found is None else found


def digitize(x, bins, right=False):
    """NumPy's ``digitize``, of NumPy's arrays."""
    found = places_in(bins, x, not right)
    return np.digitize(x, bins, right) if found is None else found


def interp(x, xp, fp, left=None, right=None, period=None):
    """NumPy's ``interp``, of NumPy's arrays."""
    cdef double low, high
    cdef cnp.ndarray places, points, values, found
    cdef npy_intp m, n
    cdef bint done
    if period is None and is_table(xp, x) and is_table(fp, x) and xp.dtype == np.float64 \
            and len(xp) == len(fp) and (left is None or type(left) is float) and (right is None or type(right) is float):
        places, points, values = x, xp, fp
        n, m = cnp.PyArray_SIZE(points), cnp.PyArray_SIZE(places)
        if n:
            low = fp[0] if left is None else left
            high = fp[n - 1] if right is None else right
            found = cnp.PyArray_EMPTY(cnp.PyArray_NDIM(places), cnp.PyArray_DIMS(places), cnp.NPY_DOUBLE, 0)
            with nogil:
                done = interpolated_at(<double*>cnp.PyArray_DATA(places), m, <double*>cnp.PyArray_DATA(points),
                                       <double*>cnp.PyArray_DATA(values), n, low, high, <double*>cnp.PyArray_DATA(found))
            if done:
                return found
    return np.interp(x, xp, fp, left, right, period)
