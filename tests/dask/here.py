"""What the tests of Dask share."""

from typing import Any

import dask.array

import lazyarray.dask

# The sources may be imported without being installed: then there is no entry point.
lazyarray.dask.register()


def lazy() -> Any:
    """New arrays of Dask's have blocks of lazyarray's."""
    return dask.config.set({"array.backend": "lazyarray"})
