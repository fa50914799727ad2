"""``cupy.cuda.compiler`` of the simulated device."""

from .._compile import CompileException as CompileException
