"""Quality against network calls, sampler by sampler, and whether few calls do as well as many."""

import re
import shutil
from statistics import mean, stdev

import pictures
from bench import PAIRS, PHOTOS, draw
from measuring import table

# The samplers of each pair, with how many calls each has at most.
SAMPLERS = {
    "normal": {"sde2": 100, "dpm": 100, "heun": 100, "euler": 100, "sde": 1000},
    "poisson": {"sde2": 100, "leap": 100, "sde": 1000},
}
FEW, MANY = ("sde2", 20), ("sde", 500)


def measure(bench):
    for pair in bench.budget.pairs:
        plan = lambda: {"images": affordable(bench, pair), "minutes": bench.spending.calls_minutes}
        count = bench.kept(f"calls-plan-{pair}", plan)["images"]
        for which in cells(bench, pair):
            bench.kept("calls-{}-{}-{}".format(pair, *which), lambda: cell(bench, count, pair, *which))


def samplers(bench, pair):
    """Photographs are slow to draw: the two that are Algorithm 1."""
    return {name: most for name, most in SAMPLERS[pair].items() if bench.subject is not PHOTOS or name.startswith("sde")}


def cells(bench, pair):
    return [(sampler, number) for sampler, most in samplers(bench, pair).items() for number in bench.spending.calls if number <= most]


def affordable(bench, pair):
    """How many images each cell may have, for all together to take no longer than the budget."""
    drawn, spending = bench.drawn(pair), bench.spending
    call = drawn["cost"]["cpu"] / drawn["images"] / drawn["calls"]
    calls = sum(number for _, number in cells(bench, pair))
    count = min(spending.images, 60 * spending.calls_minutes / (call * calls))
    return max(1, int(count / 64)) * 64


def cell(bench, count, pair, sampler, calls, seed=0):
    folder = bench.path(f"calls-{pair}-{sampler}-{calls}-{seed}")
    drawn = draw(bench.model(pair), folder, count, sampler, calls, "--seed", seed, *bench.threads)
    score = bench.score(folder)
    shutil.rmtree(folder)
    return drawn | {"score": score}


def measure_few(bench):
    """Few and many calls, each with several seeds."""
    count = bench.budget.few_images
    for pair in bench.budget.pairs:
        for which, seeds in zip((FEW, MANY), bench.budget.few_seeds):
            for seed in range(1, 1 + seeds):
                bench.kept("few-{}-{}-{}-{}-{}".format(count, pair, *which, seed), lambda: cell(bench, count, pair, *which, seed))


def frechet(piece):
    return piece["score"]["frechet"]["samples"]


def report(bench, found):
    lines = sections(bench, found) + few(found)
    return ["## Quality against network calls", "", *lines] if lines else []


def sections(bench, found):
    return [line for pair in PAIRS for line in curves(bench, found, pair)]


def curves(bench, found, pair):
    """A table and a picture of the samplers of a pair."""
    prefix = f"{bench.subject.prefix}calls-"
    done = {which: found[name] for which in cells(bench, pair) if (name := prefix + "{}-{}-{}".format(pair, *which)) in found}
    if not done:
        return []
    some = next(iter(done.values()))
    score, picture = some["score"], f"{prefix}{pair}.svg"
    points = [(*which, frechet(piece)) for which, piece in done.items()]
    pictures.calls(points, score["frechet"]["held_out"], "Fréchet distance", bench.base / picture)
    show = lambda which: f"{frechet(done[which]):.3f}" if which in done else "–"
    rows = [[number, *(show((sampler, number)) for sampler in samplers(bench, pair))] for number in bench.spending.calls]
    spent = sum(piece["cost"]["cpu"] for piece in done.values()) / 60
    return [f"The {PAIRS[pair]} model; {score['frechet_name']}, of {score['images']:,} samples to {score['reference']:,} training images.",
            f"As many real test images get {score['frechet']['held_out']:.3f}. All cells have the same number of samples, since the distance depends on it:",
            f"as many as were expected to fit into {found[f'{prefix}plan-{pair}']['minutes']:g} CPU minutes of drawing (it took {spent:.1f}). `sde` is Algorithm 1, `sde2` the same of",
            "second order, `leap` the midpoint leap; the others solve the ODE.", "",
            *table(["calls", *(f"`{sampler}`" for sampler in samplers(bench, pair))], rows),
            f"![Fréchet distance against network calls, {PAIRS[pair]} pair]({picture})", ""]


def few(found):
    """A row for each pair and number of images: few calls beside many."""
    names = [match for name in found if (match := re.fullmatch(r"few-(\d+)-(\w+)-(\w+)-(\d+)-\d+", name))]
    rows = []
    for count, pair in dict.fromkeys((int(match[1]), match[2]) for match in names):
        some = lambda which: [found[match[0]] for match in names if match.groups() == (str(count), pair, which[0], str(which[1]))]
        if (few := some(FEW)) and (many := some(MANY)):
            real = few[0]["score"]["frechet"]["held_out"]
            rows.append([PAIRS[pair], f"{count:,}", spread(few), spread(many), f"{real:.3f}", verdict(few, many)])
    if not rows:
        return []
    return [f"{FEW[1]} calls of `{FEW[0]}` beside {MANY[1]} of `{MANY[0]}`, the same model: means over drawings with different seeds (their number in brackets), and the",
            "standard deviation from one to the next. A difference is within the noise if it is smaller than two of its standard errors.", "",
            *table(["pair", "images", f"{FEW[1]} calls", f"{MANY[1]} calls", "real test images", "difference"], rows)]


def spread(pieces):
    distances = [frechet(piece) for piece in pieces]
    noise = f" ± {stdev(distances):.4f}" if len(distances) > 1 else ""
    return f"{mean(distances):.4f}{noise} ({len(distances)})"


def verdict(few, many):
    """Their difference beside its standard error, by the deviation within both."""
    few, many = [[frechet(piece) for piece in pieces] for pieces in (few, many)]
    freedom = len(few) + len(many) - 2
    difference = mean(few) - mean(many)
    if not freedom:
        return f"{difference:+.4f}, noise unknown"
    squares = sum((x - mean(group)) ** 2 for group in (few, many) for x in group)
    error = (squares / freedom * (1 / len(few) + 1 / len(many))) ** 0.5
    word = "within the noise" if abs(difference) <= 2 * error else f"{FEW[1] if difference < 0 else MANY[1]} calls are better"
    return f"{difference:+.4f} ± {error:.4f}: {word}"
