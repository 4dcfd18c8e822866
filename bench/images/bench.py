"""A run of the benchmark: its budget, what it keeps, and the models, samples and scores that its parts share."""

import csv
import fcntl
import json
import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import measuring
from measuring import BINARY, SHARED, costed, digest, pmm, pmm_json

MNIST, CIFAR = SHARED / "images/mnist", SHARED / "images/cifar10"
FEATURES = {
    "ResNet-20": SHARED / "weights/resnet20-12fca82f.safetensors",
    "ResNet-56": SHARED / "weights/resnet56-4bfd9763.safetensors",
    "EfficientNet-Lite0": SHARED / "weights/efficientnet-lite0.f16.safetensors",
}
PAIRS = {"normal": "Normal", "poisson": "Poisson"}
# The recommended sampler of each pair, and its network calls.
SAMPLERS = {"normal": ("sde2", 20), "poisson": ("sde2", 40)}
# Steps from whose difference in processor time the number of steps of a fit follows; nothing is validated on the way.
TIMED, UNSEEN = (5, 35), ["--set", "train.validate_every=1000000"]


@dataclass(frozen=True)
class Subject:
    """Images that are learned, and images to score with."""

    name: str
    prefix: str  # of its pieces
    data: Path
    test: Path
    preset: str
    features: tuple


DIGITS = Subject("digits", "", MNIST, MNIST / "t10k-images-idx3-ubyte.gz", "mnist", ("ResNet-20", "EfficientNet-Lite0"))
PHOTOS = Subject("cifar", "cifar-", CIFAR, CIFAR / "test.webp", "cifar10-tiny", ("ResNet-56", "EfficientNet-Lite0"))
TEST = DIGITS.test


@dataclass(frozen=True)
class Spending:
    """What a subject may cost, in minutes of processor time."""

    minutes: float  # of a fit, and of the peer's
    images: int  # drawn from each model
    calls: tuple
    calls_minutes: float  # of drawing in the part `calls`, for each pair


@dataclass(frozen=True)
class Budget:
    digits: Spending = Spending(46.0, 2000, (5, 10, 20, 35, 50, 100, 250, 500, 1000), 60.0)
    cifar: Spending = Spending(240.0, 2000, (10, 20, 50, 100, 200, 500, 1000), 60.0)
    threads: int = 1  # of each fit, drawing and score
    pairs: tuple = tuple(PAIRS)
    seeds: tuple = (0, 1)  # of the models of digits
    features: tuple = tuple(FEATURES)
    few_images: int = 2000
    few_seeds: tuple = (5, 2)  # drawings of few and of many calls
    timed: str = "EfficientNet-Lite0"  # whose time is taken
    asked: int = 100  # of each class
    filled: int = 200  # digits that are filled in
    full: bool = True  # whether cifar10 takes steps too
    classifier_steps: int = 1200
    learning_minutes: float = 4.0  # of processor time, for each setting in the part learning
    learning_images: int = 1000


TRY = Budget(Spending(0.1, 64, (5, 10, 20), 0.1), Spending(0.1, 64, (10, 20), 0.1), features=("ResNet-20", "ResNet-56"), seeds=(0,), few_images=64,
             few_seeds=(2, 1), timed="ResNet-20", asked=4, filled=10, full=False, classifier_steps=60, learning_minutes=0.1, learning_images=64)


