"""Heavy tails: quantiles and largest values of samples beside held-out rows, beyond the largest value that was learned from.

Default settings learn one half of the rows, drawn by chance; the other half is held out.
"""

import shlex
import sys
import tempfile
from pathlib import Path

import further_tables
import markdown as md
import numpy as np
import pandas as pd
import pmm
from harness import BINARY, HERE, SHARED, Cell, arguments, measure, run, two_cores

COLUMNS = {"danish": ["dat"], "freMTPL2sev": ["ClaimAmount"], "support2": ["charges"], "flchain": ["creatinine"], "diamonds": ["price", "carat"]}
LEVELS = [0.99, 0.999]
ROWS = 100_000  # sampled
RESAMPLES = 2000


def load(table):
    """All rows."""
    if table in further_tables.TABLES:
        train, test, _ = further_tables.load(table)
        return pd.concat([train, test], ignore_index=True)
    return pd.read_csv(SHARED / "data" / "tables" / "ggplot2-diamonds.csv.gz").drop(columns="rownames")


def halves(rows, seed):
    mixed = rows.sample(frac=1, random_state=seed).reset_index(drop=True)
    return mixed[: len(mixed) // 2], mixed[len(mixed) // 2 :]


def resamples(x, seed):
    """Quantiles of bootstrap resamples, [level, resample]."""
    rng = np.random.default_rng(seed)
    return np.stack([np.quantile(rng.choice(x, len(x)), LEVELS) for _ in range(RESAMPLES)], axis=1)


def intervals(held, learned):
    """95 % intervals [level][low, high]: of the held-out rows, and with the noise of the learned rows added, which even a perfect model of
    them has."""
    own = resamples(held, 0)
    other = resamples(learned, 1) - np.quantile(learned, LEVELS)[:, None]
    limits = lambda values: np.maximum(np.quantile(values, [0.025, 0.975], axis=1), 0).T.tolist()
    return limits(own), limits(own + other)


def figures(column, sampled, learned, held):
    sampled, learned, held = (rows[column].dropna().to_numpy(float) for rows in (sampled, learned, held))
    top, largest = learned.max(), max(learned.max(), held.max())
    own, both = intervals(held, learned)
    return {
        "quantiles": np.quantile(sampled, LEVELS).tolist(),
        "learned_quantiles": np.quantile(learned, LEVELS).tolist(),
        "held_quantiles": np.quantile(held, LEVELS).tolist(),
        "own": own,
        "both": both,
        "beyond": float((sampled > top).mean()),
        "held_beyond": float((held > top).mean()),
        "largest": float(sampled[: len(learned) + len(held)].max() / largest),
        "largest_of_all": float(sampled.max() / largest),
        "rows": len(learned),
    }


def work(cell):
    learned, held = halves(load(cell.table), cell.seed)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.pmm"
        fit = pmm.fit(learned, model, cell.seed)
        out = model.with_suffix(".csv")
        sampled = run([BINARY, "sample", model, "-n", ROWS, "--seed", cell.seed], out)
        rows = pd.read_csv(out)
    found = {c: figures(c, rows, learned, held) for c in COLUMNS[cell.table]}
    return {"columns": found, "fit_cpu": fit.cpu, "sample_cpu": sampled.cpu}


def cells(tables, methods, seeds):
    return [Cell("tails", table, method, seed, pmm.version()) for seed in seeds for table in tables for method in methods]


def quantile_line(name, of, level):
    """Means over splits, and in how many of them the samples' quantile is within the two intervals."""
    inside = lambda f, which: f[which][level][0] <= f["quantiles"][level] <= f[which][level][1]
    end = lambda which, at: md.show(np.mean([f[which][level][at] for f in of]))
    means = [md.show(np.mean([f[key][level] for f in of])) for key in ("learned_quantiles", "held_quantiles", "quantiles")]
    counted = [f"{sum(inside(f, which) for f in of)} of {len(of)}" for which in ("own", "both")]
    return [name, f"{100 * LEVELS[level]:g} %", *means, *(f"{end(which, 0)} to {end(which, 1)}" for which in ("own", "both")), *counted]


def beyond_line(name, of, fit):
    each = lambda key: [f[key] for f in of]
    share = lambda key: md.spread([100 * x for x in each(key)], 3)
    ends = lambda key: f"{md.show(np.median(each(key)))} ({md.show(min(each(key)))} to {md.show(max(each(key)))})"
    expected = md.show(100 / (of[0]["rows"] + 1), 3)
    return [name, of[0]["rows"], len(of), share("held_beyond"), share("beyond"), expected, ends("largest"), ends("largest_of_all"), md.show(fit, 0)]


def known_columns(records):
    """(name, figures by split, CPU seconds of a fit)."""
    for table, columns in COLUMNS.items():
        mine = [r for r in records if r["table"] == table and "error" not in r]
        yield from ((f"{table}.{c}", [r["columns"][c] for r in mine], md.average(mine, "fit_cpu")) for c in columns if mine)


def report(records):
    known = list(known_columns(records))
    quantiles = md.table(
        "column|quantile|learned half|held-out half|samples|interval|and that of the learned|within|within both".split("|"),
        [quantile_line(name, of, level) for name, of, _ in known for level in range(len(LEVELS))],
    )
    beyond = md.table(
        [*"column|rows learned|splits|held-out beyond, %|samples beyond, %|expected, %|largest of as many".split("|"), f"largest of {ROWS:,}", "fit, CPU s"],
        [beyond_line(*one) for one in known],
    )
    return f"""# Tails

Made by `bench/tables/run {shlex.join(["tails", *sys.argv[1:]])}`. Binaries of pmm: {", ".join(sorted({r["depends"] for r in records}))}. Default settings learned one
half of the rows, and {ROWS:,} rows were sampled; the other half is held out. Each split has a fit of its own; figures are means over splits.

The interval is the 95 % bootstrap interval of the held-out quantile; the second one adds the noise of the learned half, from which even a perfect model of that
half cannot be free. "Within" counts the splits in which the samples' quantile lies in the one and in the other. Of 99.9 % of a thousand rows a bootstrap knows
little: its quantiles never exceed the largest row.

{quantiles}

Beyond: the share above the largest value that was learned, ± standard deviation over splits; expected is 1/(rows + 1), what new rows of the same law have on
average. Largest: the largest sample over the largest of all rows, learned and held out, as the median (least to most) over splits: of as many samples as there
are rows in all, and of all samples. Far below 1 the tail is cut off; far above it is absurd.

{beyond}{md.failures(records)}
"""


def main():
    args = arguments(__doc__, list(COLUMNS), ["pmm"], [0, 1, 2, 3, 4])
    two_cores()
    text = report(list(measure(cells(args.tables, args.methods, args.seeds), work, args.fresh)))
    print(text)
    (HERE / "TAILS.md").write_text(text)


if __name__ == "__main__":
    sys.exit(main())
