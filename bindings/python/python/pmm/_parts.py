"""Rows of a table that lies in parts: the same work for Spark and Ray.

A row's result depends on model, seed and the row's key alone, so that it is the same for any number of partitions. The key is a
column that the caller names, different in every row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._table import TableModel

#: Something to do with rows, of which a column has the keys; none where there is no row.
Work = Callable[[Any, str | None], Any]


def keyed(table: Any, row: str, work: Work) -> Any:
    """``work(rows, key)``, with the keys as the first column."""
    done = work(table, row)
    if row in done.column_names:
        done = done.drop_columns([row])
    return done.add_column(0, row, table[row])


def imputed(model: TableModel, seed: int) -> Work:
    """Fills gaps."""
    return lambda rows, key: model.impute(rows, seed=seed, key=key, progress=False)


def scored(model: TableModel, seed: int) -> Work:
    """How likely each row is, and its most surprising cell."""
    import pyarrow as pa

    def work(rows: Any, key: str | None) -> Any:
        found = model.score(rows, seed=seed, key=key, progress=False)
        most = pa.array(found.most_surprising(), pa.string())
        return pa.table({"log_likelihood": found.log_likelihood, "error": found.error, "most_surprising": most})

    return work


def predicted(model: TableModel, target: str, seed: int, quantiles: list[float]) -> Work:
    """Mean and quantiles of a number; the likeliest level and all probabilities of a category."""
    import pyarrow as pa

    def work(rows: Any, key: str | None) -> Any:
        found = model.predict(rows, target, seed=seed, key=key, progress=False)
        if found.is_number:
            columns = {"mean": found.mean()}
            for share in quantiles:
                columns[f"q{100 * share:02.0f}"] = found.quantile(share)
            return pa.table(columns)
        shares = found.proba()
        levels = {f"p_{level}": np.ascontiguousarray(shares[:, place]) for place, level in enumerate(found.classes)}
        return pa.table({"prediction": pa.array(found.mode(), pa.string()), **levels})

    return work
