"""Trains a masked network that has all other parts of the ordered one (its blocks, the window, the tables of patterns that read the text ahead,
Muon) for so many processor seconds or steps, and prints what `ordered_measure` prints: bits per character of 64 held-out windows, from left to
right and in random order, and the curve on the way, as JSON.

    masked_parts.py TEXT (--seconds S | --steps N) [--seed 0] [--threads 1]

Texts, split, rates, schedules and averages are those of pmm's `text8-tiny`. A step hides positions of each of 16 texts, of which the number is
stratified over the texts and the places are random: the same objective as that of random orders. As in pmm, reading ahead is not part of the
seconds that the number of steps is judged by, but is counted in the curve; looking at held-out text is not.
"""

import argparse
import json
import sys
import time

import numpy as np
import torch
from torch.nn import functional as F

from optimisers import Muon, RowAdagrad
from ordered_network import PATTERN_REACH, OrderedNetwork, around, masked, pattern_rows

NET = {"width": 192, "blocks": 4, "heads": 6, "length": 256, "window": 8, "hash_bits": 18}
HELD_OUT = 4 / 70
BATCH, LENGTH = 16, NET["length"]
RATE, TABLE_RATE, CLIP, AHEAD = 4e-3, 0.3, 1.0, 16
# Steps by which the time of a step is judged, and looks at held-out text.
TRIAL, POINTS = 6, 8
# Held-out windows, and how much is known of each, in strata.
WINDOWS, STRATA = 64, 8


def read(path):
    """Classes of the characters, in the order of the characters, and their number."""
    data = np.fromfile(path, dtype=np.uint8)
    alphabet, lookup = np.unique(data), np.zeros(256, dtype=np.uint8)
    lookup[alphabet] = np.arange(len(alphabet))
    return lookup[data], len(alphabet)


def cut(data, starts):
    return torch.from_numpy(np.stack([data[start : start + LENGTH] for start in starts]).astype(np.int64))


def windows_ahead(windows, steps, rng):
    """Windows that the tables read before the first step, shuffled; none where the network comes to all."""
    reads = steps * BATCH
    return rng.permutation(windows)[: AHEAD * reads if reads < windows else 0]


