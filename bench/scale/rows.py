"""A table of many rows from a folder of Parquet files: fit, sample, impute a tenth, score a tenth; wall and CPU time and peak memory of each.

The rows are made by NumPy of a fixed seed, file by file: ten numbers that hang together, four whole numbers, four categories, a date and a
number with gaps."""

import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

import numpy
import pyarrow
import pyarrow.parquet

PMM = os.environ["PMM_BINARY"]
FILE = 250_000


def rows(count, number):
    rng = numpy.random.default_rng([7, number])
    hidden = rng.standard_normal((count, 3))
    table = {}
    for i in range(10):
        mixed = hidden @ numpy.cos(numpy.arange(3) * (i + 1)) + 0.5 * rng.standard_normal(count)
        table[f"x{i}"] = numpy.round(numpy.exp(mixed / 2) if i % 3 == 0 else mixed, 4)
    for i in range(4):
        table[f"n{i}"] = rng.poisson(numpy.exp(0.5 * hidden[:, i % 3] + i))
    names = numpy.array([f"level {k}" for k in range(12)])
    for i in range(4):
        scores = hidden[:, [i % 3]] * numpy.linspace(-1, 1, 3 * (i + 1)) + rng.gumbel(size=(count, 3 * (i + 1)))
        table[f"c{i}"] = names[scores.argmax(1)]
    days = 18_000 + (1000 * (1 / (1 + numpy.exp(-hidden[:, 0])))).astype("int32")
    table["day"] = pyarrow.array(days, pyarrow.int32()).cast(pyarrow.date32())
    table["gaps"] = pyarrow.array(numpy.round(hidden[:, 1], 3), mask=rng.random(count) < 0.2)
    return pyarrow.table(table)


def make(folder, count):
    """Files of two years, so that the year is in the folders' names: the 21st column is there for the asking, and 20 are in the files."""
    for number in range(-(-count // FILE)):
        place = folder / f"year={2020 + number % 2}"
        place.mkdir(parents=True, exist_ok=True)
        part = rows(min(FILE, count - number * FILE), number)
        pyarrow.parquet.write_table(part, place / f"part-{number:05}.parquet")


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
    parser.add_argument("--steps", type=int, default=1000)
    args = parser.parse_args()
    place = pathlib.Path(args.place)
    print("| rows | files, MB | job | rows of it | wall s | CPU s | rows a CPU second | peak MB |")
    print("|---|---|---|---|---|---|---|---|")
    for count in map(int, args.rows):
        shutil.rmtree(place, ignore_errors=True)
        data, tenth = place / "data", place / "tenth"
        make(data, count)
        make(tenth, count // 10)
        size = sum(file.stat().st_size for file in data.rglob("*.parquet")) / 1e6
        model = place / "model.pmm"
        jobs = [
            ("fit", count, ["fit", data, "--out", model, "--steps", args.steps]),
            ("sample", count // 10, ["sample", model, "-n", count // 10, "--out", place / "made-*.parquet", "--rows-per-file", "1e6"]),
            ("impute", count // 10, ["impute", model, tenth, "--out", place / "full-*.parquet", "--rows-per-file", "1e6"]),
            ("score", count // 10, ["score", model, tenth, "--out", place / "scores-*.parquet", "--rows-per-file", "1e6"]),
        ]
        for name, done, arguments in jobs:
            wall, cpu, peak = run(*arguments)
            print(f"| {count:.0e} | {size:.0f} | {name} | {done:.0e} | {wall:.0f} | {cpu:.0f} | {done / cpu:.0f} | {peak:.0f} |", flush=True)
        shutil.rmtree(place)


main()
