"""A short soak: everything at once, from several threads. See soak.py for the long one."""

from tests.faults import soak


def test_a_short_soak():
    said = []
    soak.soak(1.0, seed=7, each=0.4, say=lambda text, flush: said.append(text))
    assert said
