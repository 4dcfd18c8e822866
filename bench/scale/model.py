"""Full size on many ranks, on paper: how long a step takes, where it stops getting shorter, and how often to save.

A step of R ranks takes   T(R) = (c + o)/R + 2·4·N·(1 − 1/R)/B + 8·(R − 1)·L + s·(c/R)·√(2 ln R):
the compute c of a batch and the sweep o of the optimiser shared out, N numbers of four bytes that go round twice at B bytes a second (gradients
of each segment to its owner, weights from there to all), four exchanges (what is asked for, gradients, norm, weights) of R − 1 messages and
their lengths of latency L, and waiting for the slowest of R ranks whose steps vary by the share s.

Failures: each rank fails every M hours at random, and then half an interval, a restart and what was not saved are lost. Young's interval is
√(2·C·M/R) for a checkpoint that takes C. The simulation beside it draws failures with a fixed seed."""

import math
import random

# Weights and operations of a step: `pmm fit --dry-run --json` of each preset; those of openwebtext by hand (see docs/scale.md).
RUNS = {
    "text8": dict(weights=92.6e6, batch=512, steps=980_000, operations=7.05e13),
    "openwebtext": dict(weights=170e6, batch=512, steps=1_000_000, operations=3.9e14),
    "cifar10": dict(weights=279.6e6, batch=512, steps=637_000, operations=9.18e13),
}
# Operations a second that a rank keeps up, bytes a second and latency of its network. None of these is measured here: a node of 64 cores of
# 2020 at 1.2e11 a pair of cores (what `--dry-run` counts with), and a card at a third of 3e14.
MACHINES = {
    "node of 64 cores, 100 Gbit/s": dict(speed=32 * 1.2e11, bandwidth=12.5e9 * 0.8, latency=2e-6, sweep=20e9),
    "card, 400 Gbit/s": dict(speed=1e14, bandwidth=50e9 * 0.8, latency=5e-6, sweep=1e12),
}
VARIATION = 0.02
DISK = 1e9  # bytes a second of a checkpoint
FAILURES = 5 * 365 * 24 * 3600.0  # seconds between failures of one rank
RESTART = 120.0


def step(run, machine, ranks):
    busy = run["operations"] / machine["speed"] / ranks
    # Weights, gradient, two moments and average, read and written.
    sweep = run["weights"] * 4 * 9 / machine["sweep"] / ranks
    travel = 2 * 4 * run["weights"] * (1 - 1 / ranks) / machine["bandwidth"] + 8 * (ranks - 1) * machine["latency"]
    waiting = VARIATION * busy * math.sqrt(2 * math.log(ranks)) if ranks > 1 else 0.0
    return busy, sweep, travel, waiting


def saving(run, machine):
    """Weights, two moments, average and best go to the disk, once moments and averages have come to rank 0."""
    return 5 * 4 * run["weights"] / DISK + 3 * 4 * run["weights"] / machine["bandwidth"]


def simulated(work, cost, between, interval, rng):
    """Time over work, of a job that saves every interval and fails at random."""
    time = done = saved = 0.0
    fails = rng.expovariate(1 / between)
    while done < work:
        stretch = min(interval, work - done) + cost
        if time + stretch < fails:
            time += stretch
            done = saved = done + stretch - cost
        else:
            time = fails + RESTART
            done = saved
            fails = time + rng.expovariate(1 / between)
    return time / work - 1


def main():
    for name, machine in MACHINES.items():
        print(f"\n**{name}**\n")
        print("| preset | ranks | s a step | compute | optimiser | travel | waiting | efficiency | days | save every | lost by failures |")
        print("|---|---|---|---|---|---|---|---|---|---|---|")
        for preset, run in RUNS.items():
            alone = sum(step(run, machine, 1))
            for ranks in (1, 8, 64, 512):
                parts = step(run, machine, ranks)
                total, cost = sum(parts), saving(run, machine)
                interval = math.sqrt(2 * cost * FAILURES / ranks)
                rng = random.Random(1)
                lost = sum(simulated(run["steps"] * total, cost, FAILURES / ranks, interval, rng) for _ in range(20)) / 20
                shares = " | ".join(f"{100 * part / total:.0f} %" for part in parts)
                print(
                    f"| {preset} | {ranks} | {total:.3g} | {shares} | {100 * alone / total / ranks:.0f} % | {run['steps'] * total / 86400:.1f} "
                    f"| {interval / 60:.0f} min | {100 * lost:.1f} % |"
                )
    print("\n**Saving more or less often than Young says: text8 on 512 ranks of the node, with a failure of a rank every 30 days**\n")
    print("| interval | lost |\n|---|---|")
    run, machine = RUNS["text8"], MACHINES["node of 64 cores, 100 Gbit/s"]
    between, cost = 30 * 86400 / 512, saving(run, machine)
    young = math.sqrt(2 * cost * between)
    for factor in (0.25, 0.5, 1, 2, 4):
        rng = random.Random(2)
        work = 10 * 86400
        lost = sum(simulated(work, cost, between, factor * young, rng) for _ in range(40)) / 40
        print(f"| {factor:g} × {young / 60:.1f} min | {100 * lost:.1f} % |")


main()
