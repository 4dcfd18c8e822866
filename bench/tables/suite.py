"""The public suite (TabDiff's splits of adult, shoppers, magic and default), scored by the shared scorer: XGB-C2ST, Shape, Trend; and how
much nearer made rows are to training rows than to test rows.

Default settings and other budgets, several seeds; as many rows are made as there are training rows. Nothing is chosen by these
scores: settings are chosen by the loss of held-out training rows."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.neighbors import NearestNeighbors

import markdown as md
from harness import BINARY, HERE, SHARED, Cell, arguments, digest, measure, run, two_cores

TABLES = ["adult", "shoppers", "magic", "default"]
# name: flags of `fit`
METHODS = {
    "default": [],
    "rules off": ["--set", "rules=off"],
    "1 minute": ["--minutes", 1],
    "4 minutes": ["--minutes", 4],
    "2000 steps": ["--steps", 2000],
    "2000 steps in random orders": ["--steps", 2000, "--set", "in_order=0"],
    "trees": ["--set", "net.kind=trees"],
    "pooled 4000 steps": ["--set", "net.kind=pooled", "--steps", 4000],
}
SCORER = SHARED / "suite" / "suite.py"
PYTHON = HERE / ".venv-suite" / "bin" / "python"
DATA = HERE / ".work" / "suite"
# XGB-C2ST as published (five models each), from the README beside the scorer; with the fit's time on a graphics card.
PUBLISHED = {
    "TabDiff (10,000 s and more)": [0.841, 0.736, 0.773, 0.591],
    "TabSyn": [0.794, 0.655, 0.760, 0.402],
    "TabPC (40 to 270 s)": [0.855, 0.894, 0.860, 0.262],
}


def scorer(*args):
    """What the scorer prints, in its own environment."""
    command = [str(a) for a in (PYTHON, SCORER, *args)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def prepare():
    if not all((DATA / table / "train.csv").exists() for table in TABLES):
        DATA.mkdir(parents=True, exist_ok=True)
        scorer("prepare", DATA)


def score(table, file):
    found = scorer("score", DATA, table, file)
    return json.loads(found[found.index("{") :])


def numbers(frame):
    """Columns as numbers: ranks in [0, 1], and a corner of a simplex for each level, one apart from the others."""
    parts = []
    for name, column in frame.items():
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            parts.append(column.rank(pct=True).to_numpy()[:, None])
        else:
            parts.append(pd.get_dummies(column.astype(str)).to_numpy() * 0.5**0.5)
    return np.hstack(parts).astype(np.float32)


def nearer(table, made, most=3000):
    """The share of made rows whose nearest training row is nearer than their nearest test row, of as many training rows as test rows: .5 if
    they are new; and the share that are training rows."""
    frames = [pd.read_csv(DATA / table / "train.csv"), pd.read_csv(DATA / table / "test.csv"), pd.read_csv(made)]
    ends = np.cumsum([len(frame) for frame in frames])[:-1]
    train, test, rows = np.split(numbers(pd.concat([frame[list(frames[0])] for frame in frames], ignore_index=True)), ends)
    rng = np.random.default_rng(0)
    some = lambda x, n: x[rng.choice(len(x), min(n, len(x)), replace=False)]
    rows = some(rows, most)
    distance = lambda among: NearestNeighbors(n_neighbors=1).fit(among).kneighbors(rows)[0][:, 0]
    least = min(len(train), len(test))
    to_train, to_test = distance(some(train, least)), distance(some(test, least))
    share = (to_train < to_test).mean() + 0.5 * (to_train == to_test).mean()
    return {"nearer": float(share), "copies": float((distance(train) == 0).mean())}


def work(cell):
    if cell.method == "real":
        return score(cell.table, "TEST")
    train, model = DATA / cell.table / "train.csv", DATA / f"{cell.table}.pmm"
    made = model.with_suffix(".csv")
    flags = METHODS[cell.method]
    fit = run([BINARY, "fit", train, "--out", model, "--seed", cell.seed, "--force", "--quiet", *flags])
    rows = sum(1 for _ in train.open()) - 1
    sampled = run([BINARY, "sample", model, "-n", rows, "--seed", cell.seed], made)
    info = json.loads(subprocess.run([BINARY, "info", model, "--json"], check=True, stdout=subprocess.PIPE).stdout)
    kept = {"steps": info["fit"]["steps"], **nearer(cell.table, made)}
    costs = {"fit_cpu": fit.cpu, "fit_seconds": fit.seconds, "sample_cpu": sampled.cpu, "megabytes": fit.megabytes}
    return score(cell.table, made) | kept | costs


def cells(tables, methods, seeds):
    for seed in seeds:
        for table in tables:
            for method in [*(["real"] if seed == seeds[0] else []), *methods]:
                yield Cell("suite", table, method, seed, "scorer" if method == "real" else digest(BINARY))


def line(table, method, of):
    figures = [md.spread(md.column(of, key), 3) for key in ("xgb_c2st", "Column Shapes", "Column Pair Trends")]
    if method == "real":
        return [table, "real test rows", "", *figures, *[""] * 5]
    columns = (("nearer", 3), ("copies", 4), ("steps", 0), ("fit_cpu", 0), ("sample_cpu", 1))
    return [table, method, len(of), *figures, *[md.show(md.average(of, key), digits) for key, digits in columns]]


def lines(records):
    for at, table in enumerate(TABLES):
        for method in ["real", *METHODS]:
            of = [r for r in records if r["table"] == table and r["method"] == method and "error" not in r]
            if of:
                yield line(table, method, of)
        for name, figures in PUBLISHED.items():
            yield [table, name, 5, md.show(figures[at], 3), *[""] * 7]


def report(records):
    head = ["table", "method", "models", "XGB-C2ST", "Shape", "Trend", "nearer", "copies", "steps", "fit, CPU s", "sample, CPU s"]
    return f"""## The public suite

Splits of the TabDiff paper. XGB-C2ST is 2(1 − AUC) of XGBoost telling made rows from training rows: 1 is best, and one run to the next
moves it by about .01. ± is the standard deviation over models of other seeds. Published figures are of graphics cards. "Nearer" is the share
of made rows that are nearer to a training row than to a test row, of as many of either: .5 where rows are new. "Copies" is the share that are
training rows.

{md.table(head, lines(records))}{md.failures(records)}
"""


def main():
    args = arguments(__doc__, TABLES, list(METHODS), [0, 1, 2])
    two_cores()
    prepare()
    text = report(list(measure(cells(args.tables, args.methods, args.seeds), work, args.fresh)))
    print(text)
    (HERE / "SUITE.md").write_text(text)


if __name__ == "__main__":
    sys.exit(main())
