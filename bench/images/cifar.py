"""CIFAR-10: how fast the small preset learns, and a step of the paper's network at full size."""

import shutil

from bench import CIFAR, fit
from measuring import pmm_json

# Enough steps for a difference that is no noise; the smallest validation there is.
FEW, MORE, BATCH = 1, 4, 2
SMALL = ["--set", f"batch={BATCH}", "--set", "valid=0.0032"]


def measure(bench):
    steps = bench.budget.steps
    bench.once("cifar-tiny", lambda: trained(bench, "cifar10-tiny", steps, "--set", f"train.validate_every={steps}"))
    bench.once("cifar-dry", dry_run)
    for steps in (FEW, MORE) if bench.budget.full else ():
        bench.once(f"cifar-full-{steps}", lambda: trained(bench, "cifar10", steps, *SMALL))


def trained(bench, preset, steps, *settings):
    folder = bench.work / "cifar.pmm"
    found = fit(folder, CIFAR, "--preset", preset, "--steps", steps, *settings)
    shutil.rmtree(folder)
    return found


def dry_run():
    said = pmm_json("fit", CIFAR, "--preset", "cifar10", "--dry-run")
    return {name: said[name] for name in ("weights", "megabytes", "operations_per_step")} | {"batch": said["config"]["batch"]}


def report(bench, found):
    lines = []
    if tiny := found.get("cifar-tiny"):
        lines += [f"`cifar10-tiny` ({tiny['weights']:,} weights) learned {tiny['seen']:,} images of 32×32 in colour at",
                  f"{tiny['images_per_second']:.1f} images/s, with a peak of {tiny['cost']['megabytes']:.0f} MB.", ""]
    if dry := found.get("cifar-dry"):
        lines += [f"`cifar10`, the paper's network at full size, has {dry['weights']:,} weights. `--dry-run` expects",
                  f"{dry['operations_per_step']:.2e} operations for a step of {dry['batch']} images, and {dry['megabytes']:,.0f} MB.", ""]
    few, more = (found.get(f"cifar-full-{steps}") for steps in (FEW, MORE))
    if few and more:
        step = (more["seconds"] - few["seconds"]) / (MORE - FEW)
        lines += [f"With batches of {BATCH} images (`--set batch={BATCH}`, to be done in minutes) a training step of it takes {step:.1f} s; the peak is",
                  f"{few['cost']['megabytes']:,.0f} MB.", ""]
    return ["## CIFAR-10", "", *lines] if lines else []
