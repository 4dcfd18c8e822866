"""Rows of a table that lies in parts: the same work for Spark and Ray.

A row's result depends on model, seed and row id alone, so that it is the same for any number of partitions. The id is a column of
whole numbers that the caller names, or one that is made before the table is cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ._table import TableModel

Batches = Iterator[Any]


def runs(ids: np.ndarray[Any, Any]) -> Iterator[tuple[int, int]]:
    """Pieces (start, end) of an array in which each number is one more than that before."""
    if not len(ids):
        return
    breaks = np.flatnonzero(np.diff(ids) != 1) + 1
    edges = [0, *breaks.tolist(), len(ids)]
    yield from zip(edges[:-1], edges[1:])


def by_row(table: Any, row: str, work: Callable[[Any, int], Any]) -> Any:
    """``work(rows, number of the first)`` for each run of row numbers, put together again with the numbers."""
    import pyarrow as pa

    ids = table[row].to_numpy()
    rest = table.drop_columns([row])
    done = []
    for start, end in runs(ids):
        piece = work(rest.slice(start, end - start), int(ids[start]))
        done.append(piece.add_column(0, row, table[row].slice(start, end - start)))
    if done:
        return pa.concat_tables(done)
    empty = work(rest, 0)
    return empty.add_column(0, row, table[row])


def imputed(model: TableModel, seed: int) -> Callable[[Any, int], Any]:
    """Fills gaps."""
    return lambda rows, first: model.impute(rows, seed=seed, first_row=first, progress=False)


def scored(model: TableModel, seed: int) -> Callable[[Any, int], Any]:
    """How likely each row is, and its most surprising cell."""
    import pyarrow as pa

    def work(rows: Any, first: int) -> Any:
        found = model.score(rows, seed=seed, first_row=first, progress=False)
        most = pa.array(found.most_surprising(), pa.string())
        return pa.table({"log_likelihood": found.log_likelihood, "error": found.error, "most_surprising": most})

    return work


def predicted(model: TableModel, target: str, seed: int, quantiles: list[float]) -> Callable[[Any, int], Any]:
    """Mean and quantiles of a number; the likeliest level and all probabilities of a category."""
    import pyarrow as pa

    def work(rows: Any, first: int) -> Any:
        found = model.predict(rows, target, seed=seed, first_row=first, progress=False)
        if found.is_number:
            columns = {"mean": found.mean()}
            for share in quantiles:
                columns[f"q{100 * share:02.0f}"] = found.quantile(share)
            return pa.table(columns)
        shares = found.proba()
        levels = {f"p_{level}": np.ascontiguousarray(shares[:, place]) for place, level in enumerate(found.classes)}
        return pa.table({"prediction": pa.array(found.mode(), pa.string()), **levels})

    return work
