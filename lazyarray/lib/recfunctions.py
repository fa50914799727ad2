"""``numpy.lib.recfunctions``: structured arrays, which are NumPy's; plain results are lazyarrays.

>>> import numpy as np, lazyarray as la
>>> from lazyarray.lib import recfunctions
>>> people = np.array([("ada", 36), ("bob", 45)], dtype=[("name", "U3"), ("age", int)])
>>> recfunctions.append_fields(people, "height", la.array([1.7, 1.8]), usemask=False)["height"]
array([1.7, 1.8])
>>> recfunctions.structured_to_unstructured(people[["age"]]).mean().item()
40.5
"""

from __future__ import annotations

from numpy.lib import recfunctions

from lazyarray.lib.hosted import names_of

__getattr__, __dir__ = names_of(recfunctions, globals())
__all__ = [*recfunctions.__all__]
