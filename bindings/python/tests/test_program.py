"""Python and the program give the same bytes for the same data and seed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

import pmm
from helpers import SMALL


def _program(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    program = Path(sys.executable).with_name("pmm")
    command = [str(program)] if program.exists() else [sys.executable, "-m", "pmm"]
    return subprocess.run([*command, *map(str, arguments)], capture_output=True, check=False)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, road_rows: Any) -> Path:
    folder = tmp_path_factory.mktemp("files")
    pq.write_table(road_rows, folder / "roads.parquet")
    road_rows.to_pandas().to_csv(folder / "roads.csv", index=False)
    return folder


@pytest.mark.parametrize("name", ["roads.parquet", "roads.csv"])
def test_the_same_bytes(files: Path, name: str) -> None:
    ours, theirs = files / f"{name}.ours", files / f"{name}.theirs"
    common = ["--seed", "3", "--set", "net.width=24", "--set", "net.blocks=1"]
    done = _program("fit", files / name, "--out", theirs, "--steps", "40", "--target", "minutes", "--quiet", *common)
    assert done.returncode == 0, done.stderr
    model = pmm.fit(files / name, target="minutes", seed=3, steps=40, out=ours, **SMALL)
    for file in ("weights.safetensors", "schema.json", "config.toml"):
        assert (ours / file).read_bytes() == (theirs / file).read_bytes(), file
    made = files / "made.parquet"
    assert _program("sample", theirs, "-n", "300", "--seed", "5", "--out", made, "--quiet").returncode == 0
    assert model.sample(300, seed=5, frame="pyarrow").to_pylist() == pq.read_table(made).to_pylist()
    predicted = files / "predicted.parquet"
    flags = ["--target", "minutes", "--seed", "2", "--draws", "3", "--out", predicted, "--quiet"]
    assert _program("predict", theirs, files / name, *flags).returncode == 0
    found, table = model.predict(files / name, "minutes", seed=2), pq.read_table(predicted)
    assert found.mean().tolist() == table["mean"].to_pylist()
    assert found.sample(3)[:, 2].tolist() == table["draw_3"].to_pylist()


def test_a_frame_is_the_same_data_as_its_file(files: Path, road_rows: Any) -> None:
    of_file = pmm.fit(files / "roads.parquet", steps=30, **SMALL)
    of_table = pmm.fit(road_rows, steps=30, **SMALL)
    assert of_file.sample(100, frame="pyarrow").to_pylist() == of_table.sample(100).to_pylist()


def test_a_path_gives_pandas(files: Path) -> None:
    model = pmm.fit(files / "roads.csv", steps=10, **SMALL)
    assert isinstance(model.sample(4), pd.DataFrame)
    gaps = files / "gaps.csv"
    gaps.write_text("road,kilometres,minutes\nlane,,20\n,50,\n")
    full = model.impute(gaps)
    assert isinstance(full, pd.DataFrame) and not full.isna().any().any() and full["minutes"].iloc[0] == 20


def test_exit_codes() -> None:
    assert _program("--version").stdout.decode().startswith("pmm ")
    failed = _program("info", "no/such/model.pmm")
    assert failed.returncode == 1 and b"hint:" in failed.stderr
    assert _program("sample").returncode == 2


def test_python_reads_what_the_program_wrote(files: Path, tmp_path: Path) -> None:
    model = pmm.fit(files / "roads.csv", steps=10, out=tmp_path / "a.pmm", **SMALL)
    model.save(tmp_path / "b.pmm")
    shutil.rmtree(tmp_path / "a.pmm")
    assert pmm.load(tmp_path / "b.pmm").sample(5).equals(model.sample(5))
    assert _program("info", tmp_path / "b.pmm").returncode == 0
