"""Random numbers: a generator for each device, whose draws happen in push order.

The functions draw from the generator of the device they make the array on, and take its methods'
arguments besides ``ctx`` or ``device``, which name it. ``default_rng`` makes generators of their
own; ``RandomState`` is NumPy's older one. (tools/make_stubs.py writes the stub beside this file.)
"""

from __future__ import annotations

from numpy.random import (
    MT19937,
    PCG64,
    PCG64DXSM,
    SFC64,
    BitGenerator,
    Philox,
    SeedSequence,
)

from lazyarray.random import devices
from lazyarray.random.devices import default_rng, get_state, rand, randint, randn, seed, set_state
from lazyarray.random.generator import Generator
from lazyarray.random.legacy import RandomState
from lazyarray.random.table import TABLE, function

FUNCTIONS = [
    *[row.name for row in TABLE],
    *"random standard_normal standard_exponential standard_gamma integers bytes".split(),
    *"choice permutation permuted shuffle".split(),
    *"dirichlet multinomial multivariate_hypergeometric multivariate_normal".split(),
]
ALIASES = dict.fromkeys(["random_sample", "ranf", "sample"], "random")

for _name in FUNCTIONS:
    globals()[_name] = function(getattr(Generator, _name), devices.here)
for _name, _first in ALIASES.items():
    globals()[_name] = globals()[_first]

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
    *sorted(FUNCTIONS),
    *ALIASES,
]
