"""Scores rows that rows.py wrote, whoever made them, beside other real rows: `python score_rows.py --table T --train N --seed N NAME=FILE …`

Two-sample AUC (.5 is best) of boosted trees against test rows, the distance of columns, and what a model learned from the rows is
worth on test rows, by the scorer that the benchmark of tables has as well (shared/tabbench).
"""

import argparse
import json
import sys

import pandas as pd
from rows import SHARED, TABLES, categories, load

sys.path.insert(0, str(SHARED / "tabbench"))
import tabbench  # noqa: E402

TARGETS = {"california": "median_house_value", "diamonds": "price"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", metavar="NAME=FILE")
    parser.add_argument("--table", choices=list(TABLES), default="california")
    parser.add_argument("--train", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    train, test = load(arguments.table, arguments.train, arguments.seed)
    kinds = {name: "cat" if name in categories(train) else "real" for name in train}
    real = train.sample(min(len(test), len(train)), random_state=arguments.seed)
    made = {"training rows": real} | {name: pd.read_csv(file) for name, file in (text.split("=", 1) for text in arguments.files)}
    for name, rows in made.items():
        scores = {
            "auc": tabbench.c2st(test, rows, kinds), "shape": tabbench.shape(test, rows, kinds),
            "r2": tabbench.tstr(rows, test, TARGETS[arguments.table], kinds),
        }
        print(json.dumps({
            "name": name, "table": arguments.table, "seed": arguments.seed, **{k: round(v, 3) for k, v in scores.items()}
        }), flush=True)


if __name__ == "__main__":
    main()
