"""Full size on many ranks, on paper: how long a step takes, where it stops getting shorter, and how often to save.

A step of R ranks takes   T(R) = c/R + o + 2·4·N·(1 − 1/R)/B + 2·(R − 1)·L + s·(c/R)·√(2 ln R):
the compute c of a batch shared out (never among more ranks than it has rows), the optimiser's sweep o that every rank does by itself, a gradient
of N numbers of four bytes that goes round twice at B bytes a second (all to all, then all to all again), 2(R − 1) messages of latency L, and
waiting for the slowest of R ranks whose steps vary by the share s.

Failures: ranks fail at random, every M hours each, and what is lost is half an interval, a restart, and the time to save. Young's interval
is √(2·C·M/R) for a checkpoint that takes C. The simulation beside it draws failures with a fixed seed."""

import math
import random

# weights, rows of a batch, steps, operations of a step: `pmm fit --dry-run --json` of each preset.
RUNS = {
    "text8": dict(weights=92.4e6, batch=512, steps=1_000_000, operations=None, tokens=256),
    "openwebtext": dict(weights=169.0e6, batch=512, steps=1_000_000, operations=None, tokens=1024),
    "cifar10": dict(weights=55.7e6, batch=512, steps=637_000, operations=None, tokens=None),
}
