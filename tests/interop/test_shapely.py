"""Shapely: shapes of points, whose functions are ufuncs over objects."""

import pytest

from .calls import agree, cases

pytest.importorskip("shapely", reason="shapely is not installed")
pytestmark = pytest.mark.host

SETUP = """
import shapely, shapely.geometry as sg
"""
CALLS = [
    "sg.Point(P[0]).x",
    "sg.LineString(P).length",
    "sg.Polygon(P[:3]).area",
    "shapely.points(P)[0].x",
    "shapely.area(shapely.polygons(P[None,:3]))",
    "sg.MultiPoint(P).convex_hull.area",
    "sg.Point(v[0],v[1]).y",
    "shapely.contains_xy(sg.box(0,0,1,1), v, w)",
    "sg.box(v[0],v[1],v[2],v[3]).area",
    "shapely.linestrings(P).length",
    "sg.Point(0,0).buffer(abs(v[0])).area",
    "shapely.STRtree(shapely.points(P)).query(sg.box(0,0,1,1))",
]
FAILS: dict[str, str] = {}


@pytest.mark.parametrize("call", cases(CALLS, FAILS))
def test_calls(call, tmp_path):
    agree(SETUP, call, tmp_path)
