"""``cupy.cuda.compiler`` of the simulated device."""

from .._compile import CompileException as CompileException
from .._raw import compile_using_nvrtc as compile_using_nvrtc
