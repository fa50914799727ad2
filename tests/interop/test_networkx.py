"""NetworkX: graphs of matrices, and back."""

import pytest

from .calls import agree, cases

pytest.importorskip("networkx", reason="networkx is not installed")
pytestmark = pytest.mark.host

SETUP = """
import networkx as nx
"""
CALLS = [
    "nx.from_numpy_array(A).number_of_edges()",
    "nx.to_numpy_array(nx.from_numpy_array(A))",
    "nx.pagerank(nx.from_numpy_array(A))",
    "nx.shortest_path_length(nx.from_numpy_array(A),0)",
    "sorted(nx.from_numpy_array(A, create_using=nx.DiGraph).edges(data=True))[:3]",
    "nx.spring_layout(nx.path_graph(4), pos=dict(enumerate(P)), seed=1, iterations=5)",
    "nx.Graph(A).number_of_nodes()",
    "nx.relabel_nodes(nx.path_graph(3), dict(zip(range(3), idx.tolist()))).nodes",
    "(lambda G:(G.add_weighted_edges_from([(0,1,v[0])]), G[0][1]['weight'])[1])(nx.Graph())",
    "nx.dijkstra_path_length(nx.from_numpy_array(A),0,3)",
    "nx.linalg.laplacian_matrix(nx.from_numpy_array(A)).toarray()",
    "nx.floyd_warshall_numpy(nx.from_numpy_array(A))",
    "nx.from_edgelist([(int(a),int(b)) for a,b in E]).number_of_nodes()",
    "sorted(nx.Graph([tuple(e) for e in E.tolist()]).degree)",
]
FAILS: dict[str, str] = {}


@pytest.mark.parametrize("call", cases(CALLS, FAILS))
def test_calls(call, tmp_path):
    agree(SETUP, call, tmp_path)
