"""Swapped cells: does `pmm score` find them?

Of the held-out rows of each table, every other one gets one cell of another row of the same column, where that differs. Two figures:
the AUC of telling such rows from untouched ones by the row's largest surprise, and the share of them whose most surprising cell is
the one that was put there (by chance: one over the columns). Writes SWAPS.md. Needs no Python package.
"""

import argparse
import csv
import random
import tempfile
from pathlib import Path

from rules import DATA, HERE, markdown, pmm, split

# Tables whose first line names the columns.
TABLES = ["seaborn-penguins", "california-housing", "shoppers-intention", "bike-sharing-hour"]
# Rows that are scored, at most.
MOST = 2000


def swapped(test, chance):
    """The rows of a file with cells swapped, and of each row the column that was touched, if one was."""
    with open(test, newline="") as file:
        header, *rows = csv.reader(file)
    rows = rows[:MOST]
    touched = []
    made = [list(row) for row in rows]
    for at, row in enumerate(made):
        column = chance.randrange(len(header))
        other = rows[chance.randrange(len(rows))][column]
        change = at % 2 == 1 and other != row[column]
        if change:
            row[column] = other
        touched.append(header[column] if change else None)
    return header, made, touched


def auc(positives, negatives):
    """The probability that one of the first is above one of the second, ties half."""
    both = sorted([(x, 1) for x in positives] + [(x, 0) for x in negatives])
    below = wins = at = 0
    while at < len(both):
        end = at
        while end < len(both) and both[end][0] == both[at][0]:
            end += 1
        ones = sum(flag for _, flag in both[at:end])
        zeros = end - at - ones
        wins += ones * (below + 0.5 * zeros)
        below += zeros
        at = end
    return wins / (len(positives) * len(negatives))


def measured(name, flags):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        test, train = split(name, folder)
        header, made, touched = swapped(test, random.Random(1))
        changed, model, scores = folder / "changed.csv", folder / "model.pmm", folder / "scores.csv"
        with open(changed, "w", newline="") as file:
            csv.writer(file).writerows([header, *made])
        pmm("fit", train, "--out", model, "--quiet", *flags)
        _, seconds = pmm("score", model, changed, "--out", scores, "--quiet")
        with open(scores, newline="") as file:
            found = list(csv.DictReader(file))
    surprise = [float(row["surprise"] or 0) for row in found]
    first = [row["surprising"].rsplit(";")[0].rsplit(" (", 1)[0] for row in found]
    hits = [first[at] == column for at, column in enumerate(touched) if column]
    right = [surprise[at] for at, column in enumerate(touched) if column]
    wrong = [surprise[at] for at, column in enumerate(touched) if not column]
    return [name, len(found), len(right), f"{auc(right, wrong):.3f}", f"{100 * sum(hits) / len(hits):.0f} %", f"{100 / len(header):.0f} %", f"{seconds:.1f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="*", default=TABLES)
    parser.add_argument("--minutes", help="for each fit, in place of the default")
    arguments = parser.parse_args()
    if not DATA.exists():
        raise SystemExit(f"{DATA} is not there: it holds the public tables")
    flags = ["--minutes", arguments.minutes] if arguments.minutes else []
    lines = []
    for name in arguments.tables:
        lines.append(measured(name, flags))
        print(*lines[-1], flush=True)
    head = ["table", "rows", "with a swapped cell", "AUC of the row's surprise", "the cell is named first", "by chance", "score, s"]
    settings = f"`--minutes {arguments.minutes}`" if arguments.minutes else "default settings"
    what = " ".join(__doc__.split("\n\n")[1].split("Writes SWAPS.md")[0].split())
    text = f"# Swapped cells\n\nBy `bench/tables/run swaps`, fits with {settings}. {what}\n\n"
    (HERE / "SWAPS.md").write_text(text + markdown(head, lines))


if __name__ == "__main__":
    main()
