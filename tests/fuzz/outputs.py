"""Calls with ``out=``: an array that is there, or a new one, of any dtype and order in memory."""

from __future__ import annotations

import random
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from .lengths import SMALL
from .phrases import DTYPES, ROWWISE, Phrases

# Left out: nanmax and nanmin, which are fmax and fmin (see the package), and choose, with which
# NumPy writes beside an output that isn't contiguous.
REDUCTIONS = (
    "sum", "prod", "mean", "max", "min", "std", "var", "any", "all", "ptp", "median", "nanmedian",
    "nansum", "nanprod", "nanmean", "nanstd", "nanvar", "argmax", "argmin",
)  # fmt: skip
OF_AN_AXIS = (
    "xp.cumsum({x}, {axis}, out=OUT)", "xp.cumprod({x}, {axis}, None, OUT)",
    "{x}.cumsum({axis}, out=OUT)", "xp.nancumsum({x}, axis={axis}, out=OUT)",
    "xp.add.accumulate({x}, {axis}, out=OUT)", "xp.maximum.accumulate({x}, {axis}, None, OUT)",
    "xp.percentile({x}, 30, {axis}, OUT)", "xp.nanquantile({x}, 0.3, axis={axis}, out=OUT)",
    "xp.quantile({x}, [0.5, 0.1], axis={axis}, out=OUT, method='nearest')",
    "xp.median({x}, {axis}, OUT)", "xp.add.reduceat({x}, [0, 0], {axis}, out=OUT)",
    "xp.take({x}, [0, -1, 0], {axis}, OUT)", "xp.compress([True], {x}, {axis}, OUT)",
    "xp.take({x}, [[0, 3]], {axis}, out=OUT, mode='clip')", "xp.max({x}, {axis}, OUT)",
    "{x}.mean({axis}, 'f8', OUT)", "xp.concatenate([{x}, {x}], {axis}, OUT)",
    "xp.stack([{x}, {x}], {axis}, OUT)", "xp.concatenate([{x}], {axis}, OUT, casting='unsafe')",
)  # fmt: skip
OF_ALL = (
    "xp.round({x}, 1, OUT)", "xp.around({x}, -1, out=OUT)", "{x}.round(2, OUT)",
    "xp.round({x}, 0, OUT)", "xp.clip({x}, 0, 2, OUT)", "{x}.clip(None, 1, out=OUT)",
    "xp.rint({x}, OUT)", "xp.square({x}, out=(OUT,))", "xp.isposinf({x}, OUT)",
    "xp.divmod({x}, 3, out=(None, OUT))[1]", "xp.modf({x}, out=(OUT, xp.zeros_like({x})))[0]",
    "xp.divmod({x}, 3, out=(xp.zeros_like({x}), OUT))[1]",
    "xp.frexp({x}, OUT, xp.ones({x}.shape, int))[0]",
    "xp.modf({x}, OUT, xp.zeros({x}.shape[::-1], {x}.dtype).T)[1]",
    "xp.add({x}, {x}, out=OUT, casting='unsafe')",
    "xp.multiply({x}, {x}, out=OUT, where={x} > 1)", "xp.add({x}, 1, out=OUT, dtype='f4')",
    "xp.subtract({x}, {x}, OUT, casting='unsafe', dtype='f8')",
)  # fmt: skip
MOST_LINES = 2000  # of which NumPy's nanquantile takes one after the other
UFUNCS = ("add", "subtract", "multiply", "maximum", "divide", "less")
NEW = ("xp.zeros({shape}, {dtype!r})", "xp.ones({turned}, {dtype!r}).T",
       "xp.ones({shape}, {dtype!r})[{backwards}...]")  # fmt: skip


def call(rng: random.Random, env: Mapping[str, Any], phrases: Phrases) -> str | None:
    """A call into the array OUT, of any shape."""
    name = rng.choice([*env])
    x = env[name]
    if not isinstance(x, np.ndarray) or not x.ndim:
        return None
    kind = rng.random()
    if kind < 0.25:
        two = [phrases.expression(x.shape, rng.randint(0, 2)) for _ in range(2)]
        return f"xp.{rng.choice(UFUNCS)}({two[0]}, {two[1]}, out=OUT)"
    if kind < 0.35:  # of many rows that are one, or nearly
        rows = phrases.expression(x.shape, rng.randint(0, 2))
        many = f"xp.broadcast_to({rows}, {(rng.choice(SMALL), *x.shape)})"
        if rng.random() < 0.5:
            many = f"({many} {rng.choice('+*')} {name})"
        return f"xp.{rng.choice(ROWWISE[:-1])}({many}, axis=0, out=OUT)"
    if kind < 0.6:
        rest = ", keepdims=True" if rng.random() < 0.2 else ""
        return f"xp.{rng.choice(REDUCTIONS)}({name}, axis={phrases.axes(x.ndim)}, out=OUT{rest})"
    axis = rng.randrange(-x.ndim, x.ndim)
    text = rng.choice(OF_AN_AXIS if kind < 0.85 else OF_ALL)
    if "nanquantile" in text and x.size > MOST_LINES * x.shape[axis]:
        return None
    return text.format(x=name, axis=axis)


def choose(rng: random.Random, env: Mapping[str, Any], text: str) -> str | None:
    """What OUT is to be: a name in ``env``, or an expression that makes an array."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shape = np.shape(
                eval(text.replace("(OUT,)", "OUT").replace("OUT", "None"), {**env, "xp": np})
            )
    except Exception:  # of this dtype, or NumPy refuses it whatever OUT is
        return None
    # What is read-only NumPy takes where it is written over itself.
    arrays = [(n, o) for n, o in env.items() if isinstance(o, np.ndarray) and o.flags.writeable]
    # What is reshaped of NumPy's number is NumPy's array everywhere.
    fitting = [n for n, o in arrays if o.shape == shape and (o.base is None or np.ndim(o.base))]
    if fitting and rng.random() < 0.5:
        return rng.choice(fitting)
    dtype = rng.choices([*DTYPES], [*DTYPES.values()])[0]
    backwards = "".join("::-1, " if n != 1 else ":, " for n in shape)  # see Writer.key
    return rng.choice(NEW).format(shape=shape, turned=shape[::-1], dtype=dtype, backwards=backwards)
