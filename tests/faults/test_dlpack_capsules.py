"""DLPack capsules that can't be: an error of the right type, and never memory of others."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import lazyarray as la

from .capsules import MEMORY, Maker

PROGRAM = pathlib.Path(__file__).with_name("capsules.py")


def test_five_hundred_capsules():
    ran = subprocess.run(
        [sys.executable, "-X", "faulthandler", PROGRAM, "0", "500"],
        capture_output=True,
        text=True,
        timeout=250,
        cwd=pathlib.Path(la.__file__).parents[1],
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert int(ran.stdout.split()[0]) > 50  # the good ones, when their arrays died
    print(f"capsules: 500, of which {ran.stdout}", end="")


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"ndim": -1}, "-1 axes"),
        ({"ndim": 65}, "65 axes"),
        ({"shape": (-1,)}, "length -1"),
        ({"shape": (2**40, 2**40)}, "larger than any memory"),
        ({"shape": (4,), "strides": (2**61,)}, "strides"),
        ({"lanes": 4}, "4 lanes"),
        ({"bits": 12}, "12 bits"),
        ({"code": 17}, "dtype"),
        ({"data": None}, "no memory"),
        ({"name": b"used_dltensor"}, "used already"),
        ({"name": b"other"}, "called other"),
        ({"versioned": True, "major": 2}, "version 2"),
    ],
)
def test_what_is_wrong_is_said(fields, says):
    with pytest.raises(BufferError, match=says):
        la.from_dlpack(Maker(**fields))


def test_what_is_no_capsule():
    with pytest.raises(TypeError, match="bytes"):
        la.from_dlpack(Maker(capsule=b"x"))
    with pytest.raises(TypeError, match="__dlpack__"):
        la.from_dlpack(3)


def test_a_capsule_is_used_once():
    capsule = np.arange(4.0).__dlpack__()
    source = Maker(capsule=capsule)
    assert la.from_dlpack(source).asnumpy().tolist() == [0, 1, 2, 3]
    with pytest.raises(BufferError, match="used already"):
        la.from_dlpack(source)


def test_good_ones_share_or_are_copied():
    x = la.from_dlpack(Maker(shape=(2, 3), byte_offset=16, versioned=True))
    assert x.asnumpy().tolist() == MEMORY[2:8].reshape(2, 3).tolist()
    assert np.shares_memory(x, MEMORY)
    fixed = la.from_dlpack(Maker(shape=(4,), versioned=True, flags=1))  # read-only
    assert not la.shares_memory(fixed, MEMORY)
    with pytest.raises(ValueError, match="read-only"):
        la.from_dlpack(Maker(shape=(4,), versioned=True, flags=1), copy=False)
