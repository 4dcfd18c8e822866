"""Boosted trees: the speed of pmm-trees beside LightGBM, on the same bins, with the same settings, and the loss of both on held-out rows.

Both sides take turns in one run. A turn is: fit, then answer the held-out rows. Binning is not counted: each side gets the same bins, at most 255 of a
column, by quantiles of the training rows. A model of pmm-trees is fitted by one thread, as in pmm, where the columns of a table share the cores; so one model is
compared with one thread of LightGBM, and two models (of two targets) on two threads with LightGBM in two ways: one model after the other, each
with two threads, and both at once, each with a thread.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import harness  # noqa: F401  (first: it sets the number of threads)
import lightgbm
import markdown as md
import numpy as np
import pandas as pd
import tabbench
from harness import HERE, ROOT, machine, two_cores
from sklearn.metrics import log_loss, mean_squared_error

BINARY = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "examples" / "speed"
BINS = 255
# Of both sides, by the names of pmm-trees.
SETTINGS = {"rounds": 200, "leaves": 31, "rate": 0.1, "l2": 1.0, "least": 1.0}
# The least gain of a split, as pmm-trees has it.
LEAST_GAIN = {"odds": 1e-3, "number": 1e-6}
# Columns that are to be told from all others: of numbers the number itself, or whether it is above the median.
TARGETS = {"california": ["median_house_value", "median_income"], "diamonds": ["price", "carat"], "adult": ["c14", "c9"], "made": ["y0", "y1"]}
OBJECTIVES = ["odds", "number"]


@dataclass
class Job:
    objective: str
    threads: int
    train: np.ndarray  # [rows, features], bins from 1 on
    test: np.ndarray
    targets: list  # of a model each: (of the training rows, of the held-out rows)


def made(rows=250_000, columns=28):
    """Many rows of many numbers, and two numbers that depend on some of them."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, columns))
    frame = pd.DataFrame(x, columns=[f"x{i}" for i in range(columns)])
    for i in range(2):
        a, b, c, d = x[:, 4 * i : 4 * i + 4].T
        frame[f"y{i}"] = a * b + np.sin(2 * c) + np.maximum(d, 0) + rng.normal(size=rows)
    return frame[: rows * 4 // 5], frame[rows * 4 // 5 :]


def load(table):
    if table == "made":
        return made()
    train, test, _, _ = tabbench.load(table, max_rows=100_000)
    return train, test


def coded(train, test):
    """Levels as their place in the alphabet: a number to both sides."""
    for c in train.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in train.dtypes]]:
        levels = np.unique(train[c])
        train[c], test[c] = (np.searchsorted(levels, frame[c]).astype(float) for frame in (train, test))
    return train, test


def binned(train, test):
    """From 1 on, by quantiles of the training rows; a column of few values has a bin for each."""
    bins = [np.empty(frame.shape, np.uint8) for frame in (train, test)]
    for at, c in enumerate(train):
        values = np.unique(train[c])
        middles = (values[1:] + values[:-1]) / 2
        edges = middles if len(values) <= BINS else np.unique(np.quantile(train[c], np.linspace(0, 1, BINS + 1)[1:-1]))
        for frame, out in zip((train, test), bins):
            out[:, at] = 1 + np.searchsorted(edges, frame[c])
    return bins


def prepare(table, objective, models):
    train, test = coded(*load(table))
    names = TARGETS[table]
    inputs = lambda frame: frame.drop(columns=names)
    targets = []
    for c in names[:models]:
        # Above the median, and of a column that is mostly its median, at it or above.
        cut = train[c].median() if (train[c] > train[c].median()).any() else train[c].median() - 0.5
        scale = lambda x: (x > cut).to_numpy(np.float32) if objective == "odds" else ((x - train[c].mean()) / train[c].std()).to_numpy(np.float32)
        targets.append((scale(train[c]), scale(test[c])))
    return Job(objective, models, *binned(inputs(train), inputs(test)), targets)


def write(job, folder):
    for name, array in (("train.bins", job.train), ("test.bins", job.test), ("targets", np.stack([own for own, _ in job.targets]))):
        (folder / name).write_bytes(np.ascontiguousarray(array).tobytes())


def ours(job, folder):
    """Seconds to fit, seconds to answer, and the answers by model."""
    command = [BINARY, folder, job.objective, job.train.shape[1], job.threads, *SETTINGS.values()]
    said = json.loads(subprocess.run([str(c) for c in command], check=True, stdout=subprocess.PIPE).stdout)
    answers = np.fromfile(folder / "answers", np.float32).reshape(len(job.targets), -1)
    return said["fit"], said["predict"], answers


