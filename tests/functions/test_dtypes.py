"""What is known without values: dtypes."""

import numpy as np
import pytest

import lazyarray as la


def test_dtypes():
    f, d, i = (la.ones(2, t) for t in ("f4", "f8", "i8"))
    assert la.common_type(f, f) is np.float32 and la.common_type(f, i) is np.float64
    assert la.common_type(f, la.ones(1, "F"), d) is np.complex128
    with pytest.raises(TypeError, match="non-numeric"):
        la.common_type(la.ones(1, bool))
    for a in (10, -260, 1e50, np.array(3.0), np.ones(2), True, 1j):
        want = np.min_scalar_type(a)
        assert la.min_scalar_type(a) == want
        assert la.min_scalar_type(la.array(a)) == np.min_scalar_type(np.array(a))
    for kind, x in {"bool": f > 0, "integer": i, "floating": f, "complexfloating": f * 1j}.items():
        for other in ("bool", "integer", "floating", "complexfloating", "number", "generic"):
            want = np.issubdtype(type(np.ones(2, x.dtype).max()), getattr(np, other))
            assert la.issubdtype(type(x.max()), getattr(np, other)) == want, (kind, other)
    assert la.issubdtype(f.dtype, np.floating) and not la.issubdtype(i.dtype, np.floating)
    assert la.typename("d") == "double precision" and la.mintypecode("df") == "d"
    assert not la.isscalar(la.array(1)) and la.isscalar(1)
    assert la.iterable(f) and la.iterable([]) and not la.iterable(la.array(1))
    assert la.broadcast_shapes((1, 2), (3, 1)) == (3, 2)
    with pytest.raises(ValueError):
        la.broadcast_shapes((2,), (3,))


@pytest.mark.filterwarnings("ignore::lazyarray.HostArrayWarning")
@pytest.mark.parametrize("other", ["a", None, 2**70, [1]])
def test_shapes_of_lists_that_no_array_here_holds(other):
    made = [[m.ones(2)[0], other] for m in (np, la)]
    for name in ("shape", "ndim", "size"):
        if other != [1]:
            assert getattr(la, name)(made[1]) == getattr(np, name)(made[0])
            continue
        with pytest.raises(ValueError):
            getattr(la, name)(made[1])
