"""α-precision, β-recall, usefulness and distance to the closest row, as the papers of TabSyn and TabDiff measure them.

Written anew from what their published code does: α-precision and β-recall are synthcity's without an embedding ("naive"), on numbers between
0 and 1 and one-hot levels; usefulness (MLE) is the AUC, on real test rows, of XGBoost that learned from the made rows.
"""

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import ParameterGrid, train_test_split
from sklearn.neighbors import NearestNeighbors

LEVELS = np.linspace(0, 1, 30)
# The papers' grid. Fewer trees are the first ones of many.
TREES = [10, 50, 100]
GRID = ParameterGrid({"min_child_weight": [1, 10], "max_depth": [5, 10, 20], "gamma": [0.0, 1.0]})


def read(path, numbers):
    """A table whose columns at the places `numbers` are floats, all others texts. adult's ? is a missing cell to pmm, and a level here."""
    frame = pd.read_csv(path)
    for i, name in enumerate(frame):
        frame[name] = pd.to_numeric(frame[name]).astype(float) if i in numbers else frame[name].astype(str).replace("nan", "?")
    return frame


def is_number(column):
    return pd.api.types.is_float_dtype(column)


def one_hot(frame, like):
    """Numbers first, levels of `like` after them: those of the last column stand last."""
    numbers = frame[[c for c in frame if is_number(like[c])]].to_numpy()
    levels = [frame[c].to_numpy()[:, None] == np.unique(like[c])[None] for c in frame if not is_number(like[c])]
    return np.hstack([numbers, *levels]).astype(float)


def scaled(frames, real):
    """One-hot tables with every column of the real rows between 0 and 1. synthcity takes the last column for a target and leaves it out: it
    is the last level of the class, which the other level tells as well."""
    like = one_hot(real, real)
    low, range = like.min(0), np.ptp(like, axis=0)
    return [((one_hot(frame, real) - low) / np.where(range > 0, range, 1))[:, :-1] for frame in frames]


def length(rows):
    return np.sqrt((rows**2).sum(1))


def nearest(among, rows=None):
    """The place of the nearest of `among` for each of the rows; without rows, of the nearest other."""
    return NearestNeighbors(n_neighbors=1).fit(among).kneighbors(rows, return_distance=False)[:, 0]


def precision_and_recall(real, made):
    """How near two curves are to the diagonal, 1 where they lie on it: of made rows, the share within the ball that holds the share α of the
    real rows; of real rows, the share that have a made row nearer than any other real row, among the share β of such made rows
    that are nearest to the centre."""
    centre = real.mean(0)
    radii = np.quantile(length(real - centre), LEVELS)
    precision = (length(made - centre)[:, None] <= radii).mean(0)
    closest = made[nearest(made, real)]
    covered = length(real - closest) <= length(real - real[nearest(real)])
    depth = length(closest - made.mean(0))
    recall = (covered[:, None] & (depth[:, None] <= np.quantile(depth, LEVELS))).mean(0)
    score = lambda curve: float(1 - np.abs(LEVELS - curve).sum() / LEVELS.sum())
    return {"alpha_precision": score(precision), "beta_recall": score(recall)}


def precision_recall(real, made):
    """Of as many real as made rows."""
    rows = min(len(real), len(made))
    some = lambda frame: frame if len(frame) == rows else frame.sample(rows, random_state=0)
    return precision_and_recall(*scaled([some(real), some(made)], real))


def usefulness(made, test, seed):
    """The AUC on test rows of XGBoost that learned the last column from made rows; its settings are those with the highest AUC on a ninth of
    the made rows."""
    from xgboost import XGBClassifier

    target = test.columns[-1]
    inputs = lambda frame: one_hot(frame.drop(columns=target), made.drop(columns=target))
    positive = max(test[target])
    x, held_x, y, held_y = train_test_split(inputs(made), made[target] == positive, test_size=len(made) // 9, random_state=seed)
    chance = lambda model, rows, trees: model.predict_proba(rows, iteration_range=(0, trees))[:, 1]
    tried = []
    for settings in GRID:
        model = XGBClassifier(n_estimators=max(TREES), tree_method="hist", n_jobs=2, **settings).fit(x, y)
        tried += [(roc_auc_score(held_y, chance(model, held_x, trees)), len(tried), model, trees) for trees in TREES]
    _, _, model, trees = max(tried, key=lambda one: (one[0], -one[1]))
    return {"mle": float(roc_auc_score(test[target] == positive, chance(model, inputs(test), trees)))}


def distances(rows, among, block=16):
    """To the closest of `among`: absolute differences of numbers over the range, and 2 for each level that differs, as of one-hot columns."""
    least = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), block):
        some = rows.iloc[start : start + block]
        total = np.zeros((len(some), len(among)), np.float32)
        for c in among:
            a, b = some[c].to_numpy()[:, None], among[c].to_numpy()[None]
            total += np.abs(a - b) if is_number(among[c]) else np.float32(2) * (a != b)
        least[start : start + block] = total.min(1)
    return least


def coded(frames):
    """Numbers from 0 to 1 over the first table, levels as codes."""
    all_rows = pd.concat(frames, ignore_index=True)
    for c in all_rows:
        if is_number(all_rows[c]):
            low, high = frames[0][c].min(), frames[0][c].max()
            all_rows[c] = ((all_rows[c] - low) / (high - low)).astype(np.float32)
        else:
            all_rows[c] = pd.factorize(all_rows[c])[0]
    ends = np.cumsum([len(frame) for frame in frames])
    return [all_rows[end - len(frame) : end] for frame, end in zip(frames, ends)]


def closest(train, test, made):
    """The share of made rows (DCR) that are closer to a training row than to a test row, of as many of either, ties half: .5 where rows are new."""
    train, test, made = coded([train, test, made])
    rows = min(len(train), len(test))
    to_train, to_test = (distances(made, frame.sample(rows, random_state=0)) for frame in (train, test))
    return {"dcr": float((to_train < to_test).mean() + 0.5 * (to_train == to_test).mean())}


def copies(train, made):
    """The share of made rows that are training rows."""
    return {"copies": float(made.apply(tuple, axis=1).isin(set(train.itertuples(index=False, name=None))).mean())}
