# Tensors and the recorder as the upper rooms' extension modules see them.
from cpython.object cimport PyObject
from libc.stdint cimport int8_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.unordered_set cimport unordered_set
from libcpp.vector cimport vector

from lazyarray.engine._engine cimport CDevice, CEngine, CError, COp, Device, Engine, Status, atomic
from lazyarray.storage._storage cimport Chunk, ChunkStore

ctypedef Py_ssize_t npy_intp


cdef extern from *:
    """
    // `isinstance` of the type alone: a Scalar's __class__ is NumPy's scalar type, its memory is not.
    static inline int is_of(PyObject* o, PyObject* type) {
      return PyObject_TypeCheck(o, reinterpret_cast<PyTypeObject*>(type));
    }
    """
    bint is_of(object o, object type)


cdef extern from "lazy/dtype.h" namespace "lazyarray" nogil:
    cdef struct DtypeInfo:
        int type_num
        int8_t size
        int8_t align
        char kind
        char code
    const DtypeInfo& info(int)
    int dtype_of_type_num(int)
    enum:
        D_BOOL "lazyarray::B_"
        D_IL "lazyarray::il"
        D_F8 "lazyarray::f8"
        D_F2 "lazyarray::f2"
        D_F4 "lazyarray::f4"
        D_C8 "lazyarray::c8"
        D_C16 "lazyarray::c16"
        kDtypes "lazyarray::kDtypes"
        kWeakInt "lazyarray::kWeakInt"
        kWeakFloat "lazyarray::kWeakFloat"
        kWeakComplex "lazyarray::kWeakComplex"
        kOperandKinds "lazyarray::kOperandKinds"


cdef extern from "lazy/loop.h" namespace "lazyarray" nogil:
    ctypedef void (*Loop)(char**, const npy_intp*, const npy_intp*, void*) noexcept


cdef extern from "lazy/layout.h" namespace "lazyarray" nogil:
    cdef cppclass Layout:
        int ndim
        npy_intp offset
        Layout()
        Layout& operator=(const Layout&) except +
        void resize(int) except +
        npy_intp* dims()
        npy_intp* shape()
        npy_intp* strides()
        npy_intp size()
        cbool same_shape(const Layout&)
        cbool same_view(const Layout&)
        void set_c_order(npy_intp)
        cbool c_contiguous(npy_intp)
        cbool f_contiguous(npy_intp)
        cbool reshape(int, const npy_intp*, npy_intp, npy_intp*)
        void extent(npy_intp, npy_intp&, npy_intp&)

    cbool nests(const Layout&, npy_intp)
    cbool self_overlaps(const Layout&)
    enum:
        kMaxDims "lazyarray::kMaxDims"
        kMaxOperands "lazyarray::kMaxOperands"


cdef extern from "lazy/cpu/lines.h" namespace "lazyarray" nogil:
    ctypedef void (*LineLoop)(char*const*, npy_intp, npy_intp, const npy_intp*) noexcept
    cdef cppclass LineLoops:
        LineLoop both
    const LineLoops* line_loops(char, int)


cdef extern from "lazy/loop.h" namespace "lazyarray" nogil:
    ctypedef void (*RowsLoop)(char*, const char*, npy_intp, npy_intp, npy_intp) noexcept


