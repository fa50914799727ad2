"""Random numbers: a stream for each device, whose draws happen in push order.

The functions draw from the stream of the device they make the array on, NumPy's older one, as
``numpy.random``'s do (on a GPU it is a ``Generator``). Besides its methods' arguments they take
``ctx`` or ``device``, which name the device. ``default_rng`` makes generators of their own;
``RandomState`` older ones. (tools/make_stubs.py writes the stub beside this file.)
"""

from __future__ import annotations

import sys
from typing import Any

import numpy.random
from numpy.random import BitGenerator

from lazyarray import _direct, _public
from lazyarray.ops._rows import Public
from lazyarray.random import devices
from lazyarray.random._draws import Draw
from lazyarray.random.devices import (
    default_rng,
    get_state,
    rand,
    randint,
    randn,
    random_integers,
    seed,
    set_state,
)
from lazyarray.random.generator import Generator
from lazyarray.random.legacy import RandomState
from lazyarray.random.module import ModuleStream
from lazyarray.random.seeds import MT19937, PCG64, PCG64DXSM, SFC64, Philox, SeedSequence
from lazyarray.random.stream import names_of
from lazyarray.random.table import TABLE, function

FUNCTIONS = [
    *[row.name for row in TABLE],
    *"random standard_normal standard_exponential standard_gamma integers bytes".split(),
    *"choice permutation permuted shuffle".split(),
    *"dirichlet multinomial multivariate_hypergeometric multivariate_normal".split(),
]
ALIASES = dict.fromkeys(["random_sample", "ranf", "sample"], "random")


def _at_once(way: Any) -> Any:
    """The function, but that it calls NumPy's method on the stream of cpu(0) where it can."""
    name = way.__name__
    known = Public(way, None, __name__, writes=name == "shuffle")
    for stream, kind in (
        (devices.first, RandomState),
        (devices.first.newer, Generator),
    ):
        method = getattr(kind, name, None)
        if isinstance(method, Draw):
            numpys = getattr(getattr(numpy.random, kind.__name__), name)
            names = names_of(way if name in ("rand", "randn") else method)
            return Draw(known, numpys, names, stream)
    return known


_rows = {row.name: row for row in TABLE}
for _name in FUNCTIONS:
    globals()[_name] = _at_once(
        function(getattr(ModuleStream, _name), devices.here, _rows.get(_name))
    )
for _name, _first in ALIASES.items():
    globals()[_name] = globals()[_first]
rand, randn, randint = map(_at_once, (rand, randn, randint))

__all__ = [
    "Generator",
    "RandomState",
    "default_rng",
    "BitGenerator",
    "MT19937",
    "PCG64",
    "PCG64DXSM",
    "Philox",
    "SFC64",
    "SeedSequence",
    "seed",
    "get_state",
    "set_state",
    "rand",
    "randn",
    "randint",
    "random_integers",
    *sorted(FUNCTIONS),
    *ALIASES,
    "mtrand",
]

from lazyarray.random import mtrand  # noqa: E402  which takes what is above

_direct.register(sys.modules[__name__])

__getattr__ = _public.refusing(__name__)