class Bench:
    """Pieces are kept in `base`/.cache, those that depend on how long models were fitted in a folder of their own."""

    def __init__(self, budget, base=HERE, subject=DIGITS):
        self.budget, self.base, self.subject = budget, base, subject
        self.cache, self.work = base / ".cache", base / ".work"
        self.spending = getattr(budget, subject.name)
        self.fits = self.cache / f"{subject.name}-{self.spending.minutes:g}-cpu-minutes"
        self.features = [net for net in subject.features if net in budget.features]
        self.threads = ["--threads", budget.threads]

    def of(self, subject):
        return Bench(self.budget, self.base, subject)

    def once(self, name, make, of=BINARY):
        """A piece that is the same for every budget."""
        return measuring.kept(self.cache, name, make, of)

    def kept(self, name, make, of=BINARY):
        return measuring.kept(self.fits, self.subject.prefix + name, make, of)

    def found(self):
        """The newest of each piece, of all subjects."""
        kept = [measuring.newest(self.of(subject).fits) for subject in (DIGITS, PHOTOS)]
        return measuring.newest(self.cache) | kept[0] | kept[1]

    def path(self, name, *of):
        """Where the files of a piece are."""
        return self.work / self.fits.name / f"{digest(*of or [BINARY])}-{name}"

    def model(self, pair, seed=0):
        """The folder of a model."""
        folder, subject = self.path(f"{pair}-{seed}.pmm"), self.subject
        settings = ["--preset", subject.preset, "--seed", seed, "--set", f"pair={pair}", *self.threads]

        def learn():
            found = fit(folder, subject.data, *settings, begin=lambda: ["--steps", self.steps(folder, settings)])
            return found | {"threads": self.budget.threads}

        self.kept(f"fit-{pair}-{seed}", learn)
        return folder

    def steps(self, folder, settings):
        """How many steps fit into the processor time of a fit, by a trial of a few."""
        return affordable(self.subject.data, folder.with_suffix(".trial.pmm"), self.spending.minutes, *settings)

    def drawn(self, pair, seed=0, *more, name="samples"):
        """What the samples of a model took, by the recommended sampler."""
        model, folder = self.model(pair, seed), self.samples(pair, seed, name)
        how = [self.spending.images, *SAMPLERS[pair], "--seed", seed, *self.threads, *more]
        return self.kept(f"{name}-{pair}-{seed}", lambda: draw(model, folder, *how))

    def samples(self, pair, seed=0, name="samples"):
        """The folder of its samples."""
        return self.path(f"{name}-{pair}-{seed}")

    def scorer(self):
        """A model of one step: it says which images are compared with, and keeps their features, for all that are scored."""
        folder, subject = self.work / f"{digest(BINARY)}-{self.subject.name}-scorer.pmm", self.subject
        make = lambda: fit(folder, subject.data, "--preset", subject.preset, *self.threads, begin=lambda: ["--steps", 1])
        self.once(f"scorer-{subject.name}", make)
        return folder

    def scored(self, samples, features):
        """What `pmm eval --samples` says of samples, whoever drew them. One run at a time, so that features are computed once."""
        with alone(self.work / "scoring.lock"):
            arguments = ["eval", self.scorer(), self.subject.test, "--samples", samples, "--features", FEATURES[features], *self.threads]
            return pmm_json(*arguments)

    def score(self, samples, features=None):
        """Distances of samples to training images."""
        return self.scored(samples, features or self.features[0])["distances"]


@contextmanager
def alone(path):
    """While no other process is in such a block."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def fit(folder, data, *settings, begin=list):
    """A fit, its cost and how fast it learned: images per second of training, validations and previews included. One that was stopped
    goes on; `begin` says what else is told to one that begins."""
    goes_on = (folder / "config.toml").exists()
    how = ["--resume"] if goes_on else begin()
    if not goes_on:
        shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _, cost = costed(BINARY, "fit", data, "--out", folder, "--quiet", *settings, *how)
    info = json.loads(pmm("info", folder, "--json"))
    if info["fit"]["outcome"] == "stopped":
        raise KeyboardInterrupt
    images = info["fit"]["steps"] * info["config"]["batch"]
    # Of a fit that went on, only the last process was watched; the model knows how long it has trained in all.
    cost["cpu"] *= max(1.0, info["seconds"] / cost["seconds"])
    return {"cost": cost, "resumed": goes_on, "weights": info["weights"], "steps": info["fit"]["steps"], "seen": images,
            "seconds": info["seconds"], "images_per_second": images / info["seconds"]}


def affordable(data, folder, minutes, *settings):
    """How many steps of a fit fit into so many minutes of processor time."""
    few, more = (anew(folder, data, steps, *settings, *UNSEEN)["cost"]["cpu"] for steps in TIMED)
    shutil.rmtree(folder)
    return max(10, round(60 * minutes / ((more - few) / (TIMED[1] - TIMED[0]))))


def anew(folder, data, steps, *settings):
    """A fit of so many steps that never goes on."""
    shutil.rmtree(folder, ignore_errors=True)
    return fit(folder, data, *settings, begin=lambda: ["--steps", steps])


def draw(model, folder, count, sampler, calls, *more):
    """Samples, a file each, in a folder for each class, and what they cost."""
    how = ["-n", count, "--sampler", sampler, "--steps", calls, *more]
    _, cost = costed(BINARY, "sample", model, *how, "--out", fresh(folder), "--quiet")
    by_class(folder)
    return {"cost": cost, "images": count, "sampler": sampler, "calls": calls, "images_per_second": count / cost["seconds"]}


def by_class(folder):
    """Puts samples into folders by the classes that `labels.csv` tells, which `pmm eval --samples` takes from folders."""
    labels = folder / "labels.csv"
    with open(labels) as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        (folder / row["label"]).mkdir(exist_ok=True)
        (folder / row["file"]).rename(folder / row["label"] / row["file"])
    labels.unlink()
