"""How likely rows are, and what is surprising in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class Scores:
    """The scores of some rows.

    >>> scores = example_model.score({"road": ["lane", "lane"], "kilometres": [50, 50], "minutes": [75, 5]})
    >>> bool(scores.log_likelihood[0] > scores.log_likelihood[1])
    True
    >>> scores.columns
    ['road', 'kilometres', 'minutes']
    """

    #: log p of each row, in nats; a density where numbers do not repeat.
    log_likelihood: npt.NDArray[np.float64]
    #: Its standard error, over orders of the columns.
    error: npt.NDArray[np.float64]
    #: −log p(cell | the rest of its row), rows × columns; NaN for what is not known or not modelled.
    surprise: npt.NDArray[np.float64]
    #: The columns of the surprises.
    columns: list[str]
    #: The rules that each row breaks, in words.
    broken: list[list[str]]

    def __init__(self, found: tuple[Any, ...], columns: list[str]) -> None:
        self.log_likelihood, self.error, self.surprise, self.broken, _ = found
        self.columns = columns

    def __len__(self) -> int:
        return len(self.log_likelihood)

    def most_surprising(self) -> list[str | None]:
        """The column of the most surprising cell of each row."""
        known = np.where(np.isnan(self.surprise), -np.inf, self.surprise)
        if not known.shape[1]:
            return [None] * len(self)
        places = known.argmax(axis=1)
        return [self.columns[place] if np.isfinite(row[place]) else None for row, place in zip(known, places)]

    def __repr__(self) -> str:
        mean = self.log_likelihood.mean() if len(self) else float("nan")
        return f"<pmm.Scores of {len(self)} rows: {mean:.2f} nats a row in the mean>"
