"""The dependency engine: variables, operators, worker pools. It knows no arrays."""

from lazyarray.engine._engine import (
    Device,
    Engine,
    FnProperty,
    NaiveEngine,
    Opr,
    RunContext,
    ThreadedEnginePerDevice,
    ThreadedEnginePooled,
    Var,
    bulk,
    get,
)

__all__ = [
    "Device",
    "Engine",
    "FnProperty",
    "NaiveEngine",
    "Opr",
    "RunContext",
    "ThreadedEnginePerDevice",
    "ThreadedEnginePooled",
    "Var",
    "bulk",
    "get",
]
