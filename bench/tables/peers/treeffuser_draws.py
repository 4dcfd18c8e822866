"""Treeffuser at its defaults: draws of the target for each test row. Missing cells go to LightGBM as they are."""

import warnings

from treeffuser import Treeffuser

import job as j


def main():
    warnings.simplefilter("ignore")
    job, train = j.load()
    x, y, test, categories = j.regression(job, train)
    model = Treeffuser(seed=job["seed"], n_jobs=2, verbose=-1)
    _, fitting = j.timed(lambda: model.fit(x, y, cat_idx=categories))
    draws, drawing = j.timed(lambda: model.sample(test, job["draws"], n_parallel=job["draws"], seed=job["seed"]))
    j.finish("draws.csv", j.as_draws(draws.reshape(job["draws"], -1).T), fitting, drawing)


if __name__ == "__main__":
    main()
