"""The public suite: TabDiff's splits of adult, shoppers, magic and default, and the scores of its paper.

Default settings and other budgets, several seeds; as many rows are made as there are training rows. XGB-C2ST, Shape and Trend are by the shared
scorer, the others by fidelity.py. Made rows are kept in .work/suite/made under the hash of the binary, so that another score needs no other fit.
"""

import importlib.util
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import fidelity
import markdown as md
import pandas as pd
from harness import BINARY, HERE, SHARED, Cell, arguments, digest, measure, run, two_cores

TABLES = ["adult", "shoppers", "magic", "default"]
HALF = "half of the rows"
# name: flags of `fit`
METHODS = {
    "default": [],
    HALF: [],
    "rules off": ["--set", "rules=off"],
    "1 minute": ["--minutes", 1],
    "4 minutes": ["--minutes", 4],
    "2000 steps": ["--steps", 2000],
    "2000 steps in random orders": ["--steps", 2000, "--set", "in_order=0"],
    "trees": ["--set", "net.kind=trees"],
    "pooled 4000 steps": ["--set", "net.kind=pooled", "--steps", 4000],
}
USUAL = ["default", HALF]
REAL = "real rows"
SCORER = SHARED / "suite" / "suite.py"
PYTHON = HERE / ".venv-suite" / "bin" / "python"
DATA = HERE / ".work" / "suite"
MADE = DATA / "made"
# name: (key, digits)
SCORES = {
    "XGB-C2ST": ("xgb_c2st", 3),
    "Shape": ("Column Shapes", 3),
    "Trend": ("Column Pair Trends", 3),
    "α-precision": ("alpha_precision", 3),
    "β-recall": ("beta_recall", 3),
    "MLE": ("mle", 3),
    "DCR": ("dcr", 3),
    "copies": ("copies", 4),
}
COSTS = {"steps": ("steps", 0), "fit, CPU s": ("fit_cpu", 0), "sample, CPU s": ("sample_cpu", 1), "score, CPU s": ("score_cpu", 0)}
# As published (five models each), from the README beside the scorer; with the fit's time on a graphics card. Scores by table.
PUBLISHED = {
    "TabDiff (10,000 s and more)": {
        "XGB-C2ST": [0.841, 0.736, 0.773, 0.591],
        "Shape": [0.993, 0.985, 0.992, 0.988],
        "Trend": [0.985, 0.981, 0.992, 0.973],
        "α-precision": [0.986, 0.985, 0.994, 0.987],
        "β-recall": [0.526, 0.511, 0.480, 0.515],
        "MLE": [0.913, 0.917, 0.936, 0.763],
        "DCR": [0.549, 0.512, 0.501, 0.522],
    },
    "TabSyn": {"XGB-C2ST": [0.794, 0.655, 0.760, 0.402]},
    "TabPC (40 to 270 s)": {"XGB-C2ST": [0.855, 0.894, 0.860, 0.262]},
}


