"""Products of matrices of a table's network of width 512, by the crate gemm, called as pmm's kernels call it, with more rows and in one call, and by PyTorch: its
mm, and oneDNN, which it has with it. Writes PRODUCTS.md.

    products.py [--threads 2 1] [--rounds 15]

Every round asks each way one after the other for as many products as PyTorch's mm does in a fiftieth of a second; a row has each way's fastest
round, in GFLOP a second of the clock. MKL, behind mm, uses AVX-512 on Intel's processors alone; oneDNN uses it wherever it is. What oneDNN is given
lies as it wants it, and is not moved within the time but for the second matrix.
"""

import argparse
import datetime
import subprocess
import sys
import time

from measure import HERE, Side, table

ROWS = 2048
# Inputs and outputs of the layers.
LAYERS = [(300, 512), (512, 512), (512, 200)]
KINDS = {"forward": "x W", "back": "d Wᵀ", "weights": "xᵀ d"}
WAYS = {"64": "gemm, 64 rows a call, as pmm", "256": "gemm, 256 rows a call", "whole": "gemm, in one call", "mm": "PyTorch, mm", "onednn": "PyTorch, oneDNN"}


def product(way, a, b):
    import torch
    if way == "mm":
        out = a @ b
        return lambda: torch.mm(a, b, out=out)
    a, b = a.contiguous().to_mkldnn(), b.T.contiguous()
    return lambda: torch._C._nn.mkldnn_linear(a, b)


def torch_side(threads):
    """PyTorch's answers, in a process of its own, to the lines that the other side gets."""
    import torch
    torch.set_num_threads(threads)
    print("ready", flush=True)
    for line in sys.stdin:
        way, kind, *sizes = line.split()
        rows, inputs, outputs, times = map(int, sizes)
        x, w, d = torch.rand(rows, inputs), torch.rand(inputs, outputs), torch.rand(rows, outputs)
        a, b = {"forward": (x, w), "back": (d, w.T), "weights": (x.T, d)}[kind]
        run = product(way, a, b)
        run()
        begin = time.perf_counter()
        for _ in range(times):
            run()
        print((time.perf_counter() - begin) / times, flush=True)


def measure(threads, rounds):
    """GFLOP a second of each way, by kind and layer."""
    gemm = Side([HERE / ".work/products-of-gemm/release/products-of-gemm", threads])
    torch = Side([sys.executable, HERE / "products.py", "--side", threads])
    sides = {"64": gemm, "256": gemm, "whole": gemm, "mm": torch, "onednn": torch}
    found = {}
    for kind in KINDS:
        for inputs, outputs in LAYERS:
            asked = f"{kind} {ROWS} {inputs} {outputs}"
            times = max(1, round(0.02 / sides["mm"].ask(f"mm {asked} 3")))
            seconds = {way: [] for way in WAYS}
            for _ in range(rounds):
                for way, side in sides.items():
                    seconds[way].append(side.ask(f"{way} {asked} {times}"))
            found[kind, inputs, outputs] = {way: 2e-9 * ROWS * inputs * outputs / min(each) for way, each in seconds.items()}
    for side in (gemm, torch):
        side.close()
    return found


def rows(found):
    for (kind, inputs, outputs), rates in found.items():
        yield [KINDS[kind], f"{inputs} → {outputs}", *(f"{rates[way]:.0f}" for way in WAYS), *(f"{rates['64'] / rates[way]:.2f}" for way in ("mm", "onednn"))]


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--threads", type=int, nargs="+", default=[2, 1])
    ask.add_argument("--rounds", type=int, default=15)
    ask.add_argument("--side", type=int, help=argparse.SUPPRESS)
    args = ask.parse_args()
    if args.side:
        return torch_side(args.side)
    manifest, target = HERE / "products-of-gemm/Cargo.toml", HERE / ".work/products-of-gemm"
    subprocess.run(["cargo", "build", "--release", "--quiet", "--locked", "--manifest-path", manifest, "--target-dir", target], check=True)
    model = next(line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    lines = ["# Products of matrices", "", f"{datetime.date.today().isoformat()}, {model}. Made by `bench/speed/products`: {ROWS} rows, GFLOP/s of the fastest round, all in turn.",
             "MKL, behind mm, uses AVX-512 on Intel's processors alone; oneDNN uses it wherever it is.", ""]
    head = ["product", "inputs → outputs", *WAYS.values(), "pmm / mm", "pmm / oneDNN"]
    for threads in args.threads:
        lines += [f"## Threads: {threads}", "", *table(head, rows(measure(threads, args.rounds)))]
    (HERE / "PRODUCTS.md").write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
