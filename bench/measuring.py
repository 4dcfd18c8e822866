"""What the benchmarks of texts and of images share: running pmm, and keeping every finished piece.

A piece is kept in the part's .cache/ under its name and the hash of the binary, so that a stopped run goes on where it was."""

import datetime
import hashlib
import json
import os
import resource
import subprocess
import time
from pathlib import Path

# PyTorch's threads sleep while they wait, so that they take nothing from what runs beside them.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("PMM_SHARED", ROOT.parent / "shared")) / "data"
BINARY = Path(os.environ.get("PMM_BINARY", ROOT / "target/release/pmm"))


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def cpu_seconds():
    """Of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def kept(cache, name, make, of=BINARY):
    """The result of this name for this binary (or peer's script), made if need be, with its cost."""
    path = cache / f"{name}.{digest(of)}.json"
    if not path.exists():
        before, begin = cpu_seconds(), time.perf_counter()
        result = make()
        result["wall"], result["cpu"] = time.perf_counter() - begin, cpu_seconds() - before
        result["date"], result["binary"] = datetime.date.today().isoformat(), digest(of)
        cache.mkdir(exist_ok=True)
        path.write_text(json.dumps(result))
        print(f"{name}: done, {result['wall']:.0f} s", flush=True)
    return json.loads(path.read_text())


def newest(cache):
    """The newest of each piece, by name."""
    paths = sorted(cache.glob("*.json"), key=lambda path: path.stat().st_mtime)
    return {path.name.split(".")[0]: json.loads(path.read_text()) for path in paths}


def pmm(*arguments):
    return subprocess.run([str(BINARY), *map(str, arguments)], check=True, stdout=subprocess.PIPE).stdout


def pmm_json(*arguments):
    return json.loads(pmm(*arguments, "--json", "--quiet"))


def table(head, rows):
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(map(str, line)) + " |" for line in lines] + [""]