def parameters(job):
    """The same settings by LightGBM's names."""
    return {
        "objective": "binary" if job.objective == "odds" else "regression",
        "num_leaves": SETTINGS["leaves"], "learning_rate": SETTINGS["rate"], "lambda_l2": SETTINGS["l2"],
        "min_sum_hessian_in_leaf": SETTINGS["least"], "min_data_in_leaf": 1, "min_gain_to_split": LEAST_GAIN[job.objective],
        "max_bin": BINS + 1, "min_data_in_bin": 1, "use_missing": False, "feature_pre_filter": False,
        "verbose": -1, "seed": 0,
    }  # fmt: skip


def prepared(job):
    """LightGBM's tables, binned beforehand: a bin of theirs for each of ours."""
    rows = job.train.astype(np.float32)
    return [lightgbm.Dataset(rows, own, params=parameters(job), free_raw_data=False).construct() for own, _ in job.targets]


def theirs(job, tables, at_once):
    """The same of LightGBM: models after one another with all threads, or at once with a thread each."""
    threads = 1 if at_once else job.threads
    rows = job.test.astype(np.float64)
    fit = lambda table: lightgbm.train(parameters(job) | {"num_threads": threads}, table, SETTINGS["rounds"])
    answer = lambda model: model.predict(rows, raw_score=True, num_threads=threads)
    with ThreadPoolExecutor(job.threads if at_once else 1) as pool:
        begin = time.perf_counter()
        models = list(pool.map(fit, tables))
        fitted = time.perf_counter()
        answers = list(pool.map(answer, models))
        return fitted - begin, time.perf_counter() - fitted, answers


def loss(job, answers):
    """Of the held-out rows, mean over models: nats, or the mean squared error over the variance."""
    one = lambda of, said: log_loss(of, 1 / (1 + np.exp(-said))) if job.objective == "odds" else mean_squared_error(of, said)
    return float(np.mean([one(of, np.asarray(said, float)) for (_, of), said in zip(job.targets, answers)]))


def sides(job, folder):
    """name: a function that takes a turn."""
    tables = prepared(job)
    two = {"LightGBM, at once": lambda: theirs(job, tables, True)} if job.threads > 1 else {}
    return {"pmm-trees": lambda: ours(job, folder), "LightGBM": lambda: theirs(job, tables, False), **two}


def measured(job, turns):
    """Of each side: seconds to fit and to answer by turn, and the loss. Every other turn runs the other way round."""
    with tempfile.TemporaryDirectory() as folder:
        write(job, Path(folder))
        taking = sides(job, Path(folder))
        seconds, losses = {name: [] for name in taking}, {}
        for turn in range(turns):
            for name in list(taking)[:: 1 if turn % 2 == 0 else -1]:
                *took, answers = taking[name]()
                seconds[name].append(took)
                losses[name] = loss(job, answers)
    return seconds, losses


def lines(table, objective, models, turns):
    job = prepare(table, objective, models)
    seconds, losses = measured(job, turns)
    for name, of in seconds.items():
        cells = [table, f"{len(job.train):,} × {job.train.shape[1]}", objective, models, name]
        for what in (0, 1):
            ratios = [a[what] / b[what] for a, b in zip(of, seconds["LightGBM"])]
            ratio = "" if name == "LightGBM" else f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            cells += [md.show(median(took[what] for took in of), 3), ratio]
        yield [*cells, md.show(losses[name], 4)]


def report(lines, turns):
    head = "table|rows × features|objective|models, threads|side|fit, s|over LightGBM's|answer, s|over LightGBM's|held-out loss".split("|")
    settings = ", ".join(f"{name} {value:g}" for name, value in SETTINGS.items())
    return f"""# Boosted trees

Made by `bench/tables/run {shlex.join(["trees", *sys.argv[1:]])}`, LightGBM {lightgbm.__version__}, {machine()}. {" ".join(__doc__.split(chr(10) * 2)[1].split())}

All sides: {settings}, all rows in every tree, no held-out rows while fitting, at most {BINS} bins. "odds" is the log loss of a yes or no, "number" the squared error of a
standardised number. Seconds are wall time, medians of {turns} turns. Ratios are over LightGBM (one model after the other) in the same turn, median (least to most): below 1
is faster. Loss: of the held-out rows, the mean over models; where it is alike, so is the work. Answers are those of the held-out rows: pmm-trees reads
bins as bytes, LightGBM numbers of eight bytes.

{md.table(head, lines)}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    some = lambda names: {"type": lambda text: text.split(","), "default": names, "help": f"some of {','.join(names)}"}
    parser.add_argument("--tables", **some(list(TARGETS)))
    parser.add_argument("--objectives", **some(OBJECTIVES))
    parser.add_argument("--turns", type=int, default=7, help="of each side")
    args = parser.parse_args()
    two_cores()
    known = []
    for table in args.tables:
        for objective in args.objectives:
            for models in (1, 2):
                known += lines(table, objective, models, args.turns)
                print(f"{table} {objective} {models}: done", file=sys.stderr, flush=True)
    text = report(known, args.turns)
    print(text)
    (HERE / "TREES.md").write_text(text)


if __name__ == "__main__":
    sys.exit(main())
