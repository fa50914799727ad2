"""Captured instructions as the library is given them, on CuPy's memory or what stands for it."""

import numpy as np

import lazyarray as la
from lazyarray.lazy._lazy import Program
from lazyarray.lazy.captured import Kind, View
from lazyarray.lazy.cuda import library
from tests.cuda.cupy_of_numpy import Device, real

RNG = np.random.default_rng(7)


class Memory:
    """Bytes of the device, which begin as those of an array and go on as no number."""

    def __init__(self, nbytes, values=None):
        raw = np.full(nbytes, 0xAB, np.uint8)
        if values is not None:
            raw[: values.nbytes] = np.frombuffer(values.tobytes(), np.uint8)
        self.raw = real.array(raw) if real else raw

    def view(self, shape, dtype, offset, steps):
        reach = dtype.itemsize + sum([(n - 1) * s for n, s in zip(shape, steps, strict=True)])
        assert 0 in shape or 0 <= offset <= self.raw.size - reach
        if real:
            return real.ndarray(shape, dtype, self.raw.data + offset, steps)
        return Device(shape, dtype, self.raw, offset, steps)

    def array(self, shape, dtype):
        """What lies there without gaps, on the host."""
        raw = self.raw.get() if real else self.raw
        count = int(np.prod(shape))
        return np.frombuffer(raw.tobytes(), dtype, count).reshape(shape)


# ---- instructions -------------------------------------------------------------------------------


class Recorded:
    """A Call made of a captured instruction."""

    def __init__(self, instruction, memory):
        self.name = instruction.name
        self.operands = [*instruction.inputs, *instruction.outputs]
        self.memory = memory
        self.core, self.core_steps = instruction.core, instruction.core_steps
        views = [o.layout if isinstance(o, View) else None for o in self.operands]
        self.dtypes = [(v or o).dtype for v, o in zip(views, self.operands, strict=True)]
        self.shape = views[-1].shape
        self.steps = [v.strides if v else (0,) * len(self.shape) for v in views]

    @property
    def arrays(self):
        return [self.view(k, o.layout.shape, o.layout.strides) for k, o in enumerate(self.operands)]

    def constant(self, k):
        return getattr(self.operands[k], "value", None)

    def view(self, k, shape, steps, dtype=None, offset=0):
        o = self.operands[k]
        dtype = np.dtype(dtype or self.dtypes[k])
        return self.memory[o.chunk].view(shape, dtype, o.layout.offset + offset, steps)


def run(function, *arrays, kind="gufunc"):
    """Runs the last instruction of its kind that ``function`` records, by the library.

    Gives its name and the memory of its outputs, of which there may be several.
    """
    xs = [la.array(a) for a in arrays]
    with Program() as program:
        function(*xs)
    (instruction,) = [i for i in program.instructions() if i.kind is Kind[kind.upper()]]
    memory = {}
    for o in instruction.views:
        memory[o.chunk] = Memory(o.nbytes)
    for x, a in zip(xs, arrays, strict=True):
        if program.chunk_of(x) in memory:
            size = len(memory[program.chunk_of(x)].raw)
            memory[program.chunk_of(x)] = Memory(size, a)
    outs = [memory[o.chunk] for o in instruction.outputs]
    if kind == "gufunc":
        library.gufunc(Recorded(instruction, memory))
    else:
        call = Recorded(instruction, memory)
        arrays, n = call.arrays, len(instruction.inputs)
        replacement = library.PYTHON[instruction.name]
        replacement(arrays[n:], arrays[:n], instruction.function)
    return instruction.name, outs


def check(function, *arrays, kind="gufunc", name=None, close=False):
    expected = function(*map(la.array, arrays))
    found, outs = run(function, *arrays, kind=kind)
    assert name in (None, found)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for memory, array in zip(outs, expected, strict=True):
        right = array.asnumpy()
        order = right.transpose(np.argsort([-s for s in array.strides], kind="stable"))
        got = memory.array(order.shape, right.dtype)
        if close:
            np.testing.assert_allclose(got, order, rtol=close, atol=close)
        else:
            np.testing.assert_array_equal(got, order)


def numbers(*shape, dtype="d"):
    if np.dtype(dtype).kind == "c":
        return (numbers(*shape) + 1j * numbers(*shape)).astype(dtype)
    return (RNG.standard_normal(shape) * 4).astype(dtype)
