"""Blocks of Ray give the table that one process gives."""

from __future__ import annotations

import os
from typing import Any

import pyarrow as pa
import pytest
from helpers import SMALL, roads

import pmm
import pmm.ray

ray = pytest.importorskip("ray")

#: How long a node may take to start: on a machine with other work, half a minute (what Ray allows) is too little.
PATIENCE = {
    "RAY_raylet_start_wait_time_s": "600",
    "RAY_gcs_rpc_server_connect_timeout_s": "600",
    "RAY_agent_register_timeout_ms": "600000",
    "RAY_worker_register_timeout_seconds": "600",
}


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Any:
    os.environ.update(PATIENCE)
    # One process that works, and little memory to share: the tables are small.
    ray.init(num_cpus=1, object_store_memory=100 * 2**20, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def model() -> Any:
    return pmm.fit(roads(), target="minutes", steps=100, **SMALL)


@pytest.mark.parametrize("blocks", [1, 3, 7])
def test_blocks(model: Any, blocks: int) -> None:
    import ray.data

    rows = roads().add_column(0, "id", pa.array(range(50, 450)))
    dataset = ray.data.from_arrow(rows).repartition(blocks)
    found = sorted(pmm.ray.predict(dataset, model, "minutes", row="id", seed=2).take_all(), key=lambda row: row["id"])
    alone = model.predict(roads(), "minutes", seed=2, first_row=50)
    assert [row["mean"] for row in found] == alone.mean().tolist()
    gaps = rows.set_column(3, "minutes", pa.array([None] * 400, pa.int64()))
    full = sorted(
        pmm.ray.impute(ray.data.from_arrow(gaps).repartition(blocks), model, row="id").take_all(), key=lambda row: row["id"]
    )
    assert full == model.impute(gaps.drop_columns(["id"]), first_row=50).add_column(0, "id", gaps["id"]).to_pylist()


def test_samples(model: Any) -> None:
    found = sorted(pmm.ray.sample(model, 9000, seed=1).take_all(), key=lambda row: row["row"])
    assert [row.pop("row") for row in found] == list(range(9000)) and found == model.sample(9000, seed=1).to_pylist()
