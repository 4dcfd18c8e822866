"""Predictive distributions of a column, one for each row, all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._arguments import whole
from ._frames import Giver

if TYPE_CHECKING:
    from ._pmm import Laws

Array = npt.NDArray[Any]


class Prediction:
    """The distribution of a column in each of some rows, given the rest of the row.

    Numbers have :meth:`mean`, :meth:`std`, :meth:`quantile`, :meth:`interval`, :meth:`cdf`, :meth:`logpdf` and :meth:`sample`; dates
    have the same, in ``datetime64``. Categories have :meth:`proba`, :meth:`mode`, :meth:`logpmf` and :meth:`sample`.

    >>> distribution = example_model.predict(example_rows, "minutes")
    >>> len(distribution) == len(example_rows)
    True
    >>> distribution.quantile([0.05, 0.95]).shape == (len(example_rows), 2)
    True
    """

    def __init__(self, native: Laws) -> None:
        self._native = native
        self._date_origin: tuple[Any, Any] | None = None
        self._classes: Array | None = None

    def __len__(self) -> int:
        return len(self._native)

    @property
    def column(self) -> str:
        """The column that is predicted."""
        return self._native.column()

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers or dates; categories else."""
        return self._native.is_number()

    @property
    def classes(self) -> Array:
        """The levels of a category in the column's own type, in the order of :meth:`proba`."""
        if self._classes is None:
            self._classes = _column(self._native.level_values())
        return self._classes

    def mean(self) -> Array:
        """The expected value in each row."""
        return self._values(self._native.mean())

    def std(self) -> Array:
        """The standard deviation in each row; of dates, as ``timedelta64``."""
        found = self._native.standard_deviation()
        if not self._native.is_date():
            return found
        _, unit = self._dates()
        return np.asarray(np.round(found * unit.astype(np.int64)).astype(unit.dtype))

    def median(self) -> Array:
        """The value that half of the probability is not above."""
        return self.quantile(0.5)

    def quantile(self, q: npt.ArrayLike) -> Array:
        """The value that a share ``q`` is not above: one for each row, or for several ``q`` an array of rows × shares."""
        shares = np.asarray(q, dtype=np.float64)
        if shares.ndim == 0:
            return self._values(self._native.quantile(float(shares)))
        columns = [self._values(self._native.quantile(float(share))) for share in shares.ravel()]
        return np.stack(columns, axis=1) if columns else np.empty((len(self), 0))

    def interval(self, confidence: float = 0.9) -> tuple[Array, Array]:
        """The ends between which the value lies with this probability, as much of the rest below as above."""
        if not 0 <= confidence <= 1:
            raise ValueError(f"confidence={confidence} is not between 0 and 1")
        rest = (1 - confidence) / 2
        return self.quantile(rest), self.quantile(1 - rest)

    def cdf(self, x: npt.ArrayLike) -> Array:
        """P(value ≤ x): for one x, an x for each row, or an array of rows × any number (one row stands for all)."""
        return self._at(x, self._native.cdf)

    def logpdf(self, y: npt.ArrayLike) -> Array:
        """log p(y): of the density, or of the probability where values repeat; shapes as for :meth:`cdf`.

        For a category the same as :meth:`logpmf`.
        """
        if not self.is_number:
            return self.logpmf(y)
        return self._at(y, self._native.log_density)

    def logpmf(self, y: Any) -> Array:
        """The logarithm of the probability of ``y``; a level that the column never had has none (−∞)."""
        if self.is_number:
            return self.logpdf(y)
        places = {level: place for place, level in enumerate(self._native.levels())}
        wanted = np.asarray(y, dtype=object)
        if wanted.shape not in ((), (1,), (len(self),)):
            raise ValueError(f"{wanted.shape} values for {len(self)} rows: give one for all, or one for each")
        wanted = np.broadcast_to(wanted, (len(self),))
        shares = self.proba()
        found = np.array([places.get(_text(level), -1) for level in wanted], dtype=np.int64)
        picked = shares[np.arange(len(self)), found]
        with np.errstate(divide="ignore"):
            return np.where(found < 0, -np.inf, np.log(picked))

    def sample(self, k: int = 1) -> Array:
        """``k`` draws in each row: an array of rows × k. The same draws every time; the seed is that of the prediction."""
        k = whole("k", k)
        if self.is_number:
            return self._values(self._native.draws(k))
        return self.classes[self._native.level_draws(k)]

    def proba(self) -> Array:
        """The probabilities of the :attr:`classes`: an array of rows × classes."""
        return self._native.probabilities()

    def mode(self) -> Array:
        """The likeliest level of each row."""
        return self.classes[self._native.best()]

    def values(self) -> Array:
        """One value for each row: the mean of a number, the likeliest level of a category, in the column's own type."""
        native = self._native
        return _column(native.values(native.mean()) if self.is_number else native.best_values())

    def __repr__(self) -> str:
        kind = "number" if self.is_number else f"{len(self._native.levels())} classes"
        return f"<pmm.Prediction of {self.column} ({kind}) in {len(self)} rows>"

    def _at(self, points: npt.ArrayLike, function: Any) -> Array:
        numbers = self._numbers(points)
        found = self._at_numbers(numbers, function)
        # What is asked at a gap has no answer.
        return np.where(np.isnan(numbers), np.nan, found)

    def _at_numbers(self, numbers: Array, function: Any) -> Array:
        if numbers.ndim and numbers.shape[0] not in (1, len(self)):
            raise ValueError(f"{numbers.shape[0]} values for {len(self)} rows: give one for all, or one for each")
        if numbers.ndim < 2:
            return np.asarray(function(_contiguous(np.broadcast_to(numbers, (len(self),)))))
        numbers = np.broadcast_to(numbers, (len(self), numbers.shape[1]))
        columns = [function(_contiguous(numbers[:, place])) for place in range(numbers.shape[1])]
        return np.stack(columns, axis=1) if columns else np.empty(numbers.shape)

    def _numbers(self, points: npt.ArrayLike) -> Array:
        if not self._native.is_date():
            return np.asarray(points, dtype=np.float64)
        origin, unit = self._dates()
        return np.asarray((np.asarray(points, dtype=origin.dtype) - origin) / unit)

    def _values(self, numbers: Array) -> Array:
        if not self._native.is_date():
            return numbers
        origin, unit = self._dates()
        steps = np.where(np.isfinite(numbers), numbers * unit.astype(np.int64), 0)
        dates = np.asarray(origin + np.round(steps).astype(np.int64).astype(unit.dtype))
        dates[~np.isfinite(numbers)] = np.datetime64("NaT")
        return dates

    def _dates(self) -> tuple[Any, Any]:
        """What 0 stands for, and what 1 is more."""
        if self._date_origin is None:
            rows = self._native.values(np.array([0.0, 1.0]))
            column = Giver().give(rows).column(0)
            zero, one = np.asarray(column.cast("timestamp[us]").to_numpy(), dtype="datetime64[us]")
            self._date_origin = (zero, one - zero)
        return self._date_origin


def _column(rows: Any) -> Array:
    """The one column of some rows."""
    column = Giver().give(rows).column(0)
    if hasattr(column.type, "value_type"):
        column = column.cast(column.type.value_type)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _contiguous(numbers: Array) -> Array:
    return np.ascontiguousarray(numbers, dtype=np.float64)


def _text(level: Any) -> str:
    """A level as the model names it."""
    if isinstance(level, (bool, np.bool_)):
        return "true" if level else "false"
    return str(level)