cdef extern from "lazy/tape.h" namespace "lazyarray" nogil:
    cdef cppclass GradientInput "lazyarray::Gradient::Input":
        void* function
        vector[int8_t] arguments
        uint32_t needs

    cdef cppclass Gradient:
        vector[GradientInput] inputs

    cdef cppclass Memory:
        size_t nbytes
        CDevice device
        cbool watched
        uint32_t overwritten
        void ref()
        void unref()

    cdef cppclass Leaves:  # a shared pointer to their numbers
        const vector[uint64_t]& operator*()
        cbool operator bool()

    cdef enum NodeKind "lazyarray::Node::Kind":
        NODE_INSTRUCTION "lazyarray::Node::INSTRUCTION"
        NODE_CALL "lazyarray::Node::CALL"
        NODE_LEAF "lazyarray::Node::LEAF"
        NODE_FLAT "lazyarray::Node::FLAT"

    cdef cppclass NodeOperand "lazyarray::Node::Operand":
        Memory* memory
        Node* from_ "from"
        Chunk* saved
        uint64_t version
        int dtype, constant
        Layout layout

    cdef cppclass Node:
        Node(NodeKind, uint64_t) except +
        NodeKind kind
        cbool freed
        cbool loose
        int busy, again
        int nin, nout
        uint64_t seq, walk
        const char* name
        const Gradient* gradient
        void* payload
        uint32_t site
        vector[NodeOperand] operands
        Leaves zeros, reach
        Node* marks
        char (*constants)[32]
        void ref()
        void unref()
        void release()

    cdef cppclass NodeRef:
        Node* n

    cdef cppclass Tape:
        uint64_t seq, walks
        int scopes
        Node* leaf(uint64_t)
        void list(Node*) except +
        Leaves reach_of(Node*) except +
        Leaves reach_of(const vector[Node*]&) except +
        Leaves joined(const Leaves&, const Leaves&) except +

    void Tape_set_writer "lazyarray::Tape::set_writer"(Chunk*, Node*)
    void Tape_set_operand "lazyarray::Tape::set_operand"(NodeOperand&, Chunk*, int) except +
    void Tape_save "lazyarray::Tape::save"(NodeOperand&, Chunk*, uint64_t)
    Node* writer_of(Chunk*)
    Node* history_of(Chunk*)
    Memory* known_as(Chunk*)
    cbool is_captured(const Chunk*)
    void teach_store(ChunkStore*)
    void last_first(vector[Node*]&)
    void lay_out(Instr&, int, int, Layout&) except +
    void note_instruction(Tape&, Instr&, uint32_t, const vector[Node*]&) except +
    void note_flat(Tape&, Chunk*, Leaves, cbool) except +


cdef extern from "lazy/lazy_chunk.h" namespace "lazyarray" nogil:
    cdef cppclass LazyChunk(Chunk):
        cbool at_once, immutable, resource
        const HeldView* owner
        cbool noted()
    LazyChunk* lazy(Chunk*)
    void written_once(Chunk*)


cdef extern from "lazy/view.h" namespace "lazyarray" nogil:
    cdef cppclass View:
        Chunk* chunk "chunk()"  # a call: a number that is alone has its chunk made then
        int dtype
        cbool readonly, detached, drawn, made_of
        Layout layout
        npy_intp itemsize()
        cbool alone()
        void set_chunk(Chunk*)
        void stand_alone()
        char* elements()
        cbool has_memory()
        CDevice device()
        cbool on_host()
        cbool at_hand()
        cbool near()
        cbool same_memory(const View&)
        npy_intp ahead(const View&)
        cbool same_view(const View&)
        cbool may_overlap(const View&)

    cdef cppclass HeldView(View):
        void let_go()
        void leave(Chunk*)


