"""Ten training steps in PyTorch from the weights and batches that `text_reference` wrote: the losses must agree to 1e-4."""

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file

from network import Network, load

folder = Path(sys.argv[1])
given = json.loads((folder / "reference.json").read_text())
config, net = given["config"], given["config"]["net"]
torch.manual_seed(0)
network = Network(given["classes"], net["width"], net["blocks"], net["heads"], net["length"], net["condition"],
                  rotary=net["positions"] == "rotary")
load(network, load_file(folder / "weights.safetensors"))
train = config["train"]
decayed = [p for p in network.parameters() if p.ndim > 1]
others = [p for p in network.parameters() if p.ndim <= 1]
optimiser = torch.optim.AdamW(
    [{"params": decayed, "weight_decay": train["weight_decay"]}, {"params": others, "weight_decay": 0.0}],
    betas=(0.9, train["beta_2"]),
)
worst = 0.0
print("step  pmm       PyTorch   difference")
for step, (texts, rate, ours) in enumerate(zip(given["batches"], given["rates"], given["losses"])):
    for group in optimiser.param_groups:
        group["lr"] = rate
    tokens = torch.tensor([text["tokens"] for text in texts])
    clock = torch.tensor([text["clock"] for text in texts])
    logits = network(tokens, clock).log_softmax(-1)
    loss = 0.0
    for row, text in enumerate(texts):
        picked = logits[row, text["wanted"], text["targets"]]
        loss = loss - (picked * torch.tensor(text["weights"])).sum() / len(texts)
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), train["clip"])
    optimiser.step()
    difference = abs(loss.item() - ours)
    worst = max(worst, difference)
    print(f"{step:4}  {ours:.6f}  {loss.item():.6f}  {difference:.1e}")
print(f"largest difference {worst:.1e}: {'agrees' if worst < 1e-4 else 'DOES NOT AGREE'} to 1e-4")
sys.exit(worst >= 1e-4)
