"""The gallery shows the examples as they are, and the notebook runs."""

import ast
import importlib.util
import json
import pathlib
import struct
import sys
import xml.etree.ElementTree as ET
import zlib

import numpy as np
import pytest

import lazyarray as la

ROOT = pathlib.Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))
try:
    import make_gallery
finally:
    sys.path.pop(0)

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def test_the_page_is_what_the_examples_say():
    page = make_gallery.PAGE.read_text()
    printed = make_gallery.shown(page)
    assert set(printed) == set(make_gallery.RUNS)
    assert make_gallery.written(printed) == page, "run: python tools/make_gallery.py"
    examples = {path.name for path in (ROOT / "examples").glob("*.py")}
    assert examples == set(make_gallery.RUNS)


def test_pictures_are_small_and_whole():
    pictures = list(make_gallery.PICTURES.iterdir())
    page = make_gallery.PAGE.read_text()
    assert len(pictures) > 3
    for path in pictures:
        assert path.stat().st_size < 20_000 and f"gallery/{path.name}" in page, path.name
        if path.suffix == ".svg":
            assert ET.parse(path).getroot().tag.endswith("svg")
        else:
            assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_a_curve_goes_where_the_losses_go():
    root = ET.fromstring(make_gallery.curve([2.0, 1.0, 0.0]))
    (line,) = (e for e in root if e.tag.endswith("polyline"))
    x, y = zip(*(map(float, p.split(",")) for p in line.get("points").split()), strict=True)
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.2)
    assert y[0] < y[1] < y[2] and y[1] - y[0] == pytest.approx(y[2] - y[1], abs=0.2)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_the_notebook_runs_and_shows_what_it_gives(path, tmp_path, monkeypatch, capsys):
    """Without Jupyter: each cell of code in turn; its last expression is what it shows."""
    monkeypatch.chdir(tmp_path)
    book = json.loads(path.read_text())
    assert book["nbformat"] == 4 and path.stat().st_size < 50_000
    names: dict = {"__name__": "__main__"}
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5
    shown = 0
    for number, cell in enumerate(cells):
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{path.name}[{number}]", "exec"), names)
        value = None
        if last is not None:
            code = compile(ast.Expression(last.value), f"{path.name}[{number}]", "eval")
            value = eval(code, names)
        printed = capsys.readouterr().out
        for output in cell["outputs"]:
            shown += 1
            if output["output_type"] == "stream":
                assert printed == "".join(output["text"])
            else:
                assert repr(value) == "".join(output["data"]["text/plain"])
        kinds = {output["output_type"] for output in cell["outputs"]}
        assert ("stream" in kinds) == bool(printed), number
    assert shown > 3
    la.waitall()


def gray_scott():
    place = ROOT / "examples" / "gray_scott.py"
    spec = importlib.util.spec_from_file_location("gray_scott", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_gray_scott_is_numpys_to_the_last_bit():
    module = gray_scott()
    for ours, numpys in zip(module.run(la, 64, 50), module.run(np, 64, 50), strict=True):
        np.testing.assert_array_equal(ours.asnumpy(), numpys)


def test_gray_scott_makes_a_picture(tmp_path, monkeypatch):
    """Read back by hand: PNG's rows, each after its filter's number."""
    module = gray_scott()
    monkeypatch.chdir(tmp_path)
    module.main(["--side", "64", "--steps", "10", "--picture", "p.png"])
    data = (tmp_path / "p.png").read_bytes()
    assert struct.unpack(">II", data[16:24]) == (64, 64)
    (length,) = struct.unpack(">I", data[33:37])
    rows = np.frombuffer(zlib.decompress(data[41 : 41 + length]), np.uint8).reshape(64, 65)
    v = module.run(np, 64, 10)[1]
    np.testing.assert_array_equal(rows[:, 1:], np.clip(255 - 600 * v, 0, 255).astype(np.uint8))
    assert not rows[:, 0].any() and len(np.unique(rows[:, 1:])) > 10
