"""einops: patterns over lazyarrays, which stay lazyarrays."""

import numpy as np
import pytest

import lazyarray as la

from .calls import same

einops = pytest.importorskip("einops", reason="einops is not installed")

CALLS = {
    "transpose": "einops.rearrange(x, 'a b c -> c b a')",
    "compose": "einops.rearrange(x, 'a b c -> (a b) c')",
    "decompose": "einops.rearrange(x, 'a (b d) c -> a b d c', d=2)",
    "list": "einops.rearrange([x, x], 'n a b c -> a (n b) c')",
    "new axis": "einops.rearrange(x, 'a b c -> a 1 b c')",
    "ellipsis": "einops.rearrange(x, 'a ... -> ... a')",
    "reduce mean": "einops.reduce(x, 'a b c -> a c', 'mean')",
    "reduce max": "einops.reduce(x, 'a b c -> b', 'max')",
    "reduce to one": "einops.reduce(x, 'a b c ->', 'sum')",
    "pooling": "einops.reduce(x, 'a (b p) c -> a b c', 'max', p=2)",
    "repeat": "einops.repeat(x, 'a b c -> a b c k', k=3)",
    "repeat along": "einops.repeat(x, 'a b c -> a (r b) c', r=2)",
    "einsum": "einops.einsum(x, x, 'a b c, a d c -> a b d')",
    "pack": "einops.pack([x, x[:, 0]], 'a * c')[0]",
    "unpack": "einops.unpack(x, [(1,), (3,)], 'a * c')",
    "parse_shape": "einops.parse_shape(x, 'a b c')",
    "asnumpy": "einops.asnumpy(x)",
}
FAILS: dict[str, str] = {}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    def value(xp):
        return eval(CALLS[name], {"einops": einops, "x": xp.arange(24.0).reshape(2, 4, 3)})

    same(value(la), value(np))


def test_they_stay_lazy():
    x = la.ones((2, 3))
    with la.no_sync():
        y = einops.rearrange(x, "a b -> b a")
    assert type(y) is la.NDArray
