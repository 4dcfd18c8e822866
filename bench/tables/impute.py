"""Filling gaps: 30 % of the cells removed at random or in blocks, beside column means, k-NN and iterated trees.

Both the training and the held-out rows lose their cells. Everyone, pmm too, learns from the gappy training rows alone, and
is judged on the removed cells of the held-out rows.
"""

import sys
import tempfile
from pathlib import Path

import fillers
import further_tables
import markdown as md
import numpy as np
import pandas as pd
import pmm
import tabbench
from harness import HERE, Cell, arguments, digest, measure, two_cores

TABLES = ["california", "abalone", "wine", "titanic"]
PATTERNS = ["random", "blocks"]
SHARE = 0.3
DRAWS = 20
METHODS = ["pmm", *fillers.FILLERS]


def load(name):
    """california: 3,000 rows in all; the others whole."""
    if name == "titanic":
        return further_tables.load(name)
    train, test, _, kinds = tabbench.load(name, seed=0, max_rows=3000 if name == "california" else 12000)
    return train, test, kinds


def holes(rows, columns, pattern, rng):
    """True where a cell goes, [rows, columns]. A block is a run of neighbouring columns of one row, the first column
    following the last; its length is 30 % of the columns on average."""
    if pattern == "random":
        return rng.random((rows, columns)) < SHARE
    length = np.floor(SHARE * columns + rng.random((rows, 1)))
    start = rng.integers(columns, size=(rows, 1))
    return (np.arange(columns) - start) % columns < length


def remove(frame, pattern, seed):
    """The frame with gaps, and where a known cell was removed."""
    gone = holes(*frame.shape, pattern, np.random.default_rng(seed))
    return frame.mask(gone), pd.DataFrame(gone, frame.index, frame.columns) & frame.notna()


def point(copies, kinds):
    """One table of many: means of the numbers, the commonest category."""
    if len(copies) == 1:
        return copies[0]
    merged = {}
    for c, kind in kinds.items():
        stacked = pd.concat([copy[c] for copy in copies], axis=1)
        merged[c] = stacked.mode(axis=1)[0] if kind == "cat" else stacked.mean(axis=1)
    return pd.DataFrame(merged)


def inside(copies, truth, c, where):
    """Whether the truth lies between the 5 % and the 95 % quantile of the draws. Quantile p is the draw of rank p(k + 1),
    so that perfect draws cover 90 %, however few."""
    stacked = np.stack([copy[c].to_numpy()[where] for copy in copies])
    low, high = np.quantile(stacked, [0.05, 0.95], axis=0, method="weibull")
    return (truth >= low) & (truth <= high)


def score(copies, full, gone, train, kinds):
    """Over all removed cells: MAE and RMSE of numbers in standard deviations of their columns, the share of right categories, coverage."""
    one, errors, hits, covered = point(copies, kinds), [], [], []
    for c, kind in kinds.items():
        where = gone[c].to_numpy()
        truth, filled = full[c].to_numpy()[where], one[c].to_numpy()[where]
        if not len(truth):
            continue
        if kind == "cat":
            hits.append(truth == filled)
            continue
        errors.append((truth - filled) / train[c].std())
        if len(copies) > 1:
            covered.append(inside(copies, truth, c, where))
    average = lambda parts, of=lambda x: x: float(np.mean(of(np.concatenate(parts)))) if parts else None
    mean_square = average(errors, np.square)
    scores = {"mae": average(errors, np.abs), "rmse_cells": None if mean_square is None else mean_square**0.5}
    return scores | {"right": average(hits), "cover90": average(covered)}


def fill(cell, train, test, kinds):
    """Completed copies of the test rows, with the CPU seconds to learn and to fill."""
    if cell.method != "pmm":
        return fillers.fill(cell.method, train, test, kinds, DRAWS, cell.seed)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.pmm"
        fit = pmm.fit(train, model, cell.seed)
        copies, filled = pmm.impute(model, test, DRAWS, cell.seed, train, kinds)
    return copies, fit.cpu, filled.cpu


def work(cell):
    name, pattern = cell.table.split("-")
    train, test, kinds = load(name)
    test = test.reset_index(drop=True)
    gappy_train, _ = remove(train, pattern, cell.seed + 1000)
    gappy_test, gone = remove(test, pattern, cell.seed)
    copies, fit, filling = fill(cell, gappy_train, gappy_test, kinds)
    unfilled = float(np.mean([copy[list(kinds)].isna().mean().mean() for copy in copies]))
    copies = [fillers.means(copy, gappy_train, kinds) for copy in copies]
    return score(copies, test, gone, train, kinds) | {"unfilled": unfilled, "fit": fit, "fill": filling}


def cells(tables, methods, seeds):
    for seed in seeds:
        for pattern in PATTERNS:
            for table in tables:
                for method in methods:
                    depends = pmm.version() if method == "pmm" else digest(HERE / "fillers.py")
                    yield Cell("impute", f"{table}-{pattern}", method, seed, depends)


def lines(records):
    for pattern in PATTERNS:
        for table in TABLES:
            for method in METHODS:
                mine = [r for r in records if (r["table"], r["method"]) == (f"{table}-{pattern}", method) and "error" not in r]
                if mine:
                    figures = [md.spread(md.column(mine, n), 3) for n in ("mae", "rmse_cells", "right", "cover90")]
                    cost = [md.show(md.average(mine, n), 1) for n in ("fit", "fill")]
                    yield [f"{table}, {pattern}", method, len(mine), *figures, *cost, md.show(md.average(mine, "unfilled"), 3)]


def report(records):
    head = "table|method|seeds|MAE|RMSE|right categories|90 % covers|learn, CPU s|fill, CPU s|left empty".split("|")
    return f"""## Filling gaps

{SHARE:.0%} of the cells removed, from training and held-out rows alike: each cell at random, or a run of neighbouring columns of a
row. All methods learn from the gappy training rows only; scores are of the removed cells of the held-out rows, ± standard
deviation over seeds (which draw the gaps anew). As in the literature (DiffPuter), MAE and RMSE are over all removed numbers,
each divided by the standard deviation of its column among the complete training rows. A method with draws (pmm and `linear`,
{DRAWS} each) is scored by the mean, or the commonest category, of its draws; the others have no intervals. `trees` are
MissForest's way, `linear` is that of MICE, both by scikit-learn. Cells left empty are filled by the column's mean or
commonest category before scoring.

{md.table(head, lines(records))}{md.failures(records)}
"""


def known():
    return [r for c in cells(TABLES, METHODS, (0, 1, 2)) if (r := c.newest())]


def main():
    args = arguments(__doc__, TABLES, METHODS, [0, 1, 2])
    two_cores()
    print(report(list(measure(cells(args.tables, args.methods, args.seeds), work, args.fresh))))


if __name__ == "__main__":
    sys.exit(main())
