"""A table of many rows from a folder of Parquet files: fit, sample, impute, score; wall and CPU time and peak memory of each.

The rows are made by NumPy of a fixed seed, file by file: ten numbers that hang together, four whole numbers, four categories, a date and a
number with gaps. A fit goes through all of them; sampled, filled in and scored are a tenth, or `--part` rows where that is fewer (a row costs
the same, the first or the last)."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

import numpy
import pyarrow
import pyarrow.parquet

PMM = os.environ["PMM_BINARY"]
FILE = 1_000_000


def rows(count, number):
    """Made with single precision and few draws: a hundred million rows should take minutes to make."""
    rng = numpy.random.default_rng([7, number])
    normal = lambda columns: rng.standard_normal((columns, count), dtype="f4")
    hidden, noise = normal(3), normal(14)
    table = {}
    for i in range(10):
        mixed = numpy.cos(numpy.arange(3, dtype="f4") * (i + 1)) @ hidden + 0.5 * noise[i]
        table[f"x{i}"] = numpy.round(numpy.exp(mixed / 2) if i % 3 == 0 else mixed, 2)
    for i in range(4):
        table[f"n{i}"] = numpy.exp(0.5 * hidden[i % 3] + 0.3 * noise[10 + i] + i).astype("i8")
    names = pyarrow.array([f"level {k}" for k in range(12)])
    for i in range(4):
        levels = 3 * (i + 1)
        place = levels / (1 + numpy.exp(-hidden[i % 3] - noise[i + 5]))
        codes = numpy.minimum(place, levels - 1).astype("i4")
        table[f"c{i}"] = pyarrow.DictionaryArray.from_arrays(codes, names)
    days = 18_000 + (1000 / (1 + numpy.exp(-hidden[0]))).astype("i4")
    table["day"] = pyarrow.array(days).cast(pyarrow.date32())
    table["gaps"] = pyarrow.array(numpy.round(hidden[1], 2), mask=rng.random(count, dtype="f4") < 0.2)
    return pyarrow.table(table)


def make(folder, count):
    """Files of two years: the year is in the folders' names, a column of its own. Files that are there already stay."""
    for number in range(-(-count // FILE)):
        place = folder / f"year={2020 + number % 2}"
        place.mkdir(parents=True, exist_ok=True)
        path = place / f"part-{number:05}.parquet"
        if not path.exists():
            part = rows(min(FILE, count - number * FILE), number)
            pyarrow.parquet.write_table(part, path.with_suffix(".tmp"), compression="zstd", row_group_size=131_072)
            path.with_suffix(".tmp").rename(path)


def run(*arguments):
    """Wall time, CPU time and peak memory of a command."""
    begun = time.time()
    child = subprocess.Popen([PMM, *map(str, arguments), "--quiet"], stderr=subprocess.PIPE)
    said = child.stderr.read().decode()
    _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit(said)
    return time.time() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=float, nargs="+")
    parser.add_argument("--place", default="/tmp/pmm-scale")
    parser.add_argument("--make-only", action="store_true")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--part", type=float, default=1e7)
    args = parser.parse_args()
    place = pathlib.Path(args.place)
    if args.make_only:
        return make(place / f"{args.rows[0]:.0e}" / "data", int(args.rows[0]))
    print("| rows | files, MB | job | rows of it | wall s | CPU s | rows a CPU second | peak MB |")
    print("|---|---|---|---|---|---|---|---|")
    for count in map(int, args.rows):
        here = place / f"{count:.0e}"
        data, some, model = here / "data", here / "some", here / "model.pmm"
        for old in (some, model):
            shutil.rmtree(old, ignore_errors=True)
        part = int(min(count // 10, args.part))
        make(data, count)
        make(some, part)
        size = sum(file.stat().st_size for file in data.rglob("*.parquet")) / 1e6
        pieces = ["--rows-per-file", "1e6", "--out"]
        jobs = [
            ("fit", count, ["fit", data, "--out", model, "--steps", args.steps]),
            ("sample", part, ["sample", model, "-n", part, *pieces, here / "made-*.parquet"]),
            ("impute", part, ["impute", model, some, *pieces, here / "full-*.parquet"]),
            ("score", part, ["score", model, some, *pieces, here / "scores-*.parquet"]),
        ]
        for name, done, arguments in jobs:
            wall, cpu, peak = run(*arguments)
            print(f"| {count:.0e} | {size:.0f} | {name} | {done:.0e} | {wall:.0f} | {cpu:.0f} | {done / cpu:.0f} | {peak:.0f} |", flush=True)
        shutil.rmtree(here)


main()
