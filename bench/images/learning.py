"""What makes a step teach more: settings of the network and its training, each tried alone for the same processor time on digits.

They are chosen by training images that are held out; no test image is looked at. `--learning-minutes` says how long each may learn."""

import csv
import shutil

from bench import FEATURES, MNIST, SAMPLERS, affordable, anew, draw
from measuring import pmm_json, table

# The name of each, and its settings; the first is what the others are compared with.
RECIPES = {
    "AdamW": ["muon.rate=0"],
    "Muon, rate .01": ["muon.rate=0.01"],
    "Muon, rate .02": ["muon.rate=0.02"],
    "Muon, rate .04": ["muon.rate=0.04"],
    "Muon, batches of 32": ["batch=32"],
    "Muon, trapezoid in place of the cosine": ["train.schedule=trapezoid"],
    "Muon, width 32": ["net.width=32", "net.multipliers=[1,2,2]"],
    "Muon, conditioned augmentation": ["augment=0.12"],
}


def measure(bench):
    for place, (name, settings) in enumerate(RECIPES.items()):
        bench.once(f"learning-{place}", lambda: tried(bench, name, settings))


def tried(bench, name, settings):
    """One thread, so that processor time is what it takes whatever else runs."""
    folder = bench.work / "learning.pmm"
    given = ["--preset", "mnist", "--threads", 1, *(word for setting in settings for word in ("--set", setting))]
    steps = affordable(MNIST, folder, bench.budget.learning_minutes, *given)
    found = anew(folder, MNIST, steps, *given) | {"name": name, "settings": settings}
    with open(folder / "log.csv") as log:
        found["held_out"] = min(float(row["valid_loss"]) for row in csv.DictReader(log))
    samples = bench.work / "learning-samples"
    draw(folder, samples, bench.budget.learning_images, *SAMPLERS["normal"], "--threads", 1)
    # The digits that stand for real ones are training digits that were held out: those given are the training file itself.
    train = MNIST / "train-images-idx3-ubyte.gz"
    found["frechet"] = pmm_json("eval", folder, train, "--samples", samples, "--features", FEATURES["ResNet-20"])["distances"]["frechet"]["samples"]
    shutil.rmtree(samples)
    shutil.rmtree(folder)
    return found


def report(bench, found):
    done = [piece for place in range(len(RECIPES)) if (piece := found.get(f"learning-{place}"))]
    if not done:
        return []
    rows = [[piece["name"], ", ".join(f"`{setting}`" for setting in piece["settings"]), f"{piece['seen']:,}", f"{piece['cost']['cpu'] / 60:.1f}",
             f"{piece['held_out']:.4f}", f"{piece['frechet']:.3f}"] for piece in done]
    return ["## Learning per minute", "",
            "`--preset mnist` with one setting changed, on one thread, each for the same processor time (which was not quiet). The held-out loss is that of training digits",
            "that were not learned from, by which the settings of the preset were chosen; the distance is that of "
            f"{bench.budget.learning_images:,} samples to training digits in ResNet-20's features.", "",
            *table(["", "changed", "images seen", "CPU minutes", "held-out loss", "Fréchet distance"], rows)]
