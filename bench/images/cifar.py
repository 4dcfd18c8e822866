"""CIFAR-10: the small preset of both pairs beside EDM in PyTorch for the same processor time, and steps of the paper's network at full size."""

import json
import shutil
import sys

import calls
import pictures
from bench import CIFAR, HERE, PAIRS, PHOTOS, SAMPLERS, anew
from measuring import BINARY, costed, pmm, pmm_json, table
from mnist import columns, trained_table
from photos import read
from scores import bits, distances, drawn_by, fits, named, trained
from seen import percent

PEER = HERE / "edm.py"
SOURCES = (PEER, HERE / "network.py", BINARY)
# Samples of a model: with classes as frequent as in the data, and with none told.
DRAWN = {"samples": [], "unled": ["--guidance", 0]}
SHOWN, ROW = 64, 8
# Of the network at full size: enough steps for a difference that is no noise; the smallest validation there is.
FEW, MORE, BATCH = 1, 4, 2
SMALL = ["--set", f"batch={BATCH}", "--set", "valid=0.0032"]


def measure(bench):
    photos = bench.of(PHOTOS)
    for pair in bench.budget.pairs:
        one(photos, pair)


def one(photos, pair):
    """A model: its fit, likelihood, samples, distances and picture."""
    model = photos.model(pair)
    photos.kept(f"bits-{pair}", lambda: pmm_json("eval", model, PHOTOS.test, "-n", 64, *photos.threads))
    for name, how in DRAWN.items():
        photos.drawn(pair, 0, *how, name=name)
        for net in photos.features:
            photos.kept(f"score-{name}-{pair}-{net}", lambda: scored(photos, photos.samples(pair, 0, name), net))
    photos.kept(f"picture-{pair}", lambda: picture(photos, model, pair))


def scored(photos, samples, net):
    """Distances, and how often the feature network sees the class that was asked for, where it knows the classes."""
    said = photos.scored(samples, net)
    return said["distances"] | {"accuracy": said["accuracy"]}


def picture(photos, model, pair):
    """The same images as the first of those that are scored."""
    path = photos.base / f"cifar-{pair}.png"
    sampler, steps = SAMPLERS[pair]
    pmm("sample", model, "-n", SHOWN, "--sampler", sampler, "--steps", steps, "--seed", 0, "--out", path, "--quiet", *photos.threads)
    return {"file": path.name}


def measure_calls(bench):
    calls.measure(bench.of(PHOTOS))


def measure_peer(bench):
    photos = bench.of(PHOTOS)
    folder, spending = photos.path("samples-edm", *SOURCES), photos.spending
    config = photos.scorer() / "config.toml"

    def train_and_draw():
        how = ["--minutes", spending.minutes, "--images", spending.images, *photos.threads]
        out, cost = costed(sys.executable, PEER, folder, config, *how)
        return json.loads(out.splitlines()[-1]) | {"cost": cost}

    photos.kept("fit-edm", train_and_draw, SOURCES)
    for net in photos.features:
        photos.kept(f"score-samples-edm-{net}", lambda: scored(photos, folder, net), SOURCES)


def measure_full(bench):
    bench.once("cifar-dry", dry_run)
    for steps in (FEW, MORE) if bench.budget.full else ():
        bench.once(f"cifar-full-{steps}", lambda: full(bench, steps))


def full(bench, steps):
    folder = bench.work / "cifar.pmm"
    found = anew(folder, CIFAR, steps, "--preset", "cifar10", *SMALL)
    shutil.rmtree(folder)
    return found


def dry_run():
    said = pmm_json("fit", CIFAR, "--preset", "cifar10", "--dry-run")
    return {name: said[name] for name in ("weights", "megabytes", "operations_per_step")} | {"batch": said["config"]["batch"]}


def rows(found, nets):
    """A row for each model and way of drawing, and one of real images."""
    real = None
    for name in DRAWN:
        for who in [*PAIRS, "edm"]:
            scores = [found.get(f"cifar-score-{name}-{who}-{net}") for net in nets]
            if all(scores):
                real = scores
                bound = bits(found.get(f"cifar-bits-{who}")) if name == "samples" else "–"
                yield [title(who) + (", no class told" if name == "unled" else ""), *distances(scores, "samples"), right(scores, "samples"), bound]
    if real:
        yield ["as many real test images", *distances(real, "held_out"), right(real, "held_out"), "–"]


def title(who):
    return f"pmm, {PAIRS[who]} pair" if who in PAIRS else "EDM, PyTorch"


def right(scores, which):
    """By the first network that knows the classes."""
    found = next((score["accuracy"] for score in scores if score["accuracy"]), None)
    return percent(found[which]) if found else "–"


def shown(photos, found):
    """The first samples of each model."""
    folder, path = photos.path("samples-edm", *SOURCES), photos.base / "cifar-edm.png"
    if "cifar-fit-edm" in found and folder.exists():
        images = read(folder, SHOWN)
        pictures.save(pictures.grid(images, min(ROW, len(images))), path, 1)
    for who in [*PAIRS, "edm"]:
        if (photos.base / f"cifar-{who}.png").exists():
            yield [title(who), f"![Photographs drawn by {title(who)}](cifar-{who}.png)"]


def report(bench, found):
    photos = bench.of(PHOTOS)
    return [*models(photos, found), *calls.sections(photos, found), *full_size(found)]


def models(photos, found):
    who = [*fits(found, PHOTOS), "edm"]
    taken = [row for name in who if (row := trained(named(name, "EDM, PyTorch"), *drawn_by(found, PHOTOS, name)))]
    if not taken:
        return []
    return [f"{photos.spending.minutes:g} CPU minutes for each. pmm is `pmm fit --preset cifar10-tiny --set pair=…` on 20,000 training images, with so many steps as a trial",
            "promises for that processor time. EDM (Karras et al. 2022) is the same network (`network.py`) with EDM's preconditioning, loss, initial weights, Adam",
            "and average, with batches of the same size from the same images, mirrored as often (`edm.py` says what of its recipe is left out).", "",
            *trained_table(taken), *qualities(found), *columns(list(shown(photos, found)))]


def qualities(found):
    nets = [net for net in PHOTOS.features if any(name.startswith("cifar-score-") and name.endswith(f"-{net}") for name in found)]
    some = next((piece for name, piece in found.items() if name.startswith("cifar-score-")), None)
    if not some:
        return []
    head = [f"{what} in {net}" for net in nets for what in ("Fréchet distance", "kernel distance × 1000")]
    return [f"Distances of {some['images']:,} samples to {some['reference']:,} training images, by `pmm eval --samples`; as many real test images beside. They depend on the number of",
            "images and are no FID. The class is what ResNet-56 sees. Bits per dimension are the likelihood bound on test images, with its standard error.", "",
            *table(["", *head, "class asked for is seen", "bits per dimension"], rows(found, nets))]


def full_size(found):
    lines = []
    if dry := found.get("cifar-dry"):
        lines += [f"`cifar10`, the paper's network at full size, has {dry['weights']:,} weights. `--dry-run` expects",
                  f"{dry['operations_per_step']:.2e} operations for a step of {dry['batch']} images, and {dry['megabytes']:,.0f} MB.", ""]
    few, more = (found.get(f"cifar-full-{steps}") for steps in (FEW, MORE))
    if few and more:
        step = (more["seconds"] - few["seconds"]) / (MORE - FEW)
        lines += [f"With batches of {BATCH} images (`--set batch={BATCH}`, to be done in minutes) a training step of it takes {step:.1f} s; the peak is",
                  f"{few['cost']['megabytes']:,.0f} MB.", ""]
    return lines
