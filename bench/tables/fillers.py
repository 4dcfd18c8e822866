"""Fillers of gaps from scikit-learn. Numbers are standardised. A category is one-hot for means and k-NN and comes back as
its largest entry; for the iterated ones it is one column of codes, since from one-hot columns each would learn that they
add up to one, and nothing else."""

import time
import warnings

import harness  # noqa: F401  (first: it sets the number of threads)
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer


FIRST = 1000  # the code of a category's first level: far from any standardised number


class Forest(RegressorMixin, BaseEstimator):
    """A random forest: a classifier for a column of codes, else a regressor."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, x, y):
        codes = np.min(y) >= FIRST
        kind = RandomForestClassifier if codes else RandomForestRegressor
        self.forest_ = kind(n_estimators=30, min_samples_leaf=3, max_features=0.5, n_jobs=2, random_state=self.random_state)
        self.forest_.fit(x, np.asarray(y, int) if codes else y)
        return self

    def predict(self, x):
        return self.forest_.predict(x).astype(float)


def trees(seed):
    """MissForest's way: a random forest a column, five rounds."""
    chain = dict(initial_strategy="median", max_iter=5, keep_empty_features=True)
    return IterativeImputer(Forest(seed), random_state=seed, **chain)


def linear(seed):
    """Chained linear regressions with draws from their posteriors, as MICE does; the codes are rounded."""
    return IterativeImputer(sample_posterior=True, max_iter=10, random_state=seed, keep_empty_features=True)


FILLERS = {  # name: (imputer, one-hot or codes, whether it draws)
    "mean": (lambda seed: SimpleImputer(keep_empty_features=True), True, False),
    "knn": (lambda seed: KNNImputer(n_neighbors=10, keep_empty_features=True), True, False),
    "trees": (trees, False, False),
    "linear": (linear, False, True),
}


class Code:
    """Rows as standardised numbers and categories, one-hot or as codes, and back; NaN for missing."""

    def __init__(self, train, kinds, hot):
        self.kinds, self.hot = kinds, hot
        self.levels = {c: np.array(sorted(train[c].dropna().unique()), dtype=object) for c in kinds if kinds[c] == "cat"}
        self.scale = {c: (train[c].mean(), train[c].std() or 1.0) for c in kinds if kinds[c] != "cat"}

    def encode_column(self, c, column):
        if c in self.scale:
            mean, sd = self.scale[c]
            return ((column - mean) / sd).to_numpy(float)[:, None]
        equal = (column.to_numpy(object)[:, None] == self.levels[c]).astype(float)
        cells = equal if self.hot else FIRST + equal.argmax(1)[:, None]
        return np.where(equal.any(1)[:, None], cells, np.nan)

    def encode(self, frame):
        return np.concatenate([self.encode_column(c, frame[c]) for c in self.kinds], axis=1)

    def decode_column(self, c, part):
        if c in self.scale:
            mean, sd = self.scale[c]
            return part[:, 0] * sd + mean
        index = part.argmax(1) if self.hot else np.rint(part[:, 0] - FIRST).astype(int)
        return self.levels[c][np.clip(index, 0, len(self.levels[c]) - 1)]

    def decode(self, array, like):
        """The gaps of `like` filled from the array."""
        columns, at = {}, 0
        for c in self.kinds:
            width = len(self.levels[c]) if self.hot and c in self.levels else 1
            columns[c] = self.decode_column(c, array[:, at : at + width])
            at += width
        return like.fillna(pd.DataFrame(columns, index=like.index))


def fill(name, train, test, kinds, draws, seed):
    """Completed copies of the test rows, and the CPU seconds to learn and to fill."""
    make, hot, draws_posterior = FILLERS[name]
    code = Code(train, kinds, hot)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        imputer = make(seed).fit(code.encode(train))
    learnt = time.process_time()
    copies = [code.decode(imputer.transform(code.encode(test)), test) for _ in range(draws if draws_posterior else 1)]
    return copies, learnt - begin, time.process_time() - learnt


def means(frame, train, kinds):
    """The frame with any gap left filled by the training rows' mean or commonest category."""
    usual = {c: train[c].mode()[0] if kind == "cat" else train[c].mean() for c, kind in kinds.items()}
    return frame.fillna(usual)
