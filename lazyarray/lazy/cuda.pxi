# GPUs: opened when one is first named, and what their runner needs of Python.


cdef extern from "lazy/cuda/runner.h" namespace "lazyarray::cuda" nogil:
    cdef cppclass GpuOperand "lazyarray::cuda::Operand":
        int member, op, dtype
        int kind
        cbool reduced_to

    cdef cppclass GpuConstant "lazyarray::cuda::Constant":
        int dtype

    cdef enum:
        GPU_LOAD "lazyarray::cuda::Statement::LOAD"
        GPU_CONST "lazyarray::cuda::Statement::CONST"
        GPU_OP "lazyarray::cuda::Statement::OP"
        GPU_STORE "lazyarray::cuda::Statement::STORE"

    cdef cppclass GpuStatement "lazyarray::cuda::Statement":
        int what
        const Kernel* kernel
        int operand
        vector[int] in_ "in", out

    cdef cppclass GpuLaunch "lazyarray::cuda::Launch":
        int kept, reduced
        cbool lanes_kept, wide
        int elements
        vector[GpuOperand] operands
        vector[GpuConstant] constants
        vector[GpuStatement] body
        vector[int64_t] words

    cdef cppclass GpuFunctions "lazyarray::cuda::Functions":
        void* kernel
        void* combine

    cdef cppclass GpuHooks "lazyarray::cuda::Hooks":
        CError* (*compile)(const GpuLaunch&, int, GpuFunctions*) noexcept
        CError* (*library)(Instr&, int, void*, cbool*) noexcept
        Chunk* (*host_chunk)(size_t) noexcept

    cdef cppclass GpuBlas "lazyarray::cuda::Blas":
        cbool load(const char*)

    cdef cppclass GpuRunner "lazyarray::cuda::Runner":
        GpuRunner(Backend*, const FlushPolicy*)
        void serve(Recorder&)
        GpuBlas blas
        GpuHooks hooks
        atomic[uint64_t] launched
        cppmap[string, uint64_t] hosted()

    atomic[uint64_t] graphs "lazyarray::cuda::Graphs::launched"

    cdef cppclass GpuStream "lazyarray::cuda::Stream":
        void* raw

    cdef cppclass Gpu:
        int id
        void fail(int)
        CError* synchronize()

    cdef cppclass Gpus:
        Gpu* find(int)
        string open(int)

    cdef cppclass CudaDriver "lazyarray::cuda::Driver":
        string load(const char*)
        cbool loaded()

    cdef cppclass MemoryHooks:
        char* (*allocate)(int, void*, size_t, void**) noexcept
        void (*reclaim)(int) noexcept

    CudaDriver& driver()
    Gpus& gpus()
    MemoryHooks& memory_hooks()
    GpuStream* stream_on(Gpu*, CError**)


cdef object _gpu_services = None  # lazyarray.lazy.cuda.services, once a GPU is open
cdef GpuRunner* _gpu_runner = NULL


def open_gpu(int number, str path, str blas, services):
    """Makes GPU ``number`` ready for use; RuntimeError if the driver, a library at ``path``, refuses.

    ``blas`` is where cuBLAS is; "": unknown, so CuPy does all products. ``services``,
    lazyarray.lazy.cuda.services, has what needs Python.
    """
    global _gpu_services, _gpu_runner
    cdef string failure
    cdef bytes name = path.encode(), products = blas.encode()
    if not driver().loaded():
        failure = driver().load(name)
        if failure.size():
            raise RuntimeError(failure.decode())
    failure = gpus().open(number)
    if failure.size():
        raise RuntimeError(f"gpu({number}): {failure.decode()}")
    if _gpu_services is not None:
        return
    _gpu_services = services
    _gpu_runner = new GpuRunner(_host_backend, &_recorder.policy)
    _gpu_runner.hooks.compile = _compile_for_gpu
    _gpu_runner.hooks.library = _library
    _gpu_runner.hooks.host_chunk = _host_chunk
    if products:
        _gpu_runner.blas.load(products)
    memory_hooks().allocate = _allocate_on_gpu
    memory_hooks().reclaim = _reclaim_on_gpu
    _gpu_runner.serve(_recorder[0])
    set_gpu_scope(services.scope, quiesce_gpu)


