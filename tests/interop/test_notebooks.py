"""Notebooks: arrays and reports as HTML, which never waits and never raises."""

import threading
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import lazyarray as la

naive = isinstance(la.engine.get(), la.engine.NaiveEngine)
pytestmark = pytest.mark.host


def parsed(html):
    """The text; ParseError unless it is well-formed."""
    return "".join(ET.fromstring(f"<div>{html}</div>").itertext())


@pytest.mark.parametrize(
    "value",
    [
        np.arange(5.0),
        np.arange(1000),
        np.arange(12).reshape(3, 4),
        np.random.default_rng(0).random((300, 200)),
        np.zeros((2, 3, 4)),
        np.array(5.0),
        np.array([np.nan, np.inf, 1.0]),
        np.full(4, np.nan),
        np.array([1 + 2j, 3]),
        np.array([True, False]),
        np.zeros((0, 3)),
        np.zeros(0),
        np.array([np.finfo(float).max, -np.finfo(float).max]),
    ],
    ids=lambda v: f"{v.dtype}{v.shape}",
)
@pytest.mark.filterwarnings("ignore")
def test_arrays(value):
    x = la.array(value)
    x.wait_to_read()
    html = x._repr_html_()
    text = parsed(html)
    assert str(x.shape) in text and str(x.dtype) in text and "complete" in text
    assert len(html) < 80_000
    with la.no_sync():
        assert x._repr_html_() == html


def test_values_and_pictures():
    x = la.array([1.0, 3.0, 2.0])
    html = x._repr_html_()
    assert "[1. 3. 2.]" in html and 'points="0.0,38.0 120.0,2.0 240.0,20.0"' in html
    assert la.eye(3)._repr_html_().count("<rect") == 9
    assert la.ones((500, 500))._repr_html_().count("<rect") <= 24 * 24
    assert "<svg" not in la.array(1.0)._repr_html_()


@pytest.mark.skipif(naive, reason="the naive engine runs each op at the call")
def test_states_are_told_without_waiting():
    x, event = la.zeros(3), threading.Event()
    x.wait_to_read()
    la.engine.get().push_sync(lambda ctx: event.wait(20) and None, la.cpu(0), mutable_vars=[x.var])
    assert "pending" in parsed(x._repr_html_()) and "[" not in parsed(x._repr_html_())
    event.set()
    x.wait_to_read()
    assert "complete" in parsed(x._repr_html_())
    bad = la.array([1, 2]) ** la.array([-1, 2])
    with pytest.raises(ValueError, match="negative integer powers"):
        repr(bad)
    assert "failed" in parsed(bad._repr_html_())  # repr's is the one traceback


def test_looking_at_an_array_is_not_recorded():
    x = la.ones(3)
    x.attach_grad()
    with la.autograd.record():
        y = x * 2
        y.wait_to_read()
        y._repr_html_()
    y.backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_the_report_of_waits():
    la.sync_report(reset=True)
    assert float(la.ones(3).sum()) == 3
    (la.ones(300_000) * 2).wait_to_read()
    report = la.sync_report()
    text = parsed(report._repr_html_())
    assert "wait_to_read" in text and "test_notebooks.py" in text and "in all" in text
