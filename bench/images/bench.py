"""A run of the benchmark: its budget, what it keeps, and the models, samples and scores that its parts share."""

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import measuring
from measuring import BINARY, SHARED, costed, digest, pmm, pmm_json

MNIST, CIFAR = SHARED / "images/mnist", SHARED / "images/cifar10"
TEST = MNIST / "t10k-images-idx3-ubyte.gz"
FEATURES = {
    "ResNet-20": SHARED / "weights/resnet20-12fca82f.safetensors",
    "EfficientNet-Lite0": SHARED / "weights/efficientnet-lite0.f16.safetensors",
}
# The default sampler of each pair, and its network calls.
SAMPLERS = {"normal": ("dpm", 20), "poisson": ("leap", 100)}


@dataclass(frozen=True)
class Budget:
    minutes: float = 15.0  # of a fit, and of the peer
    images: int = 2000  # drawn from each model
    features: tuple = tuple(FEATURES)
    calls: tuple = (5, 10, 20, 35, 50, 100, 250, 500, 1000)
    calls_minutes: float = 60.0  # of drawing in the part `calls`
    asked: int = 100  # of each class
    filled: int = 200  # digits that are filled in
    steps: int = 300  # of cifar10-tiny
    full: bool = True  # whether cifar10 takes steps too
    classifier_steps: int = 1200
    learning_minutes: float = 4.0  # of processor time, for each setting in the part `learning`
    learning_images: int = 1000


TRY = Budget(0.1, 64, ("ResNet-20",), (5, 10, 20), 0.1, asked=4, filled=10, steps=3, full=False, classifier_steps=60,
             learning_minutes=0.1, learning_images=64)


class Bench:
    """Pieces are kept in `base`/.cache, those that depend on how long models were fitted in a folder of their own."""

    def __init__(self, budget, base=HERE):
        self.budget, self.base = budget, base
        self.cache, self.work = base / ".cache", base / ".work"
        self.fits = self.cache / f"{budget.minutes:g}-minutes"

    def once(self, name, make, of=BINARY):
        """A piece that is the same for every budget."""
        return measuring.kept(self.cache, name, make, of)

    def kept(self, name, make, of=BINARY):
        return measuring.kept(self.fits, name, make, of)

    def found(self):
        return measuring.newest(self.cache) | measuring.newest(self.fits)

    def path(self, name, *of):
        """Where the files of a piece are."""
        return self.work / self.fits.name / f"{digest(*of or [BINARY])}-{name}"

    def model(self, pair):
        """The folder of a model of the digits."""
        folder = self.path(f"{pair}.pmm")
        settings = ["--preset", "mnist", "--minutes", self.budget.minutes, "--set", f"pair={pair}"]
        self.kept(f"fit-{pair}", lambda: fit(folder, MNIST, *settings))
        return folder

    def samples(self, pair):
        """The folder of its samples, by the default sampler."""
        self.drawn(pair)
        return self.path(f"samples-{pair}")

    def drawn(self, pair):
        """What its samples took."""
        model, folder, count = self.model(pair), self.path(f"samples-{pair}"), self.budget.images
        return self.kept(f"samples-{pair}", lambda: draw(model, folder, count, *SAMPLERS[pair]))

    def score(self, samples, features="ResNet-20"):
        """Distances of samples to training digits; whoever drew them, those of the Normal model are compared with."""
        arguments = ["eval", self.model("normal"), TEST, "--samples", samples, "--features", FEATURES[features]]
        return pmm_json(*arguments)["distances"]


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def fit(folder, data, *settings):
    """A fit, its cost and how fast it learned: images per second of training, validations and previews included."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    _, cost = costed(BINARY, "fit", data, "--out", folder, "--force", "--quiet", *settings)
    info = json.loads(pmm("info", folder, "--json"))
    images = int(info["facts"]["steps"]) * info["config"]["batch"]
    return {"cost": cost, "weights": info["weights"], "seen": images, "seconds": info["seconds"],
            "images_per_second": images / info["seconds"]}


def draw(model, folder, count, sampler, calls, *more):
    """Samples, a file each, and what they cost."""
    how = ["-n", count, "--sampler", sampler, "--steps", calls, *more]
    _, cost = costed(BINARY, "sample", model, *how, "--out", fresh(folder), "--quiet")
    return {"cost": cost, "images": count, "sampler": sampler, "calls": calls, "images_per_second": count / cost["seconds"]}
