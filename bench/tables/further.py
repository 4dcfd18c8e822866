"""Six further tables, with missing cells, heavy tails and survival times, against peers in their own environments.

Every method gets the same at most 3,000 training rows; at most 1,500 held-out rows judge. All methods run in turn, table
by table.
"""

import sys
import tempfile
from pathlib import Path

import frames
import further_tables
import markdown as md
import numpy as np
import pmm
import scores
from further_tables import TABLES
from harness import HERE, Cell, arguments, digest, measure, run, two_cores

NAMES = ["titanic", "support2", "freMTPL2sev", "danish", "flchain", "rotterdam"]
MAX_TRAIN, MAX_TEST = 3000, 1500
DRAWS = 50
PEERS = {  # method: (environment, script)
    "forest": ("forest", "forest"),
    "tvae": ("tvae", "tvae"),
    "lightgbm": ("score", "lightgbm_quantiles"),
    "treeffuser": ("treeffuser", "treeffuser_draws"),
}
PREDICT_ONLY = ("lightgbm", "treeffuser")
METHODS = ["pmm", *PEERS]


def load(name):
    train, test, kinds = further_tables.load(name, MAX_TRAIN, MAX_TEST)
    return train, test, kinds, TABLES[name].target, TABLES[name].label


def tails(frame, kinds):
    """Quantiles of the numbers, for tables of one or two heavy-tailed columns."""
    numbers = [c for c in kinds if kinds[c] == "real"]
    return {c: [float(q) for q in np.quantile(frame[c].dropna(), [0.5, 0.9, 0.99])] for c in numbers}


def row_scores(name, synth):
    train, test, kinds, _, label = load(name)
    values = scores.rows(train, test, synth, label, kinds, frames.snap(synth, train, kinds))
    missing = {"missing": float(synth[list(kinds)].isna().mean().mean())}
    return values | missing | ({"tails": tails(synth, kinds)} if len(kinds) <= 2 else {})


def first_known(test, target, rows):
    """The test rows, those with a known target first, and only so many."""
    return test[test[target].notna()][:rows]


def ours(cell):
    train, test, kinds, target, _ = load(cell.table)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.pmm"
        fit = pmm.fit(train, model, cell.seed, target)
        synth, sampled = pmm.sample(model, len(train), cell.seed, train, kinds)
        values = row_scores(cell.table, synth)
        values |= dict(fit=fit.cpu, draw=sampled.cpu, megabytes=fit.megabytes)
        if target:
            test = first_known(test, target, None)
            array, drawn = pmm.predict(model, test, target, DRAWS, cell.seed)
            values |= scores.draws_few(array, test[target].to_numpy()) | dict(predict=drawn.cpu)
    return values


def peer(cell):
    train, test, kinds, target, _ = load(cell.table)
    if cell.method in PREDICT_ONLY:
        test = first_known(test, target, scores.FEW if cell.method == "treeffuser" else None)
        return peer_draws(cell, train, test, kinds, target, DRAWS)
    with tempfile.TemporaryDirectory() as folder:
        cost, times = peer_run(cell, Path(folder), train, None, kinds, target, None)
        if cell.method == "forest":  # it fits in processes of its own
            times["fit"] = cost.cpu - times["draw"]
        synth = frames.read(Path(folder) / "synth.csv", train, kinds)
    return row_scores(cell.table, synth) | times | dict(megabytes=cost.megabytes)


def peer_draws(cell, train, test, kinds, target, draws):
    """Scores of a peer's draws of the target."""
    with tempfile.TemporaryDirectory() as folder:
        cost, times = peer_run(cell, Path(folder), train, test.drop(columns=target), kinds, target, draws)
        array = pmm.read_draws(Path(folder) / "draws.csv", draws, len(test))
    values = scores.draws_few(array, test[target].to_numpy())
    return values | dict(fit=times["fit"], predict=times["draw"], megabytes=cost.megabytes)


def peer_run(cell, folder, train, features, kinds, target, draws):
    environment, script = PEERS[cell.method]
    frames.job(folder, train, features, kinds, target=target, seed=cell.seed, n=len(train), draws=draws)
    cost = run([HERE / f".venv-{environment}" / "bin" / "python", HERE / "peers" / f"{script}.py", folder])
    return cost, frames.json.loads((folder / "times.json").read_text())


def real(cell):
    train, test, kinds, _, _ = load(cell.table)
    held = {"tails_test": tails(test, kinds)} if len(kinds) <= 2 else {}
    return row_scores(cell.table, train) | held | {"missing_test": float(test.isna().mean().mean())}


