"""The paper's clocks beside `reveal`: how near do rows of `clock=gradual` come, with which head, after how many steps of a draw?

Of each table a fifth of the rows is held out. Models learn the others for the same number of steps, with rules off, since models with
gradual clocks keep none; one learns four times as long. As many rows as are held out are made with several numbers of steps, and `pmm eval`
tells them from the held-out ones by classifiers. Writes GRADUAL.md. What was measured is kept in `.work/gradual`, by program and
settings: a run that was stopped goes on where it was. Needs no Python package.
"""

import argparse
import hashlib
import json
import tempfile
from pathlib import Path

from rules import BINARY, DATA, HERE, auc, markdown, number, pmm, split

TABLES = ["california-housing", "shoppers-intention", "support2"]
# name: settings, how many times as long it learns, whether rows are drawn in steps.
MODELS = {
    "reveal": (["clock=reveal"], 1, False),
    "gradual, head mean": (["clock=gradual", "head=mean"], 1, True),
    "gradual, head marginal": (["clock=gradual", "head=marginal"], 1, True),
    "the same, four times as long": (["clock=gradual", "head=marginal"], 4, True),
}


def one_model(table, settings, steps, draws):
    """The scores of rows drawn in so many steps each, and what fitting and drawing took."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        test, train = split(table, folder)
        model = folder / "model.pmm"
        rows = sum(1 for _ in open(test)) - 1
        flags = [flag for setting in ["rules=off", *settings] for flag in ("--set", setting)]
        _, fit = pmm("fit", train, "--out", model, "--steps", steps, "--quiet", *flags)
        found = {}
        for draw in draws:
            made = folder / f"made-{draw}.csv"
            _, sample = pmm("sample", model, "-n", rows, "--out", made, "--quiet", *(["--steps", draw] if draw else []))
            report, _ = pmm("eval", model, test, "--train", train, "--samples", made, "--json", "--quiet")
            report = json.loads(report)
            found[draw] = dict(sample=sample, auc=auc(report, "two_sample"), related=auc(report, "two_sample_related"))
    return dict(fit=fit, rows=rows, draws=found)


def lines(table, found):
    for name, model in found.items():
        for draw, scores in model["draws"].items():
            microseconds = 1e6 * scores["sample"] / model["rows"]
            yield [table, name, "–" if draw == "0" else draw, number(scores["auc"]), number(scores["related"]), f"{model['fit']:.0f}", f"{microseconds:.0f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="*", default=TABLES)
    parser.add_argument("--steps", type=int, default=3000, help="of a fit")
    parser.add_argument("--draws", nargs="*", type=int, default=[10, 100, 1000], help="steps of a draw")
    arguments = parser.parse_args()
    if not DATA.exists():
        raise SystemExit(f"{DATA} is not there")
    program = hashlib.sha256(Path(BINARY).read_bytes()).hexdigest()[:12]
    kept = HERE / ".work" / "gradual" / "-".join(map(str, [program, arguments.steps, *arguments.draws]))
    kept.mkdir(parents=True, exist_ok=True)
    rows = []
    for table in arguments.tables:
        found = {}
        for name, (settings, times, in_steps) in MODELS.items():
            path = kept / f"{table}-{name}.json"
            if not path.exists():
                result = one_model(table, settings, times * arguments.steps, arguments.draws if in_steps else [0])
                path.with_suffix(".part").write_text(json.dumps(result))
                path.with_suffix(".part").rename(path)
            found[name] = json.loads(path.read_text())
        rows.extend(lines(table, found))
        head = [
            "# Gradual clocks beside `reveal`",
            "",
            f"Made by `bench/tables/run gradual`: {arguments.steps:,} steps of learning, rules off, one seed. AUC of telling made rows from held-out ones,",
            "by classifiers that see cells, and that see relations of two columns as well: .5 is as good as real rows.",
            "",
        ]
        names = ["table", "model", "steps of a draw", "AUC", "AUC, relations", "fit, CPU s", "a row, CPU µs"]
        (HERE / "GRADUAL.md").write_text("\n".join([*head, markdown(names, rows)]))
        print(f"{table}: done", flush=True)


if __name__ == "__main__":
    main()
