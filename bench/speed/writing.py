"""Characters that are written in a second by the network of `text8-tiny`, from nothing and from left to right: pmm with what it keeps of earlier
tokens, PyTorch with a cache of keys and values (eager and compiled), and beside them pmm's masked network of the same width by the sampler
`events`. Writes WRITING.md.

    writing.py [--texts 1 16] [--rounds 3] [--threads 1]

The ordered network has the same weights on all sides, and the same loss to 1e-4. Every round asks each side one after the other, several times
where that takes less than a third of a second; a row has the medians.
"""

import argparse
import datetime
from statistics import median

from measure import HERE, start, table

LENGTH = 256
SIDES = {
    "pmm, ordered": ("pmm", "ordered"),
    "PyTorch eager, ordered": ("eager", "ordered"),
    "PyTorch compiled, ordered": ("compile", "ordered"),
    "pmm, masked, `events`": ("pmm", "text"),
}


def measure(texts, rounds, threads):
    """Seconds of a text, of each side, by how many are written at once."""
    sides = {name: start(side, case, HERE / ".work" / case, threads) for name, (side, case) in SIDES.items()}
    times = {(name, count): [] for count in texts for name in sides}
    for count in texts:
        request = f"write {count}"
        for side in sides.values():  # compiles, and fills caches
            side.ask(request)
        repeats = {name: max(1, round(1 / 3 / (count * side.ask(request)))) for name, side in sides.items()}
        for _ in range(rounds):
            for name, side in sides.items():
                times[name, count].append(sum(side.ask(request) for _ in range(repeats[name])) / repeats[name])
    for side in sides.values():
        side.close()
    return {key: median(seconds) for key, seconds in times.items()}


def report(found, texts, threads):
    head = ["", *(f"{count} text{'s' * (count > 1)} at once" for count in texts)]
    speed = [[name, *(f"{LENGTH / found[name, count]:,.0f}" for count in texts)] for name in SIDES]
    ours, *others = SIDES
    ratio = [[name, *(f"{found[name, count] / found[ours, count]:.1f}" for count in texts)] for name in others]
    text = ["# Writing, measured", "",
            f"{datetime.date.today().isoformat()}, threads: {threads}. Made by `bench/speed/writing`: the same ordered network with the same weights on all sides but the last, texts of {LENGTH}",
            "characters from left to right, each of which is drawn and read before the next; all sides in turn, medians.", "",
            "## Characters a second", "", *table(head, speed), "## Times as fast: pmm's ordered network over the others", "", *table(head, ratio)]
    (HERE / "WRITING.md").write_text("\n".join(text))
    print("\n".join(text))


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--texts", type=int, nargs="+", default=[1, 16])
    ask.add_argument("--rounds", type=int, default=3)
    ask.add_argument("--threads", type=int, default=1)
    args = ask.parse_args()
    report(measure(args.texts, args.rounds, args.threads), args.texts, args.threads)


if __name__ == "__main__":
    main()
