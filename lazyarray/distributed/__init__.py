"""Many processes: collectives as ops of the engine, and training on them. The extra `mpi`.

Every rank runs the same program. A collective is recorded like any other op: it starts when its
arrays are ready, all else goes on meanwhile, and who reads its result waits.

    python -m lazyarray.launch -n 4 train.py

>>> import lazyarray as la
>>> la.distributed.init()
>>> x = la.ones(3) * la.distributed.rank()
>>> la.distributed.allreduce(x).asnumpy()
array([0., 0., 0.])
"""

from lazyarray.distributed.checkpoints import load, save
from lazyarray.distributed.collectives import *  # noqa: F403
from lazyarray.distributed.collectives import __all__ as _collectives
from lazyarray.distributed.communicator import Communicator
from lazyarray.distributed.errors import DistributedError, MismatchError, RankError
from lazyarray.distributed.parallel import DataParallel
from lazyarray.distributed.process import (
    init,
    is_initialized,
    local_rank,
    local_size,
    rank,
    shutdown,
    size,
    world,
)
from lazyarray.distributed.sampler import DistributedSampler

__all__ = [
    "Communicator",
    "DataParallel",
    "DistributedError",
    "DistributedSampler",
    "MismatchError",
    "RankError",
    "init",
    "is_initialized",
    "load",
    "local_rank",
    "local_size",
    "rank",
    "save",
    "shutdown",
    "size",
    "world",
    *_collectives,
]
