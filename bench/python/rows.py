"""One generator: fit on the training rows of a table and make as many rows. Prints times and writes the rows as CSV.

`python rows.py NAME --table california --train N --seed N --out FILE`; each peer runs in an environment of its own
(requirements-NAME.txt), all with their default settings. score_rows.py scores what they wrote.
"""

import argparse
import json
import os
import warnings
from pathlib import Path

import pandas as pd
from measure import peak_mb, timed

SHARED = Path(os.environ.get("PMM_SHARED", Path(__file__).resolve().parents[3] / "shared"))
#: Files and the columns that are labels of rows alone.
TABLES = {
    "california": ("california-housing.csv.gz", []),
    "diamonds": ("ggplot2-diamonds.csv.gz", ["rownames"]),
}
TEST = 2000


def load(name, train, seed):
    """Training rows, and test rows that nothing is fitted to."""
    file, labels = TABLES[name]
    rows = pd.read_csv(SHARED / "data/tables" / file).drop(columns=labels, errors="ignore").dropna()
    rows = rows.sample(frac=1, random_state=seed, ignore_index=True)
    return rows[TEST:][:train].reset_index(drop=True), rows[:TEST]


def categories(rows):
    return [name for name in rows if not pd.api.types.is_numeric_dtype(rows[name])]


def pmm(train, n, seed):
    import pmm

    model, fitting = timed(lambda: pmm.fit(train, seed=seed, progress=False))
    made, drawing = timed(lambda: model.sample(n, seed=seed, progress=False))
    return made, fitting, drawing


def tvae(train, n, seed):
    import torch
    from ctgan import TVAE

    torch.set_num_threads(2)
    torch.manual_seed(seed)
    model = TVAE(enable_gpu=False)
    model.set_random_state(seed)
    _, fitting = timed(lambda: model.fit(train, categories(train)))
    made, drawing = timed(lambda: model.sample(n))
    return made, fitting, drawing


def mostlyai(train, n, seed):
    import torch
    from mostlyai.engine import TabularARGN

    torch.set_num_threads(2)
    model = TabularARGN(device="cpu", random_state=seed)
    _, fitting = timed(lambda: model.fit(train))
    made, drawing = timed(lambda: model.sample(n))
    return made, fitting, drawing


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=["pmm", "tvae", "mostlyai"])
    parser.add_argument("--table", choices=list(TABLES), default="california")
    parser.add_argument("--train", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    train, test = load(arguments.table, arguments.train, arguments.seed)
    made, fitting, drawing = globals()[arguments.name](train, len(test), arguments.seed)
    made[list(train)].to_csv(arguments.out, index=False)
    print(json.dumps({
        "name": arguments.name, "table": arguments.table, "train": len(train), "seed": arguments.seed, "made": len(made),
        "fit_s": round(fitting[0], 1), "fit_cpu_s": round(fitting[1], 1), "sample_s": round(drawing[0], 2),
        "sample_cpu_s": round(drawing[1], 2), "peak_mb": peak_mb(),
    }))


if __name__ == "__main__":
    main()
