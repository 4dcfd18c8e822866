"""The public suite (TabDiff's splits of adult, shoppers, magic and default), scored by the shared scorer: XGB-C2ST, Shape, Trend.

Default settings and other budgets, several seeds; as many rows are made as there are training rows. Nothing is chosen by these
scores: settings are chosen by the loss of held-out training rows."""

import json
import subprocess
import sys
from pathlib import Path

import markdown as md
from harness import BINARY, HERE, SHARED, Cell, arguments, digest, measure, run, two_cores

TABLES = ["adult", "shoppers", "magic", "default"]
# name: flags of `fit`
SETTINGS = {
    "2000 steps in random orders": ["in_order=0"],
    "2000 steps half in order": [],
    "2000 steps all in order": ["in_order=1"],
    "2000 steps half in order at twice the rate": ["train.learning_rate=4e-3"],
    "2000 steps half in order with Muon": ["muon.rate=0.02"],
}
METHODS = {"default": [], "1 minute": ["--minutes", 1], "4 minutes": ["--minutes", 4], "trees": ["--set", "net.kind=trees"]}
METHODS["pooled 4000 steps"] = ["--set", "net.kind=pooled", "--steps", 4000]
for name, settings in SETTINGS.items():
    METHODS[name] = ["--steps", 2000, *[word for setting in settings for word in ("--set", setting)]]
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
    kept = {"steps": info["steps"], "held_out": info["valid_loss"]}
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
        return [table, "real test rows", "", *figures, "", "", ""]
    costs = [md.show(md.average(of, key), digits) for key, digits in (("steps", 0), ("fit_cpu", 0), ("sample_cpu", 1))]
    return [table, method, len(of), *figures, *costs]


def lines(records):
    for at, table in enumerate(TABLES):
        for method in ["real", *METHODS]:
            of = [r for r in records if r["table"] == table and r["method"] == method and "error" not in r]
            if of:
                yield line(table, method, of)
        for name, figures in PUBLISHED.items():
            yield [table, name, 5, md.show(figures[at], 3), "", "", "", "", ""]


def report(records):
    head = ["table", "method", "models", "XGB-C2ST", "Shape", "Trend", "steps", "fit, CPU s", "sample, CPU s"]
    return f"""## The public suite

Splits of the TabDiff paper. XGB-C2ST is 2(1 − AUC) of XGBoost telling made rows from training rows: 1 is best, and one run to the next
moves it by about .01. ± is the standard deviation over models of other seeds. Published figures are of graphics cards.

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
