"""Estimators of scikit-learn: regression and classification with whole distributions, imputation, density.

They are pipeline parts like any other: ``clone``, ``GridSearchCV``, ``set_output``, pickling and joblib work. A frame of pandas or
polars keeps its column types, so that categories, dates and gaps need no encoding; an array is a table of numbers.

>>> import numpy as np
>>> from pmm.sklearn import PMMRegressor
>>> x = np.random.default_rng(0).normal(size=(200, 1))
>>> model = PMMRegressor(steps=20).fit(x, 2 * x[:, 0])
>>> mean, std = model.predict(x, return_std=True)
>>> mean.shape, model.predict_quantiles(x, [0.1, 0.9]).shape
((200,), (200, 2))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

try:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        DensityMixin,
        OneToOneFeatureMixin,
        RegressorMixin,
        TransformerMixin,
    )
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data
except ImportError as error:
    raise ImportError("pmm.sklearn needs scikit-learn 1.6 or newer: pip install scikit-learn") from error

from ._fit import fit as _fit
from ._frames import take
from ._prediction import Prediction
from ._table import TableModel

__all__ = ["PMMClassifier", "PMMDensity", "PMMImputer", "PMMRegressor"]

#: The largest seed that is drawn of a random state.
_SEEDS = 2**31 - 1


class _PMM(BaseEstimator):  # type: ignore[misc]
    """What all estimators share: how long to train, the seed, and settings of the model.

    minutes, steps:
        How long to train: roughly so many minutes, or exactly so many steps. By default the size of the data says.
    columns:
        What is known of columns better than their values tell, as for :func:`pmm.fit`.
    settings:
        Settings of the model, such as ``{"net.width": 128}``.
    random_state:
        The seed: a number, or a random state of NumPy. None is a new one each time.
    n_jobs:
        Threads; None and -1 are as many as the machine has.
    """

    model_: TableModel
    _target: str
    _seed_: int

    def __init__(
        self,
        *,
        minutes: float | None = None,
        steps: int | None = None,
        columns: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.minutes = minutes
        self.steps = steps
        self.columns = columns
        self.settings = settings
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags

    def _threads(self) -> int | None:
        return None if self.n_jobs is None or self.n_jobs < 1 else self.n_jobs

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(_SEEDS))

    def _fit_table(self, table: Any, target: str | None = None, kinds: Mapping[str, Any] | None = None) -> TableModel:
        self._seed_ = self._seed()
        settings = dict(self.settings or {})
        columns = {**(self.columns or {}), **(kinds or {})}
        options: dict[str, Any] = {"minutes": self.minutes, "steps": self.steps, "threads": self._threads()}
        model = _fit(table, target, kind="table", seed=self._seed_, columns=columns, progress=False, **options, **settings)
        return model

    def _table(self, X: Any, reset: bool) -> Any:
        """The rows as a table of Arrow; an array becomes columns x0, x1, …"""
        if _is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if not X.shape[0]:
                raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
            return _arrow(X)
        least = 2 if reset else 1
        X = validate_data(self, X, reset=reset, dtype="numeric", ensure_all_finite="allow-nan", ensure_min_samples=least)
        return _table_of(X)


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and (hasattr(X, "__arrow_c_stream__") or hasattr(X, "__dataframe__"))


def _arrow(frame: Any) -> Any:
    import pyarrow as pa

    return pa.table(take(frame)[0])


def _table_of(X: npt.NDArray[Any]) -> Any:
    import pyarrow as pa

    X = np.asarray(X, dtype=np.float64)
    return pa.table({f"x{place}": pa.array(X[:, place], from_pandas=True) for place in range(X.shape[1])})


def _with_target(table: Any, column: Any) -> tuple[Any, str]:
    """The table with the target as its last column, under a name that no other has."""
    name = "y"
    while name in table.column_names:
        name += "_"
    return table.append_column(name, column), name


class _Supervised(_PMM):
    """What regression and classification share."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def predict_dist(self, X: Any) -> Prediction:
        """The whole distribution of the target in each row."""
        check_is_fitted(self)
        table = self._table(X, reset=False)
        return self.model_.predict(
            table, self._target, seed=self._seed_, empty="unknown", threads=self._threads(), progress=False
        )


