"""How long features of images take, the first time and once those of the training images are kept with the model."""

import json
import shutil

from bench import FEATURES, PHOTOS, anew, draw
from measuring import BINARY, costed

SAMPLES = 64


def measure(bench):
    bench.once(f"features-{bench.budget.timed}", lambda: timed(bench, bench.budget.timed))


def timed(bench, net):
    """The same `pmm eval --samples` twice, with a model that keeps nothing yet."""
    folder, samples = bench.work / "features.pmm", bench.work / "features-samples"
    anew(folder, PHOTOS.data, 1, "--preset", PHOTOS.preset, *bench.threads)
    draw(folder, samples, SAMPLES, "sde2", 2, *bench.threads)
    costs = [score(bench, folder, samples, net) for _ in range(2)]
    kept = [path.stat().st_size / 1e6 for path in (folder / "cache").iterdir()]
    shutil.rmtree(samples)
    shutil.rmtree(folder)
    return costs[0] | {"first": costs[0]["cost"], "second": costs[1]["cost"], "kept_megabytes": sum(kept), "threads": bench.budget.threads, "net": net}


def score(bench, folder, samples, net):
    how = ["--samples", samples, "--features", FEATURES[net], *bench.threads, "--json", "--quiet"]
    out, cost = costed(BINARY, "eval", folder, PHOTOS.test, *how)
    found = json.loads(out)["distances"]
    return {"cost": cost, "reference": found["reference"], "others": 2 * found["images"]}


def report(bench, found):
    done = [piece for name, piece in found.items() if name.startswith("features-")]
    lines = [line for piece in done for line in told(piece)]
    return ["## The time of features", "", *lines] if lines else []


def told(piece):
    first, second, reference = piece["first"], piece["second"], piece["reference"]
    each = (first["cpu"] - second["cpu"]) / reference
    word = "is quicker" if second["cpu"] < 0.9 * first["cpu"] else "is NOT quicker"
    return [f"`pmm eval --samples --features` with {piece['net']} on CIFAR-10, `--threads {piece['threads']}`: {reference:,} training images, and {piece['others']} samples and test images. The first time takes",
            f"{first['seconds']:.1f} s ({first['cpu']:.1f} CPU seconds, a peak of {first['megabytes']:.0f} MB), the second {second['seconds']:.1f} s ({second['cpu']:.1f} CPU seconds): it {word}. So features of",
            f"{reference:,} images take {each * reference:.1f} CPU seconds, {1000 * each:.2f} ms an image; kept, they are {piece['kept_megabytes']:.0f} MB in the model's folder.", ""]
