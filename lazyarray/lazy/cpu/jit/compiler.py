"""Compiles loops with LLVM, for this machine's processor."""

from __future__ import annotations

from typing import Any

import llvmlite  # type: ignore[import-untyped]
import llvmlite.binding as llvm  # type: ignore[import-untyped]

from lazyarray.lazy.cpu.jit.cache import LoopCache, directory
from lazyarray.lazy.cpu.jit.source import llvm_text

_NAME = "loop"  # the function's; each is in a library of its own


class Compiler:
    """One for a process, and for one thread at a time. What it has compiled stays loaded."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
        self._machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=cpu,
            features=features,
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
        versions = f"{llvmlite.__version__} {llvm.llvm_version_info}"
        target = " ".join([versions, llvm.get_process_triple(), cpu, features])
        self._cache = LoopCache(directory(), target)
        self.found = 0  # loops that were on disk

    def compile(self, description: str) -> int:
        """The address of the loop for a description (see description.py)."""
        text = llvm_text(description, _NAME)
        code = self._cache.load(text)
        if code is None:
            code = self._object(text)
            self._cache.store(text, code)
        else:
            self.found += 1
        library = llvm.JITLibraryBuilder().add_object_img(code).export_symbol(_NAME)
        tracker = library.link(self._jit, f"loop{len(self._loaded)}")
        self._loaded.append(tracker)
        return int(tracker[_NAME])

    def _object(self, text: str) -> bytes:
        module = llvm.parse_assembly(text)
        module.triple = llvm.get_process_triple()
        module.data_layout = str(self._machine.target_data)
        builder = llvm.create_pass_builder(self._machine, self._options)
        builder.getModulePassManager().run(module, builder)
        code: bytes = self._machine.emit_object(module)
        return code
