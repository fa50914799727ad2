"""Plotly: figures, as JSON."""

import pytest

from .calls import agree, cases

pytest.importorskip("plotly", reason="plotly is not installed")
pytestmark = pytest.mark.host

SETUP = """
import plotly.graph_objects as go, plotly.express as px, json
"""
CALLS = [
    "go.Figure(go.Scatter(x=v,y=w)).to_json()",
    "go.Figure(go.Heatmap(z=M)).to_json()",
    "px.scatter(x=v,y=w).to_json()",
    "px.line(y=v).to_json()",
    "px.imshow(M).to_json()",
    "go.Figure(go.Surface(z=M)).to_json()",
    "px.histogram(x=v).to_json()",
    "go.Figure(go.Scatter(x=[v[0]],y=[w[0]])).to_json()",
    "go.Figure(go.Bar(x=idx,y=v)).to_json()",
    "px.imshow(I).to_json()",
    "px.scatter(x=v,y=w,color=w,size=abs(v)).to_json()",
    "go.Figure(go.Scatter(x=v,y=w,marker=dict(color=w,size=5))).to_json()",
    "px.line(M).to_json()",
    "go.Figure(layout=dict(xaxis=dict(range=[v[0],v[1]]))).to_json()",
    "go.Figure().add_hline(y=v[0]).to_json()",
]
FAILS: dict[str, str] = {}


@pytest.mark.parametrize("call", cases(CALLS, FAILS))
def test_calls(call, tmp_path):
    agree(SETUP, call, tmp_path)
