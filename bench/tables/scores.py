"""The shared scorer, and what tables with missing cells need beyond it.

Two-sample AUC (`c2st`): a missing category is made a level of its own, and the boosted trees take a missing number as it
is; so the AUC sees a wrong share of missing cells like any other fault.
Shape: the distance between the observed cells of a column, plus the gap between the shares of missing cells.
Usefulness: rows whose label is missing are left out.
"""

import harness  # noqa: F401  (puts the shared scorer on the path)
import numpy as np
import tabbench

FEW = 150  # test rows on which methods that are slow to draw are compared with everyone

def levels(frame, kinds):
    """The table with missing categories as a level."""
    return frame.fillna({c: "(missing)" for c, kind in kinds.items() if kind == "cat"})


def shape(real, synth, kinds):
    def column(c):
        a, b = real[[c]].dropna(), synth[[c]].dropna()
        gap = abs(real[c].isna().mean() - synth[c].isna().mean())
        return gap + (tabbench.shape(a, b, {c: kinds[c]}) if len(a) and len(b) else 0.0)

    return float(np.mean([column(c) for c in kinds]))


def useful(train, test, label, kinds):
    """Macro F1 or R² of boosted trees that learn from `train`; none for a single column or a single class."""
    if label is None or len(kinds) < 2:
        return None
    train, test = train[train[label].notna()], test[test[label].notna()]
    if train[label].nunique() < 2:
        return None
    return float(tabbench.tstr(levels(train, kinds), levels(test, kinds), label, kinds))


def rows(train, test, synth, label, kinds, snapped):
    """Scores of synthetic rows; `snapped` are the same rows with every number moved to the nearest training value."""
    auc = lambda rows: float(tabbench.c2st(levels(test, kinds), levels(rows, kinds), kinds))
    return {
        "c2st": auc(synth),
        "c2st_snap": auc(snapped),
        "shape": shape(test, synth, kinds),
        "tstr": useful(synth, test, label, kinds),
    }


def draws(array, y):
    """CRPS with its standard error over the rows, and coverage of the central intervals."""
    each = np.array([tabbench.crps(array[i : i + 1], y[i : i + 1]) for i in range(len(y))])
    return {
        "crps": tabbench.crps(array, y),
        "crps_se": float(each.std(ddof=1) / np.sqrt(len(y))),
        "cover50": tabbench.cover(array, y, 0.5),
        "cover90": tabbench.cover(array, y, 0.9),
    }


def draws_few(array, y):
    """The same on all rows with a known target, and as `…_few` on the first few of them."""
    y = y[: len(array)]
    known = ~np.isnan(y)
    array, y = array[known], y[known]
    values = {f"{name}_few": value for name, value in draws(array[:FEW], y[:FEW]).items()}
    return values | (draws(array, y) if len(y) > FEW else {})


def calibrated(level, k):
    """What `tabbench.cover` gives for a perfect forecast of k draws: its interval lies between interpolated order
    statistics, and the j-th of k draws has level j/(k + 1)."""
    below = ((k - 1) * (1 - level) / 2 + 1) / (k + 1)
    return 1 - 2 * below
