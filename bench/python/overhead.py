"""What Python costs over the program: the same fit by both, and a million rows to pandas beside a Parquet file.

Interleaved: program, Python, program, Python, …; the least of each counts, in CPU seconds (which others on the machine change
little) and in wall seconds.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from measure import peak_mb, timed

import pmm

#: The program that comes with the package starts an interpreter as well; PMM_BINARY names another.
PROGRAM = Path(os.environ.get("PMM_BINARY", Path(sys.executable).with_name("pmm")))


def table(rows, columns, seed=0):
    """Numbers that depend on each other, and categories."""
    draw = np.random.default_rng(seed)
    base = draw.normal(size=(rows, 4))
    frame = {}
    for place in range(columns):
        values = base @ draw.normal(size=4) + 0.3 * draw.normal(size=rows)
        frame[f"c{place}"] = np.array(["low", "middle", "high"])[np.digitize(values, [-1, 1])] if place % 5 == 4 else values
    return pd.DataFrame(frame)


def program(*arguments):
    subprocess.run([PROGRAM, *map(str, arguments), "--quiet"], check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--sampled", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    times = {"fit by the program": [], "fit by Python": [], "sample to Parquet": [], "sample to pandas": []}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        frame = table(arguments.rows, 10)
        frame.to_parquet(folder / "rows.parquet")
        program("fit", folder / "rows.parquet", "--out", folder / "m.pmm", "--steps", 50)
        model = pmm.load(folder / "m.pmm", frame="pandas")
        for turn in range(arguments.rounds):
            common = ["--steps", arguments.steps, "--out", folder / f"{turn}.pmm"]
            times["fit by the program"].append(timed(lambda: program("fit", folder / "rows.parquet", *common))[1])
            times["fit by Python"].append(timed(lambda: pmm.fit(frame, steps=arguments.steps, out=folder / f"{turn}-python.pmm", progress=False))[1])
            out = folder / "made.parquet"
            n = arguments.sampled
            times["sample to Parquet"].append(timed(lambda: program("sample", folder / "m.pmm", "-n", n, "--out", out))[1])
            times["sample to pandas"].append(timed(lambda: model.sample(n, progress=False))[1])
    least = {name: {"s": round(min(t[0] for t in taken), 2), "cpu_s": round(min(t[1] for t in taken), 2)} for name, taken in times.items()}
    print(json.dumps({"rounds": arguments.rounds, "rows": arguments.rows, "sampled": arguments.sampled, **least, "peak_mb": peak_mb()}))


if __name__ == "__main__":
    main()
