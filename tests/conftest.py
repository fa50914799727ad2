"""``pytest --device gpu:0``: the tests make their arrays there. See tests/cuda/README.md."""

from collections.abc import Iterator

import pytest

import lazyarray as la


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--device", default=None, help="where arrays are made: gpu:0")


@pytest.fixture(autouse=True)
def _current_device(request: pytest.FixtureRequest) -> Iterator[None]:
    name = request.config.getoption("--device")
    if name is None:
        yield
        return
    kind, _, number = name.partition(":")
    with la.Context(kind, int(number or 0)):
        yield