cdef extern from "lazy/instr.h" namespace "lazyarray" nogil:
    cdef cppclass Block:
        int ndim
        const npy_intp* shape
        const npy_intp** strides
        char** ptrs

    cdef enum KernelKind "lazyarray::Kernel::Kind":
        ELEMENTWISE "lazyarray::Kernel::ELEMENTWISE"
        ROLL "lazyarray::Kernel::ROLL"
        PICK "lazyarray::Kernel::PICK"
        REDUCE "lazyarray::Kernel::REDUCE"
        GUFUNC "lazyarray::Kernel::GUFUNC"
        PYTHON "lazyarray::Kernel::PYTHON"
        TRANSFER "lazyarray::Kernel::TRANSFER"

    cdef enum Split "lazyarray::Kernel::Split":
        SPLIT_NONE "lazyarray::Kernel::Split::NONE"
        SPLIT_ANY "lazyarray::Kernel::Split::ANY"
        SPLIT_PAIRWISE "lazyarray::Kernel::Split::PAIRWISE"
        SPLIT_PAIRWISE_COMPLEX "lazyarray::Kernel::Split::PAIRWISE_COMPLEX"

    cdef cppclass Cores:
        int8_t* n
        int8_t (*axes)[2]

    cdef cppclass Kernel:
        KernelKind kind
        Split split
        cbool any_order, slow_still, minds_still, copies, no_minus_zero
        const Kernel* of_plus_zeros
        const char* name
        Loop fn
        void* data
        int8_t nin, nout
        int8_t* dtypes
        float cost
        cbool checks_flags
        cbool long_double
        const char* invalid
        const char* warning
        const LineLoops* lines
        RowsLoop add_rows
        Loop join
        const char* told_of
        cbool gathers
        CError* (*check)(const Instr&, const Block&) noexcept
        int8_t checked
        cbool casts_range
        const char* code
        cbool starts_with_first
        cbool product
        cbool apart, rows_apart, blas, stable
        npy_intp apart_from
        int (*sort)(void*, npy_intp, void*) noexcept
        int (*argsort)(void*, npy_intp*, npy_intp, void*) noexcept
        char* identity
        const Gradient* gradient
        cbool gradient_sought
        const Cores* cores

    cdef cppclass PyCall:
        PyCall() except +
        void* fn
        void* context
        cbool gives
        vector[View] views

    cdef cppclass Operand:
        Chunk* chunk
        npy_intp offset
        cbool detached

    cdef enum ErrMode "lazyarray::ErrState::Mode":
        IGNORE "lazyarray::ErrState::IGNORE"
        WARN "lazyarray::ErrState::WARN"
        CALL "lazyarray::ErrState::CALL"
        PRINT "lazyarray::ErrState::PRINT"
        LOG "lazyarray::ErrState::LOG"
    cdef cppclass ErrState:
        uint8_t divide, over, under, invalid
        uint32_t handler

    cdef cppclass PyCallPtr "std::unique_ptr<lazyarray::PyCall>":
        PyCall* get()
        void reset(PyCall*)
        void swap(PyCallPtr&)

    cdef cppclass Instr:
        const Kernel* kernel
        int nin, nop
        cbool wide
        cbool has_refs
        cbool zeros
        ErrState errstate
        uint32_t filters
        uint32_t site
        double cost_ns
        int64_t bytes
        Operand* ops
        char (*constants)[32]
        PyCallPtr py
        uint32_t overwrites
        uint32_t reduced
        int ncore, ncore_steps
        npy_intp* core
        npy_intp* core_steps
        int ndim
        CDevice device()
        npy_intp* shape()
        npy_intp* strides(int)
        void set_ndim(int) except +
        void set_operands(int, int) except +
        cbool writes(int)

    void broadcast_strides(const Layout&, int, npy_intp*)
    int buffered_axes(Instr&)
    cbool steps_evenly(Instr&, int, int)
    void turn_round(Instr&)
    void set_space(Instr&, const Layout&, const View**) except +
    void set_k_layout(Layout&, npy_intp, int, const View**) except +


cdef extern from "lazy/space.h" namespace "lazyarray" nogil:
    cbool meets_twice(Instr&, int) except +


cdef extern from "lazy/cpu/run.h" namespace "lazyarray" nogil:
    cdef cppclass Crew:
        CEngine* engine
        COp* op
        double call_ns
    cdef struct FpWarning:
        int flags
        const char* op
        uint32_t filters
        uint32_t site
        uint8_t mode
        uint32_t handler
    cdef cppclass Hooks:
        CError* (*python)(Instr&, const Crew*) noexcept
        CError* (*recast)(Instr&, const Block&, cbool*) noexcept
        int (*blas_threads)() noexcept
        uint32_t (*filters)() noexcept
        CError* (*refuse)(Instr&, const FpWarning&) noexcept
    cdef cppclass SpinLock:
        void lock()
        void unlock()
    cdef cppclass Runtime:
        Hooks hooks
        SpinLock warn_lock
        vector[FpWarning] warnings
        atomic[cbool] any_warning
    int kUnder
    int take_flags(cbool)
    int run_element(const Kernel&, char**)
    cbool run_cast(const Kernel&, char**, npy_intp)
    CError* negative_exponent(const Instr&, const Block&) noexcept
    CError* weights_of_zero(const Instr&, const Block&) noexcept
    const char* NEGATIVE_EXPONENT "lazyarray::kNegativeExponent"
    CError* out_of_bounds(const Instr&, const Block&) noexcept
    CError* misfit(const Instr&, const Block&) noexcept
    CError* misfit_rows(const Instr&, const Block&) noexcept
    const char* flag_text(int)
    CError* warn(Runtime&, Instr&, int, const char*)
    cbool is_wide(Runtime&, const Instr&, double)
    npy_intp count_true(const char*, npy_intp)
    void places_of_true(const char*, npy_intp, npy_intp*)
    Loop pick_of_size(int)
    Loop place_of_size(int)
    Loop place_rows_of_size(int)
    Loop fill_of_size(int)
    Loop where_of_size(int)
    Loop warning_of_size(int)
    Loop cast_loop(int, int)
    cbool cast_checks_range(int, int)


