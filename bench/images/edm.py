"""Trains EDM (Karras et al. 2022) in PyTorch on CIFAR-10 for so many minutes of processor time, draws images, and prints what it took as JSON.

    edm.py FOLDER CONFIG --minutes 240 --images 2000 [--threads 1] [--seed 0]

CONFIG is the `config.toml` of a model of pmm: the network (network.py) has its size, batches are as large and images mirrored as often. All
else is EDM's: preconditioning and loss with σ_data = 0.5, ln σ from a normal law of mean −1.2 and deviation 1.2, EDM's weighting and initial
weights, Adam with a rate of 1e-3 and betas of 0.9 and 0.999, an average of the weights whose half-life is a twentieth of the images seen, and
Heun's method with 18 steps from σ = 80 to 0.002, ρ = 7. Of its recipe for weeks on eight cards three things are left out: dropout, told augmentation,
and the warm-up over ten million images, which is 200 steps here, as pmm's. Images go to FOLDER/CLASS/NUMBER.png, classes as frequent as in the data;
FOLDER.pt keeps the state, from which a run that was stopped goes on.
"""

import argparse
import copy
import json
import shutil
import time
import tomllib
from pathlib import Path

import torch
from torch.nn import functional as F

from digits import write
from network import Unet
from photos import images

MEAN, DEVIATION, SIGMA_DATA = -1.2, 1.2, 0.5
RATE, WARMUP = 1e-3, 200
HALF_LIFE, SHARE = 500_000, 0.05  # in images: at most, and as a share of those seen
STEPS, SIGMA_MIN, SIGMA_MAX, RHO = 18, 0.002, 80.0, 7
TOGETHER, SAVE_SECONDS = 100, 60.0


def network(config):
    """EDM's: the last layer of each block and of the network begins at 0; nothing is told of observed pixels."""
    net = Unet(**config["net"] | {"channels_in": config["net"]["channels_out"], "augment": 0})
    for name, weights in net.named_parameters():
        if any(part in name for part in ("conv1.", "proj.", "out_conv.", "aux_conv.")):
            torch.nn.init.zeros_(weights)
    torch.nn.init.normal_(net.map_label.weight)
    return net


def denoised(net, x, sigma, labels):
    """D(x; σ) = c_skip x + c_out F(c_in x; ln σ / 4)."""
    total = sigma**2 + SIGMA_DATA**2
    skip, out, inner = SIGMA_DATA**2 / total, sigma * SIGMA_DATA / total.sqrt(), 1 / total.sqrt()
    return skip * x + out * net(inner * x, sigma.flatten().log() / 4, labels)


def loss(net, x, labels):
    sigma = (MEAN + DEVIATION * torch.randn(len(x), 1, 1, 1)).exp()
    weight = (sigma**2 + SIGMA_DATA**2) / (sigma * SIGMA_DATA) ** 2
    return (weight * (denoised(net, x + sigma * torch.randn_like(x), sigma, labels) - x) ** 2).mean()


