"""Recorded instructions: the open segment, its plan, and the loops that run it."""

from lazyarray.lazy._lazy import Tensor, explain, no_sync, waitall
from lazyarray.lazy.sync import SyncReport, sync_report

__all__ = ["SyncReport", "Tensor", "explain", "no_sync", "sync_report", "waitall"]
