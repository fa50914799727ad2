# What a program captured, for Python's eyes.


cdef dict _kinds = {ELEMENTWISE: "elementwise", REDUCE: "reduce", GUFUNC: "gufunc", PYTHON: "python",
                    TRANSFER: "transfer"}


cdef dict described(CProgram* program, Instr* instr, size_t index):
    """One captured instruction for Python's eyes."""
    cdef list operands = []
    cdef Layout l
    cdef int constants = 0, step = 0, code
    cdef Device device
    for k in range(instr.nop):
        code = instr.py.get().views[k].dtype if instr.kernel.kind == PYTHON else instr.kernel.dtypes[k]
        if instr.ops[k].chunk is NULL:
            operands.append({"constant": constant_of(instr.constants[constants], code),
                             "dtype": _dtypes[code]})
            constants += 1
            continue
        if instr.kernel.kind == PYTHON:
            l = instr.py.get().views[k].layout
        else:
            lay_out(instr[0], k, step, l)
            if instr.kernel.cores is not NULL:
                step += instr.kernel.cores.n[k]
        device = Device.__new__(Device)
        device.c = instr.ops[k].chunk.device
        operands.append({
            "chunk": <size_t>instr.ops[k].chunk, "dtype": _dtypes[code], "offset": l.offset,
            "nbytes": instr.ops[k].chunk.nbytes, "resource": instr.ops[k].chunk.resource,
            "born": program.bore(instr.ops[k].chunk), "device": device,
            "shape": tuple([l.shape()[i] for i in range(l.ndim)]),
            "strides": tuple([l.strides()[i] for i in range(l.ndim)])})
    return {
        "index": index, "name": instr.kernel.name.decode(), "kind": _kinds[<int>instr.kernel.kind],
        "inputs": operands[:instr.nin], "outputs": operands[instr.nin:],
        "overwrites": [bool(instr.overwrites >> k & 1) for k in range(instr.nop - instr.nin)],
        "reduced": tuple([a for a in range(instr.ndim) if instr.reduced >> a & 1]),
        # Of a GUFUNC whose kernel doesn't name its core axes, what its loop is told.
        "core": tuple([instr.core[i] for i in range(instr.ncore)]),
        "core_steps": tuple([instr.core_steps[i] for i in range(instr.ncore_steps)]),
        "function": <object>instr.py.get().fn if instr.kernel.kind == PYTHON else None,
        "site": site_text(instr.site),
    }
