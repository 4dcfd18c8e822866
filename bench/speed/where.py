"""Where the time of a training step goes, operation by operation, in pmm and in PyTorch eager: writes WHERE.md.

    where.py [--cases table text …] [--seconds 10] [--threads 2]

pmm is sampled by Linux's `perf` (Debian: linux-perf), over all threads; PyTorch by its own profiler, on the thread that calls, while the
others work beside it.
"""

import argparse
import datetime
import json
import os
import re
import subprocess
from pathlib import Path

from measure import CASES, HERE, start, table

# Names of functions in pmm, and of operations in PyTorch; the first that fits counts.
GROUPS = {
    "optimiser": (r"adamw", r"fused_adamw|foreach"),
    "attention": (r"attention::", r"scaled_dot_product|flash_attention|_softmax"),
    "convolution": (r"pulp::|ops::(lines|taps|conv|winograd|resample)", r"convolution|mkldnn_conv|avg_pool|upsample"),
    "matrix products": (r"gemm", r"addmm|::mm|::bmm|baddbmm|::linear|matmul"),
    "activations and norms": (r"ops::rows|expf", r"silu|gelu|layer_norm|group_norm|native_norm"),
    "moving and clearing memory": (r"mem(set|move|cpy)|\[k\]|malloc|free|copy|matmul::turn", r"copy_|fill_|zero_|::cat|clone|contiguous|empty|slice"),
    "the rest": (r"", r""),
}


def grouped(times, column):
    sums = dict.fromkeys(GROUPS, 0.0)
    for name, seconds in times.items():
        group = next(group for group, names in GROUPS.items() if re.search(names[column], name))
        sums[group] += seconds
    return sums


def of_pmm(case, seconds, threads):
    """CPU seconds of a step by function."""
    side = start("pmm", case, HERE / ".work" / case, threads)
    steps = round(seconds / side.ask("train 3")) + 1
    data = HERE / ".work" / "perf.data"
    perf = subprocess.Popen(["perf", "record", "-q", "-F", "499", "-o", data, "-p", str(side.process.pid)], stderr=subprocess.DEVNULL)
    before = cpu_seconds(side.process.pid)
    side.ask(f"train {steps}")
    # A request takes one step more, which it does not time.
    total = (cpu_seconds(side.process.pid) - before) / (steps + 1)
    perf.terminate()
    perf.wait()
    side.close()
    lines = subprocess.run(["perf", "report", "-i", data, "--stdio", "-F", "overhead,symbol"], check=True, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True).stdout.splitlines()
    shares = [re.match(r"\s*([\d.]+)%\s+(.*)", line) for line in lines]
    times = {}
    for share in filter(None, shares):
        times[share[2]] = times.get(share[2], 0.0) + float(share[1]) / 100 * total
    return times


def of_pytorch(case, seconds, threads):
    side = start("eager", case, HERE / ".work" / case, threads)
    steps = round(seconds / side.ask("train 3")) + 1
    side.process.stdin.write(f"where {steps}\n")
    side.process.stdin.flush()
    times = json.loads(side.process.stdout.readline())
    side.close()
    return times


def cpu_seconds(process):
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--cases", nargs="+", default=["table", "text", "image"], choices=list(CASES))
    ask.add_argument("--seconds", type=float, default=10)
    ask.add_argument("--threads", type=int, default=2)
    args = ask.parse_args()
    lines = ["# Where the time of a training step goes", "",
             f"{datetime.date.today().isoformat()}, milliseconds of a step, {args.threads} threads. Made by `bench/speed/where`. pmm: CPU time over the threads, divided by their number, sampled by",
             "perf; the products within attention and of Winograd's tiles count as matrix products. PyTorch eager: the thread that calls, by its profiler, which itself costs some time.", ""]
    for case in args.cases:
        sides = [grouped(of_pmm(case, args.seconds, args.threads), 0), grouped(of_pytorch(case, args.seconds, args.threads), 1)]
        shares = (1000 / args.threads, 1000)
        rows = [[group, *(f"{share * side[group]:.1f}" for side, share in zip(sides, shares))] for group in GROUPS]
        lines += [f"## {CASES[case]}", "", *table(["", "pmm", "PyTorch eager"], rows)]
    (HERE / "WHERE.md").write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
