"""One estimator: fit on a table's training rows and draw a hundred values for each test row. Prints times, CRPS and coverage as JSON.

`python draws.py NAME --table TABLE --train N --test N --seed N`; each peer runs in an environment of its own (requirements-NAME.txt). pmm gets the
rows as they are; to the peers, which ask for numbers, categories are given as a column a level. The seed shuffles the rows; the three sets of UCI have
their usual splits, by the seed's number.
"""

import argparse
import json
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from measure import peak_mb, timed

SHARED = Path(os.environ.get("PMM_SHARED", Path(__file__).resolve().parents[3] / "shared"))
DRAWS = 100
#: Names of the columns where the file has none.
NAMES = {"abalone": ["sex", "length", "diameter", "height", "whole", "shucked", "viscera", "shell", "rings"]}
#: The file of each table, its target, and columns that are left out (the parts of a sum that is to be predicted, row numbers; on california the one
#: column of words).
TABLES = {
    "california": ("data/tables/california-housing.csv.gz", "median_house_value", ["ocean_proximity"]),
    "abalone": ("data/tables/abalone.csv.gz", "rings", []),
    "bike": ("data/tables/bike-sharing-hour.csv.gz", "cnt", ["instant", "dteday", "casual", "registered"]),
    "diamonds": ("data/tables/ggplot2-diamonds.csv.gz", "price", ["rownames"]),
    "rwm5yr": ("data/tables/COUNT-rwm5yr.csv.gz", "docvis", ["rownames", "id"]),
    "concrete": ("suite/uci/concrete.csv.gz", None, []),
    "energy": ("suite/uci/energy.csv.gz", None, []),
    "yacht": ("suite/uci/yacht.csv.gz", None, []),
}


def split(table, seed, most_train, most_test):
    """Training rows, test rows and the target."""
    file, target, left_out = TABLES[table]
    rows = pd.read_csv(SHARED / file, names=NAMES.get(table)).drop(columns=left_out, errors="ignore").dropna(ignore_index=True)
    if target is None:
        tests = json.loads((SHARED / file.replace(".csv.gz", ".test-rows.json")).read_text())[seed]
        return rows.drop(index=tests), rows.loc[tests], rows.columns[-1]
    rows = rows.sample(frac=1, random_state=seed, ignore_index=True)
    return rows[most_test:][:most_train], rows[:most_test], target


def numeric(train, test):
    """The same rows as numbers: a column for each level of a category."""
    both = pd.get_dummies(pd.concat([train, test]), dtype=float)
    return both[: len(train)], both[len(train) :]


def pmm(train, test, target, seed):
    from pmm.sklearn import PMMRegressor

    model, fitting = timed(lambda: PMMRegressor(random_state=seed).fit(train.drop(columns=target), train[target]))
    draws, drawing = timed(lambda: model.predict_dist(test.drop(columns=target)).sample(DRAWS))
    return draws, fitting, drawing


def treeffuser(train, test, target, seed):
    from treeffuser import Treeffuser

    model = Treeffuser(seed=seed, n_jobs=2, verbose=-1)
    x, y = train.drop(columns=target).to_numpy(float), train[target].to_numpy(float)
    _, fitting = timed(lambda: model.fit(x, y))
    rows = test.drop(columns=target).to_numpy(float)
    draws, drawing = timed(lambda: model.sample(rows, DRAWS, n_parallel=DRAWS, seed=seed))
    return draws.reshape(DRAWS, -1).T, fitting, drawing


def ngboost(train, test, target, seed):
    from ngboost import NGBRegressor

    model = NGBRegressor(random_state=seed, verbose=False)
    _, fitting = timed(lambda: model.fit(train.drop(columns=target).to_numpy(float), train[target].to_numpy(float)))
    rows = test.drop(columns=target).to_numpy(float)
    rng = np.random.default_rng(seed)

    def draw():
        law = model.pred_dist(rows).params
        return rng.normal(law["loc"][:, None], law["scale"][:, None], (len(rows), DRAWS))

    draws, drawing = timed(draw)
    return draws, fitting, drawing


def lightgbm(train, test, target, seed):
    from lightgbm import LGBMRegressor

    x, y = train.drop(columns=target), train[target]
    shares = (np.arange(19) + 1) / 20

    def fit():
        make = lambda q: LGBMRegressor(objective="quantile", alpha=q, n_jobs=2, random_state=seed, verbose=-1)
        return [make(q).fit(x, y) for q in shares]

    models, fitting = timed(fit)
    rng = np.random.default_rng(seed)

    def draw():
        knots = np.sort(np.stack([model.predict(test.drop(columns=target)) for model in models], axis=1), axis=1)
        at = rng.random((len(test), DRAWS))
        return np.stack([np.interp(u, shares, row) for u, row in zip(at, knots)])

    draws, drawing = timed(draw)
    return draws, fitting, drawing


def crps(draws, truth):
    """E|X − y| − E|X − X′|/2 over the draws, the second mean without a draw and itself."""
    draws = np.sort(draws, axis=1)
    k = draws.shape[1]
    weights = 2 * np.arange(k) - k + 1
    spread = draws @ weights / (k * (k - 1))
    return float((np.abs(draws - truth[:, None]).mean(axis=1) - spread).mean())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=["pmm", "treeffuser", "ngboost", "lightgbm"])
    parser.add_argument("--table", choices=list(TABLES), default="california")
    parser.add_argument("--train", type=int, default=15_000)
    parser.add_argument("--test", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    train, test, target = split(arguments.table, arguments.seed, arguments.train, arguments.test)
    if arguments.name != "pmm":
        train, test = numeric(train, test)
    draws, fitting, drawing = globals()[arguments.name](train, test, target, arguments.seed)
    truth = test[target].to_numpy(float)
    low, high = np.quantile(draws, [0.05, 0.95], axis=1)
    print(json.dumps({
        "name": arguments.name, "table": arguments.table, "train": len(train), "test": len(test), "seed": arguments.seed,
        "fit_s": round(fitting[0], 2), "fit_cpu_s": round(fitting[1], 2), "draw_s": round(drawing[0], 2), "draw_cpu_s": round(drawing[1], 2),
        "crps": float(f"{crps(draws, truth):.4g}"), "within_90": round(float(((low <= truth) & (truth <= high)).mean()), 3), "peak_mb": peak_mb(),
    }))


if __name__ == "__main__":
    main()
