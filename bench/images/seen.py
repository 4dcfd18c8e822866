"""The classifier of digits as a piece of the benchmark, and shares of what it sees."""

import json
import sys

import numpy as np

from bench import HERE, alone
from digits import read
from measuring import costed

SCRIPT = HERE / "classifier.py"


def classifier(bench):
    """Trained if need be."""
    path = bench.work / "classifier.pt"

    def train():
        out, cost = costed(sys.executable, SCRIPT, path, "--steps", bench.budget.classifier_steps)
        return json.loads(out.splitlines()[-1]) | {"cost": cost, "steps": bench.budget.classifier_steps}

    with alone(bench.work / "classifier.lock"):
        bench.once("classifier", train, SCRIPT)
    from classifier import Classifier  # PyTorch is slow to load, and most parts do without
    return Classifier(path)


def told(tell, folder):
    """How often the class that names an image's folder is seen in it."""
    images, labels = read(folder)
    return {"right": share(tell(images) == np.array(labels, int))}


def share(right):
    """The share of what is right with its standard error, from [n] or [n, draws]: draws of one image are not independent."""
    each = right.reshape(len(right), -1).mean(1)
    return {"share": each.mean().item(), "standard_error": (each.std() / len(each) ** 0.5).item(), "images": right.size}


def percent(found):
    return f"{100 * found['share']:.1f} % ± {100 * found['standard_error']:.1f}"
