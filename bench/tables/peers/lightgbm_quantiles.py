"""LightGBM quantile regression at twenty levels; draws are uniform on the levels, straight between them."""

import numpy as np
from lightgbm import LGBMRegressor

import job as j

LEVELS = (np.arange(20) + 0.5) / 20


def quantile(level, x, y, test, categories, seed):
    model = LGBMRegressor(
        objective="quantile", alpha=level, n_estimators=150, learning_rate=0.07, num_leaves=15, n_jobs=2, random_state=seed, verbose=-1
    )
    return model.fit(x, y, categorical_feature=categories).predict(test)


def draw(quantiles, count, seed):
    u = np.random.default_rng(seed).random((len(quantiles), count))
    return np.stack([np.interp(ui, LEVELS, np.sort(q)) for ui, q in zip(u, quantiles)])


def main():
    job, train = j.load()
    x, y, test, categories = j.regression(job, train)
    columns, fitting = j.timed(lambda: [quantile(l, x, y, test, categories, job["seed"]) for l in LEVELS])
    draws, drawing = j.timed(lambda: draw(np.stack(columns, 1), job["draws"], job["seed"]))
    j.finish("draws.csv", j.as_draws(draws), fitting, drawing)


if __name__ == "__main__":
    main()
