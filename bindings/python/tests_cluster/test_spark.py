"""Partitions of Spark give the table that one process gives."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from helpers import SMALL, roads

import pmm
import pmm.spark

PARTITIONS = [1, 3, 7]


@pytest.fixture(scope="module")
def session() -> Any:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def model() -> Any:
    return pmm.fit(roads(), target="minutes", steps=100, **SMALL)


@pytest.fixture(scope="module")
def gaps() -> pa.Table:
    frame = roads().to_pandas().astype({"minutes": "Int64"})
    frame.loc[::3, "minutes"] = None
    frame.loc[1::4, "road"] = None
    frame.insert(0, "id", range(1000, 1000 + len(frame)))
    return pa.Table.from_pandas(frame, preserve_index=False)


def rows_of(frame: Any, key: str) -> list[dict[str, Any]]:
    return sorted((row.asDict() for row in frame.collect()), key=lambda row: row[key])


@pytest.mark.parametrize("partitions", PARTITIONS)
def test_imputed_rows(session: Any, model: Any, gaps: pa.Table, partitions: int) -> None:
    frame = session.createDataFrame(gaps).repartition(partitions)
    found = rows_of(pmm.spark.impute(frame, model, row="id", seed=3), "id")
    alone = model.impute(gaps.drop_columns(["id"]), seed=3, first_row=1000).add_column(0, "id", gaps["id"])
    assert found == alone.to_pylist()


@pytest.mark.parametrize("partitions", PARTITIONS)
@pytest.mark.parametrize("target", ["minutes", "road"])
def test_predictions(session: Any, model: Any, gaps: pa.Table, partitions: int, target: str) -> None:
    frame = session.createDataFrame(gaps).repartition(partitions)
    found = rows_of(pmm.spark.predict(frame, model, target, row="id", seed=3), "id")
    alone = model.predict(gaps.drop_columns(["id"]), target, seed=3, first_row=1000)
    if target == "road":
        assert [row["p_lane"] for row in found] == alone.proba()[:, 0].tolist()
        assert [row["prediction"] for row in found] == alone.mode().tolist()
    else:
        assert [row["mean"] for row in found] == alone.mean().tolist()
        assert [row["q95"] for row in found] == alone.quantile(0.95).tolist()


@pytest.mark.parametrize("partitions", PARTITIONS)
def test_scores(session: Any, model: Any, gaps: pa.Table, partitions: int) -> None:
    frame = session.createDataFrame(gaps).repartition(partitions)
    found = rows_of(pmm.spark.score(frame, model, row="id", seed=3), "id")
    alone = model.score(gaps.drop_columns(["id"]), seed=3, first_row=1000)
    assert [row["log_likelihood"] for row in found] == alone.log_likelihood.tolist()
    assert [row["most_surprising"] for row in found] == alone.most_surprising()


@pytest.mark.parametrize("partitions", PARTITIONS)
def test_samples(session: Any, model: Any, partitions: int) -> None:
    frame = pmm.spark.sample(session, model, 10_000, seed=5, partitions=partitions)
    found = rows_of(frame, "row")
    alone = model.sample(10_000, seed=5).to_pylist()
    assert [row.pop("row") for row in found] == list(range(10_000)) and found == alone
