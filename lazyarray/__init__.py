"""lazyarray: NumPy-style arrays that run asynchronously on a dependency engine."""

from lazyarray import engine, ops, storage
from lazyarray.context import Context, cpu, cpu_pinned, current_context, gpu
from lazyarray.lazy import no_sync, sync_report, waitall
from lazyarray._ndarray import NDArray
