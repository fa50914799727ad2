"""The list of Dask's own tests that fail: by exact ids, each with a reason; who passes is told."""

from . import suite


def test_each_listed_id_has_a_reason():
    found = suite.listed()
    assert found and all(found.values())
    assert all(name.startswith("test_") and ".py::test_" in name for name in found)


def test_what_is_not_as_the_list_says():
    expected = {"test_a.py::test_one[0]": "why", "test_a.py::test_two": "why"}
    found = {
        "test_a.py::test_one[0]": "failed",
        "test_a.py::test_one[1]": "failed",  # of a function that has one listed
        "test_a.py::test_two": "passed",
        "test_a.py::test_three": "error",
        "test_a.py::test_four": "xfailed",
    }
    assert suite.wrong(found, expected) == [
        "failed test_a.py::test_one[1]",
        "error test_a.py::test_three",
        "passes, and is listed: test_a.py::test_two",
    ]
