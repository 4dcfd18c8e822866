"""How likely rows and texts are, and what is surprising in them."""

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


class TextScores:
    """What some documents cost, in bits: −log₂ p."""

    #: The names of the documents, where their file has names for them.
    names: list[str | None]
    #: Tokens and characters of each.
    tokens: npt.NDArray[np.int64]
    characters: npt.NDArray[np.int64]
    #: Bits of each, read from left to right.
    left_to_right: npt.NDArray[np.float64]
    #: Bits in random orders, in the mean over orders.
    random: npt.NDArray[np.float64]
    #: Bits under the mixture of random orders; at most :attr:`random`.
    order_averaged: npt.NDArray[np.float64]
    #: Bits of each token of each document given those to its left; they add up to :attr:`left_to_right`.
    surprises: list[npt.NDArray[np.float64]]

    def __init__(self, found: list[tuple[Any, ...]]) -> None:
        names, tokens, characters, left_to_right, random, averaged, surprises = zip(*found) if found else [()] * 7
        self.names, self.surprises = list(names), list(surprises)
        self.tokens, self.characters = np.array(tokens, np.int64), np.array(characters, np.int64)
        self.left_to_right, self.random = np.array(left_to_right, np.float64), np.array(random, np.float64)
        self.order_averaged = np.array(averaged, np.float64)

    @property
    def bits_per_character(self) -> npt.NDArray[np.float64]:
        """Bits per character, from left to right."""
        bits: npt.NDArray[np.float64] = self.left_to_right / np.maximum(self.characters, 1)
        return bits

    def __len__(self) -> int:
        return len(self.left_to_right)

    def __repr__(self) -> str:
        bits = self.left_to_right.sum() / max(self.characters.sum(), 1)
        return f"<pmm.TextScores of {len(self)} documents: {bits:.3f} bits per character>"
