"""``cupy.cuda.memory`` of the simulated device."""

from .._memory import BaseMemory as BaseMemory
from .._memory import Memory as Memory
from .._memory import MemoryPointer as MemoryPointer
from .._memory import MemoryPool as MemoryPool
from .._memory import OutOfMemoryError as OutOfMemoryError
from .._memory import PooledMemory as PooledMemory
from .._memory import UnownedMemory as UnownedMemory
from .._memory import alloc as alloc
