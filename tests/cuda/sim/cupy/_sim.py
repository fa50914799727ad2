"""The simulated devices of this process, for tests: what they did, and what they are to do."""

from ._driver import lib


def log(clear: bool = True) -> list[str]:
    """Lines of calls, and of tasks that ran ("run ..."), oldest first."""
    return lib.sim_log(clear).decode().splitlines()


def hazards(clear: bool = True) -> list[str]:
    """Accesses that nothing orders, if LAZYARRAY_SIM_HAZARDS=1 has them looked for."""
    return lib.sim_hazards(clear).decode().splitlines()


def pending() -> int:
    """How many tasks have not run."""
    return lib.sim_pending()


def fail_next(call: str, code: int) -> None:
    """The driver's next call of this name fails; "run": the next task does, for good."""
    lib.sim_fail_next(call.encode(), code)


def fail_no_more() -> None:
    """No call is to fail any more."""
    lib.sim_fail_no_more()


def clear_errors() -> None:
    """Devices whose tasks failed are well again."""
    lib.sim_clear_errors()


def set_memory(bytes: int) -> None:
    """What each device has."""
    lib.sim_set_memory(bytes)


def delay(microseconds: int) -> None:
    """Each task takes at least this long."""
    lib.sim_delay(microseconds)


def set_mode(mode: str) -> None:
    """ "lazy", "eager" or "random:<seed>", from now on."""
    if not lib.sim_set_mode(mode.encode()):
        raise ValueError(mode)
