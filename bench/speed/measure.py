"""Times training steps and forward passes of pmm and of PyTorch (eager and compiled) in turn, and writes RESULTS.md.

    measure.py [--cases table text …] [--rounds 9] [--threads 2]

All sides have the same weights and the same batch, and their losses must agree before anything is timed. Every round asks each side
one after the other for as many steps or passes as pmm does in a third of a second (one at least); a row has the medians, and the ratio
of the faster PyTorch to pmm (above 1, pmm is faster). The share of the peak is that of a product of two matrices of 1,024 in the same
rounds, by PyTorch, whose median is the machine's peak.
"""

import argparse
import datetime
import json
import subprocess
import sys
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
from measuring import table

CASES = {
    "table": "a table's residual network, width 256, 256 rows",
    "table-large": "the same, width 512, 2,048 rows",
    "ordered": "`text8-tiny`: ordered transformer, width 192, 4 blocks, window, tables of 2^18 rows, 16 texts of 256",
    "text": "`text8-tiny-masked`: transformer, width 192, 4 blocks, 16 texts of 256",
    "text-large": "transformer, width 384, 6 blocks, 8 texts of 256",
    "image": "`mnist`: U-Net, width 16, 64 images of 28×28",
    "image-large": "U-Net, width 64, 16 images of 32×32 in colour",
}
SIDES = ["pmm", "eager", "compile"]


class Side:
    """A process that answers on a pipe."""

    def __init__(self, command):
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline().strip() != "ready":
            raise SystemExit(f"{command[0]} {command[1]} did not start")

    def ask(self, request):
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def start(side, case, folder, threads):
    if side == "pmm":
        target = json.loads(subprocess.run(["cargo", "metadata", "--format-version", "1", "--no-deps"], cwd=ROOT, check=True,
                                           stdout=subprocess.PIPE).stdout)["target_directory"]
        return Side([Path(target) / "release/bench-speed", case, folder, threads])
    return Side([sys.executable, HERE / "side.py", case, folder, threads, side])


def measure(case, rounds, threads):
    folder = HERE / ".work" / case
    sides = {side: start(side, case, folder, threads) for side in SIDES}
    requests = {}
    for request in ("train", "infer"):  # compiles, and fills caches
        for side in sides.values():
            side.ask(request)
        requests[request] = f"{request} {max(1, round(1 / 3 / sides['pmm'].ask(request)))}"
    times = {(side, request): [] for side in SIDES for request in requests} | {("eager", "product"): []}
    for _ in range(rounds):
        for request, times_of in requests.items():
            for name, side in sides.items():
                times[name, request].append(side.ask(times_of))
        times["eager", "product"].append(sides["eager"].ask("product 20"))
    found = {f"{side}-{request}": median(seconds) for (side, request), seconds in times.items()}
    found |= {f"{side}-memory": sides[side].ask("memory") for side in SIDES}
    found["multiplications"] = json.loads((folder / "case.json").read_text())["multiplications"]
    for side in sides.values():
        side.close()
    return found


def rows(found, request):
    for case, what in CASES.items():
        if case in found:
            pmm, eager, compiled = (found[case][f"{side}-{request}"] for side in SIDES)
            cells = [f"{1000 * seconds:.1f}" for seconds in (pmm, eager, compiled)]
            passes = 3 if request == "train" else 1
            peak = 1024**3 / found[case]["eager-product"]
            yield [what, *cells, f"{min(eager, compiled) / pmm:.2f}", f"{passes * found[case]['multiplications'] / pmm / peak:.0%}"]


def peaks(found):
    rates = [2e-9 * 1024**3 / found[case]["eager-product"] for case in CASES if case in found]
    return f"{min(rates):.0f} to {max(rates):.0f}"


def report(found, threads):
    head = ["network", "pmm, ms", "PyTorch eager, ms", "compiled, ms", "PyTorch's better / pmm", "pmm, of the peak"]
    lines = ["# Speed, measured", "", f"{datetime.date.today().isoformat()}, {threads} threads. Made by `bench/speed/run`: the same weights and batches, all sides in turn, medians.",
             f"The peak is a product of matrices of 1,024 by PyTorch: {peaks(found)} GFLOP/s over the cases.",
             "Multiplications are counted as the direct sums have them: convolutions of many channels by Winograd's tiles need fewer, and may so pass the peak.", "",
             "## A training step", "", *table(head, rows(found, "train")), "## A forward pass", "", *table(head, rows(found, "infer")),
             "## Peak memory, MB", "", *table(["network", "pmm", "PyTorch eager", "compiled"],
                                             [[what, *(f"{found[case][f'{side}-memory']:.0f}" for side in SIDES)] for case, what in CASES.items() if case in found])]
    (HERE / "RESULTS.md").write_text("\n".join(lines))


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    ask.add_argument("--rounds", type=int, default=9)
    ask.add_argument("--threads", type=int, default=2)
    args = ask.parse_args()
    path = HERE / ".cache.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    for case in args.cases:
        found[case] = measure(case, args.rounds, args.threads)
        path.write_text(json.dumps(found))
        print(case, {name: round(value, 4) for name, value in found[case].items()}, flush=True)
    report(found, args.threads)


if __name__ == "__main__":
    main()
