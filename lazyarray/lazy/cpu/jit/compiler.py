"""Compiles loops with LLVM, for this machine's processor."""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]

from lazyarray.lazy.cpu.jit.source import llvm_text


class Compiler:
    """One for a process, and for one thread at a time. What it has compiled stays loaded."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self._count = 0
        self._machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(),
            features=llvm.get_host_cpu_features().flatten(),
            opt=2,
            codemodel="jitdefault",
        )
        # What is loaded: a library for each loop, with pages of its own.
        self._jit: Any = llvm.create_lljit_compiler(self._machine)
        self._loaded: list[Any] = []
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        options.loop_vectorization = True
        options.slp_vectorization = False
        options.loop_unrolling = True
        self._options = options

    def compile(self, description: str) -> int:
        """The address of the loop for a description (see source.py)."""
        self._count += 1
        name = f"loop{self._count}"
        module = llvm.parse_assembly(llvm_text(description, name))
        module.triple = llvm.get_process_triple()
        module.data_layout = str(self._machine.target_data)
        builder = llvm.create_pass_builder(self._machine, self._options)
        builder.getModulePassManager().run(module, builder)
        code = self._machine.emit_object(module)
        library = llvm.JITLibraryBuilder().add_object_img(code).export_symbol(name)
        tracker = library.link(self._jit, name)
        self._loaded.append(tracker)
        return int(tracker[name])
