"""What every peer shares: the job it is given in a folder, and missing cells turned into data for peers that know none.

A job is `train.csv`, perhaps `test.csv` (without the target) and `job.json` with `kinds` (column: real, count or cat),
`target`, `seed`, `n` (rows to make) and `draws` (for each test row). The peer writes `synth.csv` or `draws.csv` and
`times.json`.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()


def read(name, kinds):
    """Categories as text, numbers as floats; only an empty cell is missing."""
    text = {c: str for c, kind in kinds.items() if kind == "cat"}
    frame = pd.read_csv(FOLDER / name, dtype=text, keep_default_na=False, na_values=[""])
    return frame.astype({c: float for c in frame if c not in text})


def load():
    job = json.loads((FOLDER / "job.json").read_text())
    return job, read("train.csv", job["kinds"])


def timed(work):
    """A result and the CPU seconds that it took: they do not depend on what else the machine has to do."""
    begin = time.process_time()
    value = work()
    return value, time.process_time() - begin


def finish(name, frame, fit, draw):
    frame.to_csv(FOLDER / name, index=False)
    (FOLDER / "times.json").write_text(json.dumps({"fit": fit, "draw": draw}))


class Gaps:
    """Missing cells as data: one more level for a category; for a number an indicator of its own, the gap itself filled
    with a draw from the column, so that no value gains an atom. `open` undoes it."""

    MISSING = "(missing)"

    def __init__(self, frame, kinds, seed):
        self.kinds = dict(kinds)
        self.numbers = [c for c in frame if kinds[c] != "cat" and frame[c].isna().any()]
        self.rng = np.random.default_rng(seed)
        for c in self.numbers:
            self.kinds[self.flag(c)] = "cat"

    def flag(self, column):
        return f"{column} missing"

    def close(self, frame):
        frame = frame.copy()
        for c in self.numbers:
            gap = frame[c].isna()
            frame.loc[gap, c] = self.rng.choice(frame.loc[~gap, c].to_numpy(), gap.sum())
            frame[self.flag(c)] = np.where(gap, "yes", "no")
        categories = [c for c in frame if self.kinds[c] == "cat"]
        return frame.fillna({c: self.MISSING for c in categories})

    def open(self, frame):
        frame = frame.copy()
        for c in self.numbers:
            frame.loc[(frame.pop(self.flag(c)) == "yes").to_numpy(), c] = np.nan
        return frame.replace(self.MISSING, np.nan)


def codes(train, test, kinds):
    """Features of the rows whose target is known, as numbers with NaN for missing, and which of them are categories."""
    columns = list(test)
    categories = [c for c in columns if kinds[c] == "cat"]
    train, test = train[columns].copy(), test.copy()
    for c in categories:
        level = {v: i for i, v in enumerate(sorted(train[c].dropna().unique()))}
        train[c], test[c] = train[c].map(level).astype(float), test[c].map(level).astype(float)
    return train.to_numpy(float), test.to_numpy(float), [columns.index(c) for c in categories]


def regression(job, train):
    """(x, y, x of the test rows, indexes of categories) for a peer that predicts the target."""
    known = train[train[job["target"]].notna()]
    x, test, categories = codes(known, read("test.csv", job["kinds"]), job["kinds"])
    return x, known[job["target"]].to_numpy(float), test, categories


def as_draws(draws):
    return pd.DataFrame(draws, columns=[f"draw_{i + 1}" for i in range(draws.shape[1])])
