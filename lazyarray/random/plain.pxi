# Plain draws: a few numbers, with numbers as parameters, from NumPy's bit generator itself.
#
# NumPy's methods spend 0.2 to 4 us on the arguments of one number; to make it takes a few operations on the
# generator's words, which has a C interface. The older streams are frozen (NEP 19), their algorithms
# stand here; for the newer ones we link NumPy's own code (npyrandom). Each function is compared with
# NumPy's before its first use (`_agrees`): where another version of NumPy draws other numbers, NumPy's is called.

from libc.math cimport INFINITY, exp, fabs, isfinite, log, signbit, sqrt


cdef extern from "numpy/random/distributions.h":
    double random_standard_normal(bitgen_t*) noexcept nogil
    double random_standard_exponential(bitgen_t*) noexcept nogil
    uint64_t random_interval(bitgen_t*, uint64_t) noexcept nogil
    void random_bounded_uint64_fill(bitgen_t*, uint64_t, uint64_t, npy_intp, bint, uint64_t*) noexcept nogil
    ctypedef struct binomial_t:
        int has_binomial
    int64_t random_binomial(bitgen_t*, double, int64_t, binomial_t*) noexcept nogil
    int64_t random_poisson(bitgen_t*, double) noexcept nogil


cdef extern from "random/twister.h" namespace "lazyarray" nogil:
    ctypedef struct Waiting "lazyarray::twisting::Waiting":
        pass
    void twister_uniforms(void*, double*, npy_intp)
    void twister_integers(void*, uint64_t, uint32_t, uint64_t*, npy_intp)
    void twister_places(void*, uint32_t, int, uint32_t*)
    void twister_normals(void*, Waiting*, double, double, double*, npy_intp)


cdef extern from "random/ziggurat.h" namespace "lazyarray" nogil:
    void ziggurat_normals(bitgen_t*, double, double, double*, npy_intp)


# What is drawn. OLDER: as the older stream does it.
cdef enum Plain:
    NEVER, DOUBLE, UNIFORM, NORMAL, EXPONENTIAL, INTEGER, CHOICE, BINOMIAL, POISSON, SHUFFLE, PERMUTATION
    OLDER = 16
    _MOST_AXES = 4
    _MOST_CHANCES = 512
    _MANY = 64  # numbers from which on there are loops for many
    _COMPARED = 700
    _PLACES = 512  # at a time


cdef dict _kinds = {
    "random": DOUBLE, "random_sample": DOUBLE, "rand": DOUBLE, "uniform": UNIFORM, "normal": NORMAL,
    "standard_normal": NORMAL, "randn": NORMAL, "exponential": EXPONENTIAL,
    "standard_exponential": EXPONENTIAL, "integers": INTEGER, "randint": INTEGER, "choice": CHOICE,
    "binomial": BINOMIAL, "poisson": POISSON, "shuffle": SHUFFLE, "permutation": PERMUTATION,
}
cdef tuple _parameters = ("loc", "scale", "low", "high", "a", "n", "p", "lam")  # which come first
# Arguments with which a function is compared with NumPy's.
cdef dict _compared = {
    DOUBLE: [()], UNIFORM: [(), (-1.5, 2.25), (3, 4)], NORMAL: [(), (1.5, 0.3), (2, 3)],
    EXPONENTIAL: [(), (2.5,)],
    INTEGER: [(10,), (-3, 5), (7, 8), (0, 2**32), (0, 2**32 - 1), (0, 2**40), (-(2**62), 2**62), (1000,)],
    CHOICE: [(5,), (1000,)],
    BINOMIAL: [(1, 0.5), (7, 0.9), (0, 0.25), (1000, 0.01), (100, 1.0), (3, 0.1)],
    POISSON: [(), (0.0,), (3.5,), (40,)],
}


cdef tuple _few = (1, 3, 1), _several = (1, 3, _COMPARED, 2)  # numbers that are compared


cdef double _older_normal(bitgen_t* words, Spare* spare) noexcept nogil:
    """Marsaglia's polar method: two numbers at a time, of which one waits."""
    cdef double a, b, square = 0
    if spare.full:
        spare.full = 0
        a, spare.number = spare.number, 0
        return a
    while square >= 1 or square == 0:
        a = 2 * words.next_double(words.state) - 1
        b = 2 * words.next_double(words.state) - 1
        square = a * a + b * b
    square = sqrt(-2 * log(square) / square)
    spare.number = square * a
    spare.full = 1
    return square * b


