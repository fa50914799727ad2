"""Pickles and copies."""

import copy
import pickle

import numpy as np
import numpy.lib.recfunctions
import pytest

import lazyarray as la

ONE = la.cpu(1)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol):
    for x in (
        la.arange(6).reshape(2, 3),
        la.array(2.5, dtype="float32"),
        la.ones((3, 4), ctx=ONE).T[1:],
        la.zeros((2, 0)),
        la.array([1 + 2j, 3]),
    ):
        y = pickle.loads(pickle.dumps(x, protocol))
        assert type(y) is la.NDArray
        assert (y.dtype, y.shape, y.device) == (x.dtype, x.shape, x.device)
        np.testing.assert_array_equal(y.asnumpy(), x.asnumpy())
        assert y.var != x.var


def test_copy_module():
    x = la.arange(3)
    for y in (copy.copy(x), copy.deepcopy(x), copy.deepcopy([x])[0]):
        y += 1
        assert x.asnumpy().tolist() == [0, 1, 2] and y.asnumpy().tolist() == [1, 2, 3]


def test_pickles_name_no_file_of_ours():
    """They outlive where things stand."""
    told = pickle.dumps(la.ones(3), 0)
    assert b"clazyarray\n_rebuild\n" in told and b"protocols" not in told
    assert pickle.loads(told).tolist() == [1, 1, 1]
