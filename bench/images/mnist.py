"""Digits: the Normal and the Poisson pair, each with some seeds, and a PyTorch peer, all trained for the same processor time."""

import json
import sys

import pictures
from bench import DIGITS, HERE, TEST
from digits import read
from measuring import BINARY, costed, pmm_json, table
from scores import bits, distances, drawn_by, fits, named, trained
from seen import SCRIPT, classifier, percent, told

PEER = HERE / "peer.py"


def measure(bench):
    for seed in bench.budget.seeds:
        for pair in bench.budget.pairs:
            one(bench, pair, seed)


def one(bench, pair, seed):
    """A model: its fit, samples, likelihood, classes and distances."""
    who, model = f"{pair}-{seed}", bench.model(pair, seed)
    bench.drawn(pair, seed)
    bench.kept(f"bits-{who}", lambda: pmm_json("eval", model, TEST, "-n", 64, *bench.threads))
    bench.kept(f"told-{who}", lambda: told(classifier(bench).tell, bench.samples(pair, seed)), (BINARY, SCRIPT))
    for net in bench.features:
        bench.kept(f"score-{who}-{net}", lambda: bench.score(bench.samples(pair, seed), net))


def measure_peer(bench):
    samples = peer_samples(bench)
    for net in bench.features:
        bench.kept(f"score-peer-{net}", lambda: bench.score(samples, net), (BINARY, PEER))


def peer_samples(bench):
    """The folder of the peer's samples; folders in it are classes."""
    folder, spending = bench.path("samples-peer", PEER), bench.spending

    def train_and_draw():
        how = ["--minutes", spending.minutes, "--images", spending.images, *bench.threads]
        out, cost = costed(sys.executable, PEER, folder, *how)
        return json.loads(out.splitlines()[-1]) | {"cost": cost}

    bench.kept("fit-peer", train_and_draw, PEER)
    return folder


def quality(found, nets):
    """A row for each model, and one of real images."""
    real = None
    for who in [*fits(found, DIGITS), "peer"]:
        scores = [found.get(f"score-{who}-{net}") for net in nets]
        if all(scores):
            real, seen = scores, found.get(f"told-{who}") or found.get(f"classes-{who}")
            yield [named(who, "torchcfm"), *distances(scores, "samples"), bits(found.get(f"bits-{who}")), percent(seen["right"]) if seen else "–"]
    if real:
        judge = found.get("classifier")
        yield ["as many real test images", *distances(real, "held_out"), "–", f"{100 * judge['accuracy']:.1f} %" if judge else "–"]


def shown(bench, found):
    """A picture of the first hundred samples of each pair's first model, and of the peer's."""
    firsts = {who.split("-")[0]: who for who in reversed(fits(found, DIGITS))}
    for name, who in [*sorted(firsts.items()), ("peer", "peer")]:
        folder, path = bench.path(f"samples-{who}", PEER if who == "peer" else BINARY), bench.base / f"mnist-{name}.png"
        if f"fit-{who}" in found and folder.exists():
            images, _ = read(folder, 100)
            pictures.save(pictures.grid(images, min(10, len(images))), path, 1)
        if path.exists():
            yield [named(who, "torchcfm"), f"![Digits drawn by {named(who, 'torchcfm')}]({path.name})"]


def report(bench, found):
    rows = [row for who in [*fits(found, DIGITS), "peer"] if (row := trained(named(who, "torchcfm"), *drawn_by(found, DIGITS, who)))]
    if not rows:
        return []
    return [f"## Digits: {bench.spending.minutes:g} CPU minutes for each", "",
            "MNIST, 28×28, with classes. pmm is `pmm fit --preset mnist --set pair=… --seed …` with so many steps as a trial promises for that processor time.",
            "torchcfm (PyPI, PyTorch) is class-conditional flow matching with network, optimiser, batch and solver of its own example for MNIST, but for",
            "attention among all pixels, without which it is much faster. Minutes are of the training on the clock and of the processor; the memory is the",
            "peak of the process.", "", *trained_table(rows), *scored(bench, found), *columns(list(shown(bench, found)))]


def trained_table(rows):
    return table(["", "weights", "threads", "training, minutes", "CPU minutes", "images seen", "images/s", "peak MB", "sampler", "drawn, images/s"], rows)


def scored(bench, found):
    nets = [net for net in DIGITS.features if any(name.startswith("score-") and name.endswith(f"-{net}") for name in found)]
    rows = list(quality(found, nets)) if nets else []
    if not rows:
        return []
    some = next(piece for name, piece in found.items() if name.startswith("score-"))
    head = [f"{what} in {net}" for net in nets for what in ("Fréchet distance", "kernel distance × 1000")]
    return [f"Distances of {some['images']:,} samples to {some['reference']:,} training images, in the features of networks that were trained on photographs",
            "(ResNet-20 on CIFAR-10, EfficientNet-Lite0 on ImageNet), by `pmm eval --samples`. They depend on the number of images and are no FID; a",
            "perfect model would get what real test images get. Bits per dimension are the likelihood bound on test images, with its standard error. The last",
            "column is how often a classifier sees the digit that was asked for in these samples, drawn without guidance.", "",
            *table(["", *head, "bits per dimension", "digit asked for is seen"], rows)]


def columns(pictured):
    """Pictures side by side, their names above."""
    if not pictured:
        return []
    names, links = zip(*pictured)
    return ["The first of each, as they came:", "", *table(names, [links])]