cdef extern from "lazy/recorder.h" namespace "lazyarray" nogil:
    cdef cppclass FlushPolicy:
        double inline_ns, cheap_ns, group_ns, gil_ns, fuse_ns, flush_ns, mid_ns, stretch_ns, late_ns, catch_up_ns
        size_t catch_up, late_ops
        int64_t cold_stretches, new_stretches
        double age_share
        double even_ns
        int64_t age_ns, call_age_ns, direct_bytes, hosted_bytes, lent_bytes, draws, ahead_bytes, few_ops, gpu_ops, gpu_age_ns
        int late_reads, given_up
    cdef cppclass TilePolicy:
        int64_t tile_bytes, stream_bytes, ahead_bytes, stream, least, most, ahead_least, row, panels, panel, widest
        double split_ns, ns_per_byte, task_ns, call_ns, compile_ns
    cdef cppclass Backend:
        cbool holds(int)
    cdef cppclass Executor:
        Backend& on(CDevice)
        Runtime runtime
        Backend** backends
    cdef cppclass Report:
        string text() except +
    cdef cppclass ReportPtr "std::shared_ptr<lazyarray::Report>":
        Report* get()
    cdef cppclass Scheduler:
        cbool fuses, keeps_reports
        void (*on_report)(const ReportPtr&) noexcept
        ReportPtr report()

    cdef enum RecorderFull "lazyarray::Recorder::Full":
        MANY "lazyarray::Recorder::MANY"

    cdef enum RecorderCut "lazyarray::Recorder::Cut":
        ALL_OF_IT "lazyarray::Recorder::ALL"
        ITS_ROUNDS "lazyarray::Recorder::ROUNDS"

    cdef cppclass Recorder:
        Recorder(CEngine*, ChunkStore*) except +
        Executor executor
        Scheduler scheduler
        Tape tape
        cbool compiles
        int captures
        FlushPolicy policy
        TilePolicy tiles
        uint64_t recorded, inlined
        void made_kernel()
        int64_t max_pending_bytes, max_pending_ops
        CEngine* engine()
        ChunkStore* store()
        void price(Instr&)
        Instr* begin(const Kernel*, int, int) except +
        void give_back(Instr*)
        cbool ready(const Instr&)
        cbool joins(const Instr&)
        cbool in_stretch(const Instr&)
        cbool in_vain(double)
        void asked()
        cbool run_inline(Instr&) except +
        RecorderFull append(Instr*, int, int)
        cbool over_budget(const CDevice&)
        int64_t lag()
        cbool is_tiny(const Instr&)
        void caught_up(cbool)
        cbool nearly_done()
        int64_t budget(const CDevice&)
        int bulk_on(const CDevice&, int)
        cbool limited
        int64_t memory
        void replan() except +
        Status flush(cbool, RecorderCut)
        void forked()


