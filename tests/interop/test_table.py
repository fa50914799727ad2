"""docs/interop.md: its table of libraries has the figures of the tests here."""

import ast
import pathlib
import re

HERE = pathlib.Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "interop.md"


def counted(path):
    """How many calls a test file tries, and how many of them work; None without such."""
    found = {}
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(
            node.value, (ast.Dict, ast.List)
        ):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            values = node.value.keys if isinstance(node.value, ast.Dict) else node.value.elts
            found[target.id] = len(values)
    if "CALLS" not in found:
        return None
    return found["CALLS"], found["CALLS"] - found.get("FAILS", 0)


def test_the_table_has_the_figures_of_the_tests():
    rows = re.findall(
        r"^\|[^|]*\|[^|]*\| (\d+) \| (\d+) \| `(test_\w+\.py)` \|", PAGE.read_text(), re.M
    )
    told = {file: (int(tried), int(work)) for tried, work, file in rows}
    counts = {path.name: counted(path) for path in sorted(HERE.glob("test_*.py"))}
    assert told == {name: count for name, count in counts.items() if count is not None}
