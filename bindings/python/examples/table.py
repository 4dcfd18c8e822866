"""A table: fit, sample, fill gaps, predict with intervals. `python examples/table.py penguins.csv`"""

from __future__ import annotations

import sys

import pandas as pd

import pmm


def main(path: str) -> None:
    penguins = pd.read_csv(path)
    model: pmm.TableModel = pmm.fit(penguins, target="body_mass_g", kind="table", steps=300)
    for column in model.schema:
        print(f"{column.name}: {column.kind} ({column.reason})")
    new: pd.DataFrame = model.sample(5, given={"species": "Adelie"})
    print(new)
    full: pd.DataFrame = model.impute(penguins)
    print(int(penguins.isna().sum().sum()), "gaps filled,", int(full.isna().sum().sum()), "left")
    mass: pmm.Prediction = model.predict(penguins.head(), "body_mass_g")
    low, high = mass.interval(0.9)
    for row in range(len(mass)):
        print(f"{mass.mean()[row]:.0f} g, between {low[row]:.0f} and {high[row]:.0f}")


if __name__ == "__main__":
    main(sys.argv[1])