cdef extern from "lazy/program.h" namespace "lazyarray" nogil:
    cdef cppclass ProgramRole "lazyarray::Program::Role":
        Chunk* chunk
        uint32_t writes

    cdef cppclass ProgramPushed "lazyarray::Program::Pushed":
        const char* name

    cdef cppclass ProgramPhase "lazyarray::Program::Phase":
        size_t begin, end
        vector[ProgramPushed] operators
        vector[ProgramRole] visible

    cdef cppclass Substitution:
        Chunk* to
        npy_intp delta

    cdef cppclass Substitutions:
        void add(Chunk*, Chunk*, npy_intp) except +
        void copy(const Substitutions&) except +
        void swap(Substitutions&)
        const Substitution* find(const Chunk*)
        size_t size()
        const Substitution& operator[](size_t)

    cdef cppclass CProgram "lazyarray::Program":
        CProgram(Recorder*, ChunkStore*) except +
        vector[Instr*] instrs
        vector[size_t] splits
        vector[ProgramPhase] phases
        size_t planned, unplanned, bound
        int temporaries
        cbool finished
        void ref()
        void unref()
        cbool bore(const Chunk*)
        int64_t place_of(const Chunk*)
        void capture(Instr*)
        void capture_first(Instr*)
        void reserve(int) except +
        void keep_writer(Chunk*)
        void follow(Chunk*) except +
        cbool writers_changed()
        void restore_writers()
        cbool impure()
        cbool constant(Chunk*)
        vector[Chunk*] initialised() except +
        vector[Chunk*] carried(const unordered_set[Chunk*]&) except +
        vector[Chunk*] outside(size_t, size_t) except +
        vector[Chunk*] outside() except +
        cbool finish(const unordered_set[Chunk*]&, CProgram*) except +
        void prepare(int, const Substitutions&) except +
        Status push(int)


# A view of a chunk: what NDArray is made of.
cdef class Tensor:
    cdef object __weakref__
    cdef HeldView v


# Stands for a Python number in a capture.
cdef class Number:
    cdef readonly object value, session
    cdef readonly Py_ssize_t index
    cdef object look(self)


# Operations that `quick` and its kin know; comparisons have Python's numbers.
cdef extern from "lazy/arithmetic.h" namespace "lazyarray":
    enum:
        QUICK_ADD
        QUICK_SUBTRACT
        QUICK_MULTIPLY
        QUICK_DIVIDE
        QUICK_POWER
        QUICK_FLOOR
        QUICK_MOD
        QUICK_AND
        QUICK_OR
        QUICK_XOR
        QUICK_LEFT
        QUICK_RIGHT
        NOT_QUICK


cdef object plain(object o)
cdef Tensor number_tensor(Number number, int dtype, CDevice device)
cdef extern from "Python.h":
    ctypedef void (*destructor)(PyObject*) noexcept
    ctypedef object (*newfunc)(type, object, object)
    ctypedef struct PyTypeObject:
        destructor tp_dealloc
        newfunc tp_new
    PyTypeObject* Py_TYPE(object)


cdef destructor array_dealloc  # of all native types of arrays


cdef inline bint is_tensor(object o) noexcept:
    """``isinstance(o, Tensor)``, in one comparison: scalars are several classes away from it."""
    return Py_TYPE(o).tp_dealloc == array_dealloc or isinstance(o, Tensor)


cdef Recorder* recorder() noexcept
cdef PyTypeObject* type_of_arrays() noexcept
cdef CDevice current_device() noexcept
cdef Tensor fresh(int dtype, npy_intp size, CDevice device)
cdef tuple tuple_of_lengths(const npy_intp*, int)
cdef tuple shape_tuple(const View* v)
cpdef str shape_text(shape)
cdef Kernel* cast_kernel(int source, int target) except NULL
cdef bint covers_chunk(const View* v) noexcept
cdef void set_array_type(type t)
cdef const char* code_of(str name, str dtypes) except? NULL
cdef Tensor new_tensor(Chunk* chunk, int dtype)
cdef Tensor empty_like_shape(int dtype, int ndim, const npy_intp* shape, CDevice device)
cdef Tensor view_of(Tensor base)
cdef Tensor owner_of(Tensor t)
cdef int become(Tensor x, Tensor other) except -1
cdef bint scalars_are_read  # see scalars.pxi
cdef object read_out(object o)


cdef inline object handed(object o):
    """What a function gives to its caller."""
    return read_out(o) if scalars_are_read else o


cdef void set_scalar_type(str kinds, type t)
cdef Tensor as_scalar(Tensor t)
cpdef Tensor returned(Tensor t)
cdef Tensor as_array(Tensor t)
cdef bint is_scalar(Tensor t) noexcept
cdef Tensor unshared(Tensor x)
cdef Tensor typed_like(Tensor t, Tensor like)
cdef void set_operand(Instr* instr, int k, const View* v) noexcept
cdef int emit(Instr* instr) except -1
cdef int emit_elementwise(Instr* instr, Layout* space, const View** views, bint overwrites) except -1
cdef int flush(bint wake, bint rounds = *) except -1


