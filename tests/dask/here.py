"""What the tests of Dask share."""

from typing import Any

import dask
from dask.array.backends import array_creation_dispatch

from lazyarray.dask import LazyarrayBackend

# The sources may be imported without being installed: then there is no entry point.
array_creation_dispatch.register_backend("lazyarray", LazyarrayBackend())


def lazy() -> Any:
    """New arrays of Dask's have blocks of lazyarray's."""
    return dask.config.set({"array.backend": "lazyarray"})
