"""Rules that real rows keep: how often made rows break them, by a model that keeps rules and by one that does not.

For each table a fifth of the rows is held out. Two models are fitted to the others with the same settings and the same seed,
one with `rules=off`. `pmm eval` finds the rules of the held-out rows and counts how many of them, and of the made rows, break
each; it also tells made rows from real ones by a classifier. Writes RULES.md after every table. What each model gave is kept in
`.work/rules`, by program and settings: a run that was stopped goes on where it was. Needs no Python package.
"""

import argparse
import csv
import gzip
import hashlib
import json
import os
import random
import resource
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
DATA = ROOT.parent / "shared" / "data" / "tables"
BINARY = os.environ.get("PMM_BINARY", ROOT / "target" / "release" / "pmm")
TABLES = {
    "bike-sharing-hour": "cnt",
    "bike-sharing-day": "cnt",
    "support2": "death",
    "seaborn-titanic": "survived",
    "seaborn-penguins": "species",
    "default-credit": "default payment next month",
    "shoppers-intention": "Revenue",
    "ggplot2-diamonds": "price",
    "california-housing": "median_house_value",
}


def split(name, folder):
    """Four fifths of the rows to learn, one fifth to compare with."""
    with gzip.open(DATA / f"{name}.csv.gz", "rt", newline="") as file:
        header, *rows = csv.reader(file)
    random.Random(0).shuffle(rows)
    cut = len(rows) // 5
    paths = []
    for part, chosen in (("test", rows[:cut]), ("train", rows[cut:])):
        path = folder / f"{part}.csv"
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([header, *chosen])
        paths.append(path)
    return paths


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def pmm(*arguments):
    """What the program says, and the CPU seconds that it took."""
    begun = cpu()
    done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"pmm {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout, cpu() - begun


def one_model(name, way, seed, flags):
    """The rules, the AUCs and the CPU seconds of a model with rules off or on."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        test, train = split(name, folder)
        model = folder / "model.pmm"
        _, seconds = pmm("fit", train, "--out", model, "--set", f"rules={way}", "--seed", seed, "--quiet", *flags)
        report, _ = pmm("eval", model, test, "--train", train, "--json", "--quiet")
    report = json.loads(report)
    scores = {name: auc(report, name) for name in ("two_sample", "two_sample_related")}
    return dict(rules=report["rules"], seconds=seconds, **scores)


def measured(name, flags, seeds, kept):
    """Shares of broken rules, the classifiers' AUCs and CPU seconds, means over models, with rules off and on."""
    found = {"off": [], "on": []}
    for seed in seeds:
        for way, models in found.items():
            path = kept / f"{name}-{way}-{seed}.json"
            if not path.exists():
                result = one_model(name, way, seed, flags)
                path.with_suffix(".part").write_text(json.dumps(result))
                path.with_suffix(".part").rename(path)
            models.append(json.loads(path.read_text()))
    return {way: over_models(models) for way, models in found.items()}


def over_models(models):
    mean = lambda of: None if None in of else sum(of) / len(of)
    made = {}
    for model in models:
        for rule in model["rules"]:
            made.setdefault(rule["rule"], []).append(rule["made"])
    rules = [rule | {"made": mean(made[rule["rule"]])} for rule in models[0]["rules"]]
    return dict(rules=rules, **{key: mean([model[key] for model in models]) for key in ("two_sample", "two_sample_related", "seconds")})


def auc(report, name):
    two = report["scores"].get(name)
    return two and two["auc"]


def lines(name, found):
    """The table's line, and one for each rule that is broken more often than by real rows."""
    off, on = found["off"], found["on"]
    rules = {rule["rule"]: rule for rule in off["rules"]}
    kept = {rule["rule"]: rule for rule in on["rules"]}
    both = [rule for rule in rules if rule in kept]
    mean = lambda of: sum(of) / len(both) if both else 0.0
    share = lambda x: f"{100 * x:.2f} %"
    summary = [
        name,
        len(both),
        share(mean(rules[rule]["real"] for rule in both)),
        share(mean(rules[rule]["made"] for rule in both)),
        share(mean(kept[rule]["made"] for rule in both)),
        *(number(found[way][name]) for name in ("two_sample", "two_sample_related") for way in ("off", "on")),
        f"{off['seconds']:.0f}",
        f"{on['seconds']:.0f}",
    ]
    worst = sorted(both, key=lambda rule: rules[rule]["real"] - rules[rule]["made"])[:6]
    details = [
        [name, rule, share(rules[rule]["real"]), share(rules[rule]["made"]), share(kept[rule]["made"])] for rule in worst
    ]
    return summary, details


def number(x):
    return "–" if x is None else f"{x:.3f}"


def markdown(head, rows):
    text = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(text + ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]) + "\n"


def settings(arguments):
    flags = []
    for name in ("minutes", "steps"):
        if getattr(arguments, name):
            flags += [f"--{name}", getattr(arguments, name)]
    return flags


def written(summaries, details, flags, seeds):
    head = ["table", "rules", "real rows", "made, off", "made, on", "AUC off", "AUC on", "related, off", "related, on", "fit off, CPU s", "fit on, CPU s"]
    by = f"`{' '.join(flags)}`" if flags else "default settings"
    models = "one model" if len(seeds) == 1 else f"the mean of {len(seeds)} models"
    text = (
        "# Rules\n\n"
        f"By `bench/tables/run rules`, each fit with {by}: the mean share of rows that break a rule of the held-out rows, among"
        " held-out rows, rows made without rules and rows made with them; the AUC of a classifier that tells made rows from"
        f" held-out ones (.5 is best), and of one that also sees differences, ratios, equalities and date parts of related columns; {models} of each, of the same seed with and without rules.\n\n"
        + markdown(head, summaries) + "\nThe rules that are broken most without them:\n\n"
        + markdown(["table", "rule", "real rows", "made, off", "made, on"], details)
    )
    (HERE / "RULES.md").write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="*", default=list(TABLES))
    parser.add_argument("--minutes", help="for each fit, in place of the default")
    parser.add_argument("--steps", help="for each fit: the same work with and without rules")
    parser.add_argument("--seeds", type=int, default=1, help="models of each table with and without rules")
    parser.add_argument("--first-seed", type=int, default=0)
    arguments = parser.parse_args()
    if not DATA.exists():
        raise SystemExit(f"{DATA} is not there: it holds the public tables")
    flags = settings(arguments)
    program = hashlib.sha256(Path(BINARY).read_bytes()).hexdigest()[:12]
    kept = HERE / ".work" / "rules" / "-".join([program, *(flag.strip("-") for flag in flags)])
    kept.mkdir(parents=True, exist_ok=True)
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    summaries, details = [], []
    for name in arguments.tables:
        summary, detail = lines(name, measured(name, flags, seeds, kept))
        summaries.append(summary)
        details += detail
        print(*summary, flush=True)
        written(summaries, details, flags, seeds)


if __name__ == "__main__":
    main()
