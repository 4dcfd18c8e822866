"""Measures pmm on images and writes RESULTS.md and CIFAR.md with their pictures. `measure.py PART…`: parts are reference, learning, mnist, peer, calls, few, classes,
inpaint, cifar, cifar-peer, cifar-calls, cifar-full, features, report. Every finished piece is kept in .cache/ under the hash of the binary, fits that were
stopped go on; `report` writes from the newest of each."""

import argparse
from dataclasses import replace

import calls
import cifar
import classes
import feature_time
import inpaint
import learning
import mnist
import report
import ten_steps
from bench import FEATURES, HERE, PAIRS, TRY, Bench, Budget
from measuring import two_cores

PARTS = {"reference": ten_steps.measure, "learning": learning.measure, "mnist": mnist.measure, "peer": mnist.measure_peer, "calls": calls.measure,
         "few": calls.measure_few, "classes": classes.measure, "inpaint": inpaint.measure, "cifar": cifar.measure, "cifar-peer": cifar.measure_peer,
         "cifar-calls": cifar.measure_calls, "cifar-full": cifar.measure_full, "features": feature_time.measure, "report": lambda bench: None}
FULL = Budget()


def arguments():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)} [all]")
    for subject, what in (("digits", ""), ("cifar", "cifar-")):
        usual = getattr(FULL, subject)
        ask.add_argument(f"--{what}minutes", type=float, default=usual.minutes, help=f"CPU minutes of a fit of {subject} [{usual.minutes:g}]")
        ask.add_argument(f"--{what}images", type=int, default=usual.images, help=f"drawn from each model of {subject} [{usual.images}]")
        ask.add_argument(f"--{what}calls-minutes", type=float, default=usual.calls_minutes,
                         help=f"CPU minutes of drawing for each pair in the part {what}calls [{usual.calls_minutes:g}]")
    ask.add_argument("--pairs", nargs="+", default=list(PAIRS), choices=list(PAIRS), help="which are measured [both]")
    ask.add_argument("--seeds", nargs="+", type=int, default=list(FULL.seeds), help="of the models of digits in the part mnist [0 1]")
    ask.add_argument("--threads", type=int, default=FULL.threads, help="of each fit, drawing and score, so that two runs may share two cores [1]")
    ask.add_argument("--few-images", type=int, default=FULL.few_images, help=f"of each cell in the part few [{FULL.few_images}]")
    ask.add_argument("--few-seeds", nargs=2, type=int, default=FULL.few_seeds, metavar=("FEW", "MANY"), help="drawings of few and of many calls in it [5 2]")
    ask.add_argument("--learning-minutes", type=float, default=FULL.learning_minutes, help="of processor time for each setting in the part learning [4]")
    ask.add_argument("--features", nargs="+", default=list(FEATURES), choices=list(FEATURES), help="in which distances are measured [all]")
    ask.add_argument("--try", dest="tried", action="store_true", help="a few seconds of everything, in .work/try")
    args = ask.parse_args()
    for part in set(args.parts) - set(PARTS):
        ask.error(f"there is no part {part}")
    return args


def budget(args):
    """What the flags say."""
    digits = replace(FULL.digits, minutes=args.minutes, images=args.images, calls_minutes=args.calls_minutes)
    photos = replace(FULL.cifar, minutes=args.cifar_minutes, images=args.cifar_images, calls_minutes=args.cifar_calls_minutes)
    return replace(FULL, digits=digits, cifar=photos, pairs=tuple(args.pairs), seeds=tuple(args.seeds), threads=args.threads, few_images=args.few_images,
                   few_seeds=tuple(args.few_seeds), learning_minutes=args.learning_minutes, features=tuple(args.features))


def main():
    args = arguments()
    two_cores()
    bench = Bench(replace(TRY, pairs=tuple(args.pairs)), HERE / ".work/try") if args.tried else Bench(budget(args))
    for part in args.parts or PARTS:
        PARTS[part](bench)
        report.write(bench)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("stopped; the same command goes on")