class Training:
    """Weights, their average and the optimiser, with what they have taken so far."""

    def __init__(self, config, path):
        self.config, self.path, self.net = config, path, network(config)
        self.average, self.optimiser = copy.deepcopy(self.net), torch.optim.Adam(self.net.parameters(), lr=RATE)
        self.spent = {"steps": 0, "seconds": 0.0, "cpu_seconds": 0.0}
        self.parts = {"net": self.net, "average": self.average, "optimiser": self.optimiser}
        if path.exists():
            state = torch.load(path)
            for name, part in self.parts.items():
                part.load_state_dict(state[name])
            self.spent = state["spent"]
            torch.set_rng_state(state["random"])

    def save(self):
        state = {name: part.state_dict() for name, part in self.parts.items()} | {"spent": self.spent, "random": torch.get_rng_state()}
        beside = self.path.with_suffix(".tmp")
        torch.save(state, beside)
        beside.replace(self.path)

    def step(self, x, labels):
        steps = self.spent["steps"] = self.spent["steps"] + 1
        for group in self.optimiser.param_groups:
            group["lr"] = RATE * min(steps / WARMUP, 1)
        self.optimiser.zero_grad()
        cost = loss(self.net, x, labels)
        cost.backward()
        self.optimiser.step()
        half_life = min(HALF_LIFE, SHARE * steps * len(x))
        with torch.no_grad():
            for kept, new in zip(self.average.parameters(), self.net.parameters()):
                kept.lerp_(new, 1 - 0.5 ** (len(x) / half_life))

    def run(self, pixels, labels, minutes):
        """Steps until the time is up, saved now and then."""
        clock = lambda: (time.perf_counter(), time.process_time())
        begin, saved = clock(), time.perf_counter()
        before = dict(self.spent)
        while self.spent["cpu_seconds"] < 60 * minutes:
            self.step(*self.batch(pixels, labels))
            now = clock()
            self.spent["seconds"] = before["seconds"] + now[0] - begin[0]
            self.spent["cpu_seconds"] = before["cpu_seconds"] + now[1] - begin[1]
            if now[0] - saved > SAVE_SECONDS:
                self.save()
                saved = time.perf_counter()
        self.save()

    def batch(self, pixels, labels):
        chosen = torch.randint(len(pixels), (self.config["batch"],))
        x = pixels[chosen].float() / 127.5 - 1
        if self.config["flips"]:
            x = torch.where((torch.rand(len(x)) < 0.5)[:, None, None, None], x.flip(3), x)
        return x, told(self.config, labels[chosen])


def told(config, labels):
    return F.one_hot(labels, config["net"]["classes"]).float()


def levels():
    """Noise levels from the largest to 0."""
    place = torch.arange(STEPS) / (STEPS - 1)
    ends = SIGMA_MAX ** (1 / RHO), SIGMA_MIN ** (1 / RHO)
    return [*((ends[0] + place * (ends[1] - ends[0])) ** RHO).tolist(), 0.0]


@torch.no_grad()
def draw(net, shape, labels):
    """Bytes [n, height, width, channels], by Heun's method."""
    net.eval()
    parts = []
    for some in labels.split(TOGETHER):
        slope = lambda x, sigma: (x - denoised(net, x, torch.full((len(x), 1, 1, 1), sigma), some)) / sigma
        sigmas = levels()
        x = sigmas[0] * torch.randn(len(some), *shape)
        for now, then in zip(sigmas, sigmas[1:]):
            first = slope(x, now)
            ahead = x + (then - now) * first
            x = x + (then - now) * (first + slope(ahead, then)) / 2 if then else ahead
        parts.append((x.clip(-1, 1) * 127.5 + 127.5).round().byte().permute(0, 2, 3, 1))
    return torch.cat(parts).numpy()


def arguments():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("folder", type=Path)
    ask.add_argument("config", type=Path)
    ask.add_argument("--minutes", type=float, required=True)
    ask.add_argument("--images", type=int, default=2000)
    ask.add_argument("--threads", type=int, default=1)
    ask.add_argument("--seed", type=int, default=0)
    return ask.parse_args()


def main():
    args = arguments()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    config = tomllib.loads(args.config.read_text())
    pixels, labels = (torch.from_numpy(array) for array in images("train"))
    pixels, labels = pixels.permute(0, 3, 1, 2).contiguous(), labels.long()
    args.folder.parent.mkdir(parents=True, exist_ok=True)
    training = Training(config, args.folder.with_suffix(".pt"))
    training.run(pixels, labels, args.minutes)
    torch.manual_seed(args.seed)
    wanted, begin = labels[torch.randint(len(labels), (args.images,))], time.perf_counter()
    drawn = draw(training.average, pixels.shape[1:], told(config, wanted))
    rate = len(drawn) / (time.perf_counter() - begin)
    shutil.rmtree(args.folder, ignore_errors=True)
    for number, (image, label) in enumerate(zip(drawn, wanted)):
        write(args.folder / str(label.item()) / f"{number:06}.png", image)
    seen = training.spent["steps"] * config["batch"]
    said = training.spent | {"weights": sum(p.numel() for p in training.net.parameters()), "seen": seen, "threads": args.threads}
    said |= {"images_per_second": seen / said["seconds"]}
    print(json.dumps(said | {"drawn": {"images": len(drawn), "sampler": "heun", "calls": 2 * STEPS - 1, "images_per_second": rate}}))


if __name__ == "__main__":
    main()