def quiesce_gpu(int number):
    """Waits for all that was launched on GPU ``number``, by whomever."""
    cdef CError* error
    with nogil:  # a capture is waited for, too
        error = gpus().find(number).synchronize()
    if error is not NULL:
        raise_error(error)


def gpu_view(Tensor x not None, owner=None):
    """A CuPy array on x's memory, which keeps ``owner``: for an op that uses it, and for exports."""
    cdef Chunk* c = x.v.chunk
    need_memory(c)
    return _gpu_services.view(<size_t>c.data, c.nbytes, c.device.id, x.v.layout.offset, shape_tuple(&x.v),
                             chr(info(x.v.dtype).code),
                             tuple([x.v.layout.strides()[i] for i in range(x.v.layout.ndim)]), owner)


def kernels_launched():
    """How many kernels were launched so far."""
    return 0 if _gpu_runner is NULL else _gpu_runner.launched.load()


def graphs_launched():
    """How many graphs were: each is what an operator of a program launches, kept by the device."""
    return graphs.load()


def hosted_ops():
    """How often operations of GPUs ran on the host instead, by name."""
    return {} if _gpu_runner is NULL else {n.decode(): k for n, k in dict(_gpu_runner.hosted()).items()}


def stream_of_thread(int number):
    """The address of the CUDA stream that this thread's work on GPU ``number`` goes to."""
    cdef CError* e = NULL
    if gpus().find(number) is NULL:
        raise RuntimeError(f"gpu({number}) is not open in this process: la.gpu({number}) opens it")
    cdef GpuStream* s = stream_on(gpus().find(number), &e)
    raise_error(e)
    return <size_t>s.raw


def fail_gpu(int number, int code):
    """From now on whatever asks GPU ``number`` for values raises CUDA's error of this number."""
    gpus().find(number).fail(code)


cdef tuple _types(const Kernel* k):
    cdef int i
    return ("".join([chr(info(k.dtypes[i]).code) for i in range(k.nin)]),
            "".join([chr(info(k.dtypes[i]).code) for i in range(k.nin, k.nin + k.nout)]))


cdef tuple _spec(GpuLaunch& launch):
    """What lazyarray.lazy.cuda.source makes a kernel of."""
    kinds = ("dense", "one", "strided")
    operands, body = [], []
    for o in launch.operands:
        kind = kinds[o.kind]
        if o.reduced_to:
            kind = "row" if launch.elements else "strided"
        operands.append((chr(info(o.dtype).code), kind))
    constants = "".join([chr(info(c.dtype).code) for c in launch.constants])
    for s in launch.body:
        if s.what == GPU_LOAD:
            body.append(("load", s.out[0], s.operand))
        elif s.what == GPU_CONST:
            body.append(("const", s.out[0], s.operand))
        elif s.what == GPU_STORE:
            body.append(("store", s.operand, s.in_[0]))
        elif s.what == GPU_OP:
            body.append(("op", s.kernel.name.decode(), *_types(s.kernel), tuple(s.in_), tuple(s.out)))
        else:
            source, target = _types(s.kernel)
            body.append(("reduce", s.kernel.name.decode(), source[0], target, s.in_[0],
                         s.out[0] if launch.elements else s.operand, s.kernel.starts_with_first,
                         (<const char*>s.kernel.identity)[:info(s.kernel.dtypes[1]).size]))
    lanes = "" if not launch.reduced else "kept" if launch.lanes_kept else "reduced"
    if launch.elements:
        lanes = f"rows {launch.elements}"
    return (launch.kept, launch.reduced, lanes, launch.wide, tuple(operands), constants, tuple(body))


