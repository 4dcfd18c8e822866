"""Measures pmm on images and writes RESULTS.md with its pictures. `measure.py PART…`: parts are reference, learning, mnist, peer, calls, counts,
classes, inpaint, cifar, report. Every finished piece is kept in .cache/ under the hash of the binary; `report` writes from the newest of each."""

import argparse
from dataclasses import replace

import calls
import cifar
import classes
import inpaint
import learning
import mnist
import report
import ten_steps
from bench import FEATURES, HERE, TRY, Bench, Budget
from measuring import two_cores

PARTS = {"reference": ten_steps.measure, "learning": learning.measure, "mnist": mnist.measure, "peer": mnist.measure_peer, "calls": calls.measure,
         "counts": calls.measure_counts, "classes": classes.measure, "inpaint": inpaint.measure, "cifar": cifar.measure, "report": lambda bench: None}


def arguments():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)} [all]")
    ask.add_argument("--minutes", type=float, default=Budget.minutes, help="of training, for each model of digits [15]")
    ask.add_argument("--learning-minutes", type=float, default=Budget.learning_minutes, help="of processor time for each setting in the part learning [4]")
    ask.add_argument("--calls-minutes", type=float, default=Budget.calls_minutes, help="of drawing in the part calls [60]")
    ask.add_argument("--features", nargs="+", default=list(FEATURES), choices=list(FEATURES), help="in which distances are measured [all]")
    ask.add_argument("--try", dest="tried", action="store_true", help="a few seconds of everything, in .work/try")
    args = ask.parse_args()
    for part in set(args.parts) - set(PARTS):
        ask.error(f"there is no part {part}")
    return args


def main():
    args = arguments()
    two_cores()
    budget = replace(Budget(), minutes=args.minutes, calls_minutes=args.calls_minutes, learning_minutes=args.learning_minutes, features=tuple(args.features))
    bench = Bench(TRY, HERE / ".work/try") if args.tried else Bench(budget)
    for part in args.parts or PARTS:
        PARTS[part](bench)
        report.write(bench)


if __name__ == "__main__":
    main()
