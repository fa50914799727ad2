# FnProperty, Device, Var: what operators are described with.


class FnProperty(enum.IntEnum):
    """What kind of work an operator does, and so which queue it waits in."""

    NORMAL = 0
    COPY_FROM_GPU = 1
    COPY_TO_GPU = 2
    CPU_PRIORITIZED = 3
    GPU_PRIORITIZED = 4
    ASYNC = 5
    DELETE_VAR = 6
    NO_SKIP = 7


_KINDS = {"cpu": 1, "gpu": 2, "cpu_pinned": 3}
_KIND_NAMES = {v: k for k, v in _KINDS.items()}


cdef class Device:
    """A place where operators run and memory lives: ``Device("cpu", 0)``.

    Args:
        device_type: "cpu", "gpu" or "cpu_pinned"; or a device, which is copied.
        device_id: its number among those, from 0.
    Raises: ValueError for another type, or a number not from 0 to 65535; TypeError for a number that is no integer.

    >>> from lazyarray.engine import Device
    >>> Device("cpu", 1) == Device("cpu", 1), Device("cpu", 1) == Device("cpu", 0)
    (True, False)
    """

    def __cinit__(self, device_type="cpu", device_id=0):
        if isinstance(device_type, Device):
            self.c = (<Device>device_type).c
        else:
            if device_type not in _KINDS:
                raise ValueError(
                    f"unknown device type {device_type!r}: one of {', '.join(_KINDS)}"
                )
            if isinstance(device_id, bool) or not hasattr(device_id, "__index__"):
                raise TypeError(f"a device id is an integer, not {type(device_id).__name__}")
            if not 0 <= device_id.__index__() < 1 << 16:
                raise ValueError(f"a device id is between 0 and 65535, not {device_id}")
            self.c.kind = _KINDS[device_type]
            self.c.id = device_id.__index__()

    @property
    def device_type(self):
        """``"cpu"``, ``"gpu"`` or ``"cpu_pinned"``."""
        return _KIND_NAMES[self.c.kind]

    @property
    def device_id(self):
        """The number of the device among its type."""
        return self.c.id

    @property
    def _on_host(self):
        """Whether the host's processors reach its memory."""
        return self.c.on_host()

    def __eq__(self, other):
        return isinstance(other, Device) and self.c == (<Device>other).c

    def __hash__(self):
        return self.c.number()

    def __repr__(self):
        return self.c.text().decode()

    def __reduce__(self):
        return type(self), (self.device_type, self.device_id)


cdef Device new_device(CDevice c):
    cdef Device d = Device.__new__(Device)
    d.c = c
    return d


cdef class Var:
    """An engine variable: what operators declare that they read and write.

    Made by :meth:`Engine.new_variable`, or ``x.var`` for an array's. All views of one array
    have the same variable; two ``Var`` objects are equal when they name the same variable.
    """

    def __init__(self):
        raise TypeError("variables are made by Engine.new_variable()")

    def __dealloc__(self):
        if self.c is not NULL:
            self.c.unref()

    @property
    def version(self):
        """How many writes have completed on it."""
        return self.c.version.load()

    @property
    def _issued(self):
        """What ``version`` will be when all writes that were recorded so far are done."""
        return self.c.issued

    @property
    def _lent(self):
        """Whether others know the memory, so that ops on it end before their push returns."""
        return self.c.exports.load() != 0

    def __eq__(self, other):
        return isinstance(other, Var) and self.c == (<Var>other).c

    def __hash__(self):
        return hash(<size_t>self.c)

    def __repr__(self):
        return f"<Var {<size_t>self.c:#x} version {self.version}>"


cdef object new_var(CVar* c):
    cdef Var v = Var.__new__(Var)
    v.c = c
    return v
