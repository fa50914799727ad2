"""DLPack capsules made by hand, good and bad; run as a program it imports ``COUNT`` of them.

``python capsules.py SEED COUNT``: status 0 if each gave an error of a right type or right values.
"""

import ctypes
import random
import sys

import numpy as np

import lazyarray as la

C = ctypes
MEMORY = np.arange(64, dtype="f8")  # 512 bytes, all that a good capsule may show


class Tensor(C.Structure):
    _fields_ = (
        ("data", C.c_void_p),
        ("device_type", C.c_int32),
        ("device_id", C.c_int32),
        ("ndim", C.c_int32),
        ("code", C.c_uint8),
        ("bits", C.c_uint8),
        ("lanes", C.c_uint16),
        ("shape", C.c_void_p),
        ("strides", C.c_void_p),
        ("byte_offset", C.c_uint64),
    )


class Managed(C.Structure):
    _fields_ = (("tensor", Tensor), ("manager", C.c_void_p), ("deleter", C.c_void_p))


class Versioned(C.Structure):
    _fields_ = (
        ("major", C.c_uint32),
        ("minor", C.c_uint32),
        ("manager", C.c_void_p),
        ("deleter", C.c_void_p),
        ("flags", C.c_uint64),
        ("tensor", Tensor),
    )


DELETER = C.CFUNCTYPE(None, C.c_void_p)
deleted = []
_deleter = DELETER(deleted.append)
_new = C.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = C.py_object, [C.c_void_p, C.c_char_p, C.c_void_p]
_kept = []  # what capsules point to, for as long as the process lives


class Maker:
    """What speaks DLPack, with everything settable."""

    def __init__(
        self, shape=(8,), strides=None, versioned=False, name=None, capsule=None, **fields
    ):
        self.device = (1, 0)
        self.given, self.made = capsule, 0
        m = Versioned(major=1, minor=0) if versioned else Managed()
        m.deleter = C.cast(_deleter, C.c_void_p).value
        t = m.tensor
        t.data, t.device_type, t.ndim = MEMORY.ctypes.data, 1, len(shape)
        t.code, t.bits, t.lanes = 2, 64, 1
        arrays = [
            (C.c_int64 * max(len(x), 1))(*x) if x is not None else None for x in (shape, strides)
        ]
        t.shape, t.strides = [None if a is None else C.addressof(a) for a in arrays]
        for key, value in fields.items():
            setattr(m if key in ("major", "flags", "deleter") else t, key, value)
        self.name = name or (b"dltensor_versioned" if versioned else b"dltensor")
        _kept.append((m, arrays, self.name))
        self.managed = m

    def __dlpack__(self, **kwargs):
        self.made += 1
        return self.given or _new(C.addressof(self.managed), self.name, None)

    def __dlpack_device__(self):
        return self.device


def case(rng):
    """A capsule and whether it is good."""
    versioned = rng.random() < 0.5
    make = lambda **kw: Maker(versioned=versioned, **kw)  # noqa: E731
    kind = rng.randrange(16)
    big = rng.choice([2**31, 2**40, 2**61, 2**62, 2**63 - 1])
    if kind == 0:
        return make(ndim=rng.choice([-1, -(2**31), 65, 1000, 2**31 - 1])), False
    if kind == 1:
        return _null_shape(make), False
    if kind == 2:
        return make(shape=rng.choice([(-1,), (2, -3), (2**62, 4), (2**32, 2**32), (2**61,)])), False
    if kind == 3:
        return make(code=rng.choice([3, 4, 7, 17, 255])), False
    if kind == 4:
        return make(bits=rng.choice([0, 1, 4, 7, 12, 24, 48, 63, 65, 255])), False
    if kind == 5:
        return make(lanes=rng.choice([0, 2, 4, 65535])), False
    if kind == 6:
        return make(data=None), False
    if kind == 7:
        return make(shape=(4,), strides=(rng.choice([big, -big]),)) if big >= 2**61 else make(
            data=0
        ), False
    if kind == 8:
        return make(byte_offset=2**63 + rng.randrange(2**62)), False
    if kind == 9:
        return make(
            name=rng.choice([b"used_dltensor", b"used_dltensor_versioned", b"x", b"DLTENSOR"])
        ), False
    if kind == 10:
        return make(capsule=rng.choice([b"bytes", 3, [1], la])), False
    if kind == 11:
        return Maker(versioned=True, major=rng.choice([0, 2, 2**32 - 1])), False
    if kind == 12:  # unaligned: copied
        return make(shape=(4,), byte_offset=rng.randrange(1, 64)), True
    if kind == 13:  # backwards, from the end
        return make(shape=(4, 8), strides=(-8, -1), byte_offset=8 * 63), True
    if kind == 14:
        return Maker(versioned=True, flags=rng.choice([1, 2, 3])), True
    return make(
        shape=rng.choice([(), (0,), (8, 0, 2**40), (2, 3, 4), (1,) * 64]),
        code=rng.choice([0, 1, 2]),
    ), True


def _null_shape(make):
    maker = make()
    maker.managed.tensor.shape = None
    return maker


RIGHT = (BufferError, TypeError, ValueError)


def want(maker):
    """What the memory holds where a good capsule points."""
    t = maker.managed.tensor
    shape, strides = [
        tuple((C.c_int64 * t.ndim).from_address(p)) if p and t.ndim else None
        for p in (t.shape, t.strides)
    ]
    dtype = np.dtype({0: "i", 1: "u", 2: "f"}[t.code] + str(t.bits // 8))
    base = np.frombuffer(MEMORY.tobytes() + bytes(64), np.uint8)
    return np.ndarray(
        shape or (),
        dtype,
        base.data,
        t.byte_offset,
        None if strides is None else [s * dtype.itemsize for s in strides],
    )


def main(seed, count):
    for i in range(count):
        rng = random.Random(f"{seed} {i}")
        maker, good = case(rng)
        try:
            x = la.from_dlpack(maker)
            assert good, "it was believed"
            np.testing.assert_array_equal(x.asnumpy(), want(maker))
            del x
        except RIGHT as exc:
            assert not good and str(exc), (i, repr(exc))
        except BaseException as exc:
            raise SystemExit(f"capsule {i}: {type(exc).__name__}: {exc}") from exc
    print(len(deleted), "were deleted")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
