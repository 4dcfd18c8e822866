"""Two ranks of one thread beside one process of two threads: seconds a step, CPU seconds, and what the program says of its traffic.

All three fits are the same model (two shards); the first is also run with one shard, which is what one process does by itself. Runs are
interleaved, and the least of each is taken: other work on the machine only adds."""

import argparse
import csv
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

DATA = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"
PMM = os.environ["PMM_BINARY"]
CASES = {
    # A megabyte of text8 is enough for a few steps.
    "text8-tiny": (["text8.txt", "--preset", "text8-tiny"], 24),
    "mnist": ([str(DATA / "images" / "mnist"), "--preset", "mnist"], 24),
}


def seconds_a_step(folder, steps):
    """From the log: between the first and the last validation, one of which is due every quarter."""
    rows = list(csv.DictReader(open(folder / "log.csv")))
    first, last = rows[0], rows[-1]
    return (float(last["seconds"]) - float(first["seconds"])) / (int(last["step"]) - int(first["step"]))


def fit(place, name, ranks, threads, shards):
    data, steps = CASES[name]
    folder = place / "model.pmm"
    shutil.rmtree(folder, ignore_errors=True)
    command = [PMM, "fit", *data, "--out", str(folder), "--threads", str(threads), "--steps", str(steps)]
    for setting in (f"shards={shards}", f"validate_every={steps // 2}", "checkpoint_seconds=1000"):
        command += ["--set", f"train.{setting}"]
    if ranks > 1:
        command = ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n", str(ranks)] + command
    before, begun = os.times(), time.time()
    done = subprocess.run(command, cwd=place, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    said = re.search(r"each sent ([0-9.]+) MB a step.* spent ([0-9]+) %", done.stderr)
    return seconds_a_step(folder, steps), used, time.time() - begun, said.groups() if said else ("0", "0")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cases", nargs="*", default=list(CASES))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        with lzma.open(DATA / "text" / "text8.first70M.xz", "rt") as text:
            (place / "text8.txt").write_text(text.read(1_000_000))
        print("| preset | processes × threads | shards | s a step | beside one process | MB a step and rank | time in exchange |")
        print("|---|---|---|---|---|---|---|")
        for name in args.cases:
            ways = [(1, 2, 1), (1, 2, 2), (2, 1, 2)]
            best = {}
            for _ in range(args.repeats):
                for way in ways:
                    best[way] = min(best.get(way, (1e9,)), fit(place, name, *way))
            base = best[ways[0]][0]
            for way in ways:
                step, _, _, (megabytes, share) = best[way]
                print(f"| {name} | {way[0]} × {way[1]} | {way[2]} | {step:.3f} | {100 * (step / base - 1):+.0f} % | {megabytes} | {share} % |", flush=True)


main()
