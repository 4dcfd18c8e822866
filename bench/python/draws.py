"""One estimator: fit on california's training rows and draw a hundred values for each test row. Prints times and CRPS as JSON.

`python draws.py NAME --train N --test N --seed N`; each peer runs in an environment of its own (requirements-NAME.txt).
"""

import argparse
import json
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from measure import peak_mb, timed

SHARED = Path(os.environ.get("PMM_SHARED", Path(__file__).resolve().parents[3] / "shared")) / "data"
DRAWS = 100


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
    parser.add_argument("--train", type=int, default=15_000)
    parser.add_argument("--test", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = pd.read_csv(SHARED / "tables/california-housing.csv.gz").sample(frac=1, random_state=arguments.seed, ignore_index=True)
    rows = rows.select_dtypes("number").dropna(ignore_index=True)
    target = next(name for name in rows.columns if name.lower() in ("medhouseval", "median_house_value"))
    test, train = rows[: arguments.test], rows[arguments.test :][: arguments.train]
    draws, fitting, drawing = globals()[arguments.name](train, test, target, arguments.seed)
    print(json.dumps({
        "name": arguments.name, "train": len(train), "test": len(test), "seed": arguments.seed,
        "fit_s": round(fitting[0], 2), "fit_cpu_s": round(fitting[1], 2), "draw_s": round(drawing[0], 2), "draw_cpu_s": round(drawing[1], 2),
        "crps": round(crps(draws, test[target].to_numpy())), "peak_mb": peak_mb(),
    }))


if __name__ == "__main__":
    main()
