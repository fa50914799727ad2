# Methods of native classes: Cython doesn't look whether they are called on what they are methods of, and
# reads the memory of whatever it gets.


cdef extern from "engine/methods.h" namespace "lazyarray":
    bint check_method(object, type) noexcept


def check_methods(dict namespace):
    """Has the methods of a module's native classes raise TypeError on objects of other classes.

    Returns how many there are.
    """
    cdef int count = 0
    for owner in list(namespace.values()):
        if isinstance(owner, type) and owner.__module__ == namespace["__name__"]:
            for f in vars(owner).values():
                if type(f).__name__ == "cython_function_or_method":
                    count += check_method(f, owner)
    return count
