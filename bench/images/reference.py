"""Ten training steps in PyTorch from the weights and batches that `image_reference` wrote: the losses must agree to 1e-4.

The preconditioning is EDM's (Karras et al. 2022), of data with mean m: with σ = 1/√a and u = S/a, the network sees
(u − m)/√(σ² + σ_d²), the mask of observed pixels beside it and log(σ)/4, and its answer F gives x̂ = m + c_skip (u − m) + c_out F; the
loss of a pixel is ½ (x − x̂)²/c_out².
"""

import json
import sys
from pathlib import Path

import torch
from network import Unet, load
from safetensors.torch import load_file

NEAR_ZERO = 1e-4  # added to the clock where its logarithm or inverse is needed


def main():
    folder = Path(sys.argv[1])
    given = json.loads((folder / "reference.json").read_text())
    config, net = given["config"], given["config"]["net"]
    mean, sd = given["facts"]["pixels"]["mean"], given["facts"]["pixels"]["sd"]
    network = Unet(**net)
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
    for step, (images, rate, ours) in enumerate(zip(given["batches"], given["rates"], given["losses"])):
        for group in optimiser.param_groups:
            group["lr"] = rate
        loss = losses(network, prepared(net, images, mean, sd)).mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), train["clip"])
        optimiser.step()
        difference = abs(loss.item() - ours)
        worst = max(worst, difference)
        print(f"{step:4}  {ours:.6f}  {loss.item():.6f}  {difference:.1e}")
    print(f"largest difference {worst:.1e}: {'agrees' if worst < 1e-4 else 'DOES NOT AGREE'} to 1e-4")
    sys.exit(worst >= 1e-4)


def prepared(net, images, mean, sd):
    """What the network is shown of images, and what its answers are turned into losses with."""
    shape = (len(images), net["channels_out"], net["size"], net["size"])
    numbers = lambda name: torch.tensor([image[name] for image in images], dtype=torch.float64).reshape(shape)
    x, stat = numbers("x"), numbers("stat")
    a = torch.tensor([image["clock"] for image in images], dtype=torch.float64)[:, None, None, None]
    observed = torch.tensor([image["observed"] for image in images]).reshape(len(images), 1, *shape[2:])
    seen = (stat - a * mean) / ((a + NEAR_ZERO) * (1 + sd**2 * a)).sqrt()
    seen = torch.where(observed, (stat - mean) / sd, seen)
    labels = torch.zeros(len(images), max(net["classes"], 1))
    for row, image in enumerate(images):
        if image["label"] is not None:
            labels[row, image["label"]] = 1
    noise = (-0.125 * (a + NEAR_ZERO).log()).flatten()
    out = sd / (1 + sd**2 * a).sqrt()
    # x̂ = known + out · answer, so that (x − x̂)/out = wanted − answer.
    wanted = (x - mean - sd**2 * (stat - a * mean) / (1 + sd**2 * a)) / out
    return (torch.cat([seen, observed], dim=1).float(), noise.float(), labels), wanted.float(), ~observed


def losses(network, ready):
    """The loss of each image: the mean over its pixels that are not observed."""
    shown, wanted, hidden = ready
    cost = 0.5 * (wanted - network(*shown)) ** 2 * hidden
    return cost.sum((1, 2, 3)) / (hidden.sum((1, 2, 3)) * wanted.shape[1])


if __name__ == "__main__":
    main()
