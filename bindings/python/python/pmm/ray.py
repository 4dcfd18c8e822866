"""Models on a cluster of Ray: each block of a dataset is worked on where it lies, by ``map_batches``.

A row's result depends on model, seed and row id alone: any number of blocks gives the same table. ``row`` names a column of ids
(numbers, texts, dates), different in every row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._frames import Giver
from ._parts import imputed, keyed, predicted, scored
from ._table import TableModel

__all__ = ["impute", "predict", "sample", "score"]

#: Rows of a piece of a sample.
PIECE = 4096


def sample(model: TableModel, n: int, *, seed: int = 0, **options: Any) -> Any:
    """``n`` new rows as a dataset, with their number in a first column ``row``."""
    import pyarrow as pa
    import ray.data

    model = TableModel(model._native, Giver())

    def made(batch: Any) -> Any:
        tables = []
        for piece in batch.column(0).to_pylist():
            first = piece * PIECE
            count = min(PIECE, n - first)
            rows = model.sample(count, seed=seed, first_row=first, progress=False, **options)
            tables.append(rows.add_column(0, "row", pa.array(range(first, first + count))))
        return pa.concat_tables(tables)

    return ray.data.range(-(-n // PIECE)).map_batches(made, batch_format="pyarrow", batch_size=1)


def impute(dataset: Any, model: TableModel, *, row: str, seed: int = 0) -> Any:
    """The dataset with its missing cells filled."""
    work = imputed(TableModel(model._native, Giver()), seed)
    return dataset.map_batches(lambda batch: keyed(batch, row, work), batch_format="pyarrow")


def predict(
    dataset: Any,
    model: TableModel,
    target: str,
    *,
    row: str,
    seed: int = 0,
    quantiles: Sequence[float] = (0.05, 0.25, 0.5, 0.75, 0.95),
) -> Any:
    """For each row its id and what is predicted: mean and quantiles, or the likeliest level and all probabilities."""
    work = predicted(TableModel(model._native, Giver()), target, seed, list(quantiles))
    return dataset.map_batches(lambda batch: keyed(batch, row, work), batch_format="pyarrow")


def score(dataset: Any, model: TableModel, *, row: str, seed: int = 0) -> Any:
    """For each row its id, its log-likelihood with its error, and the column of its most surprising cell."""
    work = scored(TableModel(model._native, Giver()), seed)
    return dataset.map_batches(lambda batch: keyed(batch, row, work), batch_format="pyarrow")
