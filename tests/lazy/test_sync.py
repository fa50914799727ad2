"""Waits are visible: the report, and la.no_sync()."""

import pickle

import numpy as np
import pytest

import lazyarray as la


def test_the_report_counts_waits_by_line():
    la.sync_report(reset=True)
    x = la.ones(4)
    for _ in range(3):
        float(x.sum())
    x.asnumpy()
    report = la.sync_report()
    assert report.total == 4
    rows = {row.what: row for row in report}
    assert rows["float()"].count == 3
    assert rows["float()"].file == __file__
    assert rows["float()"].function == "test_the_report_counts_waits_by_line"
    assert "asnumpy" in str(report)
    assert la.sync_report(reset=True).total == 4
    assert la.sync_report().total == 0


HIDDEN = {
    "bool": lambda x: bool(x.sum()),
    "float": lambda x: float(x.sum()),
    "int": lambda x: int(x.sum()),
    "complex": lambda x: complex(x.sum()),
    "repr": repr,
    "str": str,
    "tolist": lambda x: x.tolist(),
    "np.asarray": np.asarray,
    "pickle": pickle.dumps,
    "index": lambda x: [1, 2, 3, 4, 5][x.astype("i8").sum()],
    "mask": lambda x: x[x > 0],
}


@pytest.mark.parametrize("name", HIDDEN)
def test_no_sync_makes_hidden_waits_raise(name):
    x = la.ones(4)
    with la.no_sync(), pytest.raises(RuntimeError, match="no_sync"):
        HIDDEN[name](x)
    HIDDEN[name](x)


def test_no_sync_lets_explicit_waits_through():
    x = la.ones(4)
    with la.no_sync():
        with la.no_sync():
            pass
        assert x.sum().item() == 4
        x.wait_to_read()
        x.asnumpy()
        la.waitall()
        with pytest.raises(RuntimeError):
            float(x.sum())
