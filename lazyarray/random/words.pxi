# The words of a generator, which has a C interface, and who may be at them.
#
# The GIL is held all along, so another thread can be at the same words only where it has let go of the GIL
# inside NumPy. Our own calls are counted (`Source.busy`); of words that others know the lock is taken.

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy


cdef extern from "numpy/random/bitgen.h":
    ctypedef struct bitgen_t:
        void* state
        double (*next_double)(void*) noexcept nogil


# The older stream's second normal number, which waits in NumPy's RandomState (its aug_bitgen_t).
cdef struct Spare:
    bitgen_t* words
    int full
    double number


cdef Py_ssize_t _spare = -2  # where a RandomState has its spare number; -1 nowhere, -2 not known yet


cdef Py_ssize_t _find_spare() except -2:
    """Where it is: no header says so, but what stands there does."""
    generator = np.random.RandomState(np.random.MT19937(5))
    generator.standard_normal()
    state = generator.get_state(legacy=False)
    cdef char* object_ = <char*><PyObject*>generator
    cdef bitgen_t* words = words_of(generator._bit_generator)
    cdef Py_ssize_t at, end = np.random.RandomState.__basicsize__
    cdef Spare* spare
    for at in range(sizeof(void*) * 2, end - <Py_ssize_t>sizeof(Spare) + 1, sizeof(void*)):
        spare = <Spare*>(object_ + at)
        if <char*>spare.words < object_ or <char*>spare.words > object_ + end - sizeof(bitgen_t):
            continue
        if memcmp(spare.words, words, sizeof(bitgen_t)) == 0 and state["has_gauss"] and spare.full == 1 \
                and spare.number == state["gauss"]:
            return at
    return -1


cdef bitgen_t* words_of(object bit_generator) except NULL:
    return <bitgen_t*>PyCapsule_GetPointer(bit_generator.capsule, "BitGenerator")


cdef class Bits:
    """A generator's words, and its lock."""

    cdef object generator, owner, acquire, release
    cdef bitgen_t* words
    cdef void* twister  # the state of a Mersenne twister; NULL of any other
    cdef Spare* spare

    def __init__(self, generator):
        global _spare
        older = isinstance(generator, np.random.RandomState)
        self.generator = generator
        self.owner = generator._bit_generator if older else generator.bit_generator
        self.acquire, self.release = self.owner.lock.acquire, self.owner.lock.release
        self.words = words_of(self.owner)
        self.twister = self.words.state if type(self.owner) is np.random.MT19937 else NULL
        if type(generator) is np.random.RandomState:
            if _spare == -2:
                _spare = _find_spare()
            if _spare > 0:
                self.spare = <Spare*>(<char*><PyObject*>generator + _spare)


cdef Bits words_for(Drawn stream):
    """The words that a stream draws from, for us alone until `let_go`; None if somebody else is at them."""
    cdef Source root = stream._source.root()
    cdef Bits bits = stream._source.bits
    generator = stream._source.now()
    if root.busy:
        return None
    if bits is None or bits.generator is not generator:
        bits = stream._source.bits = Bits(generator)
    return bits if root.own or bits.acquire(False) else None


cdef int let_go(Drawn stream, Bits bits) except -1:
    if not stream._source.root().own:
        bits.release()
    return 0
