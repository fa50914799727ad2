"""Graphs: programs as data. Traced from a function or built by hand, printed, saved, bound, run."""

from __future__ import annotations

from lazyarray.graph import sym
from lazyarray.graph.executor import Executor
from lazyarray.graph.graph import Graph
from lazyarray.graph.nodes import spec
from lazyarray.graph.scopes import AttrScope
from lazyarray.graph.symbol import Symbol
from lazyarray.graph.tracing import trace

__all__ = ["AttrScope", "Executor", "Graph", "Symbol", "spec", "sym", "trace"]
