"""Peak memory of a fit and a sample of a million rows and 20 columns, above that of the frame alone."""

import argparse
import json

import pmm
from overhead import table


def peak_mb():
    """The most that this process has had in memory since the mark was reset."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


def now_mb():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


def reset():
    with open("/proc/self/clear_refs", "w") as marks:
        marks.write("5")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--sampled", type=int, default=1_000_000)
    arguments = parser.parse_args()
    frame = table(arguments.rows, arguments.columns)
    size = frame.memory_usage(deep=True).sum() / 2**20
    before = now_mb()
    reset()
    model = pmm.fit(frame, steps=arguments.steps, progress=False)
    fitting = peak_mb() - before
    before = now_mb()
    reset()
    made = model.sample(arguments.sampled, progress=False)
    sampling = peak_mb() - before
    print(json.dumps({
        "rows": arguments.rows, "columns": arguments.columns, "frame_mb": round(size), "fit_peak_above_mb": round(fitting),
        "sampled": len(made), "sample_frame_mb": round(made.memory_usage(deep=True).sum() / 2**20), "sample_peak_above_mb": round(sampling),
    }))


if __name__ == "__main__":
    main()
