"""Models on a cluster of Spark: each partition is worked on where it lies, by ``mapInArrow``.

A row's result depends on model, seed and row id alone: any number of partitions gives the same table. ``row`` names a column of ids
(numbers, texts, dates), different in every row; rows of one partition whose ids are numbers that follow each other are worked on
together.

    model = pmm.fit(frame, target="price")
    new = pmm.spark.sample(spark, model, 10_000_000)
    full = pmm.spark.impute(frame, model, row="id")
    prices = pmm.spark.predict(frame, model, "price", row="id")
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ._frames import Giver
from ._parts import imputed, keyed, predicted, scored
from ._table import TableModel

__all__ = ["impute", "predict", "sample", "score"]

#: Rows of a piece of a sample.
PIECE = 4096


def sample(session: Any, model: TableModel, n: int, *, seed: int = 0, partitions: int | None = None, **options: Any) -> Any:
    """``n`` new rows as a frame of Spark, with their number in a first column ``row``."""
    import pyarrow as pa

    pieces = session.range(0, -(-n // PIECE), 1, partitions)
    model = _for_workers(model)

    def made(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for piece in batch.column(0).to_pylist():
                first = piece * PIECE
                count = min(PIECE, n - first)
                rows = model.sample(count, seed=seed, first_row=first, progress=False, **options)
                yield from rows.add_column(0, "row", pa.array(range(first, first + count))).to_batches()

    none = model.sample(0, seed=seed, progress=False, **options)
    return pieces.mapInArrow(made, _spark_schema(none.add_column(0, "row", pa.array([], pa.int64()))))


def impute(frame: Any, model: TableModel, *, row: str, seed: int = 0) -> Any:
    """The frame with its missing cells filled."""
    work = imputed(_for_workers(model), seed)
    others = [name for name in frame.columns if name != row]
    frame = frame.select(row, *others)
    return frame.mapInArrow(_mapped(row, work), frame.schema)


def predict(
    frame: Any,
    model: TableModel,
    target: str,
    *,
    row: str,
    seed: int = 0,
    quantiles: Sequence[float] = (0.05, 0.25, 0.5, 0.75, 0.95),
) -> Any:
    """For each row its id and what is predicted: mean and quantiles, or the likeliest level and all probabilities."""
    return _answered(frame, model, row, predicted(_for_workers(model), target, seed, list(quantiles)))


def score(frame: Any, model: TableModel, *, row: str, seed: int = 0) -> Any:
    """For each row its id, its log-likelihood with its error, and the column of its most surprising cell."""
    return _answered(frame, model, row, scored(_for_workers(model), seed))


def _answered(frame: Any, model: TableModel, row: str, work: Any) -> Any:
    """Answers beside the ids of their rows; their types are those of no row."""
    import pyarrow as pa
    from pyspark.sql.types import StructType

    names = [column.name for column in model.schema if column.name != row]
    none = work(pa.table({name: pa.array([], pa.null()) for name in names[:1]}), None)
    schema = StructType([frame.schema[row], *_spark_schema(none).fields])
    return frame.mapInArrow(_mapped(row, work), schema)


def _mapped(row: str, work: Any) -> Any:
    def mapped(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            yield from keyed(pa.Table.from_batches([batch]), row, work).to_batches()

    return mapped


def _for_workers(model: TableModel) -> TableModel:
    """The model, with rows of pyarrow; pickled as the files of its folder."""
    return TableModel(model._native, Giver())


def _spark_schema(table: Any) -> Any:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(table.schema)