cdef struct Inversion:  # what all draws of a binomial distribution have in common
    int64_t n, most
    double p, q, none  # the chance of no success


cdef Inversion _inversion(int64_t n, double p) noexcept nogil:
    cdef double q = 1 - p
    cdef Inversion known
    known.n, known.p, known.q, known.none = n, p, q, exp(n * log(q))
    known.most = <int64_t>min(<double>n, n * p + 10 * sqrt(n * p * q + 1))
    return known


cdef int64_t _older_binomial(bitgen_t* words, const Inversion* known) noexcept nogil:
    """By inversion, as NumPy where n * p is at most 30."""
    cdef double chance = known.none, left = words.next_double(words.state)
    cdef int64_t x = 0
    while left > chance:
        x += 1
        if x > known.most:
            x, chance, left = 0, known.none, words.next_double(words.state)
        else:
            left -= chance
            chance = (known.n - x + 1) * known.p * chance / (x * known.q)
    return x


# ---- draws --------------------------------------------------------------------------------------

# What is to be drawn, and from which parameters: of integers from low up to below high.
cdef struct Asked:
    int kind
    bint older
    double first, second
    npy_intp low, high


cdef bint _asked(int plain, bint waits, PyObject** given, Drawn stream, Asked* to) noexcept:
    """Reads the arguments; false if they are not that plain. ``waits``: a second normal number has a place to."""
    to.kind, to.older = plain & ~OLDER, plain & OLDER
    to.first, to.second = 0, 1
    to.low = to.high = 0
    if to.kind == INTEGER or to.kind == CHOICE:
        if given[0] is NULL or not _whole(given[0], stream, &to.low):
            return False
        if to.kind == CHOICE or given[1] is NULL or given[1] == Py_None:
            to.low, to.high = 0, to.low
        elif not _whole(given[1], stream, &to.high):
            return False
        return to.low < to.high
    if to.kind == BINOMIAL:
        if given[0] is NULL or given[1] is NULL or not _whole(given[0], stream, &to.low) \
                or not _real(given[1], &to.second) and not _held(given[1], stream, &to.second) \
                or not 0 <= to.low <= 2**31 or not 0 <= to.second <= 1:
            return False
        return not to.older or to.low * min(to.second, 1 - to.second) <= 30
    if to.kind == POISSON:
        return (_real(given[0], &to.second) or _held(given[0], stream, &to.second)) and 0 <= to.second <= 2**31
    if to.kind == EXPONENTIAL:
        if not _real(given[0], &to.second) and not _held(given[0], stream, &to.second):
            return False
    elif to.kind != DOUBLE:
        if not _real(given[0], &to.first) and not _held(given[0], stream, &to.first) \
                or not _real(given[1], &to.second) and not _held(given[1], stream, &to.second):
            return False
    if to.kind == UNIFORM:
        to.second -= to.first
    if not isfinite(to.first) or not isfinite(to.second) or signbit(to.second) and not (to.older and to.kind == UNIFORM):
        return False
    return waits or to.kind != NORMAL or not to.older


cdef void _draw_integers(const Asked* asked, bitgen_t* words, void* twister, npy_intp n, int64_t* out) noexcept nogil:
    cdef uint64_t least = <uint64_t>asked.low, range_ = <uint64_t>asked.high - least - 1
    cdef binomial_t binomial
    cdef Inversion known
    cdef npy_intp i
    if asked.kind == BINOMIAL:
        binomial.has_binomial = 0
        known = _inversion(asked.low, min(asked.second, 1 - asked.second))
        for i in range(n):
            if not asked.older:
                out[i] = random_binomial(words, asked.second, asked.low, &binomial)
            elif asked.second <= 0.5:
                out[i] = _older_binomial(words, &known)
            else:
                out[i] = asked.low - _older_binomial(words, &known)
    elif asked.kind == POISSON:
        for i in range(n):
            out[i] = random_poisson(words, asked.second)
    elif twister is not NULL and range_ > 0 and range_ < <uint64_t>0xffffffff:
        twister_integers(twister, least, <uint32_t>range_, <uint64_t*>out, n)
    else:
        random_bounded_uint64_fill(words, least, range_, n, asked.older, <uint64_t*>out)


