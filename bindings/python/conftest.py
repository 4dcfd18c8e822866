"""Models that tests and the examples in docstrings share."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import SMALL, roads

@pytest.fixture(scope="session")
def road_rows() -> Any:
    return roads()


@pytest.fixture(scope="session")
def road_model(road_rows: Any) -> Any:
    import pmm

    return pmm.fit(road_rows, target="minutes", steps=300, **SMALL)


@pytest.fixture(autouse=True)
def _examples(request: pytest.FixtureRequest, doctest_namespace: dict[str, Any]) -> None:
    if isinstance(request.node, pytest.DoctestItem):
        doctest_namespace["example_rows"] = request.getfixturevalue("road_rows")
        doctest_namespace["example_model"] = request.getfixturevalue("road_model")
