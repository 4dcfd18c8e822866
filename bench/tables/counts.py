"""Count columns: zeros, mean, variance and dispersion of samples beside held-out rows; Poisson pair against Normal pair."""

import sys
import tempfile
from pathlib import Path

import further_tables
import markdown as md
import numpy as np
import pmm
import tabbench
from harness import Cell, arguments, measure, two_cores
from scipy.stats import wasserstein_distance

COLUMNS = {"rwm5yr": ["docvis", "hospvis"], "bioChemists": ["art"], "bike": ["cnt"], "quine": ["Days"]}
METHODS = ["reveal", "poisson", "normal"]
NAMES = {"reveal": "reveal", "poisson": "gradual, Poisson pair", "normal": "gradual, Normal pair"}
ROWS = 4000  # sampled
RESAMPLES = 2000


def load(table):
    if table in tabbench.NAMES:
        train, test, _, kinds = tabbench.load(table, seed=0)
        return train, test, kinds
    return further_tables.load(table)


def statistics(x):
    """Share of zeros, mean, variance, dispersion index; over the last axis."""
    mean, variance = x.mean(-1), x.var(-1, ddof=1)
    return np.stack([(x == 0).mean(-1), mean, variance, variance / mean])


STATISTICS = ["zeros", "mean", "variance", "dispersion"]


def resamples(x, seed):
    """Statistics of bootstrap resamples, [statistic, resample]."""
    rng = np.random.default_rng(seed)
    return np.concatenate([statistics(rng.choice(x, (50, len(x)))) for _ in range(RESAMPLES // 50)], axis=1)


def interval(values):
    return np.maximum(np.quantile(values, [0.025, 0.975], axis=1), 0).T.tolist()


def noise(test, train):
    """95 % intervals [statistic][low, high]: of the held-out rows, and with the noise of the training rows added, which even
    a perfect model of them has."""
    held = resamples(test, 0)
    learnt = resamples(train, 1) - statistics(train)[:, None]
    return {"noise": interval(held), "both": interval(held + learnt)}


def summary(x, test):
    whole = float(np.mean(x == np.round(x)))
    distance = float(wasserstein_distance(x, test) / test.std())
    return dict(zip(STATISTICS, map(float, statistics(x)))) | {"distance": distance, "whole": whole}


def real(cell):
    train, test, _ = load(cell.table)
    values = {}
    for c in COLUMNS[cell.table]:
        held, seen = test[c].to_numpy(), train[c].to_numpy()
        values[c] = {"test": summary(held, held), "train": summary(seen, held)} | noise(held, seen)
    return {"columns": values}


def settings(method, table):
    if method == "reveal":
        return []
    return ["clock=gradual", *(f"columns.{c}.pair={method}" for c in COLUMNS[table])]


def ours(cell):
    train, test, kinds = load(cell.table)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.pmm"
        fit = pmm.fit(train, model, cell.seed, settings=settings(cell.method, cell.table))
        synth, sampled = pmm.sample(model, ROWS, cell.seed, train, kinds)
    columns = {c: summary(synth[c].dropna().to_numpy(), test[c].to_numpy()) for c in COLUMNS[cell.table]}
    return {"columns": columns, "fit_seconds": fit.seconds, "sample_seconds": sampled.seconds}


def work(cell):
    return real(cell) if cell.method == "real" else ours(cell)


def cells(tables, methods, seeds):
    for seed in seeds:
        for table in tables:
            for method in ["real", *methods]:
                if method != "real" or seed == seeds[0]:
                    yield Cell("counts", table, method, seed, "scorer" if method == "real" else pmm.version())


def within(values, bounds):
    return bounds[0] <= np.mean(values) <= bounds[1]


def figure(values, bounds):
    """The mean over seeds, bold when outside the noise of the held-out rows."""
    text = md.show(np.mean(values))
    return text if within(values, bounds) else f"**{text}**"


def held_lines(table, column, real):
    of = lambda rows: [md.show(real[rows][s]) for s in STATISTICS]
    bounds = lambda which: [f"{md.show(lo)} to {md.show(hi)}" for lo, hi in real[which]]
    yield [f"{table}.{column}", "held-out rows", *of("test"), "", ""]
    yield ["", "their noise", *bounds("noise"), "", ""]
    yield ["", "and that of the training rows", *bounds("both"), "", ""]
    yield ["", "training rows", *of("train"), md.show(real["train"]["distance"], 3), ""]


def sample_line(name, mine, column, real):
    values = lambda s: [r["columns"][column][s] for r in mine]
    figures = [figure(values(s), bounds) for s, bounds in zip(STATISTICS, real["noise"])]
    inside = [sum(within(values(s), b) for s, b in zip(STATISTICS, real[which])) for which in ("noise", "both")]
    counted = f"{inside[0]} of 4; {inside[1]} of 4"
    return ["", f"{name} (seeds: {len(mine)})", *figures, md.spread(values("distance"), 3), counted]


def lines(records):
    for table, columns in COLUMNS.items():
        of = lambda method: [r for r in records if r["table"] == table and r["method"] == method and "error" not in r]
        for column in columns if of("real") else []:
            real = of("real")[0]["columns"][column]
            yield from held_lines(table, column, real)
            yield from (sample_line(NAMES[m], of(m), column, real) for m in METHODS if of(m))


def report(records):
    head = ["column", "rows", "zeros", "mean", "variance", "dispersion", "distance", "within noise"]
    return f"""## Count columns

{ROWS:,} sampled rows a seed, mean over seeds, beside held-out rows. The noise is the 95 % bootstrap interval of the held-out
rows; a figure outside it is bold. The second interval adds the noise of the training rows, from which even a perfect model
cannot be free; the last column counts the figures within the first and within the second. Distance: Wasserstein over the
standard deviation. "Gradual" has all the columns of the table on gradual clocks, and the named pair on its count columns.

{md.table(head, lines(records))}{md.failures(records)}
"""


def known():
    return [r for c in cells(list(COLUMNS), METHODS, (0, 1, 2)) if (r := c.newest())]


def main():
    args = arguments(__doc__, list(COLUMNS), METHODS, [0, 1, 2])
    two_cores()
    print(report(list(measure(cells(args.tables, args.methods, args.seeds), work, args.fresh))))


if __name__ == "__main__":
    sys.exit(main())
