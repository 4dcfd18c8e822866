"""The network, trees and both pooled, on validation rows of any table.

    python3 estimates.py FILE.csv [--target COLUMN] [--steps N] [--most ROWS] [--kinds mlp,trees,pooled]

The last fifth of the shuffled rows is put aside for the CRPS of a numeric target (100 draws a row); of the others a tenth is held
out by the fit itself, and its loss is that of the log: nats per column. CPU seconds are user and system time. Needs no packages;
PMM_BINARY names the program, else the release build.
"""

import argparse
import csv
import gzip
import os
import random
import resource
import subprocess
import tempfile
from pathlib import Path

BINARY = os.environ.get("PMM_BINARY", Path(__file__).resolve().parents[2] / "target/release/pmm")


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def crps(draws, truth):
    """E|X − y| − E|X − X'|/2 of sorted draws."""
    n = len(draws)
    return sum(abs(x - truth) for x in draws) / n - sum((2 * i + 1 - n) * x for i, x in enumerate(draws)) / n**2


def read(path, most):
    opened = gzip.open(path, "rt", newline="") if str(path).endswith(".gz") else open(path, newline="")
    with opened as file:
        header, *rows = [row for row in csv.reader(file, skipinitialspace=True) if row]
    random.Random(0).shuffle(rows)
    return header, rows[:most]


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def predicted(folder, header, rows, target):
    """CRPS of the target and the share of rows within 90 % intervals."""
    at = header.index(target)
    without = lambda row: row[:at] + row[at + 1 :]
    write(folder / "rows.csv", without(header), [without(row) for row in rows])
    call = [BINARY, "predict", folder / "model", folder / "rows.csv", "--target", target, "--draws", "100"]
    text = subprocess.run(call, check=True, capture_output=True, text=True).stdout
    scores, within = [], 0
    for said, row in zip(csv.DictReader(text.splitlines()), rows):
        draws, truth = sorted(float(said[f"draw_{i + 1}"]) for i in range(100)), float(row[at])
        scores.append(crps(draws, truth))
        within += draws[5] <= truth <= draws[94]
    return f"{sum(scores) / len(scores):.4g} | {within / len(rows):.2f}"


def fitted(name, header, learned, aside, kind, args):
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write(folder / "learned.csv", header, learned)
        flags = ["--target", args.target] if args.target else []
        flags += ["--steps", str(args.steps)] if args.steps else []
        begun = cpu()
        call = [BINARY, "fit", folder / "learned.csv", "--out", folder / "model", "--seed", "0", "--quiet", *flags]
        subprocess.run([*call, "--set", f"net.kind={kind}"], check=True)
        seconds = cpu() - begun
        log = list(csv.reader(open(folder / "model/log.csv")))[1:]
        nats = min(float(line[3]) for line in log)
        score = predicted(folder, header, aside, args.target) if args.target else "– | –"
        print(f"| {name} | {len(learned)} | {kind} | {nats:.4f} | {score} | {seconds:.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--target")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--most", type=int, default=12_000)
    parser.add_argument("--kinds", default="mlp,trees,pooled")
    args = parser.parse_args()
    header, rows = read(args.file, args.most)
    cut = len(rows) * 4 // 5
    print("| table | rows | estimate | held-out nats per column | CRPS | 90 % covers | CPU s |\n|---|---|---|---|---|---|---|")
    for kind in args.kinds.split(","):
        fitted(args.file.name.split(".")[0], header, rows[:cut], rows[cut:], kind, args)


if __name__ == "__main__":
    main()
