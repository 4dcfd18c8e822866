"""Digits: the Normal and the Poisson pair and a PyTorch peer, each trained for the same time."""

import json
import sys

import pictures
from bench import HERE, SAMPLERS, TEST
from digits import read
from measuring import BINARY, costed, pmm_json, table

PEER = HERE / "peer.py"
NAMES = {"normal": "pmm, Normal pair", "poisson": "pmm, Poisson pair", "peer": "torchcfm"}


def measure(bench):
    for pair in SAMPLERS:
        model, samples = bench.model(pair), bench.samples(pair)
        bench.kept(f"bits-{pair}", lambda: pmm_json("eval", model, TEST, "-n", 64))
        for net in bench.budget.features:
            bench.kept(f"score-{pair}-{net}", lambda: bench.score(samples, net))


def measure_peer(bench):
    samples = peer_samples(bench)
    for net in bench.budget.features:
        bench.kept(f"score-peer-{net}", lambda: bench.score(samples, net), (BINARY, PEER))


def peer_samples(bench):
    """The folder of the peer's samples; folders in it are classes."""
    folder, budget = bench.path("samples-peer", PEER), bench.budget

    def train_and_draw():
        out, cost = costed(sys.executable, PEER, folder, "--minutes", budget.minutes, "--images", budget.images)
        return json.loads(out.splitlines()[-1]) | {"cost": cost}

    bench.kept("fit-peer", train_and_draw, PEER)
    return folder


def training(found):
    for who, name in NAMES.items():
        fit, drawn = found.get(f"fit-{who}"), found.get(f"samples-{who}")
        if fit and (drawn := drawn or fit.get("drawn")):
            yield [name, f"{fit['weights']:,}", f"{fit['seconds'] / 60:.1f}", f"{fit.get('cpu_seconds', fit['cost']['cpu']) / 60:.1f}", f"{fit['seen']:,}",
                   f"{fit['images_per_second']:.0f}", f"{fit['cost']['megabytes']:.0f}", f"{drawn['sampler']}, {drawn['calls']:.0f} calls",
                   f"{drawn['images_per_second']:.1f}"]


def quality(found, nets):
    """A row for each model, and one of real images."""
    real = None
    for who, name in NAMES.items():
        scores = [found.get(f"score-{who}-{net}") for net in nets]
        if all(scores):
            real = scores
            yield [name, *distances(scores, "samples"), bits(found.get(f"bits-{who}"))]
    if real:
        yield ["as many real test images", *distances(real, "held_out"), "–"]


def distances(scores, which):
    for score in scores:
        yield f"{score['frechet'][which]:.3f}"
        found = score["kernel"] and score["kernel"][which]
        yield f"{1000 * found['distance']:.2f} ± {1000 * found['standard_error']:.2f}" if found else "–"


def bits(scored):
    return f"{scored['bits_per_dimension']:.3f} ± {scored['standard_error']:.3f}" if scored else "–"


def shown(bench, found):
    """A picture of each model's first hundred samples."""
    at = {who: bench.path(f"samples-{who}", PEER if who == "peer" else BINARY) for who in NAMES}
    for who, folder in at.items():
        path = bench.base / f"mnist-{who}.png"
        if f"fit-{who}" in found and folder.exists():
            images, _ = read(folder, 100)
            pictures.save(pictures.grid(images, min(10, len(images))), path, 1)
        if path.exists():
            yield [NAMES[who], f"![Digits drawn by {NAMES[who]}]({path.name})"]


def report(bench, found):
    trained = list(training(found))
    if not trained:
        return []
    return [f"## Digits: {bench.budget.minutes:g} minutes for each", "",
            "MNIST, 28×28, with classes. pmm is `--preset mnist`. torchcfm (PyPI, PyTorch) is class-conditional flow matching with network, optimiser, batch",
            "and solver of its own example for MNIST, but for attention among all pixels, without which it is much faster. Both have two threads; CPU minutes are",
            "of the training, the memory is the peak of the process.", "",
            *table(["", "weights", "training, minutes", "CPU minutes", "images seen", "images/s", "peak MB", "sampler", "drawn, images/s"], trained),
            *scored(found, bench.budget.features), *columns(list(shown(bench, found)))]


def scored(found, nets):
    rows = list(quality(found, nets))
    if not rows:
        return []
    some = next(piece for name, piece in found.items() if name.startswith("score-"))
    head = [f"{what} in {net}" for net in nets for what in ("Fréchet distance", "kernel distance × 1000")]
    return [f"Distances of {some['images']:,} samples to {some['reference']:,} training images, in the features of networks that were trained on photographs",
            "(ResNet-20 on CIFAR-10, EfficientNet-Lite0 on ImageNet), by `pmm eval --samples`. They depend on the number of images and are no FID; a",
            "perfect model would get what real test images get. Bits per dimension are the likelihood bound on test images, with its standard error.", "",
            *table(["", *head, "bits per dimension"], rows)]


def columns(pictured):
    """Pictures side by side, their names above."""
    if not pictured:
        return []
    names, links = zip(*pictured)
    return ["The first hundred of each, as they came:", "", *table(names, [links])]
