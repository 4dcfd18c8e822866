"""What the benchmarks of texts and of images share: running pmm, and keeping every finished piece.

A piece is kept in the part's .cache/ under its name and the hash of the binary, so that a stopped run goes on where it was."""

import datetime
import hashlib
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# PyTorch's threads sleep while they wait, so that they take nothing from what runs beside them.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("PMM_SHARED", ROOT.parent / "shared")) / "data"
BINARY = Path(os.environ.get("PMM_BINARY", ROOT / "target/release/pmm"))
COST = ROOT / "bench/tables/cost.py"


def digest(*paths):
    sha = hashlib.sha256()
    for path in paths:
        sha.update(path.read_bytes())
    return sha.hexdigest()[:12]


def cpu_seconds():
    """Of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def kept(cache, name, make, of=BINARY):
    """The result of this name for this binary (or peer's script, or several files), made if need be, with its cost."""
    of = digest(*of) if isinstance(of, tuple) else digest(of)
    path = cache / f"{name}.{of}.json"
    if not path.exists():
        before, begin = cpu_seconds(), time.perf_counter()
        result = make()
        result["wall"], result["cpu"] = time.perf_counter() - begin, cpu_seconds() - before
        result["date"], result["binary"] = datetime.date.today().isoformat(), of
        cache.mkdir(parents=True, exist_ok=True)
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


def costed(*command, hours=12):
    """What a command writes, and its cost: wall seconds, CPU seconds and peak megabytes."""
    with tempfile.NamedTemporaryFile() as report:
        watched = [sys.executable, "-I", "-S", COST, report.name, round(hours * 3600), *command]
        out = subprocess.run(list(map(str, watched)), check=True, stdout=subprocess.PIPE).stdout
        return out, json.loads(Path(report.name).read_text())


def two_cores():
    """All figures are of two cores, also on a machine with more; children inherit the choice."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])


def machine():
    """The kind of machine, without its name."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {os.cpu_count()} cores (two used), {memory:.0f} GB, {platform.system()}"


def table(head, rows):
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(map(str, line)) + " |" for line in lines] + [""]
