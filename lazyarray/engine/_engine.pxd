# The native engine as the upper rooms' extension modules see it.
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector


cdef extern from "<atomic>" namespace "std" nogil:
    cdef cppclass atomic[T]:
        T load()
        void store(T)
        T fetch_add(T)
        T fetch_sub(T)


cdef extern from "device.h" namespace "lazyarray" nogil:
    cdef cppclass CDevice "lazyarray::Device":
        int32_t kind
        int32_t id
        cbool plain()
        cbool on_host()
        cbool has_streams()
        int32_t dlpack_kind()
        uint32_t number()
        string text() except +
        cbool operator==(const CDevice&)

    enum:
        CPU "lazyarray::Device::CPU"
        CPU_PINNED "lazyarray::Device::CPU_PINNED"


cdef extern from "error.h" namespace "lazyarray" nogil:
    cdef enum ErrorKind "lazyarray::Error::Kind":
        RUNTIME "lazyarray::Error::RUNTIME"
        VALUE "lazyarray::Error::VALUE"
        MEMORY "lazyarray::Error::MEMORY"
        FLOATING_POINT "lazyarray::Error::FLOATING_POINT"
        ZERO_DIVISION "lazyarray::Error::ZERO_DIVISION"
        OVERFLOW_ "lazyarray::Error::OVERFLOW_"
        LINALG "lazyarray::Error::LINALG"
        INDEX "lazyarray::Error::INDEX"

    cdef cppclass CError "lazyarray::Error":
        CError(ErrorKind, string) except +
        @staticmethod
        CError* no_memory()
        atomic[cbool] seen
        uint64_t seq
        ErrorKind kind
        string message
        void* exception
        uint32_t site
        const char* op
        CError* ref()
        void unref()


cdef extern from "var.h" namespace "lazyarray" nogil:
    cdef cppclass CUse "lazyarray::Use":
        CVar* var
        cbool write

    cdef cppclass CVar "lazyarray::Var":
        atomic[int32_t] writers
        atomic[int32_t] readers
        atomic[uint64_t] version
        uint64_t issued
        atomic[CError*] error
        atomic[cbool] deleted
        atomic[int32_t] exports
        atomic[void*] footprint
        CEngine* engine
        CVar(CEngine*) except +
        void ref()
        void unref()
        cbool readable()
        cbool idle()


cdef extern from "profile.h" namespace "lazyarray" nogil:
    cdef cppclass ProfileEvent:
        const char* name
        uint64_t seq
        int64_t queued, ready, start, end
        int worker
        cbool skipped
        CDevice device

    enum:
        PROFILE_OPS "lazyarray::Profile::OPS"
        PROFILE_COUNTERS "lazyarray::Profile::COUNTERS"
        PROFILE_SCOPES "lazyarray::Profile::SCOPES"

    cdef enum SpanKind "lazyarray::ProfileSpan::Kind":
        SPAN_WAIT "lazyarray::ProfileSpan::WAIT"
        SPAN_EVENT "lazyarray::ProfileSpan::EVENT"
        SPAN_TASK "lazyarray::ProfileSpan::TASK"
        SPAN_FRAME "lazyarray::ProfileSpan::FRAME"
        SPAN_MARKER "lazyarray::ProfileSpan::MARKER"

    cdef cppclass ProfileSpan:
        SpanKind kind
        const char* name
        const char* domain
        int64_t start, end
        uint64_t thread
        int worker
        uint32_t site

    cdef cppclass ProfileSample:
        const char* name
        const char* domain
        int64_t when
        double value

    cdef cppclass ProfileBlock:
        vector[ProfileEvent] ops

    cdef cppclass ProfileBlockPtr "std::unique_ptr<lazyarray::ProfileBlock>":
        ProfileBlock* get()

    cdef cppclass Profile:
        cbool on()
        cbool on(int)
        void set(int)
        void add(const ProfileSpan&)
        void add(const ProfileSample&)
        vector[ProfileBlockPtr] take() except +
        size_t full()
        uint64_t take_lost()

    uint64_t this_thread()


