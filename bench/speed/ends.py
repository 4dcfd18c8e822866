"""Times whole jobs by two programs in turn and writes ENDS.md.

    ends.py BEFORE AFTER

Short jobs are run from beginning to end. Of long ones some steps are: the time of many less that of few, so that reading and validation, which
both have once, count for nothing, and from it the time of as many as the preset has.
"""

import datetime
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measuring import SHARED, costed, machine, table, two_cores

TEXT, DIGITS, HOUSES = SHARED / "text/text8.first70M.xz", SHARED / "images/mnist", SHARED / "tables/california-housing.csv.gz"
ROUNDS = 3


def demo(binary, folder):
    return [("`pmm demo`", costed(binary, "demo", "--out", folder / "demo", "--quiet")[1])]


def houses(binary, folder):
    model = folder / "houses.pmm"
    fit = costed(binary, "fit", HOUSES, "--out", model, "--force", "--quiet")[1]
    draw = costed(binary, "sample", model, "-n", 20640, "--out", folder / "houses.csv", "--quiet")[1]
    return [("california, a table of 20,640 rows: `fit`", fit), ("the same: `sample -n 20640`", draw)]


def long(name, data, preset, few, many):
    def measure(binary, folder):
        model, times = folder / "long.pmm", {}
        for steps in (few, many):
            how = ["--preset", preset, "--steps", steps, "--set", f"train.validate_every={many}", "--out", model, "--force", "--quiet"]
            cost = costed(binary, "fit", data, *how)[1]
            info = json.loads(subprocess.run([binary, "info", model, "--json"], check=True, stdout=subprocess.PIPE).stdout)
            times[steps] = info["seconds"]
        whole = json.loads(subprocess.run([binary, "fit", data, "--preset", preset, "--dry-run", "--json"], check=True, stdout=subprocess.PIPE).stdout)
        steps = whole["config"]["train"]["steps"]
        seconds = (times[many] - times[few]) / (many - few) * steps
        return [(f"{name}: `fit --preset {preset}`, {steps:,} steps, by {many - few} of them", cost | {"seconds": seconds})]

    return measure


JOBS = [(demo, ROUNDS), (houses, 1), (long("text8", TEXT, "text8-tiny", 3, 23), 1), (long("MNIST", DIGITS, "mnist", 5, 45), 1)]


def measured(binaries):
    """For each job its costs by each program."""
    found = {}
    for job, rounds in JOBS:
        for _ in range(rounds):
            for which, binary in enumerate(binaries):
                with tempfile.TemporaryDirectory(dir=HERE / ".work") as folder:
                    for name, cost in job(binary, Path(folder)):
                        found.setdefault(name, ([], []))[which].append(cost)
                        print(name, which, cost, flush=True)
    return found


def shown(seconds):
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def rows(found):
    for name, sides in found.items():
        before, after = (median(cost["seconds"] for cost in costs) for costs in sides)
        memory = [max(cost["megabytes"] for cost in costs) for costs in sides]
        yield [name, shown(before), shown(after), f"{before / after:.1f}", *(f"{megabytes:.0f}" for megabytes in memory)]


def main():
    binaries = [Path(argument).resolve() for argument in sys.argv[1:]]
    two_cores()
    found = measured(binaries)
    lines = ["# Whole jobs, without and with the kernels", "",
             f"{datetime.date.today()}, {machine()}. Made by `bench/speed/ends`: the networks as compositions on Burn's CPU backend, and by the kernels of",
             f"`pmm-net/src/ops/`, in turn; the demo is the median of {ROUNDS} runs, the others are one run each. All else is the same in both.", "",
             *table(["job", "compositions", "kernels", "ratio", "peak MB", "peak MB with kernels"], rows(found))]
    (HERE / "ENDS.md").write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
