"""Ten training steps of the ordered network in PyTorch, written from its description, from the weights, texts and orders that the example
`ordered_reference` of pmm-train wrote: losses must agree to 1e-4, and so must the weights after ten steps.

    cargo run --release -p pmm-train --example ordered_reference -- TEXT FOLDER
    python ordered_reference.py FOLDER
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

PATTERNS = [(-4, -3, -2, -1), (-6, -5, -4, -3, -2, -1), (1, 2, 3, 4), (-2, -1, 1, 2), (-3, -2, -1, 1, 2, 3)]
folder = Path(sys.argv[1])
given = json.loads((folder / "reference.json").read_text())
config, net, classes = given["config"], given["config"]["net"], given["classes"]
width, heads, length, window, bits = (net[k] for k in ("width", "heads", "length", "window", "hash_bits"))
size, unknown, outside = width // heads, classes, classes + 1


def read(name):
    flat = np.fromfile(folder / name, dtype="<f4")
    cut = lambda shape, start: torch.from_numpy(flat[start : start + shape[0] * shape[1]].reshape(shape).copy())
    return {part: cut(shape, start) for part, shape, start in given["parts"]}


w = {name: tensor.requires_grad_() for name, tensor in read("initial.f32").items()}


def symbols(text, order, step, centre, offsets):
    """What is known before a step around a position: tokens, `unknown`, `outside`."""
    known = {order[i]: text[i] for i in range(step)}
    look = lambda p: known.get(p, unknown) if 0 <= p < length else outside
    return [look(centre + offset) for offset in offsets]


def pattern_row(table, shown):
    number = table + 1
    for symbol in shown:
        number = (number * (classes + 3) + symbol + 1) % 2**64
    return (number * 0x9E3779B97F4A7C15 % 2**64) >> (64 - bits)


def turn(x, positions):
    """Pairs (i, i + half) of a head turned by position · 1000^(−i/half); x is [batch, heads, steps, size], positions [batch, steps]."""
    half = size // 2
    angles = positions[:, None, :, None] * 1000.0 ** (-torch.arange(half, dtype=torch.float64) / half)
    (a, b), c, s = x.split(half, dim=-1), angles.cos().float(), angles.sin().float()
    return torch.cat([a * c - b * s, a * s + b * c], dim=-1)


def norm(x, gain=None):
    y = x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6)
    return y if gain is None else y * gain[0]


def loss_of(texts):
    offsets = [o for o in range(-window, window + 1) if o]
    orders = [text["positions"] for text in texts]
    told = [text["tokens"] for text in texts]
    steps = range(length)
    tokens = torch.tensor([[classes] + t[:-1] for t in told])
    own = torch.tensor([[-1] + o[:-1] for o in orders])
    target = torch.tensor(orders)
    around = lambda centre, reach: [
        [symbols(t, o, i, centre[b][i], reach) for i in steps] for b, (t, o) in enumerate(zip(told, orders))
    ]
    h = w["token"][tokens]
    for name, centre in (("target", target.tolist()), ("token", own.tolist())):
        table = w[f"window.{name}"].view(len(offsets), classes + 2, width)
        shown = torch.tensor(around(centre, offsets))
        for index in range(len(offsets)):
            h = h + table[index][shown[..., index]]
    at_target = heads // 3
    batch = len(texts)
    for block in range(net["blocks"]):
        part = lambda name: w[f"block.{block}.{name}"]
        x = norm(h, part("norm_1")) @ part("qkv")
        q, k, v = (y.view(batch, length, heads, size).transpose(1, 2) for y in x.chunk(3, dim=-1))
        q, k = turn(norm(q), target), norm(k)
        straight = heads - at_target
        k = torch.cat([turn(k[:, :straight], own), turn(k[:, straight:], target)], dim=1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.2 / size**0.5)
        h = h + y.transpose(1, 2).reshape(batch, length, width) @ part("project")
        h = h + F.relu(norm(h, part("norm_2")) @ part("up")).square() @ part("down")
    logits = norm(h, w["norm"]) @ w["output.weight"] + w["output.bias"][0]
    for table, pattern in enumerate(PATTERNS):
        shown = around(target.tolist(), pattern)
        rows = torch.tensor([[pattern_row(table, s) for s in text] for text in shown])
        logits = logits + w[f"pattern.{table}"][rows]
    return F.cross_entropy(logits.flatten(0, 1), torch.tensor(told).flatten())


def orthogonal(g):
    x = g / (g.norm() + 1e-12)
    if x.shape[0] > x.shape[1]:
        return orthogonal(g.T).T
    for _ in range(5):
        s = x @ x.T
        x = 3.4445 * x + (-4.7750 * s + 2.0315 * s @ s) @ x
    return x


train, muon = config["train"], config["muon"]
matrices = [n for n in w if n.startswith("block.") and w[n].shape[0] > 1]
tables = [n for n in w if n.startswith("pattern.")]
rest = [n for n in w if n not in matrices and n not in tables]
adamw = torch.optim.AdamW([w[n] for n in rest], betas=(0.9, train["beta_2"]), eps=1e-8, weight_decay=train["weight_decay"])
adagrad = torch.optim.Adagrad([w[n] for n in tables])
momentum = {n: torch.zeros_like(w[n]) for n in matrices}
worst = 0.0
print("step  pmm       PyTorch   difference")
for step, (texts, share, ours) in enumerate(zip(given["batches"], given["shares"], given["losses"])):
    adamw.param_groups[0]["lr"] = train["learning_rate"] * share
    adagrad.param_groups[0]["lr"] = config["pattern_rate"] * share
    loss = loss_of(texts)
    for tensor in w.values():
        tensor.grad = None
    loss.backward()
    torch.nn.utils.clip_grad_norm_([w[n] for n in rest + matrices], train["clip"])
    adamw.step()
    adagrad.step()
    with torch.no_grad():
        for name in matrices:
            g, m, beta = w[name].grad, momentum[name], muon["momentum"]
            m.mul_(beta).add_(g, alpha=1 - beta)
            u = (1 - beta) * g + beta * m
            pieces = u.chunk(3, dim=1) if name.endswith(".qkv") else (u,)
            move = torch.cat([orthogonal(p) * max(1, p.shape[1] / p.shape[0]) ** 0.5 for p in pieces], dim=1)
            rate = muon["rate"] * share
            w[name].mul_(1 - rate * muon["weight_decay"]).add_(move, alpha=-rate)
    difference = abs(loss.item() - ours)
    worst = max(worst, difference)
    print(f"{step:4}  {ours:.6f}  {loss.item():.6f}  {difference:.1e}")
trained = read("trained.f32")
apart = max((w[n].detach() - trained[n]).norm().item() / trained[n].norm().item() for n in w)
print(f"largest relative difference of a part of the weights after ten steps: {apart:.1e}")
print(f"largest difference {worst:.1e}: {'agrees' if worst < 1e-4 else 'DOES NOT AGREE'} to 1e-4")
sys.exit(worst >= 1e-4)
