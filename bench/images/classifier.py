"""A small convolutional network that tells digits apart: `classifier.py FILE --steps 1200` trains it on MNIST's training images, writes its
weights and prints its accuracy on test digits as JSON; `Classifier(FILE)` tells the digits of images."""

import argparse
import json
import math

import numpy as np
import torch
from torch import nn

from digits import mnist

BATCH, RATE, THREADS = 128, 2e-3, 1


def network():
    convolution = lambda inputs, outputs: [nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.Sequential(
        *convolution(1, 16), *convolution(16, 16), nn.MaxPool2d(2), *convolution(16, 32), *convolution(32, 32), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.3), nn.Linear(32 * 7 * 7, 128), nn.ReLU(), nn.Dropout(0.3), nn.Linear(128, 10),
    )


def ready(images):
    return torch.from_numpy(np.ascontiguousarray(images)).float()[:, None] / 255


class Classifier:
    def __init__(self, path):
        torch.set_num_threads(THREADS)
        self.network = network()
        self.network.load_state_dict(torch.load(path))
        self.network.eval()

    @torch.no_grad()
    def tell(self, images):
        """The digits that bytes [n, 28, 28] show."""
        return torch.cat([self.network(part).argmax(1) for part in ready(images).split(500)]).numpy()


def train(steps):
    """Adam; the rate goes down to 0. Digits are shifted by up to two pixels."""
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    images, labels = mnist("train")
    model, rng = network(), np.random.default_rng(0)
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = RATE * 0.5 * (1 + math.cos(math.pi * step / steps))
        chosen = rng.integers(0, len(images), BATCH)
        shown = np.roll(images[chosen], rng.integers(-2, 3, 2), axis=(1, 2))
        loss = nn.functional.cross_entropy(model(ready(shown)), torch.from_numpy(labels[chosen]).long())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return model


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("path")
    ask.add_argument("--steps", type=int, default=1200)
    args = ask.parse_args()
    torch.save(train(args.steps).state_dict(), args.path)
    images, labels = mnist("t10k")
    right = Classifier(args.path).tell(images) == labels
    print(json.dumps({"accuracy": right.mean().item(), "images": len(images)}))


if __name__ == "__main__":
    main()
