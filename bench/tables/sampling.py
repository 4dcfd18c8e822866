"""What sampling costs, by CPU time: long, wide and many-levelled tables, `eval` of a wide one; a binary beside another with --beside.

Tables are made here and fitted for a few steps: what a draw costs does not depend on what was learned. The start of the program,
measured by one row of the same model, is taken off."""

import argparse
import random
import sys
import tempfile
from pathlib import Path

from harness import BINARY, run, two_cores

FIT_ROWS = 3000


def cell(rng, kind, row):
    if kind == "level":
        return f"v{rng.randrange(6)}"
    if kind == "700 levels":
        return f"w{row % 700:03}"
    if kind == "count":
        return str(rng.randrange(12))
    return f"{rng.gauss(0, 1):.6f}"


def table(path, kinds, rows=FIT_ROWS):
    rng = random.Random(0)
    with path.open("w") as file:
        file.write(",".join(f"c{i}" for i in range(len(kinds))) + "\n")
        for row in range(rows):
            file.write(",".join(cell(rng, kind, row) for kind in kinds) + "\n")


def mixed(columns):
    """Half of the columns continuous, a quarter counts, a quarter levels."""
    return [("number", "count", "number", "level")[i % 4] for i in range(columns)]


# name: kinds of columns, rows to draw
CASES = {
    "20 columns": (mixed(20), 1_000_000),
    "37 columns, three of 700 levels": (mixed(34) + ["700 levels"] * 3, 61_000),
    "25 columns": (mixed(25), 200),
    "50 columns": (mixed(50), 200),
    "100 columns": (mixed(100), 200),
    "200 columns": (mixed(200), 200),
    "300 columns": (mixed(300), 5_000),
}


def fit(csv, model, binary):
    rules = ["--set=rules=off"]
    run([binary, "fit", csv, "--out", model, "--steps", 10, "--force", "--quiet", *rules])


def seconds(binary, model, rows):
    """CPU seconds of rows, less those of one row."""
    costs = [run([binary, "sample", model, "-n", n]).cpu for n in (1, rows)]
    return costs[1] - costs[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", help="some of: " + "; ".join(CASES))
    parser.add_argument("--rows", type=int, help="so many rows at most: the figure is scaled up to all of them")
    parser.add_argument("--beside", type=Path, help="another binary, measured in turns")
    parser.add_argument("--eval", action="store_true", help="also `eval` of the widest table")
    args = parser.parse_args()
    two_cores()
    binaries = [b for b in (args.beside, BINARY) if b]
    head = [f"{b.name} CPU s" if len(binaries) > 1 else "CPU s" for b in binaries]
    print("| table | rows | " + " | ".join(head) + " | µs per cell |\n|" + "---|" * (3 + len(binaries)))
    with tempfile.TemporaryDirectory() as folder:
        csv, model = Path(folder) / "table.csv", Path(folder) / "model.pmm"
        for name in args.cases.split(";") if args.cases else CASES:
            kinds, rows = CASES[name.strip()]
            table(csv, kinds)
            drawn = min(rows, args.rows or rows)
            took = []
            for binary in binaries:
                fit(csv, model, binary)
                took.append(seconds(binary, model, drawn) * rows / drawn)
            figures = " | ".join(f"{s:.2f}" for s in took)
            print(f"| {name} | {rows:,} | {figures} | {1e6 * took[-1] / rows / len(kinds):.1f} |", flush=True)
        if args.eval:
            wide(csv, model, binaries)


def wide(csv, model, binaries):
    kinds, rows = CASES["300 columns"]
    table(csv, kinds, rows)
    for binary in binaries:
        fit(csv, model, binary)
        cost = run([binary, "eval", model, csv, "--out", model.with_suffix(".report")])
        print(f"\n`eval` of 300 columns × {rows:,} rows, {binary.name}: {cost.cpu:.0f} CPU s, {cost.megabytes:.0f} MB")


if __name__ == "__main__":
    sys.exit(main())
