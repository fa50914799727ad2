"""Compiles loops with LLVM, for this machine's processor."""

from __future__ import annotations

import threading
from typing import Any

import llvmlite.binding as llvm

from lazyarray.lazy.cpu.jit.source import llvm_text


class Compiler:
    """One for a process. What it has compiled stays loaded."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self._lock = threading.Lock()
        self._count = 0
        self._machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(),
            features=llvm.get_host_cpu_features().flatten(),
            opt=2,
            codemodel="jitdefault",
        )
        self._engine: Any = llvm.create_mcjit_compiler(llvm.parse_assembly(""), self._machine)
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        options.loop_vectorization = True
        options.slp_vectorization = False
        options.loop_unrolling = True
        self._options = options

    def compile(self, description: str) -> int:
        """The address of the loop for a description (see source.py)."""
        with self._lock:
            self._count += 1
            name = f"loop{self._count}"
            module = llvm.parse_assembly(llvm_text(description, name))
            module.triple = llvm.get_process_triple()
            module.data_layout = str(self._machine.target_data)
            builder = llvm.create_pass_builder(self._machine, self._options)
            builder.getModulePassManager().run(module, builder)
            self._engine.add_module(module)
            self._engine.finalize_object()
            return int(self._engine.get_function_address(name))
