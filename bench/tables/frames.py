"""Tables to and from CSV files: what a user would write, and what the scorer can compare."""

import json

import numpy as np
import pandas as pd


def whole(column):
    values = column.dropna()
    return len(values) > 0 and np.all(values == np.round(values))


def write(frame, path):
    """Whole numbers are written as such (15, not 15.0), missing cells as nothing."""
    out = frame.copy()
    for c in out:
        if pd.api.types.is_float_dtype(out[c]) and whole(out[c]):
            out[c] = out[c].astype("Int64")
    out.to_csv(path, index=False)


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def same_spelling(column, levels):
    """Spells a category as in the training rows when it is the same number written otherwise (1 and 1.0)."""
    spelling = {number(v): v for v in levels if number(v) is not None}
    return column.map(lambda v: v if v in levels else spelling.get(number(v), v), na_action="ignore")


def read(path, train, kinds):
    """A table in the columns of `train`: categories as text in its spelling, numbers as floats, missing as NaN."""
    text = {c: str for c, kind in kinds.items() if kind == "cat"}
    frame = pd.read_csv(path, dtype=text, keep_default_na=False, na_values=["", "NA"])
    for c in kinds:
        if kinds[c] == "cat":
            levels = set(train[c].dropna())
            frame[c] = same_spelling(frame[c], levels)
            # pmm takes "?" for missing, and writes missing cells as nothing; the scorer takes it for a level.
            if "?" in levels:
                frame[c] = frame[c].fillna("?")
        else:
            frame[c] = pd.to_numeric(frame[c]).astype(float)
    return frame


def snap(frame, train, kinds):
    """Every number moved to the nearest one of the training rows, as TABLES.md did before scoring the peers."""
    out = frame.copy()
    for c, kind in kinds.items():
        if kind != "cat":
            grid = np.unique(train[c].dropna())
            middle = (grid[1:] + grid[:-1]) / 2
            known = out[c].notna()
            out.loc[known, c] = grid[np.searchsorted(middle, out.loc[known, c].to_numpy())]
    return out


def job(folder, train, test, kinds, **values):
    """Writes what `peers/job.py` reads."""
    write(train, folder / "train.csv")
    if test is not None:
        write(test, folder / "test.csv")
    (folder / "job.json").write_text(json.dumps({"kinds": kinds, **values}))
