"""Trains the reference network on a text, masked (as pmm does, log-linear clock) or causal (autoregressive), for so many steps or
CPU minutes, and prints its bits per character on held-out text as JSON.

    train.py TEXT --valid SHARE [--causal] [--steps N | --cpu-minutes M] [--threads N] [--seed 0]

The optimiser, its schedule, the average of the weights and the batch are pmm's; the masks and the windows are its own.
"""

import argparse
import json
import math
import os
import time

import numpy as np
import torch

from network import Network, clock_features

ask = argparse.ArgumentParser()
ask.add_argument("text")
ask.add_argument("--valid", type=float, default=0.05)
ask.add_argument("--causal", action="store_true")
ask.add_argument("--steps", type=int)
ask.add_argument("--cpu-minutes", type=float)
ask.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
ask.add_argument("--seed", type=int, default=0)
ask.add_argument("--width", type=int, default=192)
ask.add_argument("--blocks", type=int, default=4)
ask.add_argument("--heads", type=int, default=4)
ask.add_argument("--length", type=int, default=256)
ask.add_argument("--condition", type=int, default=64)
ask.add_argument("--batch", type=int, default=16)
ask.add_argument("--rate", type=float, default=1e-3)
ask.add_argument("--bound-texts", type=int, default=128)
args = ask.parse_args()
torch.set_num_threads(args.threads)
torch.manual_seed(args.seed)
rng = np.random.default_rng(args.seed)

text = open(args.text, encoding="utf-8").read()
alphabet = sorted(set(text))
lookup = np.zeros(ord(alphabet[-1]) + 1, dtype=np.int64)
for code, character in enumerate(alphabet):
    lookup[ord(character)] = code
ids = lookup[np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)]
held_out = round(args.valid * len(ids))
train, test = ids[: len(ids) - held_out], ids[len(ids) - held_out :]
classes, length = len(alphabet), args.length
network = Network(classes, args.width, args.blocks, args.heads, length, args.condition, causal=args.causal)
average = {name: p.detach().clone() for name, p in network.named_parameters()}
decayed = [p for p in network.parameters() if p.ndim > 1]
others = [p for p in network.parameters() if p.ndim <= 1]
optimiser = torch.optim.AdamW(
    [{"params": decayed, "weight_decay": 0.03}, {"params": others, "weight_decay": 0.0}], betas=(0.9, 0.98)
)


def windows(data, starts):
    return torch.from_numpy(np.stack([data[s : s + length] for s in starts]))


def masked_loss(x, t):
    """Nats per token of each text: 1/(1 − t) times what its masked positions cost."""
    t = torch.as_tensor(t, dtype=torch.float32)
    hidden = torch.rand(x.shape) < (1 - t)[:, None]
    level = (-(1 - t).log()).clamp(min=1e-4).log().clamp(max=4.0)
    logits = network(torch.where(hidden, classes, x), clock_features(level))
    cost = torch.nn.functional.cross_entropy(logits.transpose(1, 2), x, reduction="none")
    return (cost * hidden).sum(1) / (1 - t) / length


def causal_loss(x):
    seen = torch.cat([torch.full_like(x[:, :1], classes), x[:, :-1]], dim=1)
    logits = network(seen, torch.zeros(len(x), 64))
    return torch.nn.functional.cross_entropy(logits.transpose(1, 2), x, reduction="none").mean(1)


def step(number, steps, warmup):
    rate = args.rate * min((number + 1) / warmup, 0.5 * (1 + math.cos(math.pi * max(0, number - warmup) / max(1, steps - warmup))))
    for group in optimiser.param_groups:
        group["lr"] = rate
    x = windows(train, rng.integers(0, len(train) - length + 1, args.batch))
    t = np.minimum((np.arange(args.batch) + rng.random()) / args.batch, 1 - 1e-6)
    loss = (causal_loss(x) if args.causal else masked_loss(x, t)).mean()
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimiser.step()
    decay = min(min(max(1 - 10 / steps, 0.9), 0.999), (1 + number) / (10 + number))
    with torch.no_grad():
        for name, p in network.named_parameters():
            average[name].lerp_(p, 1 - decay)
    return loss.item()


steps = args.steps
if steps is None:
    for number in range(25):
        if number == 5:
            begin = time.process_time()
        step(number, 10**9, 10**9)
    steps = int(args.cpu_minutes * 60 / ((time.process_time() - begin) / 20))
begin, cpu = time.perf_counter(), time.process_time()
curve, recent = [], []
for number in range(steps):
    recent.append(step(number, steps, max(1, min(200, steps // 20))))
    if len(recent) == max(1, steps // 30):
        curve.append((number + 1, float(np.mean(recent)) / math.log(2)))
        recent = []
seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
network.load_state_dict(average, strict=False)
with torch.no_grad():
    starts = np.arange(args.bound_texts) * (len(test) - length) // args.bound_texts
    rows = []
    for first in range(0, args.bound_texts, 16):
        x = windows(test, starts[first : first + 16])
        if args.causal:
            rows.append(causal_loss(x))
        else:
            draws = [masked_loss(x, (k + torch.rand(len(x))) / 8) for k in range(8)]
            rows.append(torch.stack(draws).mean(0))
    bits = torch.cat(rows) / math.log(2)
print(json.dumps({
    "kind": "causal" if args.causal else "masked", "steps": steps, "seconds": seconds, "cpu_seconds": cpu,
    "curve": curve,
    "bits_per_character": bits.mean().item(), "standard_error": (bits.std() / len(bits) ** 0.5).item(),
    "weights": sum(p.numel() for p in network.parameters()),
}))
