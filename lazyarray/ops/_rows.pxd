# The rows of the op table as NDArray's slots call them.
from libc.stdint cimport int8_t

from lazyarray.engine._engine cimport CDevice
from lazyarray.lazy._lazy cimport Kernel, Number, Split, Tensor


cdef struct Resolved:
    Kernel* kernel
    int8_t inputs[3]
    int8_t outputs[2]


cdef class Row:
    cdef readonly str name
    cdef str doc
    cdef readonly str section
    cdef readonly object ufunc
    cdef str shown  # its name, as a program has set it
    cdef dict __dict__  # a program may set attributes, as on functions


cdef class UfuncMethods(Row):
    pass


cdef class Ufunc(UfuncMethods):
    cdef readonly int nin, nout
    cdef readonly object formula
    cdef readonly tuple smooth
    cdef readonly str example
    cdef readonly bint exact, vectors
    cdef float cost, vector
    cdef str line, vector_of
    cdef int mended
    cdef object quotients
    cdef bint no_minus_zero
    cdef str rows_alone
    cdef bint compares, exponents, weights, bad_strided, x87, reduces
    cdef Resolved** table
    cdef dict loops  # input dtypes, by operands' kinds and the dtype that is asked for as one number
    cdef void* called
    cdef Resolved* resolve(self, int ka, int kb) except NULL
    cdef Kernel* kernel_for(self, tuple dtypes) except NULL
    cdef object unary(self, object a, Tensor out)
    cdef object binary(self, object a, object b, Tensor out)
    cdef object in_loop_of(self, tuple args, Tensor out, int code)
    cdef tuple safe_inputs(self, list kinds, object dtype)
    cdef bint write_few(self, tuple args, Tensor out, dict kwargs) except -1
    cdef Tensor masked_now(self, tuple args, Tensor out, object where)
    cdef object python(self, tuple args, object out, dict kwargs)
    cdef tuple weak(self, Number number)
    cdef object two(self, tuple args, object out)


cdef class Reduction(Row):
    cdef dict kernels
    cdef Ufunc steps
    cdef bint first, pairwise, decides
    cdef float cost
    cdef object kernel_for(self, int source, int target)
    cdef object narrow_kernel(self, int source, int target)
    cdef Split split_of(self, object dtype)
    cpdef object folded(self, object parts, object axis, object dtype, bint keepdims)
    cdef bint replay(self, Kernel* kernel, Kernel* of_sums, Tensor x, Tensor out, unsigned long long mask,
                     bint sorts) except -1
    cdef object reduce(self, Tensor x, object axis, object dtype, Tensor out, bint keepdims)
    cdef object call(self, x, axis, dtype, out, keepdims, initial, where)
    cpdef object asked(self, x, axis, dtype, out, keepdims, initial, where)


cdef class Choice(Reduction):
    pass


cdef class MatMul(Row):
    cdef Kernel** kernels  # by the operands' dtypes
    cdef Kernel* kernel_for(self, int a, int b) except NULL
    cdef Tensor by_loop(self, Tensor x, Tensor y)
    cdef Tensor of_vectors(self, Tensor x, Tensor y)
    cdef object product(self, Tensor a, Tensor b, Tensor out)
    cdef object call(self, a, b, out)


cdef class Gufunc(Row):
    cdef list cores, names
    cdef dict kernels
    cdef double cost
    cdef bint linear, silent
    cdef object shared_from
    cdef str invalid
    cdef object kernel_for(self, int dtype)


cdef Tensor gathered(Tensor x, object key)
cdef bint is_mask(object o) noexcept
cdef object with_places(Tensor x, object key, bint waits)
cdef bint stored_at(Tensor x, object key, object value, int named=*) except -1
cdef int store(Tensor to, object value) except -1
cdef int store_item(Tensor to, object value) except -1
cdef Tensor picked(Tensor x, object key)
cdef bint masked_set(Tensor x, object key, object value) except -1
cdef Tensor as_tensor(object o)
cdef Tensor as_tensor_on(object o, CDevice device)
cdef bint is_operand(object o)
cdef bint is_foreign(object o)
cdef bint derived_made
cdef bint is_derived(object o) noexcept
cdef bint is_told(object o) except -1
cdef object told_by_class(Row row, str method, tuple inputs, dict named)
cdef object plain(object o)
cdef bint is_held(object o)
cdef bint has_own_way(object o) except -1
cdef object converted_operand(object o)
cdef bint one_to_numpy(int a, int b) noexcept
cdef Tensor converted(Tensor x, object dtype, bint copy)
cdef object direct_elementwise(object function, tuple args)
cdef Tensor direct_get(Tensor x, object key)
cdef bint direct_set(Tensor x, object key, object value) except -1
cdef Tensor reshaped(Tensor x, object shape, object order)
cdef Tensor raveled_in(Tensor x, object order, bint copy)
cdef Tensor duplicate(Tensor x)
cdef Tensor squeezed(Tensor t)
cdef Tensor transposed(Tensor t)
cdef Tensor reordered(Tensor t, object order)
cdef Tensor picked_elements(Tensor x, object key)
cdef Tensor swapped(Tensor x, object first, object second)
cdef Tensor diagonal_of(Tensor x, object offset, object first, object second)
cdef bint goes_first(object o, Tensor x) except -1
cdef object call_of_ufunc(object ufunc, tuple args)
cdef bint calls_ufuncs() noexcept
cdef Tensor part_of(Tensor x, int which)
cdef Tensor viewed_as(Tensor x, object dtype)
cdef bint stored_elements(Tensor x, object key, object value) except -1
