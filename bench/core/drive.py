"""Drives both sides, round by round, and prints the table. Start it with `bench/core/run`."""

import argparse
import subprocess
import time
from statistics import median

import numpy as np

from cases import TARGET, WIDTH, Case, cases


class Rust:
    """The Rust side, a process that answers on a pipe; see src/main.rs."""

    def __init__(self):
        command = ["cargo", "run", "--release", "--quiet", "-p", "bench-core"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def close(self):
        self.process.stdin.close()
        if self.process.wait():
            raise SystemExit("the Rust side failed")

    def send(self, line, *arrays):
        pipe = self.process.stdin
        pipe.write(f"{line}\n".encode())
        for array in arrays:
            pipe.write(f"{array.nbytes}\n".encode())
            pipe.write(array.tobytes())
        pipe.flush()

    def load(self, case: Case):
        clock = case.a if case.operation == "draw" else TARGET - case.a
        self.send(f"{case.pair} {case.operation} {WIDTH}", np.repeat(clock, WIDTH, 1), case.start, case.x)

    def time(self, threads, step):
        self.send(f"time {threads} {step}")
        return float(self.process.stdout.readline())

    def stat(self, case):
        self.send("stat")
        raw = self.process.stdout.read(int(self.process.stdout.readline()))
        return np.frombuffer(raw, case.start.dtype).reshape(case.start.shape)


def warm(time_once, r):
    """The second of two timings: the first wakes the core up and fills its caches. Both draw numbers of their own, lest
    the processor learn them by heart."""
    time_once(2 * r)
    return time_once(2 * r + 1)


def time_numpy(case, stat):
    np.copyto(stat, case.start)
    begin = time.perf_counter()
    case.numpy(stat)
    return time.perf_counter() - begin


def verify(case, side, stat):
    deviation = case.check(stat)
    if not deviation < 6:
        raise SystemExit(f"{case.pair} {case.operation} {case.setting}: {side} is {deviation:.1f} standard errors off")


def measure(case, rust, rounds):
    """Seconds of NumPy, of one thread and of two in each round; before the first, all three are verified."""
    rust.load(case)
    stat = case.start.copy()
    time_numpy(case, stat)
    verify(case, "NumPy", stat)
    for threads in (1, 2):
        rust.time(threads, 0)
        verify(case, f"pmm on {threads}", rust.stat(case))
    sides = [lambda _: time_numpy(case, stat), lambda r: rust.time(1, r), lambda r: rust.time(2, r)]
    return [[warm(side, r) for side in sides] for r in range(1, rounds + 1)]


def row(case, seconds):
    mega = case.a.size * WIDTH / 1e6
    rates = [mega / median(column) for column in zip(*seconds)]
    ratios = [median(s[0] / s[threads] for s in seconds) for threads in (1, 2)]
    cells = [case.pair, case.operation, case.setting, *(f"{r:.1f}" for r in rates), *(f"{r:.1f}×" for r in ratios)]
    return f"| {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="cases whose pair, operation and setting contain this")
    args = parser.parse_args()
    rust = Rust()
    print("| pair | operation | setting | NumPy, Mcoord/s | ours, 1 thread | ours, 2 threads | ratio, 1 | ratio, 2 |")
    print("|---|---|---|--:|--:|--:|--:|--:|")
    for make in cases():
        case = make()
        if args.only in f"{case.pair} {case.operation} {case.setting}":
            print(row(case, measure(case, rust, args.rounds)), flush=True)
    rust.close()


if __name__ == "__main__":
    main()