class PMMRegressor(RegressorMixin, _Supervised):  # type: ignore[misc]
    """Regression with the whole distribution of the target.

    After ``fit``, ``model_`` is the :class:`pmm.TableModel` of features and target: it samples and fills gaps, too.
    """

    def fit(self, X: Any, y: Any) -> PMMRegressor:
        """Learns p(y | X), and all other conditionals with it."""
        import pyarrow as pa

        if y is None:
            raise ValueError("This PMMRegressor estimator requires y to be passed, but the target y is None.")
        table = self._table(X, reset=True)
        y = column_or_1d(y, warn=True, dtype=np.float64)
        if len(y) != table.num_rows:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{table.num_rows}, {len(y)}]")
        if not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity.")
        self._constant_ = float(y[0]) if (y == y[0]).all() else None
        table, self._target = _with_target(table, pa.array(y))
        kinds = {} if self._constant_ is not None else {self._target: "real"}
        self.model_ = self._fit_table(table, None if self._constant_ is not None else self._target, kinds)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The expected target of each row; with ``return_std`` its standard deviation as well."""
        check_is_fitted(self)
        if self._constant_ is not None:
            rows = self._table(X, reset=False).num_rows
            mean, std = np.full(rows, self._constant_), np.zeros(rows)
            return (mean, std) if return_std else mean
        found = self.predict_dist(X)
        return (found.mean(), found.std()) if return_std else found.mean()

    def predict_quantiles(self, X: Any, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> npt.NDArray[np.float64]:
        """Quantiles of the target: rows × quantiles."""
        return self.predict_dist(X).quantile(list(quantiles))


class PMMClassifier(ClassifierMixin, _Supervised):  # type: ignore[misc]
    """Classification with probabilities of all classes."""

    def fit(self, X: Any, y: Any) -> PMMClassifier:
        """Learns p(y | X), and all other conditionals with it."""
        import pyarrow as pa

        if y is None:
            raise ValueError("This PMMClassifier estimator requires y to be passed, but the target y is None.")
        table = self._table(X, reset=True)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if len(y) != table.num_rows:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{table.num_rows}, {len(y)}]")
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity.")
        self.classes_, codes = np.unique(y, return_inverse=True)
        # Names of our own: whatever the classes are, the model has a category.
        names = pa.array([f"class {place}" for place in range(len(self.classes_))])
        column = pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), names)
        table, self._target = _with_target(table, column)
        several = len(self.classes_) > 1
        kinds = {self._target: "category"} if several else {}
        self.model_ = self._fit_table(table, self._target if several else None, kinds)
        return self

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probabilities of ``classes_``: rows × classes."""
        check_is_fitted(self)
        if len(self.classes_) == 1:
            return np.ones((self._table(X, reset=False).num_rows, 1))
        found = self.predict_dist(X)
        places = [int(str(level).removeprefix("class ")) for level in found.classes]
        shares = np.zeros((len(found), len(self.classes_)))
        shares[:, places] = found.proba()
        total: npt.NDArray[np.float64] = shares.sum(axis=1, keepdims=True)
        return shares / total

    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Their logarithms."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The likeliest class of each row."""
        check_is_fitted(self)
        found: npt.NDArray[Any] = self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        return found


class PMMImputer(OneToOneFeatureMixin, TransformerMixin, _PMM):  # type: ignore[misc]
    """Missing cells filled by draws given the rest of their row: what is known stays as it is.

    A draw is not the best guess for a cell, but leaves the columns' distributions and dependences as they are. Another
    ``random_state`` gives another draw: several make a multiple imputation.
    """

    def fit(self, X: Any, y: Any = None) -> PMMImputer:
        """Learns the table."""
        table = self._table(X, reset=True)
        self._empty_ = [name for name in table.column_names if table[name].null_count == table.num_rows]
        self.model_ = self._fit_table(table.drop_columns(self._empty_) if self._empty_ else table)
        return self

    def transform(self, X: Any) -> Any:
        """The rows with their gaps filled: a frame of a frame, an array of an array. A column that was always empty stays so."""
        check_is_fitted(self)
        table = self._table(X, reset=False)
        options: dict[str, Any] = {"seed": self._seed_, "threads": self._threads(), "progress": False}
        if _is_frame(X):
            return self.model_.impute(X, **options)
        full = self.model_.impute(table, **options)
        columns = [full.column(place).to_numpy(zero_copy_only=False) for place in range(full.num_columns)]
        return np.column_stack(columns).astype(np.asarray(X).dtype if np.asarray(X).dtype.kind == "f" else np.float64)


class PMMDensity(DensityMixin, _PMM):  # type: ignore[misc]
    """The joint distribution of a table: new rows, and how likely rows are."""

    def fit(self, X: Any, y: Any = None) -> PMMDensity:
        """Learns the table."""
        table = self._table(X, reset=True)
        self._template_ = X.iloc[:0] if hasattr(X, "iloc") else None
        self.model_ = self._fit_table(X if _is_frame(X) else table)
        return self

    def score_samples(self, X: Any) -> npt.NDArray[np.float64]:
        """log p of each row, in nats."""
        check_is_fitted(self)
        table = self._table(X, reset=False)
        return self.model_.score(table, seed=self._seed_, threads=self._threads(), progress=False).log_likelihood

    def score(self, X: Any, y: Any = None) -> float:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The sum of the rows' log p."""
        return float(self.score_samples(X).sum())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Any:
        """New rows: a frame if it was fitted to one, an array else."""
        check_is_fitted(self)
        seed = self._seed_ if random_state is None else int(check_random_state(random_state).randint(_SEEDS))
        rows = self.model_.sample(n_samples, seed=seed, threads=self._threads(), progress=False)
        if hasattr(rows, "num_columns") and self._template_ is None:
            columns = [rows.column(place).to_numpy(zero_copy_only=False) for place in range(rows.num_columns)]
            return np.column_stack(columns).astype(np.float64)
        return rows