def work(cell):
    return real(cell) if cell.method == "real" else ours(cell) if cell.method == "pmm" else peer(cell)


def depends(method):
    if method == "real":
        return "scorer"
    if method == "pmm":
        return pmm.version()
    environment, script = PEERS[method]
    return digest(HERE / "peers" / f"{script}.py", HERE / "peers" / "job.py", HERE / f"requirements-{environment}.txt")


def cells(tables, methods, seeds):
    for seed in seeds:
        for table in tables:
            for method in ["real", *methods]:
                wanted = TABLES[table].target or method not in PREDICT_ONLY
                if wanted and (method != "real" or seed == seeds[0]):
                    yield Cell("further", table, method, seed, depends(method))


def groups(records, methods, name):
    """(table, method, records over seeds) where `name` was measured."""
    for table in NAMES:
        for method in methods:
            mine = [r for r in records if r["table"] == table and r["method"] == method and r.get(name) is not None]
            if mine:
                yield table, method, mine


def rows_table(records):
    names = ("c2st", "c2st_snap", "shape", "tstr", "missing")
    head = ["table", "method", "AUC", "AUC snapped", "shape", "usefulness", "missing cells", "fit, CPU s", "draw rows, CPU s", "peak MB"]
    lines = []
    for table, method, mine in groups(records, ["real", "pmm", "forest", "tvae"], "c2st"):
        cost = [md.show(md.average(mine, n), p) for n, p in (("fit", 1), ("draw", 1), ("megabytes", 0))]
        lines.append([table, method, *(md.spread(md.column(mine, n), 3) for n in names), *cost])
    return md.table(head, lines)


def draws_table(records):
    names = ("crps_few", "crps_se_few", "cover50_few", "cover90_few", "crps", "cover50", "cover90")
    head = "table|method|CRPS, few rows|s.e.|50 % covers|90 % covers|CRPS, all rows|50 % covers|90 % covers|fit, CPU s|draw, CPU s".split("|")
    lines = []
    for table, method, mine in groups(records, METHODS, "crps_few"):
        cost = [md.show(md.average(mine, n), 1) for n in ("fit", "predict")]
        lines.append([table, method, *(md.show(md.average(mine, n)) for n in names), *cost])
    return md.table(head, lines)


def tails_table(records):
    lines = []
    for table, method, mine in groups(records, ["real", "pmm", "forest", "tvae"], "tails"):
        for column, values in mine[0]["tails"].items():
            lines.append([table, column, "training rows" if method == "real" else method, *map(md.show, values)])
        for column, values in mine[0].get("tails_test", {}).items():
            lines.append([table, column, "held-out rows", *map(md.show, values)])
    return md.table(["table", "column", "rows", "50 %", "90 %", "99 %"], lines)


def report(records):
    perfect = ", ".join(f"{scores.calibrated(q, DRAWS):.3f} for {q:.0%}" for q in (0.5, 0.9))
    return f"""## Further tables, against peers

At most {MAX_TRAIN:,} training rows, the same for all, and at most {MAX_TEST:,} held-out ones; "real" are the training rows in
place of synthetic ones. Kinds of columns are told to the peers; pmm infers them. ForestDiffusion is cut down (20 noise
levels, 10 repeats, 50 trees), TVAE has its 300 epochs. Both know no missing cells, so a missing category is a level to
them and a missing number gets an indicator column; pmm reads the gaps as they are. A missing cell counts in the AUC as a
value of its own, and in the shape by the gap between the shares.

{rows_table(records)}

Predictions of one number (fare, charges, ClaimAmount, futime, dtime) with {DRAWS} draws. "Few rows" are the first {scores.FEW} held-out
rows with a known target: Treeffuser needs too long for more. With {DRAWS} draws the scorer's intervals cover {perfect} when the forecast is
perfect. Survival times are taken as they stand, censored ones included. LightGBM fits twenty quantiles.

{draws_table(records)}

Quantiles of the heavy-tailed tables (seed 0).

{tails_table(records)}{md.failures(records)}
"""


def known():
    return [r for c in cells(NAMES, METHODS, (0, 1, 2)) if (r := c.newest())]


def main():
    args = arguments(__doc__, NAMES, METHODS, [0])
    two_cores()
    print(report(list(measure(cells(args.tables, args.methods, args.seeds), work, args.fresh))))


if __name__ == "__main__":
    sys.exit(main())