cdef void _draw_reals(const Asked* asked, bitgen_t* words, Spare* spare, void* twister, npy_intp n,
                      double* out) noexcept nogil:
    cdef double first = asked.first, second = asked.second
    cdef npy_intp i
    if asked.kind == NORMAL:
        if twister is not NULL:
            twister_normals(twister, <Waiting*>&spare.full, first, second, out, n)
            return
        if not asked.older and n >= _MANY:
            ziggurat_normals(words, first, second, out, n)
            return
        for i in range(n):
            out[i] = first + second * (_older_normal(words, spare) if asked.older else random_standard_normal(words))
        return
    if asked.kind == EXPONENTIAL and not asked.older:
        for i in range(n):
            out[i] = second * random_standard_exponential(words)
        return
    if twister is not NULL:
        twister_uniforms(twister, out, n)
    else:
        for i in range(n):
            out[i] = words.next_double(words.state)
    if asked.kind == EXPONENTIAL:
        for i in range(n):
            out[i] = second * -log(1 - out[i])
    elif asked.kind == UNIFORM:
        for i in range(n):
            out[i] = first + second * out[i]


cdef void _draw(const Asked* asked, bitgen_t* words, Spare* spare, void* twister, npy_intp n, char* to) noexcept nogil:
    """Draws ``n`` numbers. ``twister``: where the words are a Mersenne twister's, its state; else NULL."""
    if not asked.older or n < _MANY:
        twister = NULL
    if INTEGER <= asked.kind <= POISSON:
        _draw_integers(asked, words, twister, n, <int64_t*>to)
    else:
        _draw_reals(asked, words, spare, twister, n, <double*>to)


cdef bint _drawn(int plain, Bits bits, PyObject** given, Drawn stream, npy_intp n, char* to) noexcept:
    """Draws ``n`` numbers; false, with nothing drawn, if the arguments are not that plain."""
    cdef Asked asked
    if not _asked(plain, bits.spare is not NULL, given, stream, &asked):
        return False
    _draw(&asked, bits.words, bits.spare, bits.twister, n, to)
    return True


def many(generator, str name, given, dict options, out=None):
    """What NumPy's method of that name draws, where there is a loop for many numbers; None where NumPy has to.

    Args:
        generator: NumPy's ``Generator``, or a ``RandomState`` on a Mersenne twister.
        given: the parameters, numbers.
        options: ``size``, the shape, unless there is ``out``; and a ``dtype``.
        out: an array to fill, and give back.
    """
    cdef PyObject* values[2]
    cdef Asked asked
    cdef npy_intp n
    cdef char* to
    cdef bint integers
    cdef Draw f = _of_many.get((type(generator), name))
    if f is None or len(given) > f.parameters or out is None and "size" not in options \
            or f.plain & OLDER and type(generator._bit_generator) is not np.random.MT19937:
        return None
    integers = f.plain & ~OLDER in (INTEGER, CHOICE, PERMUTATION)
    dtype = np.dtype(np.int64 if integers else np.float64)
    for key, value in options.items():
        if key != "size" and not (key == "dtype" and value == dtype):
            return None
    if out is not None and (out.dtype != dtype or not out.flags.c_contiguous) or not _verified(f):
        return None
    for i in range(2):
        values[i] = <PyObject*>given[i] if i < <Py_ssize_t>len(given) else NULL
    cdef Bits bits = Bits(generator)
    cdef bint orders = f.plain & ~OLDER == PERMUTATION
    if not orders and not _asked(f.plain, bits.spare is not NULL, values, None, &asked):
        return None
    if out is None:
        out = np.arange(options["size"]) if orders else np.empty(options["size"], dtype)
    n, to = out.size, <char*>cnp.PyArray_DATA(out)
    with bits.owner.lock:
        with nogil:
            if orders:
                _shuffle(bits.words, bits.twister, to, n, sizeof(npy_intp))
            else:
                _draw(&asked, bits.words, bits.spare, bits.twister, n, to)
    return out


cdef inline void _exchange(char* p, npy_intp i, npy_intp j, npy_intp size) noexcept nogil:
    cdef int64_t word
    cdef char[32] element
    if size == 8:
        word = (<int64_t*>p)[i]
        (<int64_t*>p)[i] = (<int64_t*>p)[j]
        (<int64_t*>p)[j] = word
    elif i != j:
        memcpy(element, p + i * size, size)
        memcpy(p + i * size, p + j * size, size)
        memcpy(p + j * size, element, size)


cdef void _shuffle(bitgen_t* words, void* twister, char* p, npy_intp n, npy_intp size) noexcept nogil:
    """Puts `n` elements in random order, from the last to the first, as NumPy."""
    cdef npy_intp i = n - 1
    cdef uint32_t[_PLACES] places
    cdef int count, k
    while i >= _MANY and i <= <npy_intp>0xffffffff and twister is not NULL:
        count = <int>min(i, <npy_intp>_PLACES)
        twister_places(twister, <uint32_t>i, count, places)
        for k in range(count):
            _exchange(p, i, places[k], size)
            i -= 1
    while i > 0:
        _exchange(p, i, <npy_intp>random_interval(words, i), size)
        i -= 1


