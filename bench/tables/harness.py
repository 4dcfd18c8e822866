"""Running commands on two cores with their cost, and remembering finished cells.

A cell is one (part, table, method, seed). What it measured is kept in `.cache/` under the hash of what it depends on
(the pmm binary, or a peer's script), so that a stopped run goes on where it was; `--fresh` measures again.
"""

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SHARED = Path(os.environ.get("PMM_SHARED", ROOT.parent / "shared"))
BINARY = Path(os.environ.get("PMM_BINARY", ROOT / "target" / "release" / "pmm"))
TIMEOUT = 3600
# Before any numerical library starts its threads; waiting ones sleep, lest a busy machine starve the working one.
os.environ.update(OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2", MKL_NUM_THREADS="2", OMP_WAIT_POLICY="passive")

sys.path.insert(0, str(SHARED / "tabbench"))


def two_cores():
    """All figures are of two cores, also on a machine with more; children inherit the choice."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])


@dataclass
class Cost:
    seconds: float  # wall
    cpu: float  # user + system
    megabytes: float  # peak resident memory


class Failed(Exception):
    """A command ended badly; the message holds the end of what it said."""


def said(stderr):
    """The end of what a command said, on one line; of a Python traceback the last line."""
    lines = [line.strip() for line in stderr.decode(errors="replace").splitlines() if line.strip()]
    return " ".join(lines[-1:] if any(line.startswith("Traceback") for line in lines) else lines[-4:])[-400:]


def run(command, out=os.devnull):
    """Runs a command, its standard output to the file `out`; returns its Cost."""
    command = [str(c) for c in command]
    with open(out, "wb") as stdout, tempfile.NamedTemporaryFile() as report:
        watched = [sys.executable, "-I", "-S", str(HERE / "cost.py"), report.name, str(TIMEOUT), *command]
        process = subprocess.run(watched, stdout=stdout, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        if process.returncode:
            raise Failed(f"{Path(command[0]).name} {Path(command[1]).name}, exit code {process.returncode}: {said(process.stderr)}")
        return Cost(**json.loads(Path(report.name).read_text()))


def digest(*paths):
    sha = hashlib.sha256()
    for path in paths:
        sha.update(Path(path).read_bytes())
    return sha.hexdigest()[:12]


@dataclass(frozen=True)
class Cell:
    part: str
    table: str
    method: str
    seed: int
    depends: str  # digest of the binary or script that it measures

    @property
    def path(self):
        return HERE / ".cache" / self.part / f"{self.table}.{self.method}.{self.seed}.{self.depends}.json"

    def record(self):
        return json.loads(self.path.read_text()) if self.path.exists() else None

    def newest(self):
        """The newest record of this cell, whatever it depended on."""
        paths = self.path.parent.glob(f"{self.table}.{self.method}.{self.seed}.*.json")
        newest = max(paths, key=lambda path: path.stat().st_mtime, default=None)
        return newest and json.loads(newest.read_text())

    def keep(self, values):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        record = asdict(self) | {"date": date.today().isoformat()} | values
        self.path.with_suffix(".new").write_text(json.dumps(record, indent=1))
        self.path.with_suffix(".new").rename(self.path)
        return record


def measure(cells, work, fresh=False):
    """Measures every cell not yet known, in the order given; yields records. A failure is shown and not remembered."""
    for cell in cells:
        record = None if fresh else cell.record()
        name = f"{cell.part} {cell.table} {cell.method} seed {cell.seed}"
        if record is None:
            begin = time.perf_counter()
            try:
                record = cell.keep(work(cell))
            except Exception as error:  # whatever a method did wrong, the other cells still get their turn
                record = asdict(cell) | {"error": f"{type(error).__name__}: {error}"}
            print(f"{name}: {record.get('error', 'done')}, {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
        yield record


def arguments(doc, tables, methods, seeds, usual=None):
    """Of the command line; all tables and methods are meant where none is named, or the usual methods."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    split = lambda text: text.split(",")
    parser.add_argument("--tables", type=split, default=tables, help=f"some of {','.join(tables)}")
    parser.add_argument("--methods", type=split, default=usual or methods, help=f"some of {','.join(methods)}")
    parser.add_argument("--seeds", type=lambda text: [int(s) for s in text.split(",")], default=seeds, help="such as 0,1,2")
    parser.add_argument("--fresh", action="store_true", help="measure again what is known already")
    return parser.parse_args()


def machine():
    """The kind of machine, without its name."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((l.split(":", 1)[1].strip() for l in lines if l.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {os.cpu_count()} cores (two used), {memory:.0f} GB, {platform.system()}"