cdef extern from "lazy/view.h" namespace "lazyarray" nogil:
    cbool at_hand(const Chunk*, cbool)


cdef extern from "lazy/arithmetic.h" namespace "lazyarray" nogil:
    int64_t whole_at(const char*, int, bint) noexcept


cdef double half_value(char* p) noexcept
cdef bint flagged(bint x87=*) noexcept
cdef bint lone_ops() noexcept
cdef Tensor new_element(int dtype, CDevice device)
cdef Tensor truth(bint value)
cdef object drawn_number(Tensor t)
cdef object number_at_hand(Tensor t)
cdef bint double_at_hand(object o, double* value) noexcept
cdef bint whole_at_hand(object o, int64_t* value) noexcept
cdef Tensor quick(int op, object a, object b)
cdef Tensor quick_compare(int op, object a, object b)
cdef Tensor quick_inverted(Tensor a)
cdef Tensor quick_logic(int op, Tensor a, object b)
cdef Tensor quick_whole(int op, Tensor a, object other, bint turned)
cdef Tensor quick_unary(int op, Tensor a)
cdef Tensor quick_part(Tensor x, int part)
cdef bint is_known(Tensor x) noexcept
cdef bint index_of(object k, npy_intp* i) noexcept
cdef bint known_integer(object o, npy_intp* value) noexcept
cdef void issue(Chunk* c, uint64_t writes) noexcept
cdef int no_sync_now() noexcept
cdef bint capturing() noexcept
cdef PyObject* noting() noexcept
cdef Tensor get_element(Tensor x, npy_intp offset)
cdef bint caught_up(Tensor x, bint all_of_it) except -1
cdef int finish_open() except -1
cdef bint set_element(Tensor x, npy_intp offset, object value) except -1
cdef Tensor lone_op(const Kernel* k, object a, object b, Tensor out)
cdef bint instant(Chunk* state) noexcept
cdef bint written_now(Chunk* c) except -1
cdef bint seen_as_wait(str what) except -1
cdef bint while_held(Chunk** read, int n, int (*work)(void*) except -1, void* arg) except -1
cdef object value_now(Tensor x, npy_intp most, CDevice device)
cdef bint real_now(Tensor x, CDevice device, double* value) noexcept
cdef object array_of(object value, CDevice device)
cdef bint reorder(Tensor x, const npy_intp* order, npy_intp n) except -1
cdef bint put_number(char* to, object value, int dtype) noexcept
cdef int code_of_scalar(object o) noexcept
cdef int put_scalar(char* to, object value, int dtype) except -1
cdef int dtype_code(object dtype) except -1
cdef object np_dtype(int code)
cdef Tensor from_numpy(object array, CDevice device, Py_ssize_t known=*)
cdef object numpy_view(const View* v, bint writable)
cdef bint is_on_chunk(object a) noexcept
cdef Tensor cast(Tensor x, int dtype)
cdef int assign(Tensor to, Tensor value) except -1
cdef bint only_transferred(CDevice a, CDevice b) noexcept
cdef Tensor moved(Tensor x, CDevice device)
cdef CDevice cpu0() noexcept
cdef int copy_into(Tensor to, Tensor value) except -1
cdef int fill(Tensor to, object value) except -1
cdef int wait(Tensor x, bint everything, str hidden) except -1
cdef Tensor settled(Tensor x, bint lets_go)
cdef bint from_elsewhere(object exc) except -1
cdef void drop_owner(void* owner) noexcept nogil
cdef object looked_at(Tensor x, str name, object function)
cdef int py_call(object fn, str name, list outs, list ins, double cost_ns, int overwrites) except -1
cdef bint recording() noexcept
cdef bint wants_gradient(Tensor x) noexcept
cdef bint inexact(int dtype) noexcept
cdef int refuse_leaf(Chunk* c) except -1
cdef object constant_of(const char* p, int dtype)
cdef Kernel* new_kernel(str name, KernelKind kind, int nin, int nout) except NULL
cdef bint same_device(Tensor a, Tensor b) except -1
