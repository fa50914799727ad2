# Medians and quantiles of many float64 numbers, by selection.


cdef extern from "ops/ranks.h" namespace "lazyarray" nogil:
    bint linear_between(double, double, double, double*)
    bint linear_quantiles(const double*, npy_intp, const double*, npy_intp, double*)
    bint middle(const double*, npy_intp, double*)


cdef enum:
    _FEW_POINTS = 8  # each is a pass over the numbers; NumPy partitions once for all of them


cdef bint are_doubles(cnp.ndarray x) noexcept:
    return x.descr.type_num == cnp.NPY_DOUBLE and cnp.PyArray_IS_C_CONTIGUOUS(x) and cnp.PyArray_SIZE(x) > 0


def middle_ones(o):
    """A vector of the middle number, or the middle two, of which ``np.median`` is ``o``'s; None where NumPy must look."""
    cdef double[2] found
    cdef bint done
    if not isinstance(o, np.ndarray) or not are_doubles(o):
        return None
    cdef cnp.ndarray x = o
    cdef npy_intp n = cnp.PyArray_SIZE(x)
    cdef const double* data = <const double*>cnp.PyArray_DATA(x)
    with nogil:
        done = middle(data, n, found)
    take_flags(False)
    return (np.array([found[0], found[1]]) if n % 2 == 0 else np.array([found[0]])) if done else None


def quantiles_of(o, cnp.ndarray shares not None):
    """``np.quantile(o, shares)``, by the method "linear"; None where NumPy must compute it."""
    if not isinstance(o, np.ndarray):
        return None
    cdef cnp.ndarray found, x = o
    cdef npy_intp n = cnp.PyArray_SIZE(x), count = cnp.PyArray_SIZE(shares), i
    cdef const double* data = <const double*>cnp.PyArray_DATA(x)
    cdef const double* at = <const double*>cnp.PyArray_DATA(shares)
    cdef double* to
    cdef bint done
    if not are_doubles(x) or not are_doubles(shares) or count > _FEW_POINTS:
        return None
    for i in range(count):
        if not 0 <= at[i] <= 1:
            return None
    found = cnp.PyArray_EMPTY(cnp.PyArray_NDIM(shares), cnp.PyArray_DIMS(shares), cnp.NPY_DOUBLE, 0)
    to = <double*>cnp.PyArray_DATA(found)
    with nogil:
        done = linear_quantiles(data, n, at, count, to)
    take_flags(False)
    return found if done else None