cdef npy_intp _sums_of(PyObject* chances, Drawn stream, double* sums) except -1:
    """The running sums of chances, a list or a vector; how many, or 0 if they are not that plain."""
    cdef npy_intp i, n
    cdef double total = 0
    cdef Tensor t
    cdef object items
    if type_of(chances) == &PyList_Type or type_of(chances) == &PyTuple_Type:
        items = <object>chances
        n = len(items)
        if n > _MOST_CHANCES:
            return 0
        for i in range(n):
            if not _real(<PyObject*>items[i], &sums[i]) and not _held(<PyObject*>items[i], stream, &sums[i]):
                return 0
    elif stream is not None and is_tensor(<object>chances):
        t = <Tensor><object>chances
        if t.v.layout.ndim != 1 or t.v.dtype != D_F8 or not t.v.at_hand() \
                or not (t.v.device() == stream._device.c) or t.v.layout.shape()[0] > _MOST_CHANCES:
            return 0
        n = t.v.layout.shape()[0]
        for i in range(n):
            sums[i] = (<double*>(t.v.elements() + i * t.v.layout.strides()[0]))[0]
    else:
        return 0
    for i in range(n):
        if not sums[i] >= 0:
            return 0
        total += sums[i]
        sums[i] = total
    return n if fabs(total - 1) < 1e-9 else 0  # NumPy takes 1.5e-8


cdef void _draw_by_chance(Bits bits, const double* sums, npy_intp many, npy_intp n, npy_intp* out) noexcept:
    """`choice` with ``p``: as NumPy, by a search among the chances' sums over their total."""
    cdef npy_intp i, low, high, middle
    cdef double x
    cdef bitgen_t* words = bits.words
    for i in range(n):
        x = words.next_double(words.state)
        low, high = 0, many
        while low < high:
            middle = (low + high) // 2
            if sums[middle] / sums[many - 1] <= x:
                low = middle + 1
            else:
                high = middle
        out[i] = low


cdef bint _real(PyObject* o, double* value) noexcept:
    """A parameter's value, if it is Python's number; without one the value stays."""
    cdef int overflow = 0
    cdef long whole
    if o is NULL:
        return True
    if type_of(o) == &PyFloat_Type:
        value[0] = PyFloat_AS_DOUBLE(<object>o)
        return True
    if type_of(o) != &PyLong_Type:
        return False
    whole = PyLong_AsLongAndOverflow(<object>o, &overflow)
    value[0] = <double>whole
    return not overflow


cdef bint _held(PyObject* o, Drawn stream, double* value) noexcept:
    """The same of an array without axes that is at hand."""
    return stream is not None and is_tensor(<object>o) and real_now(<Tensor><object>o, stream._device.c, value)


cdef bint _whole(PyObject* o, Drawn stream, npy_intp* value) noexcept:
    if type_of(o) == &PyLong_Type:
        return index_of(<object>o, value)
    return stream is not None and is_tensor(<object>o) and index_of(<object>o, value) \
        and (<Tensor><object>o).v.device() == stream._device.c


cdef bint _agrees(Draw f, int plain) except -1:
    """Whether what is drawn here are NumPy's numbers."""
    cdef PyObject* given[2]
    cdef double[_COMPARED] drawn
    cdef double[5] sums
    cdef Py_ssize_t i
    kind = getattr(np.random, f.owner)
    bits = Bits(kind(np.random.MT19937(5)))
    theirs = getattr(kind(np.random.MT19937(5)), f.way.__name__)
    if plain & ~OLDER >= SHUFFLE:
        for n in (2, 7, 100, _COMPARED):
            order, wanted = np.arange(n), np.arange(n)
            _shuffle(bits.words, bits.twister, <char*>cnp.PyArray_DATA(order), n, 8)
            given_back = theirs(wanted if plain & ~OLDER == SHUFFLE else n)
            if (order != (wanted if given_back is None else given_back)).any():
                return False
        return True
    if plain == NEVER:
        return False
    for arguments in _compared[plain & ~OLDER]:
        if len(arguments) > f.parameters:
            continue
        for n in _several if plain & OLDER or plain == NORMAL else _few:
            for i in range(2):
                given[i] = <PyObject*>arguments[i] if i < <Py_ssize_t>len(arguments) else NULL
            if not _drawn(plain, bits, given, None, n, <char*>drawn):
                return False
            wanted = theirs(n) if f.repeats else theirs(*arguments, size=n)
            if wanted.dtype.itemsize != 8 or memcmp(<char*>drawn, cnp.PyArray_DATA(wanted), 8 * n) != 0:
                return False
    if plain & ~OLDER == CHOICE:
        chances = [0.1, 0.0, 0.5, 0.25, 0.15]
        i = _sums_of(<PyObject*>chances, None, sums)
        for n in (1, 3, 1, 3):
            _draw_by_chance(bits, sums, i, n, <npy_intp*>drawn)
            wanted = theirs(5, n, True, chances)
            if wanted.dtype.itemsize != 8 or memcmp(<char*>drawn, cnp.PyArray_DATA(wanted), 8 * n) != 0:
                return False
    return True