cdef CError* _compile_for_gpu(const GpuLaunch& launch, int number, GpuFunctions* out) noexcept nogil:
    adopt_worker_thread()
    with gil:
        try:
            found = _gpu_services.compiled(number, _spec(<GpuLaunch&>launch), launch.words.size())
            if found is not None:
                out.kernel = <void*><size_t>found[0]
                out.combine = <void*><size_t>found[1]
            return NULL
        except BaseException as exc:
            return error_from_exception(exc, NULL, 0)


cdef CError* _library(Instr& instr, int number, void* stream, cbool* ran) noexcept nogil:
    adopt_worker_thread()
    with gil:
        try:
            ran[0] = _gpu_services.library(number, <size_t>stream, _gpu_call(instr))
            return NULL
        except BaseException as exc:
            _drop_frames(exc)
            return error_from_exception(exc, instr.kernel.name, instr.site)


cdef tuple _place_of(Chunk* c):
    return (<size_t>c.data, c.nbytes, c.device.id)


cdef object _gpu_call(Instr& instr):
    """What CuPy is to do, for lazyarray.lazy.cuda.calls.run."""
    cdef int k, i, n
    cdef PyCall* py = instr.py.get()
    cdef View* v
    cdef const Kernel* kernel = instr.kernel
    name = kernel.name.decode()
    operands = []
    if kernel.kind == PYTHON:
        for k in range(instr.nop):
            v = &py.views[k]
            operands.append((_place_of(instr.ops[k].chunk), v.layout.offset, chr(info(v.dtype).code),
                             shape_tuple(v), tuple([v.layout.strides()[i] for i in range(v.layout.ndim)])))
        fn = <object>py.fn
        return name, instr.nin, operands, (<Pieces>fn).whole if type(fn) is Pieces else fn, <object>py.context
    batch = tuple([instr.shape()[i] for i in range(instr.ndim)])
    n = 0
    for k in range(instr.nop):
        steps = [instr.strides(k)[i] for i in range(instr.ndim)]
        place = None if instr.ops[k].chunk is NULL else _place_of(instr.ops[k].chunk)
        value = None
        if instr.ops[k].chunk is NULL:
            value = (<char*>instr.constants[n])[:info(kernel.dtypes[k]).size]
            n += 1
        axes = None
        if kernel.cores is not NULL:
            axes = [kernel.cores.axes[k][i] for i in range(kernel.cores.n[k])]
        operands.append((place, instr.ops[k].offset, chr(info(kernel.dtypes[k]).code), steps, axes, value))
    return (name, instr.nin, operands, batch, tuple([instr.core[i] for i in range(instr.ncore)]),
            tuple([instr.core_steps[i] for i in range(instr.ncore_steps)]))


cdef Chunk* _host_chunk(size_t nbytes) noexcept nogil:
    cdef Chunk* c
    cdef CDevice device
    adopt_worker_thread()
    with gil:
        c = _recorder.store().create(nbytes, device)
    if not c.allocate():
        c.unref()
        return NULL
    return c


cdef char* _allocate_on_gpu(int number, void* stream, size_t nbytes, void** owner) noexcept nogil:
    adopt_worker_thread()
    with gil:
        try:
            found = _gpu_services.allocate(number, <size_t>stream, nbytes)
        except MemoryError:
            return NULL
        except BaseException as exc:  # what is then raised is MemoryError, of the op that asked
            if type(exc).__name__ != "CUDARuntimeError":  # that one is found again: see Gpu::look
                import traceback
                traceback.print_exception(exc)
            return NULL
        address, keeper = found
        Py_INCREF(keeper)
        owner[0] = <void*>keeper
        return <char*><size_t>address


cdef void _reclaim_on_gpu(int number) noexcept nogil:
    adopt_worker_thread()
    with gil:
        try:
            graveyard().sweep()
            _gpu_services.reclaim(number)
            graveyard().sweep()
        except BaseException:
            pass  # the allocation that follows fails, and says so