def scorer(*args):
    """What the scorer prints, in its own process."""
    command = [str(a) for a in (PYTHON, SCORER, *args)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def prepare():
    if not all((DATA / table / "train.csv").exists() for table in TABLES):
        DATA.mkdir(parents=True, exist_ok=True)
        scorer("prepare", DATA)


def read(table, file):
    """Rows with the columns that the scorer takes for numbers as floats."""
    spec = importlib.util.spec_from_file_location("scorer", SCORER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return fidelity.read(file, module.SETS[table][2])


def shared_scores(table, file):
    found = scorer("score", DATA, table, file)
    return json.loads(found[found.index("{") :])


def halves(cell):
    """All rows of a table in two halves by chance: files of those to learn and of those to compare with."""
    paths = [MADE / f"{cell.table}.half-{cell.seed}.{name}.csv" for name in ("train", "test")]
    rows = pd.concat([pd.read_csv(DATA / cell.table / name) for name in ("train.csv", "test.csv")])
    rows = rows.sample(frac=1, random_state=cell.seed)
    for path, part in zip(paths, (rows[: len(rows) // 2], rows[len(rows) // 2 :])):
        part.to_csv(path, index=False)
    return paths


def parts(cell):
    if cell.method == HALF:
        return halves(cell)
    return [DATA / cell.table / name for name in ("train.csv", "test.csv")]


def made_by(cell):
    """A file of made rows, and what they cost; kept under the hash of the binary."""
    made = MADE / f"{cell.table}.{cell.method}.{cell.seed}.{digest(BINARY)}.csv"
    costs = made.with_suffix(".json")
    if not costs.exists():
        costs.write_text(json.dumps(make(cell, made)))
    return made, json.loads(costs.read_text())


def make(cell, made):
    train, model = parts(cell)[0], DATA / f"{cell.table}.pmm"
    flags = METHODS[cell.method]
    fit = run([BINARY, "fit", train, "--out", model, "--seed", cell.seed, "--force", "--quiet", *flags])
    rows = sum(1 for _ in train.open()) - 1
    sampled = run([BINARY, "sample", model, "-n", rows, "--seed", cell.seed], made)
    info = json.loads(subprocess.run([BINARY, "info", model, "--json"], check=True, stdout=subprocess.PIPE).stdout)
    costs = {"fit_cpu": fit.cpu, "fit_seconds": fit.seconds, "sample_cpu": sampled.cpu, "megabytes": fit.megabytes}
    return {"steps": info["fit"]["steps"]} | costs


def real_scores(table):
    """Test rows in the place of made ones; for usefulness the training rows."""
    train, test = (read(table, DATA / table / name) for name in ("train.csv", "test.csv"))
    found = fidelity.precision_recall(train, test) | fidelity.copies(train, test)
    return shared_scores(table, "TEST") | found | fidelity.usefulness(train, test, 0)


def made_scores(cell, file):
    train, test, made = (read(cell.table, path) for path in (*parts(cell), file))
    made = made[list(train)]
    found = fidelity.closest(train, test, made) | fidelity.copies(train, made)
    if cell.method == HALF:
        return found
    found |= fidelity.precision_recall(train, made) | fidelity.usefulness(made, test, cell.seed)
    return found | shared_scores(cell.table, file)


def cpu():
    """Seconds of this process and of those that it waited for."""
    return sum(os.times()[:4])


def work(cell):
    file, costs = (None, {}) if cell.method == REAL else made_by(cell)
    begin = cpu()
    scores = real_scores(cell.table) if file is None else made_scores(cell, file)
    return scores | costs | {"score_cpu": cpu() - begin}


def cells(tables, methods, seeds):
    scoring = digest(SCORER, HERE / "fidelity.py")
    for seed in seeds:
        for table in tables:
            for method in [*([REAL] if seed == seeds[0] else []), *methods]:
                yield Cell("suite", table, method, seed, scoring if method == REAL else f"{digest(BINARY)}-{scoring}")


def line(table, method, of):
    scores = [md.spread(md.column(of, key), digits) for key, digits in SCORES.values()]
    costs = [md.show(md.average(of, key), digits) for key, digits in COSTS.values()]
    return [table, method, "" if method == REAL else len(of), *scores, *costs]


def lines(records):
    for table in dict.fromkeys(r["table"] for r in records):
        for method in [REAL, *METHODS]:
            of = [r for r in records if r["table"] == table and r["method"] == method and "error" not in r]
            if of:
                yield line(table, method, of)
        for name, scores in PUBLISHED.items():
            figures = [md.show(scores[s][TABLES.index(table)] if s in scores else None, 3) for s in SCORES]
            yield [table, f"{name}, published", 5, *figures, *["–"] * len(COSTS)]


def measured(records):
    """The binaries and days of the records."""
    ours = {(r["depends"].split("-")[0], r["date"]) for r in records if r["method"] != REAL and "error" not in r}
    return ", ".join(f"{binary} ({day})" for binary, day in sorted(ours, key=lambda one: one[1]))


def report(records):
    head = ["table", "method", "models", *SCORES, *COSTS]
    return f"""# The public suite

Splits of the TabDiff paper; as many rows are made as there are training rows. Made by `bench/tables/run {shlex.join(["suite", *sys.argv[1:]])}`. Binaries of
pmm: {measured(records)}. ± is the standard deviation over models of other seeds. Published figures are of graphics cards; ours are of two cores, and CPU seconds
count both. Settings are chosen by the loss of held-out training rows; but that all questions of a row are learned in one pass, and weigh alike, was tried on
default and magic first, with shorter fits whose scores here were seen.

- XGB-C2ST is 2(1 − AUC) of XGBoost telling made rows from training rows; Shape and Trend are sdmetrics' (by the shared scorer, in all 1 is best). One
  run to the next moves XGB-C2ST by about .01.
- α-precision and β-recall are synthcity's without an embedding, as the papers have them: 1 is best for the first; for the second, new rows of the same law
  have about .5, and copies of training rows more.
- MLE is the AUC on real test rows of XGBoost that learned the class from made rows, with the papers' grid of 36 settings, chosen on a ninth of the made
  rows.
- DCR is the share of made rows that are closer to a training row than to a test row, of as many training as test rows, ties half: .5 where rows are new. The
  published figures are of models that learned one half of all rows, compared with the other half; those of "{HALF}" are ours of that
  kind, and that method has no other scores. On the usual splits, where a training row is one of ten, copies move DCR little.
- Copies is the share that are training rows.
- "{REAL}" are test rows in the place of made ones, compared with as many training rows; for MLE, XGBoost that learned from the training rows.

{md.table(head, lines(records))}{md.failures(records)}
"""


def main():
    args = arguments(__doc__, TABLES, list(METHODS), [0, 1, 2, 3, 4], USUAL)
    two_cores()
    prepare()
    MADE.mkdir(exist_ok=True)
    text = report(list(measure(cells(args.tables, args.methods, args.seeds), work, args.fresh)))
    print(text)
    (HERE / "SUITE.md").write_text(text)


if __name__ == "__main__":
    sys.exit(main())
