"""Errors are of the kind that Python uses for such trouble, and name column, value and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pmm
from helpers import SMALL, roads


def test_kinds(road_model: Any, road_rows: Any, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere.csv") as found:
        pmm.fit("nowhere.csv")
    assert isinstance(found.value, pmm.PmmError)
    with pytest.raises(pmm.ModelNotFoundError) as missing:
        pmm.load(tmp_path)
    assert isinstance(missing.value, FileNotFoundError) and "fit a model" in str(missing.value.remedy)
    with pytest.raises(ValueError, match="river"):
        road_model.sample(1, given={"road": "river"})
    with pytest.raises(pmm.ColumnError, match="height"):
        road_model.predict(road_rows, "height")
    with pytest.raises(pmm.ColumnError, match="height"):
        road_model.sample(1, given={"height": 3})
    with pytest.raises(pmm.SettingError, match="colour"):
        pmm.fit(road_rows, net__colour="red")
    with pytest.raises(TypeError, match="net.width"):
        pmm.fit(road_rows, net__width=object())
    with pytest.raises(TypeError, match="no table"):
        pmm.fit(3)
    for rows in ([{"road": "lane"}], [[1, 2], [3, 4]], []):
        with pytest.raises(TypeError, match="a list is no table"):
            pmm.fit(rows)
    with pytest.raises(pmm.DataError, match="an array of 1 dimensions is no table"):
        pmm.fit(np.arange(50.0))
    with pytest.raises(ValueError, match="2"):
        road_model.predict(road_rows, "minutes").quantile(2)
    with pytest.raises(ValueError):
        road_model.sample(-1)
    with pytest.raises(ValueError, match="values for"):
        road_model._native.predict(road_rows, "minutes", False, _making(), _running()).cdf(np.zeros(3))
    with pytest.raises(pmm.DataError, match="too few"):
        road_model.evaluate(road_rows.slice(0, 5))


def test_arguments_are_told_by_name_and_value(road_model: Any, road_rows: Any) -> None:
    wrong: list[tuple[type[Exception], str, Any]] = [
        (TypeError, "steps='many': a whole number", lambda: pmm.fit(road_rows, steps="many")),
        (TypeError, "steps=1000.0: a whole number", lambda: pmm.fit(road_rows, steps=1e3)),
        (ValueError, "seed=-1: at least 0", lambda: pmm.fit(road_rows, seed=-1)),
        (TypeError, "seed=None: a whole number", lambda: road_model.sample(3, seed=None)),
        (TypeError, "n='10': a whole number", lambda: road_model.sample("10")),
        (ValueError, "n=-1: at least 0", lambda: road_model.sample(-1)),
        (ValueError, "draws=0: at least 1", lambda: road_model.impute(road_rows, draws=0)),
        (ValueError, "threads=0: at least 1", lambda: pmm.fit(road_rows, threads=0)),
        (ValueError, "kind='tabel' is none of 'table', 'text', 'image'", lambda: pmm.fit(road_rows, kind="tabel")),
        (TypeError, "columns={'road': 3}: say a kind", lambda: pmm.fit(road_rows, columns={"road": 3})),
        (TypeError, "minutes: must be real number", lambda: pmm.fit(road_rows, minutes="two")),
        (TypeError, "delimiter: .*(char|length)", lambda: pmm.fit("no.csv", kind="table", delimiter=";;")),
        (ValueError, "3 values for 400 rows", lambda: road_model.predict(road_rows, "minutes").cdf([1, 2, 3])),
        (ValueError, "values for 400 rows", lambda: road_model.predict(road_rows, "road").logpmf(["lane", "lane"])),
    ]
    for kind, words, call in wrong:
        with pytest.raises(kind, match=words.replace("{", r"\{").replace("}", r"\}")):
            call()


def _making() -> dict[str, Any]:
    return {"seed": 0, "first_row": 0, "key": None, "steps": None, "snap": True}


def _running() -> dict[str, Any]:
    return {"threads": None, "hear": None}


def test_a_folder_that_is_taken(road_rows: Any, tmp_path: Path) -> None:
    place = tmp_path / "m.pmm"
    pmm.fit(road_rows, steps=5, out=place, **SMALL)
    with pytest.raises(FileExistsError):
        pmm.fit(road_rows, steps=5, out=place, **SMALL)
    again = pmm.fit(road_rows, steps=6, out=place, replace=True, **SMALL)
    assert again.info()["fit"]["steps"] == 6 and pmm.load(place).info()["fit"]["steps"] == 6
    with pytest.raises(ValueError, match="out="):
        pmm.fit(road_rows, resume=True)
    (place / "weights.safetensors").write_bytes(b"rubbish")
    with pytest.raises(pmm.ModelError, match="weights.safetensors"):
        pmm.load(place)


def test_an_error_can_be_sent_to_another_process() -> None:
    import pickle

    with pytest.raises(pmm.DataNotFoundError) as found:
        pmm.fit("nowhere.csv")
    again = pickle.loads(pickle.dumps(found.value))
    assert type(again) is pmm.DataNotFoundError and str(again) == str(found.value)


def test_what_fails_in_a_progress_bar_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception in what hears progress ends the job, and is the one that is raised."""
    from pmm._running import Running

    def fail(*_: Any) -> None:
        raise RuntimeError("no bar today")

    monkeypatch.setattr(Running, "_hear", fail)
    with pytest.raises(RuntimeError, match="no bar today"):
        pmm.fit(roads(), steps=20, **SMALL)
