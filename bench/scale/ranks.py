"""Two ranks of one thread beside one process of two threads: seconds and CPU seconds a step, and what the program says of its traffic.

All fits but the first are the same model (two shards); the first has one shard, which is what one process does by itself. A step is the
difference between a fit of many steps and one of few, with as many validations; runs are interleaved, and the least of each is taken: other
work on the machine only adds. A rank that waits for the other keeps its processor busy, which counts as CPU time."""

import argparse
import csv
import hashlib
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

DATA = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"
PMM = os.environ["PMM_BINARY"]
CASES = {
    # A megabyte of text8 is enough for a few steps.
    "text8-tiny": ["text8.txt", "--preset", "text8-tiny"],
    "mnist": [str(DATA / "images" / "mnist"), "--preset", "mnist"],
}


def seconds(folder):
    """From the beginning of training to its last validation."""
    return float(list(csv.DictReader(open(folder / "log.csv")))[-1]["seconds"])


def fit(place, name, steps, ranks, threads, shards):
    data = CASES[name]
    folder = place / "model.pmm"
    shutil.rmtree(folder, ignore_errors=True)
    command = [PMM, "fit", *data, "--out", str(folder), "--threads", str(threads), "--steps", str(steps)]
    for setting in (f"shards={shards}", f"validate_every={steps // 2}", "checkpoint_seconds=1000"):
        command += ["--set", f"train.{setting}"]
    if ranks > 1:
        command = ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n", str(ranks)] + command
    before = os.times()
    done = subprocess.run(command, cwd=place, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    said = re.search(r"each sent ([0-9.]+) MB a step.* spent ([0-9]+) %", done.stderr)
    weights = hashlib.sha256((folder / "weights.safetensors").read_bytes()).hexdigest()
    return seconds(folder), used, said.groups() if said else ("0", "0"), weights


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cases", nargs="*", default=list(CASES))
    parser.add_argument("--steps", type=int, default=24)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        with lzma.open(DATA / "text" / "text8.first70M.xz", "rt") as text:
            (place / "text8.txt").write_text(text.read(1_000_000))
        print("| preset | processes × threads | shards | s a step | CPU s a step | beside one process | MB a step and rank | time in exchange |")
        print("|---|---|---|---|---|---|---|---|")
        lengths = (args.steps // 4, args.steps)
        for name in args.cases:
            ways = [(1, 2, 1), (1, 2, 2), (2, 1, 2)]
            wall, cpu, said, weights = {}, {}, {}, {}
            for _ in range(args.repeats):
                for run in [(steps, *way) for way in ways for steps in lengths]:
                    taken, used, said[run], weights[run] = fit(place, name, *run)
                    wall[run], cpu[run] = min(wall.get(run, 1e9), taken), min(cpu.get(run, 1e9), used)
            if any(weights[steps, *ways[1]] != weights[steps, *ways[2]] for steps in lengths):
                sys.exit(f"{name}: two ranks made another model than one process")
            a_step = lambda of, way: (of[lengths[1], *way] - of[lengths[0], *way]) / (lengths[1] - lengths[0])
            for way in ways:
                more = [100 * (a_step(of, way) / a_step(of, ways[0]) - 1) for of in (wall, cpu)]
                megabytes, share = said[args.steps, *way]
                print(
                    f"| {name} | {way[0]} × {way[1]} | {way[2]} | {a_step(wall, way):.3f} | {a_step(cpu, way):.3f} "
                    f"| {more[0]:+.0f} %, CPU {more[1]:+.0f} % | {megabytes} | {share} % |",
                    flush=True,
                )


main()
