"""Ten training steps of both U-Nets beside PyTorch's, from the same weights on the same batches."""

import subprocess
import sys

from bench import HERE, MNIST
from measuring import BINARY, ROOT, table

KINDS = {"adm": "ADM", "ddpmpp": "DDPM++"}


def example():
    """The program that writes weights, batches and losses, built if need be."""
    path = BINARY.parent / "examples/image_reference"
    if not path.exists():
        subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "pmm-train", "--example", path.name], check=True, cwd=ROOT)
        path = ROOT / "target/release/examples" / path.name
    return path


def compare(kind, folder):
    subprocess.run([str(example()), str(MNIST), str(folder), kind], check=True)
    out = subprocess.run([sys.executable, str(HERE / "reference.py"), str(folder)], stdout=subprocess.PIPE, text=True)
    print(out.stdout)
    return {"agrees": out.returncode == 0, "said": out.stdout.splitlines()[-1]}


def measure(bench):
    for kind in KINDS:
        bench.once(f"reference-{kind}", lambda: compare(kind, bench.work / kind))


def report(bench, found):
    rows = [[name, found[f"reference-{kind}"]["said"]] for kind, name in KINDS.items() if f"reference-{kind}" in found]
    if not rows:
        return []
    return ["## The reference", "", "Ten training steps from the same weights on the same batches of digits, here and in PyTorch.", "",
            *table(["U-Net", "losses"], rows)]