cdef bint _shape_of(PyObject* size, Py_ssize_t* ndim, npy_intp* shape) except -1:
    """The lengths of the axes; false if they aren't plain integers, or are too many."""
    ndim[0] = 0
    if type_of(size) == &PyLong_Type:
        ndim[0] = 1
        return index_of(<object>size, shape)
    if type(<object>size) is not tuple and type(<object>size) is not list or len(<object>size) > _MOST_AXES:
        return False
    for length in <object>size:
        if type(length) is not int or not index_of(length, &shape[ndim[0]]):
            return False
        ndim[0] += 1
    return True


cdef bint _verified(Draw f) except -1:
    """Whether what is drawn here are NumPy's numbers: looked at before the first of them."""
    if not f.compared:  # two threads may both compare: they come to the same end
        if not _agrees(f, f.plain):
            f.plain = NEVER
        f.compared = True
    return f.plain != NEVER


cdef bint shuffle_now(Draw f, Drawn stream, Tensor x, npy_intp n) except -1:
    """Shuffles a vector whose elements lie in a row; false, with nothing drawn, if that is NumPy's to do."""
    cdef npy_intp size = x.v.itemsize()
    cdef Bits bits
    if f.plain == NEVER or n > 1 and x.v.layout.strides()[0] != size or not _verified(f):
        return False
    bits = words_for(stream)
    if bits is None:
        return False
    _shuffle(bits.words, bits.twister, x.v.elements(), n, size)
    let_go(stream, bits)
    written_now(stream._resource.v.chunk)
    written_now(x.v.chunk)
    return True


cdef object plain_permutation(Draw f, Drawn stream, PyObject* of):
    """A permutation of a range, or of a vector that is at hand; None if it is neither, or not small."""
    cdef npy_intp n, i, size, step
    cdef int dtype = D_IL
    cdef Tensor x = None, made
    cdef char* p
    cdef char* of_x
    cdef Bits bits
    if type_of(of) == &PyLong_Type:
        if not index_of(<object>of, &n):
            return None
    elif is_tensor(<object>of) and (<Tensor><object>of).v.layout.ndim == 1:
        x = <Tensor><object>of
        n, dtype = x.v.layout.shape()[0], x.v.dtype
        if not x.v.at_hand() or not (x.v.device() == stream._device.c):
            return None
    else:
        return None
    if not 0 < n <= recorder().policy.draws or not _verified(f):
        return None
    made = empty_like_shape(dtype, 1, &n, stream._device.c)
    bits = words_for(stream) if made.v.chunk.allocate() else None
    if bits is None:
        return None
    p, size = made.v.chunk.data, made.v.itemsize()
    if x is not None:
        step, of_x = x.v.layout.strides()[0], x.v.elements()
        if step == size:
            memcpy(p, of_x, n * size)
        else:
            for i in range(n):
                memcpy(p + i * size, of_x + i * step, size)
    else:
        for i in range(n):
            (<npy_intp*>p)[i] = i
    _shuffle(bits.words, bits.twister, p, n, size)
    let_go(stream, bits)
    written_now(stream._resource.v.chunk)
    written_once(made.v.chunk)
    recorder().inlined += 1
    return made


