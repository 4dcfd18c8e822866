"""Small tables, 120 to 1,300 training rows: the protocol of ForestDiffusion's paper where its tables can be had, beside ForestDiffusion itself.

Made rows are compared with training and held-out rows in a space where numbers go from 0 to 1 over all rows and two categories are 1 apart.
"""

import shlex
import sys
import tempfile
from pathlib import Path

import frames
import markdown as md
import numpy as np
import pandas as pd
import pmm
import scores
from harness import HERE, Cell, arguments, digest, measure, run, two_cores
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from small_tables import NAMES, load

METHODS = ["pmm", "forest"]
CLOSE = 5  # a real row is covered by a made one that is as near as its fifth nearest real one
MOST = 1000  # rows of a Wasserstein distance
SCORES = {"w_train": "W to learned rows", "w_test": "W to held-out rows", "covered": "held-out rows covered, %", "c2st": "AUC", "tstr": "usefulness"}
BETTER = {"w_train": min, "w_test": min, "covered": max, "c2st": min, "tstr": max}


def space(kinds, whole, *some):
    """Points of each table."""
    columns = []
    for name, kind in kinds.items():
        if kind == "cat":
            # Two categories differ in two of these numbers.
            columns += [[(rows[name] == level).to_numpy(float) / 2 for rows in some] for level in sorted(whole[name].unique())]
        else:
            low, high = whole[name].min(), whole[name].max()
            columns.append([(rows[name].to_numpy(float) - low) / max(high - low, 1e-12) for rows in some])
    return [np.column_stack(points) for points in zip(*columns)]


def wasserstein(a, b):
    """Between as many rows of each: the cheapest way to pair them, by the sum of differences."""
    rows = min(len(a), len(b), MOST)
    apart = cdist(a[:rows], b[:rows], "cityblock")
    return float(apart[linear_sum_assignment(apart)].mean())


def covered(real, made):
    """The share of real rows that have a made row as near as their fifth nearest real one, of as many made as real ones."""
    reach = np.sort(cdist(real, real, "cityblock"), axis=1)[:, CLOSE]
    return float((cdist(real, made[: len(real)], "cityblock").min(axis=1) <= reach).mean())


def scored(name, seed, made):
    train, test, kinds, target = load(name, seed)
    whole = pd.concat([train, test])
    known, held, points = space(kinds, whole, train, test, made)
    values = scores.rows(train, test, made, target, kinds, made)
    values |= {"w_train": wasserstein(known, points), "w_test": wasserstein(held, points), "covered": covered(held, points)}
    copies = cdist(known, points, "cityblock").min(axis=0) < 1e-9
    return values | {"copies": float(copies.mean()), "rows": len(train), "columns": len(kinds)}


def real(cell):
    """Training rows in the place of made ones; to themselves there is no distance."""
    train, *_ = load(cell.table, cell.seed)
    return scored(cell.table, cell.seed, train) | {"w_train": None, "copies": None}


def ours(cell):
    train, _, kinds, _ = load(cell.table, cell.seed)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.pmm"
        fit = pmm.fit(train, model, cell.seed)
        made, drawn = pmm.sample(model, len(train), cell.seed, train, kinds)
    return scored(cell.table, cell.seed, made) | {"fit": fit.cpu, "draw": drawn.cpu}


def forest(cell):
    train, _, kinds, target = load(cell.table, cell.seed)
    with tempfile.TemporaryDirectory() as folder:
        frames.job(Path(folder), train, None, kinds, target=target, seed=cell.seed, n=len(train), draws=None)
        cost = run([HERE / ".venv-forest/bin/python", HERE / "peers/forest.py", folder])
        times = frames.json.loads((Path(folder) / "times.json").read_text())
        made = frames.read(Path(folder) / "synth.csv", train, kinds)
    # It fits in processes of its own.
    return scored(cell.table, cell.seed, made) | {"fit": cost.cpu - times["draw"], "draw": times["draw"]}


WORK = {"real": real, "pmm": ours, "forest": forest}


def depends(method):
    peer = [HERE / "peers/forest.py", HERE / "peers/job.py", HERE / "requirements-forest.txt"]
    own = {"real": "rows", "pmm": pmm.version(), "forest": digest(*peer)}
    return f"{own[method]}-{digest(HERE / 'small.py', HERE / 'small_tables.py')}"


def cells(tables, methods, seeds):
    return [Cell("small", table, method, seed, depends(method)) for seed in seeds for table in tables for method in ["real", *methods]]


def line(mine, table, method):
    number = lambda name: md.spread([100 * v for v in md.column(mine, name)], 1) if name == "covered" else md.spread(md.column(mine, name), 3)
    copies = md.average(mine, "copies")
    cost = [md.show(md.average(mine, name), 1) for name in ("fit", "draw")]
    return [f"{table} ({mine[0]['rows']} × {mine[0]['columns']})", method, *map(number, SCORES), md.show(copies and 100 * copies, 1), *cost]


def wins(records, tables):
    """On how many tables pmm is better, by means over seeds, of those where both are known."""
    for name, what in SCORES.items():
        pairs = []
        for table in tables:
            both = [md.average([r for r in records if (r["table"], r["method"]) == (table, method)], name) for method in METHODS]
            if None not in both:
                pairs.append(both)
        won = sum(ours != theirs and BETTER[name](ours, theirs) == ours for ours, theirs in pairs)
        yield f"{what}: {won} of {len(pairs)}"


def report(records, tables):
    groups = [(table, method) for table in tables for method in ["real", *METHODS]]
    mine = lambda group: [r for r in records if (r["table"], r["method"]) == group and "error" not in r]
    lines = [line(mine(group), group[0], "learned rows" if group[1] == "real" else group[1]) for group in groups if mine(group)]
    head = ["table (rows learned × columns)", "rows", *SCORES.values(), "copies, %", "fit, CPU s", "draw, CPU s"]
    return f"""# Small tables

Made by `bench/tables/run {shlex.join(["small", *sys.argv[1:]])}`. {len(tables)} of the 27 tables of ForestDiffusion's paper (Jolicoeur-Martineau et al. 2024); the
others are not at hand. Four fifths of the rows are learned, another shuffle for each seed, and as many rows are made; default settings. ForestDiffusion is the
package, cut down (20 noise levels, 10 repeats, 50 trees, where its defaults are 50, 100 and 100), since with its defaults a table of 34 columns takes hours here.

- W is the Wasserstein distance: the mean of the sum of differences over columns when made and real rows are paired as cheaply as can be, where numbers go
  from 0 to 1 and two categories are 1 apart. It grows as rows become fewer: compare with what learned rows have.
- A held-out row is covered if, of as many made rows, one is as near as its fifth nearest held-out one.
- AUC of boosted trees that tell made from held-out rows: .5 is best. Usefulness is what boosted trees that learned the last column from made rows reach on held-out
  ones: macro F1 for classes, R² for numbers.
- Copies are made rows that are learned rows; where all columns are categories, new rows of the same law often are, too.

**pmm is better on** {"; ".join(wins(records, tables))} tables.

{md.table(head, lines)}{md.failures(records)}
"""


def main():
    args = arguments(__doc__, NAMES, METHODS, [0, 1, 2])
    two_cores()
    text = report(list(measure(cells(args.tables, args.methods, args.seeds), lambda cell: WORK[cell.method](cell), args.fresh)), args.tables)
    print(text)
    (HERE / "SMALL.md").write_text(text)


if __name__ == "__main__":
    sys.exit(main())
