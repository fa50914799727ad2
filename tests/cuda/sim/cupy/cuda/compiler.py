"""``cupy.cuda.compiler`` of the simulated device."""

from .._raw import CompileException as CompileException