def share(step, steps):
    """The share of the largest rate: warm-up, constant, then along a line to 2 %."""
    warmup = min(steps // 20, 50)
    return min((step + 1) / max(1, warmup), (1 - step / steps) / 0.6 + 0.02, 1.0)


def hide(strata, straight=False):
    """What is hidden of texts that are known to a share in [0, 1) each: all but the first positions, or but some at random."""
    known = torch.as_tensor(strata * LENGTH).long()
    rank = torch.arange(LENGTH).expand(len(known), -1) if straight else torch.rand(len(known), LENGTH).argsort(1).argsort(1)
    return rank >= known[:, None], rank == known[:, None]


class Model:
    """The network with what moves it."""

    def __init__(self, classes):
        self.classes = classes
        self.network = OrderedNetwork(classes, NET, causal=False)
        self.adamw = torch.optim.AdamW(self.network.others(), betas=(0.9, 0.95), weight_decay=0.0, fused=True)
        self.muon = Muon(self.network.matrices())
        self.tables = RowAdagrad(self.network.patterns, TABLE_RATE)
        self.dense = [w for w in self.network.parameters() if w is not self.network.patterns]
        self.average = [w.detach().clone() for w in self.dense]

    def costs(self, tokens, hidden):
        logits = self.network(masked(tokens, hidden, NET, self.classes))
        return F.cross_entropy(logits.transpose(1, 2), tokens, reduction="none")

    def step(self, tokens, hidden, number, steps):
        now = share(number, steps)
        self.adamw.param_groups[0]["lr"] = RATE * now
        self.network.zero_grad()
        ((self.costs(tokens, hidden) * hidden).sum(1) / hidden.sum(1)).mean().backward()
        torch.nn.utils.clip_grad_norm_(self.dense, CLIP)
        self.adamw.step()
        self.muon.step(now)
        self.tables.step(now)
        kept = min(max(0.9, min(1 - 50 / steps, 0.999)), (1 + number) / (10 + number))
        with torch.no_grad():
            torch._foreach_lerp_(self.average, self.dense, 1 - kept)

    @torch.no_grad()
    def read_ahead(self, data, windows):
        """The tables learn alone, in random orders, from texts of a step's number at a time."""
        order_free = torch.arange(LENGTH).expand(BATCH, -1)
        for first in range(0, len(windows) - BATCH + 1, BATCH):
            tokens = cut(data, windows[first : first + BATCH] * LENGTH)
            rank = torch.rand(BATCH, LENGTH).argsort(1).argsort(1)
            rows = pattern_rows(around(tokens, rank, order_free, rank, PATTERN_REACH, self.classes), self.classes, NET["hash_bits"])
            logits = F.embedding_bag(rows.flatten(0, 1), self.network.patterns, mode="sum")
            slope = (logits.softmax(-1) - F.one_hot(tokens.flatten(), self.classes)) / tokens.numel()
            slope = slope.repeat_interleave(rows.shape[-1], 0)
            self.tables.step(gradient=torch.sparse_coo_tensor(rows.flatten()[None], slope, self.network.patterns.shape, check_invariants=False))

    @torch.no_grad()
    def bits(self, held_out, straight=False):
        """The mean over windows and its standard error: stratified over how much is known, with what is found by the average of the weights."""
        trained = [w.clone() for w in self.dense]
        torch._foreach_copy_(self.dense, self.average)
        seeds = np.random.default_rng(99)
        found = torch.zeros(WINDOWS)
        for stratum in range(STRATA):
            hidden, first = hide((stratum + seeds.random(WINDOWS)) / STRATA, straight)
            asked = first if straight else hidden
            costs = torch.cat([self.costs(*pair) for pair in zip(held_out.split(BATCH), hidden.split(BATCH))])
            found += (costs * asked).sum(1) / asked.sum(1) / STRATA / np.log(2)
        torch._foreach_copy_(self.dense, trained)
        return {"bits": found.mean().item(), "error": (found.std() / WINDOWS**0.5).item()}


class Run:
    def __init__(self, text, seed):
        data, classes = read(text)
        held = round(len(data) * (1 - HELD_OUT))
        self.train, self.classes, self.seed = data[:held], classes, seed
        test = data[held:]
        self.held_out = cut(test, np.arange(WINDOWS) * (len(test) - LENGTH + 1) // WINDOWS)

    def begin(self, steps):
        """A model, the windows that the tables read ahead, and a source of random numbers; the same for a seed."""
        torch.manual_seed(self.seed)
        rng = np.random.default_rng(self.seed)
        return Model(self.classes), windows_ahead(len(self.train) // LENGTH, steps, rng), rng

    def step(self, model, rng, number, steps):
        starts = rng.integers(len(self.train) - LENGTH + 1, size=BATCH)
        hidden, _ = hide((np.arange(BATCH) + rng.random()) / BATCH)
        model.step(cut(self.train, starts), hidden, number, steps)

    def seconds_of_step(self):
        model, _, rng = self.begin(1000)
        for number in range(2 + TRIAL):
            if number == 2:
                begin = time.process_time()
            self.step(model, rng, number, 1000)
        return (time.process_time() - begin) / TRIAL

    def go(self, steps):
        """Trains; the end's bits, and the curve."""
        model, ahead, rng = self.begin(steps)
        curve, looking, begin = [], 0.0, time.process_time()
        model.read_ahead(self.train, ahead)
        print(f"read ahead, {time.process_time() - begin:.1f} s", file=sys.stderr)
        for number in range(steps):
            self.step(model, rng, number, steps)
            if (number + 1) % max(1, steps // POINTS) == 0:
                now = time.process_time()
                seconds, random = now - begin - looking, model.bits(self.held_out)["bits"]
                curve.append({"step": number + 1, "seconds": seconds, "left_to_right": None, "random": random})
                print(f"{number + 1:6} steps, {seconds:6.1f} s: {random:.3f} bits", file=sys.stderr)
                looking += time.process_time() - now
        both = {"left_to_right": model.bits(self.held_out, straight=True), "random": model.bits(self.held_out)}
        return {"steps": steps, **both, "curve": curve}


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("text")
    budget = ask.add_mutually_exclusive_group(required=True)
    budget.add_argument("--seconds", type=float)
    budget.add_argument("--steps", type=int)
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--threads", type=int, default=1)
    args = ask.parse_args()
    torch.set_num_threads(args.threads)
    run = Run(args.text, args.seed)
    print(json.dumps(run.go(args.steps or int(args.seconds / run.seconds_of_step()))))


if __name__ == "__main__":
    main()
