"""Rules that real rows keep: how often made rows break them, by a model that keeps rules and by one that does not.

For each table a fifth of the rows is held out. Two models are fitted to the others with the same settings, one with
`rules=off`. `pmm eval` finds the rules of the held-out rows and counts how many of them, and of the made rows, break each; it
also tells made rows from real ones by a classifier. Writes RULES.md. Needs no Python package.
"""

import argparse
import csv
import gzip
import json
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
DATA = ROOT.parent / "shared" / "data" / "tables"
BINARY = os.environ.get("PMM_BINARY", ROOT / "target" / "release" / "pmm")
TABLES = {
    "bike-sharing-hour": "cnt",
    "bike-sharing-day": "cnt",
    "support2": "death",
    "seaborn-titanic": "survived",
    "seaborn-penguins": "species",
    "default-credit": "default payment next month",
    "shoppers-intention": "Revenue",
    "ggplot2-diamonds": "price",
    "california-housing": "median_house_value",
}


def split(name, folder):
    """Four fifths of the rows to learn, one fifth to compare with."""
    with gzip.open(DATA / f"{name}.csv.gz", "rt", newline="") as file:
        header, *rows = csv.reader(file)
    random.Random(0).shuffle(rows)
    cut = len(rows) // 5
    paths = []
    for part, chosen in (("test", rows[:cut]), ("train", rows[cut:])):
        path = folder / f"{part}.csv"
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([header, *chosen])
        paths.append(path)
    return paths


def pmm(*arguments):
    start = time.monotonic()
    done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"pmm {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout, time.monotonic() - start


def measured(name, flags, seeds):
    """Shares of broken rules (of the first seed) and the classifier's AUC (the mean over seeds), with rules off and on."""
    found = {"off": [], "on": []}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        test, train = split(name, folder)
        for seed in range(seeds):
            for way, kept in found.items():
                model = folder / f"{way}-{seed}.pmm"
                _, seconds = pmm("fit", train, "--out", model, "--set", f"rules={way}", "--seed", seed, "--quiet", *flags)
                report, _ = pmm("eval", model, test, "--train", train, "--json", "--quiet")
                report = json.loads(report)
                kept.append(dict(rules=report["rules"], auc=auc(report), seconds=seconds))
    mean = lambda way, key: sum(one[key] for one in found[way]) / seeds
    return {way: kept[0] | {"auc": mean(way, "auc"), "seconds": mean(way, "seconds")} for way, kept in found.items()}


def auc(report):
    two = report["scores"].get("two_sample")
    return two and two["auc"]


def lines(name, found):
    """The table's line, and one for each rule that is broken more often than by real rows."""
    off, on = found["off"], found["on"]
    rules = {rule["rule"]: rule for rule in off["rules"]}
    kept = {rule["rule"]: rule for rule in on["rules"]}
    both = [rule for rule in rules if rule in kept]
    mean = lambda of: sum(of) / len(both) if both else 0.0
    share = lambda x: f"{100 * x:.2f} %"
    summary = [
        name,
        len(both),
        share(mean(rules[rule]["real"] for rule in both)),
        share(mean(rules[rule]["made"] for rule in both)),
        share(mean(kept[rule]["made"] for rule in both)),
        number(off["auc"]),
        number(on["auc"]),
        f"{off['seconds']:.0f}",
        f"{on['seconds']:.0f}",
    ]
    worst = sorted(both, key=lambda rule: rules[rule]["real"] - rules[rule]["made"])[:6]
    details = [
        [name, rule, share(rules[rule]["real"]), share(rules[rule]["made"]), share(kept[rule]["made"])] for rule in worst
    ]
    return summary, details


def number(x):
    return "–" if x is None else f"{x:.3f}"


def markdown(head, rows):
    text = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(text + ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="*", default=list(TABLES))
    parser.add_argument("--minutes", help="for each fit, in place of the default")
    parser.add_argument("--seeds", type=int, default=1, help="models of each table with and without rules")
    arguments = parser.parse_args()
    if not DATA.exists():
        raise SystemExit(f"{DATA} is not there: it holds the public tables")
    flags = ["--minutes", arguments.minutes] if arguments.minutes else []
    summaries, details = [], []
    for name in arguments.tables:
        summary, detail = lines(name, measured(name, flags, arguments.seeds))
        summaries.append(summary)
        details += detail
        print(*summary, flush=True)
    head = ["table", "rules", "real rows", "made, off", "made, on", "AUC off", "AUC on", "fit off, s", "fit on, s"]
    settings = f" with `--minutes {arguments.minutes}`" if arguments.minutes else " with default settings"
    text = (
        "# Rules\n\n"
        f"By `bench/tables/run rules`, each fit{settings}: the mean share of rows that break a rule of the held-out rows, among"
        " held-out rows, rows made without rules and rows made with them; the AUC of a classifier that tells made rows from"
        " held-out ones (.5 is best), the mean of"
        f" {arguments.seeds} models.\n\n" + markdown(head, summaries) + "\nThe rules that are broken most without them:\n\n"
        + markdown(["table", "rule", "real rows", "made, off", "made, on"], details)
    )
    (HERE / "RULES.md").write_text(text)


if __name__ == "__main__":
    main()