cdef extern from "operator.h" namespace "lazyarray" nogil:
    cdef enum Prop "lazyarray::Prop":
        PROP_NORMAL "lazyarray::Prop::NORMAL"
        PROP_ASYNC "lazyarray::Prop::ASYNC"
        PROP_DELETE_VAR "lazyarray::Prop::DELETE_VAR"

    cdef cppclass CRunContext "lazyarray::RunContext":
        CEngine* engine
        COp* op
        CDevice device

    cdef cppclass Payload:
        CError* (*run)(void*, CRunContext&) noexcept
        void (*drop)(void*) noexcept
        void* arg
        cbool native
        cbool is_async "async"
        cbool own_errors
        cbool brief

    cdef cppclass COp "lazyarray::Operator":
        Prop prop
        int priority
        CDevice device
        int64_t bytes
        int64_t cost_ns
        uint64_t seq
        const char* name
        uint32_t site
        Payload payload
        CError* result
        vector[CUse] uses
        void merge_use(CVar*, cbool) except +
        void merge_use(CVar*, cbool, cbool) except +
        void add_use(CVar*, cbool, cbool, uint32_t) except +


cdef extern from "engine.h" namespace "lazyarray" nogil:
    cdef enum Policy "lazyarray::Policy":
        NAIVE "lazyarray::Policy::NAIVE"
        POOLED "lazyarray::Policy::POOLED"
        PER_DEVICE "lazyarray::Policy::PER_DEVICE"

    cdef enum Status "lazyarray::Status":
        OK "lazyarray::Status::OK"
        INTERRUPTED "lazyarray::Status::INTERRUPTED"
        SELF_WAIT "lazyarray::Status::SELF_WAIT"
        STOPPED "lazyarray::Status::STOPPED"
        DELETED "lazyarray::Status::DELETED"
        FOREIGN "lazyarray::Status::FOREIGN"
        TIMEOUT "lazyarray::Status::TIMEOUT"
        BROKEN "lazyarray::Status::BROKEN"
        NO_MEMORY "lazyarray::Status::NO_MEMORY"


    cdef cppclass WorkerName:
        string role
        CDevice device

    cdef cppclass EngineStats:
        uint64_t pushed, completed, helped, waits, threads

    ctypedef cbool (*Poll)(void*) noexcept
    ctypedef void (*Alarm)(void*) noexcept

    cdef cppclass CEngine "lazyarray::Engine":
        COp* new_op() except +
        void discard(COp*)
        Status push(COp*, cbool wake, cbool keep)
        void release(COp*)
        void complete(COp*, CError*)
        cbool offer(COp*)
        void set_assist(void (*)() noexcept)
        Status wait(CVar*, cbool, Poll, void*)
        Status wait_op(COp*, Poll, void*)
        Status wait_for_all(Poll, void*, int64_t)
        Status throttle(int64_t, int64_t, Poll, void*, int64_t)
        cbool await_releases()
        CError* error_of(CVar*)
        void set_error(CVar*, CError*)
        void report(CError*)
        CError* take_failure() except +
        vector[CError*] take_failures() except +
        void share(COp*, void (*)(void*) noexcept, void*, int)
        void set_alarm(Alarm, void*)
        void alarm(int64_t)
        void cancel_alarm()
        int64_t now()
        void set_cores(int)
        int cores()
        void start()
        Status stop(Poll, void*)
        Status shutdown(Poll, void*)
        cbool fork_prepare(int64_t)
        void fork_parent()
        void fork_child(cbool)
        Profile& profile()
        cbool profiling()
        int current_worker()
        vector[WorkerName] worker_names() except +
        EngineStats stats()
        COp* current()
        cbool holds(CVar*)
        cbool runs_here()
        cbool stopped()
        cbool broken()
        cbool held()
        cbool owns(const CVar*)
        int64_t pending_bytes()
        int64_t pending_ops()
        Policy policy()
        void (*on_thread_exit)() noexcept

    CEngine* create_engine(Policy, int, int, int, int) except +
    void destroy_engine(CEngine*)
    void fork_comes(const vector[CEngine*]&) except +
    void fork_over()
    cbool fork_first()
    cbool helping()
    void join_destroyers()


