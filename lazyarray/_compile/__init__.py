"""``la.compile``: functions whose ops are captured once for each kind of call, then replayed."""

from lazyarray._compile.compiled import Compiled, CompileWarning, compile

__all__ = ["compile", "Compiled", "CompileWarning"]
