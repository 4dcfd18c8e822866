"""Small tables that tests share."""

from __future__ import annotations

from typing import Any

import numpy as np

#: A small network, quickly fitted.
SMALL: dict[str, Any] = {"net__width": 24, "net__blocks": 1, "progress": False}


def roads(rows: int = 400) -> Any:
    """Journeys: lanes are slow, motorways quick."""
    import pyarrow as pa

    draw = np.random.default_rng(1)
    lane = draw.random(rows) < 0.5
    kilometres = draw.integers(5, 100, rows)
    minutes = np.round(60 * kilometres / np.where(lane, 40, 110) * np.exp(0.15 * draw.normal(size=rows)))
    road = np.where(lane, "lane", "motorway")
    return pa.table({"road": road, "kilometres": kilometres, "minutes": minutes.astype(np.int64)})