cdef object plain_draw(Draw f, Drawn stream, PyObject** args, Py_ssize_t n, PyObject* names):
    """What is drawn, or None where it is not that plain."""
    cdef PyObject* given[_MOST]
    cdef PyObject* chances = NULL
    cdef npy_intp shape[_MOST_AXES]
    cdef Py_ssize_t i, k, ndim = -1, nk = 0 if names is NULL else len(<tuple><object>names)
    cdef npy_intp count = 1, many = 0
    cdef double[_MOST_CHANCES] sums
    cdef bint drawn = True
    cdef bint integers = INTEGER <= f.plain & ~OLDER <= POISSON
    cdef Tensor made = None
    cdef Bits bits
    if scalars_are_read or not stream._device.c.on_host() or n + nk > _MOST or f.plain & ~OLDER == SHUFFLE:
        return None
    if f.plain & ~OLDER == PERMUTATION:
        return plain_permutation(f, stream, args[0]) if n == 1 and nk == 0 else None
    for i in range(max(<Py_ssize_t>len(f.names), 2)):
        given[i] = NULL
    if f.repeats:
        if nk or n > _MOST_AXES:
            return None
        for i in range(n):
            if type_of(args[i]) != &PyLong_Type or not index_of(<object>args[i], &shape[i]):
                return None
        ndim = n or -1
    else:
        for i in range(n):
            given[i] = args[i]
        for i in range(nk):
            k = _place(f, (<tuple><object>names)[i])
            if k < 0 or given[k] is not NULL:
                return None
            given[k] = args[n + i]
        k = f.parameters
        if given[k] is not NULL and given[k] != Py_None and not _shape_of(given[k], &ndim, shape):
            return None
        for i in range(k + 1, len(f.names)):  # of which type, replaced or not, by which chances
            if given[i] is NULL:
                continue
            if f.plain & ~OLDER == CHOICE and i == k + 2:
                if given[i] != Py_None:
                    chances = given[i]
            elif f.plain & ~OLDER != CHOICE or i != k + 1 or given[i] != Py_True:
                return None
        given[k] = NULL
    for i in range(ndim):
        if not 0 < shape[i] <= recorder().policy.draws:
            return None
        count *= shape[i]
    if count > recorder().policy.draws:
        return None
    if not _verified(f):
        return None
    population = length = None
    if f.plain & ~OLDER == CHOICE and given[0] is not NULL and type_of(given[0]) != &PyLong_Type:
        population = <object>given[0]
        length = _length(population, stream)
        if length is None or ndim == 0:  # x[k] of an index without axes is a scalar, but a draw of no axes none
            return None
        given[0] = <PyObject*>length
    if chances is not NULL:
        if given[0] is NULL or not _whole(given[0], stream, &many) or many != _sums_of(chances, stream, sums) \
                or many == 0:
            return None
    if ndim < 0:
        made = new_element(D_IL if integers else D_F8, stream._device.c)
    else:
        made = empty_like_shape(D_IL if integers else D_F8, ndim, shape, stream._device.c)
        if not made.v.chunk.allocate():
            return None
    bits = words_for(stream)
    if bits is None:
        return None
    if chances is NULL:
        drawn = _drawn(f.plain, bits, given, stream, count, made.v.elements())
    else:
        _draw_by_chance(bits, sums, many, count, <npy_intp*>made.v.elements())
    let_go(stream, bits)
    if not drawn:
        return None
    take_flags(False)  # the flags that it has raised are nobody's
    written_now(stream._resource.v.chunk)
    if ndim >= 0:
        written_once(made.v.chunk)
        recorder().inlined += 1
        if population is None:
            return made
        if not is_tensor(population):
            population = from_numpy(np.asarray(population), stream._device.c)
            written_once((<Tensor>population).v.chunk)
        return population[made]
    if population is not None:
        population = population[(<npy_intp*>made.v.elements())[0]]
        return population if is_tensor(population) else array_of(population, stream._device.c)
    made.v.drawn = f.pythons
    return made


cdef object _length(object population, Drawn stream):
    """Of a vector of ours, or a list of numbers of one type or scalars of one dtype; None of anything else."""
    if is_tensor(population):
        return len(population) if (<Tensor>population).v.layout.ndim == 1 \
            and (<Tensor>population).v.device() == stream._device.c else None
    if type(population) is not list or not population or len(population) > recorder().policy.draws:
        return None
    first = type(population[0])
    scalars = is_tensor(population[0]) and is_scalar(<Tensor>population[0])
    if not scalars and first is not int and first is not float:
        return None
    for x in population:
        if type(x) is not first or first is int and not -2**63 <= x < 2**63:
            return None
        if scalars and ((<Tensor>x).v.dtype != (<Tensor>population[0]).v.dtype or not is_scalar(<Tensor>x)
                        or not ((<Tensor>x).v.device() == stream._device.c)):
            return None
    return len(population)
