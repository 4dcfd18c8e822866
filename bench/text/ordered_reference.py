"""Ten training steps of the ordered network in PyTorch, from the weights, texts and orders that the example `ordered_reference` of pmm-train
wrote: losses must agree to 1e-4, and so must the weights after ten steps.

    cargo run --release -p pmm-train --example ordered_reference -- TEXT FOLDER
    python ordered_reference.py FOLDER
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from optimisers import Muon, RowAdagrad
from ordered_network import OrderedNetwork, ordered, state

folder = Path(sys.argv[1])
given = json.loads((folder / "reference.json").read_text())
config, net, classes = given["config"], given["config"]["net"], given["classes"]


def read(name):
    flat = np.fromfile(folder / name, dtype="<f4")
    cut = lambda shape, start: torch.from_numpy(flat[start : start + shape[0] * shape[1]].reshape(shape).copy())
    return state({part: cut(shape, start) for part, shape, start in given["parts"]})


def loss_of(texts):
    order, told = (torch.tensor([text[what] for text in texts]) for what in ("positions", "tokens"))
    tokens = torch.zeros_like(told).scatter(1, order, told)
    logits = network(ordered(tokens, order, net, classes))
    return F.cross_entropy(logits.flatten(0, 1), told.flatten())


network = OrderedNetwork(classes, net)
network.load_state_dict(read("initial.f32"))
train, muon = config["train"], config["muon"]
adamw = torch.optim.AdamW(network.others(), betas=(0.9, train["beta_2"]), eps=1e-8, weight_decay=train["weight_decay"])
matrices = Muon(network.matrices(), **muon)
tables = RowAdagrad(network.patterns, config["pattern_rate"])
clipped = [w for w in network.parameters() if w is not network.patterns]
worst = 0.0
print("step  pmm       PyTorch   difference")
for step, (texts, share, ours) in enumerate(zip(given["batches"], given["shares"], given["losses"])):
    adamw.param_groups[0]["lr"] = train["learning_rate"] * share
    loss = loss_of(texts)
    network.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(clipped, train["clip"])
    adamw.step()
    matrices.step(share)
    tables.step(share)
    difference = abs(loss.item() - ours)
    worst = max(worst, difference)
    print(f"{step:4}  {ours:.6f}  {loss.item():.6f}  {difference:.1e}")
trained = read("trained.f32")
apart = max((w.detach() - trained[n]).norm().item() / trained[n].norm().item() for n, w in network.named_parameters())
print(f"largest relative difference of a part of the weights after ten steps: {apart:.1e}")
print(f"largest difference {worst:.1e}: {'agrees' if worst < 1e-4 else 'DOES NOT AGREE'} to 1e-4")
sys.exit(worst >= 1e-4)