cdef extern from "interpreter.h" namespace "lazyarray" nogil:
    cdef cppclass Interpreter:
        void* (*refer)(void*) noexcept
        void (*release)(void*) noexcept
        void* (*copy_context)(void*) noexcept
        uint32_t (*here)() noexcept

    Interpreter& interpreter()

    cdef cppclass Graveyard:
        void bury(PyObject*)
        void sweep() except *

    Graveyard& graveyard()
    const char* intern_name(const char*) except +  # and not of a string, which Cython would make


cdef extern from "engine/pyrefs.h" namespace "lazyarray" nogil:
    void* refer_to(void*) noexcept
    void release(void*) noexcept
    void* copy_of_context(void*) noexcept
    void drop_ref(PyObject*)

    cdef cppclass PyTask:
        PyTask() except +
        PyObject* fn
        uint32_t site
        void clear()

    void adopt_worker_thread()
    void leave_worker_thread() noexcept


cdef extern from "engine/sites.h" namespace "lazyarray" nogil:
    cdef cppclass Sites:
        Sites(const char*)
        void pass_over(const char*) except +
        uint32_t here()
        uint32_t size()
        PyObject* place(uint32_t)


cdef extern from "engine/handlers.h" namespace "lazyarray" nogil:
    cdef struct HandlerOps:
        int push_exc_info, with_except_start, check_exc_match, check_eg_match, pop_top, extended_arg
        int load_name, load_global, load_attr, load_const, load_method, kw_names
        int build_tuple, reraise, jump_if_false

    cdef cppclass Handlers:
        Handlers(const char*, const char*, const HandlerOps&, object, object, object)
        cbool around()


ctypedef int (*FlushHook)() except -1


cdef class Device:
    cdef CDevice c


cdef class Var:
    cdef CVar* c


cdef class RunContext:
    cdef readonly Device ctx
    cdef COp* op


cdef class OnComplete:
    cdef CEngine* engine
    cdef object owner
    cdef COp* op
    cdef RunContext run_ctx
    cdef const char* name
    cdef uint32_t site
    cdef bint offer(self) except -1


cdef class Opr


cdef class Engine:
    cdef CEngine* c
    cdef bint is_process
    cdef object __weakref__
    cdef int flush(self) except -1
    cdef int wait_var(self, CVar* var, bint everything) except -1
    cdef int push_op(self, COp* op, bint exported, tuple written) except -1
    cdef int finish_var(self, CVar* var) except -1
    cdef int create(self, Policy policy, object num_workers) except -1
    cdef int check_operator(self, Opr op) except -1
    cdef int push_callable(self, object fn, Device ctx, tuple const_vars, tuple mutable_vars,
                           tuple overwrites, object prop, object priority, str name,
                           bint is_async, bint brief=*) except -1


cdef class Opr:
    cdef object fn
    cdef tuple const_vars, mutable_vars
    cdef object prop
    cdef str name
    cdef Engine engine
    cdef bint deleted


cdef Device new_device(CDevice c)
cdef object new_var(CVar* c)
cdef int raise_error(CError* error, bint seen=*) except -1
cdef CError* error_from_exception(object exc, const char* name, uint32_t site) noexcept
cdef int check_status(Status status, object interrupt) except -1
cdef cbool poll_signals(void* arg) noexcept nogil
cdef int raise_later(object exc) except -1
cdef Engine process_engine()
cdef int step_aside() except -1
cdef Sites* sites() noexcept
cdef bint handlers_around() noexcept
cdef str site_text(uint32_t site)
cdef void note_wait(CEngine* c, const char* name, int64_t start) noexcept
cdef void set_flush_hook(FlushHook hook)
cdef int get_bulk() noexcept
cdef bint bulk_is_explicit() noexcept
