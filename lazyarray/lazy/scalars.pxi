# Scalars as NumPy's: what la.set_scalars("numpy") asks for.


cdef bint scalars_are_read = False


def read_scalars(bint on):
    """Makes what users get of scalars NumPy's own, read at once, or not; returns whether it was so."""
    global scalars_are_read
    cdef bint old = scalars_are_read
    scalars_are_read = on
    return old


cdef bint called_by_us() except -1:
    """Whether the function that runs now is lazyarray's own: what it gets stays an array."""
    cdef PyObject* names = PyEval_GetGlobals()  # of the Python function
    if names is NULL:
        return False
    name = (<dict>names).get("__name__")
    return type(name) is str and (name == "lazyarray" or name.startswith("lazyarray."))


cdef object read_out(object o):
    """Scalars, also in a tuple, as NumPy's for a caller that is not lazyarray; a hidden wait.

    Not while autograd records or a program is captured: values are not to be read there.
    """
    if not isinstance(o, (Tensor, tuple)) or called_by_us():
        return o
    return numpys(o)


def numpys(o):
    """Scalars, also in a tuple, as NumPy's; see `read_out`."""
    if isinstance(o, Tensor):
        return numpys_scalar(<Tensor>o) if is_scalar(<Tensor>o) else o
    if isinstance(o, tuple) and not recording() and not capturing():
        found = [numpys(x) for x in <tuple>o]
        if any([x is not y for x, y in zip(found, <tuple>o)]):
            return type(o)(*found) if hasattr(o, "_fields") else tuple(found)
    return o


cdef object numpys_scalar(Tensor x):
    if recording() or capturing():
        return x
    if not x.v.on_host():
        x = moved(x, cpu0())
    wait(x, False, "?a scalar as NumPy's")
    x = settled(x, False)
    cdef cnp.ndarray a = numpy_view(&x.v, False)
    return cnp.PyArray_ToScalar(cnp.PyArray_DATA(a), a)
