"""What a GPU may answer otherwise: its draws, what needs the host's memory, signs of vectors."""

import pytest

APART = ("random", "ndarray.ctypes", "ndarray.data", "ndarray.device", "nditer", "nested_iters")
APART += ("from_dlpack", "linalg.eigh", "linalg.svd")


def pytest_collection_modifyitems(items):
    for item in items:
        if "surface" not in item.path.parts or not hasattr(item, "callspec"):
            continue
        name = str(item.callspec.params.get("name", ""))
        if name.startswith(APART) or item.originalname == "test_what_shares_memory":
            item.add_marker(pytest.mark.host)
