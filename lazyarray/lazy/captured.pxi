# What a program captured, for Python's eyes.


cdef dict _kinds = {ELEMENTWISE: captured.Kind.ELEMENTWISE, ROLL: captured.Kind.ROLL, PICK: captured.Kind.PICK, REDUCE: captured.Kind.REDUCE,
                    GUFUNC: captured.Kind.GUFUNC,
                    PYTHON: captured.Kind.PYTHON, TRANSFER: captured.Kind.TRANSFER}


cdef object described(CProgram* program, Instr* instr, size_t index):
    """One captured instruction for Python's eyes."""
    cdef list operands = []
    cdef Layout l
    cdef int constants = 0, step = 0, code
    for k in range(instr.nop):
        code = instr.py.get().views[k].dtype if instr.kernel.kind == PYTHON else instr.kernel.dtypes[k]
        if instr.ops[k].chunk is NULL:
            operands.append(captured.Number(constant_of(instr.constants[constants], code), _dtypes[code]))
            constants += 1
            continue
        if instr.kernel.kind == PYTHON:
            l = instr.py.get().views[k].layout
        else:
            lay_out(instr[0], k, step, l)
            if instr.kernel.cores is not NULL:
                step += instr.kernel.cores.n[k]
        layout = captured.Layout(_dtypes[code], l.offset, tuple([l.shape()[i] for i in range(l.ndim)]),
                         tuple([l.strides()[i] for i in range(l.ndim)]))
        operands.append(captured.View(<size_t>instr.ops[k].chunk, layout, instr.ops[k].chunk.nbytes,
                              bool(lazy(instr.ops[k].chunk).resource), program.bore(instr.ops[k].chunk),
                              new_device(instr.ops[k].chunk.device)))
    return captured.Instruction(
        index, instr.kernel.name.decode(), _kinds[<int>instr.kernel.kind],
        operands[:instr.nin], operands[instr.nin:],
        [bool(instr.overwrites >> k & 1) for k in range(instr.nop - instr.nin)],
        tuple([a for a in range(instr.ndim) if instr.reduced >> a & 1]),
        tuple([instr.core[i] for i in range(instr.ncore)]),
        tuple([instr.core_steps[i] for i in range(instr.ncore_steps)]),
        <object>instr.py.get().fn if instr.kernel.kind == PYTHON else None,
        site_text(instr.site))
