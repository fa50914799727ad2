import numpy as np

from . import _apply


def _make(name, function):
    def run(*args, **kwargs):
        return _apply.call(function, args, kwargs)

    run.__name__ = name
    return run


def fill(space):
    for name in dir(np):
        if name in space or name.startswith("_"):
            continue
        f = getattr(np, name)
        if isinstance(f, np.ufunc) or (callable(f) and not isinstance(f, type)):
            space[name] = _make(name, f)
        elif (
            isinstance(f, type)
            and issubclass(f, np.generic)
            or name in ("pi", "e", "inf", "nan", "newaxis")
        ):
            space[name] = f
