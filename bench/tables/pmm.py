"""The program `pmm`, verb by verb; each call returns its Cost."""

import numpy as np
import pandas as pd

import frames
from harness import BINARY, digest, run


def version():
    return digest(BINARY)


def fit(train, model, seed, target=None, settings=()):
    flags = ["--target", target] if target else []
    for setting in settings:
        flags += ["--set", setting]
    csv = model.with_suffix(".train.csv")
    frames.write(train, csv)
    return run([BINARY, "fit", csv, "--out", model, "--seed", seed, *flags, "--quiet"])


def sample(model, n, seed, train, kinds):
    out = model.with_suffix(".synth.csv")
    cost = run([BINARY, "sample", model, "-n", n, "--seed", seed], out)
    return frames.read(out, train, kinds), cost


def predict(model, test, target, draws, seed):
    """Draws of the target, [rows, draws]. The target is not in the file that pmm sees."""
    rows, out = model.with_suffix(".rows.csv"), model.with_suffix(".draws.csv")
    frames.write(test.drop(columns=target), rows)
    cost = run([BINARY, "predict", model, rows, "--target", target, "--draws", draws, "--seed", seed], out)
    return read_draws(out, draws, len(test)), cost


def read_draws(path, draws, rows):
    array = pd.read_csv(path)[[f"draw_{i + 1}" for i in range(draws)]].to_numpy(float)
    assert array.shape == (rows, draws) and np.isfinite(array).all(), f"{path.name}: {array.shape}, or a draw is not finite"
    return array


def impute(model, gaps, draws, seed, train, kinds):
    """A list of completed copies."""
    rows, out = model.with_suffix(".gaps.csv"), model.with_suffix(".full.csv")
    frames.write(gaps, rows)
    cost = run([BINARY, "impute", model, rows, "--draws", draws, "--seed", seed], out)
    stacked = frames.read(out, train, kinds)
    copies = [copy[list(kinds)].reset_index(drop=True) for _, copy in stacked.groupby("draw")]
    assert len(copies) == draws and all(len(copy) == len(gaps) for copy in copies), "impute: wrong number of rows"
    return copies, cost
