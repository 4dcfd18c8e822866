"""Trains torchcfm's class-conditional flow matching on MNIST for so many minutes of processor time, draws digits, and prints what it took as JSON.

    peer.py FOLDER --minutes 46 --images 2000 [--threads 1] [--seed 0]

Network, optimiser, batch and solver are those of torchcfm's own example (examples/images/conditional_mnist.ipynb): a U-Net of width 32,
Adam with a rate of 1e-3, 128 images a step, dopri5 with tolerances of 1e-4 on 100 images at a time. Only attention among all 784 pixels is
left out, to its advantage: on two cores it takes most of the time. There is attention in the middle, as in pmm's network. Digits go to
FOLDER/CLASS/NUMBER.png, classes as frequent as in the data.
"""

import argparse
import json
import shutil
import time
from pathlib import Path

import numpy as np
import torch
from torchcfm.conditional_flow_matching import ConditionalFlowMatcher
from torchcfm.models.unet import UNetModel
from torchdiffeq import odeint

from digits import mnist, write

BATCH, TOGETHER, TOLERANCE = 128, 100, 1e-4
NETWORK = dict(dim=(1, 28, 28), num_channels=32, num_res_blocks=1, num_classes=10, class_cond=True, attention_resolutions="1")


def batches(images, labels, rng):
    """Epoch by epoch, each in another order; what is left of one is dropped."""
    while True:
        order = torch.from_numpy(rng.permutation(len(images)))
        for first in range(0, len(order) - BATCH + 1, BATCH):
            chosen = order[first : first + BATCH]
            yield images[chosen].float()[:, None] / 127.5 - 1, labels[chosen]


def train(network, source, minutes):
    """Steps until the processor time is up: their number, and wall and CPU seconds."""
    matcher, optimiser = ConditionalFlowMatcher(sigma=0.0), torch.optim.Adam(network.parameters())
    begin, cpu, steps = time.perf_counter(), time.process_time(), 0
    while time.process_time() - cpu < 60 * minutes:
        x1, y = next(source)
        t, xt, ut = matcher.sample_location_and_conditional_flow(torch.randn_like(x1), x1)
        loss = torch.mean((network(t, xt, y) - ut) ** 2)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        steps += 1
    return {"steps": steps, "seconds": time.perf_counter() - begin, "cpu_seconds": time.process_time() - cpu, "loss": loss.item()}


@torch.no_grad()
def draw(network, labels):
    """Images in bytes, and how many network calls each took."""
    images, calls = [], 0
    for y in labels.split(TOGETHER):

        def velocity(t, x):
            nonlocal calls
            calls += len(y)
            return network(t, x, y)

        ends = odeint(velocity, torch.randn(len(y), 1, 28, 28), torch.linspace(0, 1, 2), atol=TOLERANCE, rtol=TOLERANCE, method="dopri5")
        images.append(ends[-1, :, 0].clip(-1, 1))
    return (torch.cat(images) * 127.5 + 127.5).round().byte().numpy(), calls / len(labels)


def arguments():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("folder", type=Path)
    ask.add_argument("--minutes", type=float, required=True)
    ask.add_argument("--images", type=int, default=2000)
    ask.add_argument("--threads", type=int, default=1)
    ask.add_argument("--seed", type=int, default=0)
    return ask.parse_args()


def main():
    args = arguments()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    images, labels = (torch.from_numpy(array) for array in mnist("train"))
    labels = labels.long()
    network = UNetModel(**NETWORK)
    found = train(network, batches(images, labels, rng), args.minutes)
    found |= {"weights": sum(p.numel() for p in network.parameters()), "seen": found["steps"] * BATCH, "threads": args.threads}
    found["images_per_second"] = found["seen"] / found["seconds"]
    wanted, begin = labels[torch.from_numpy(rng.integers(0, len(labels), args.images))], time.perf_counter()
    drawn, calls = draw(network, wanted)
    rate = len(drawn) / (time.perf_counter() - begin)
    found["drawn"] = {"images": len(drawn), "sampler": "dopri5", "calls": calls, "images_per_second": rate}
    shutil.rmtree(args.folder, ignore_errors=True)
    for number, (image, label) in enumerate(zip(drawn, wanted)):
        write(args.folder / str(label.item()) / f"{number:06}.png", image)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
