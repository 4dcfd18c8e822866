"""Quality against network calls, sampler by sampler, of the Normal model, and of the Poisson model."""

import shutil
from statistics import stdev

import pictures
from bench import draw
from measuring import table

# How many calls each has at most.
SAMPLERS = {"dpm": 1000, "heun": 100, "euler": 100, "sde": 1000}
NOISE_SEEDS = [1, 2, 3, 4]
FEW, MANY = ("dpm", 20), ("sde", 500)


def measure(bench):
    count = bench.kept("calls-plan", lambda: {"images": affordable(bench), "minutes": bench.budget.calls_minutes})["images"]
    for seed in NOISE_SEEDS:
        bench.kept(f"calls-noise-{seed}", lambda: cell(bench, count, *FEW, seed))
    for sampler, number in cells(bench.budget):
        bench.kept(f"calls-{sampler}-{number}", lambda: cell(bench, count, sampler, number))


# The samplers of counts, with how many images each number of calls has.
COUNTS = ("glide", "leap", "sde")
COUNT_IMAGES = {10: 1000, 20: 1000, 50: 500, 100: 500, 500: 128}


def measure_counts(bench):
    for calls, images in COUNT_IMAGES.items():
        for sampler in COUNTS:
            images = min(images, bench.budget.images)
            bench.kept(f"counts-{sampler}-{calls}", lambda: cell(bench, images, sampler, calls, pair="poisson"))


def cells(budget):
    return [(sampler, number) for sampler, most in SAMPLERS.items() for number in budget.calls if number <= most]


def affordable(bench):
    """How many images each cell may have, for all together to take no longer than the budget."""
    drawn = bench.drawn("normal")
    call = drawn["cost"]["seconds"] / drawn["images"] / drawn["calls"]
    calls = sum(number for _, number in cells(bench.budget)) + FEW[1] * len(NOISE_SEEDS)
    count = min(bench.budget.images, 60 * bench.budget.calls_minutes / (call * calls))
    return max(1, int(count / 64)) * 64


def cell(bench, count, sampler, calls, seed=0, pair="normal"):
    folder = bench.path("calls")
    drawn = draw(bench.model(pair), folder, count, sampler, calls, "--seed", seed)
    score = bench.score(folder)
    shutil.rmtree(folder)
    return drawn | {"score": score}


def frechet(piece):
    return piece["score"]["frechet"]["samples"]


def verdict(found):
    """Whether few calls of the ODE do as well as many of the SDE."""
    pieces = [found.get("calls-{}-{}".format(*which)) for which in (FEW, MANY)]
    seeds = [found.get(f"calls-noise-{seed}") for seed in NOISE_SEEDS]
    if not all(pieces + seeds):
        return []
    few, many = map(frechet, pieces)
    noise = stdev([few, *map(frechet, seeds)])
    # Two standard deviations of a difference.
    same = abs(few - many) <= 2 * 2**0.5 * noise
    word = "They match within the noise." if same else f"The {FEW[1] if few < many else MANY[1]} calls are better."
    return [f"{FEW[1]} calls of the ODE (`{FEW[0]}`) get {few:.3f}, {MANY[1]} of Algorithm 1 (`{MANY[0]}`) {many:.3f}; from one seed to the next",
            f"such a distance moves by {noise:.3f} (standard deviation over {1 + len(seeds)} seeds of {FEW[1]} calls of `{FEW[0]}`). {word}", ""]


def report(bench, found):
    done = {which: found[name] for which in cells(bench.budget) if (name := "calls-{}-{}".format(*which)) in found}
    if not done:
        return report_counts(found)
    score = next(iter(done.values()))["score"]
    real, show = score["frechet"]["held_out"], lambda piece: f"{frechet(piece):.3f}" if piece else "–"
    points = [(*which, frechet(piece)) for which, piece in done.items()]
    pictures.calls(points, real, "Fréchet distance", bench.base / "calls.svg")
    rows = [[number, *(show(done.get((sampler, number))) for sampler in SAMPLERS)] for number in bench.budget.calls]
    return ["## Quality against network calls", "",
            f"The Normal model of digits; {score['frechet_name']}, of {score['images']:,} samples to",
            f"{score['reference']:,} training images. As many real test images get {real:.3f}. All cells have the same number of samples, as many as fit into",
            f"{found['calls-plan']['minutes']:g} minutes of drawing, since the distance depends on it. `sde` is Algorithm 1, the others solve the ODE.", "",
            *table(["calls", *(f"`{sampler}`" for sampler in SAMPLERS)], rows), *verdict(found),
            "![Fréchet distance against network calls](calls.svg)", "", *report_counts(found)]


def report_counts(found):
    """A row for each number of calls of the Poisson model; as many real images beside, since the distance depends on how many there are."""
    rows = []
    for calls in COUNT_IMAGES:
        pieces = [found.get(f"counts-{sampler}-{calls}") for sampler in COUNTS]
        if some := next(filter(None, pieces), None):
            rows.append([calls, f"{some['images']:,}", *(f"{frechet(piece):.3f}" if piece else "–" for piece in pieces),
                         f"{some['score']['frechet']['held_out']:.3f}"])
    if not rows:
        return []
    return ["The Poisson model of digits. `glide` draws few events and lets many flow, one call a step; `leap` is the midpoint leap, `sde` Algorithm 1.", "",
            *table(["calls", "images", *(f"`{sampler}`" for sampler in COUNTS), "real test images"], rows)]
