"""Notebooks: arrays and reports as HTML, which never waits and never raises."""

import ast
import runpy
import subprocess
import sys
import threading
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import lazyarray as la
from lazyarray.engine import _engine

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


def test_explain():
    (la.ones(1_000_000) * 2 + 1).wait_to_read()
    explained = la.explain()
    assert isinstance(explained, str)
    if not naive:
        html = explained._repr_html_()
        assert html.count("<details>") == explained.count("\noperator ") > 0
        assert parsed(html).replace("\n", "") == explained.replace("\n", "")


def test_graphs_and_symbols():
    graph = la.trace(
        lambda x, w: la.tanh(x @ w).sum() + (x < 3), x := la.ones((2, 3)), la.ones((3, 3))
    )
    html = graph._repr_html_()
    assert html.count("<rect") == len(graph.nodes) and html.count("<text") == len(graph.nodes)
    assert html.count("<line") == sum(len(node.inputs) for node in graph.nodes)
    assert "matmul" in parsed(html) and str(graph) in parsed(html)
    symbol = la.sym.exp(la.sym.var("<x>"))
    assert "<x>" in parsed(symbol._repr_html_())
    many = la.trace(lambda x: sum([x * i for i in range(300)]), x)
    assert "<svg" not in many._repr_html_() and parsed(many._repr_html_())


def test_compiled_functions():
    f = la.compile(lambda x: (x * 2 + 1).sum())
    assert "0 kinds" in repr(f) and parsed(f._repr_html_())
    f(la.ones((300, 300)))
    f(la.ones(5))
    assert "2 kinds of call" in repr(f) and "lambda" in repr(f)
    assert f._repr_html_().count("<tr>") == 3 and "instructions" in parsed(f._repr_html_())


def test_memory_over_time(tmp_path):
    with la.profiler.profile(tmp_path / "trace.json") as profile:
        assert profile._repr_html_() == ""
        for k in range(5):
            (la.ones(1_000_000) * k).wait_to_read()
    html = profile._repr_html_()
    assert "pool memory in use, cpu(0)" in parsed(html) and "<polyline" in html


def test_what_shows_a_value_is_passed_over(tmp_path):
    shows = tmp_path / "shows.py"
    shows.write_text("def show(x):\n    return repr(x)\n")
    _engine.pass_over(str(tmp_path))
    scope = runpy.run_path(str(shows))
    la.sync_report(reset=True)
    scope["show"](la.ones(3))
    (row,) = la.sync_report()
    assert (row.file, row.what) == (__file__, "repr()")


def test_waits_of_a_cell_that_shows_a_value_are_the_cells():
    pytest.importorskip("IPython", reason="IPython is not installed")
    code = """if True:
        import lazyarray as la
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        shell.run_cell("import lazyarray as la\\nx = la.ones(3) + 1\\nx")
        shell.run_cell("x[0]; print(x); x.sum()")
        print([row.file.rpartition("/")[2] for row in la.sync_report()])
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rows = ast.literal_eval(done.stdout.splitlines()[-1])
    assert len(rows) >= 2 and all(file.startswith("<ipython-input") for file in rows), done.stdout
