"""Memory: chunks (a block that is an engine variable) and the pool of each device."""

from lazyarray.storage._storage import pool_stats, trim

__all__ = ["pool_stats", "trim"]
