"""Predictive distributions: every answer for every row at once, and answers that agree with each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import pmm
from helpers import SMALL


@pytest.fixture(scope="module")
def minutes(road_model: Any, road_rows: Any) -> Any:
    return road_model.predict(road_rows, "minutes")


def test_classes_have_the_type_of_their_column() -> None:
    draw = np.random.default_rng(2).integers(0, 2, 200)
    frame = pd.DataFrame({"yes": draw == 1, "grade": pd.Categorical(draw + 3), "x": draw + 0.1})
    model = pmm.fit(frame, columns={"grade": "category"}, steps=20, **SMALL)
    assert set(model.predict(frame, "yes").classes.tolist()) == {True, False}
    grades = model.predict(frame, "grade")
    assert set(grades.classes.tolist()) == {3, 4} and set(grades.mode().tolist()) <= {3, 4}
    assert np.isclose(np.exp(grades.logpmf(3)) + np.exp(grades.logpmf(4)), 1).all()


def test_shapes(minutes: Any, road_rows: Any) -> None:
    rows = road_rows.num_rows
    assert minutes.mean().shape == minutes.std().shape == minutes.median().shape == (rows,)
    assert minutes.quantile(0.5).shape == (rows,) and minutes.quantile([0.1, 0.5, 0.9]).shape == (rows, 3)
    assert minutes.cdf(30).shape == (rows,) and minutes.cdf(np.zeros((1, 4))).shape == (rows, 4)
    assert minutes.logpdf(np.full(rows, 30.0)).shape == (rows,)
    assert minutes.sample(7).shape == (rows, 7) and minutes.sample(0).shape == (rows, 0)
    low, high = minutes.interval(0.8)
    assert (low <= minutes.median()).all() and (minutes.median() <= high).all()


def test_answers_agree(minutes: Any) -> None:
    """Quantiles invert the distribution function; mean and deviation are those of 4000 draws, to five standard errors."""
    quantiles = minutes.quantile([0.1, 0.5, 0.9])
    assert (minutes.cdf(quantiles) >= np.array([0.1, 0.5, 0.9]) - 1e-9).all()
    assert (minutes.cdf(quantiles - 1) <= np.array([0.1, 0.5, 0.9])).all(), "whole minutes"
    draws = minutes.sample(4000)
    off = np.abs(draws.mean(axis=1) - minutes.mean()) / (minutes.std() / np.sqrt(4000))
    # Of 400 rows, at five standard errors each: a false alarm in fewer than one run of 4000.
    assert off.max() < 5
    np.testing.assert_allclose(draws.std(axis=1), minutes.std(), rtol=0.25)
    assert np.array_equal(minutes.sample(5), minutes.sample(5)), "the seed is the prediction's"


def test_at_a_gap_there_is_no_answer(minutes: Any, road_rows: Any) -> None:
    truth = road_rows["minutes"].to_pandas().astype("Int64")
    truth[::5] = pd.NA
    for found in (minutes.logpdf(truth), minutes.cdf(truth.to_numpy(float, na_value=np.nan))):
        assert np.array_equal(np.isnan(found), truth.isna().to_numpy())
    assert np.isnan(minutes.cdf(np.nan)).all() and np.isnan(minutes.cdf([[1.0, np.nan]])[:, 1]).all()


def test_it_has_learned(road_model: Any) -> None:
    found = road_model.predict({"road": ["lane", "motorway"], "kilometres": [50, 50]}, "minutes")
    assert found.mean()[0] > 1.5 * found.mean()[1]
    made = road_model.sample(400, given={"road": "motorway", "kilometres": 60}, frame="pandas")
    assert set(made["road"]) == {"motorway"} and set(made["kilometres"]) == {60}
    assert 20 < made["minutes"].median() < 50


def test_categories(road_model: Any, road_rows: Any) -> None:
    road = road_model.predict(road_rows, "road")
    shares = road.proba()
    assert list(road.classes) == ["lane", "motorway"] and shares.shape == (road_rows.num_rows, 2)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert np.array_equal(road.mode(), road.classes[shares.argmax(axis=1)])
    truth = road_rows["road"].to_pylist()
    assert np.mean(road.mode() == truth) > 0.85
    np.testing.assert_allclose(np.exp(road.logpmf(truth)), [row[["lane", "motorway"].index(t)] for row, t in zip(shares, truth)])
    assert (road.logpmf("river") == -np.inf).all()
    drawn = road.sample(2000)
    # Five standard errors of 2000 draws.
    assert np.abs((drawn == "lane").mean(axis=1) - shares[:, 0]).max() < 5 * np.sqrt(0.25 / 2000)
    for wrong in (road.mean, road.std, lambda: road.quantile(0.5), lambda: road.cdf(1)):
        with pytest.raises(pmm.DataError, match="road"):
            wrong()


def test_dates() -> None:
    draw = np.random.default_rng(0)
    season = draw.integers(0, 2, 400)
    days = pd.Timestamp("2024-01-15") + pd.to_timedelta(180 * season + draw.integers(0, 20, 400), unit="D")
    frame = pd.DataFrame({"season": np.where(season == 0, "winter", "summer"), "day": days})
    model = pmm.fit(frame, target="day", steps=200, **SMALL)
    found = model.predict(frame.iloc[:50], "day")
    assert found.mean().dtype.kind == "M" and found.std().dtype.kind == "m"
    late = found.mean() > np.datetime64("2024-04-15")
    assert np.array_equal(late, (frame["season"] == "summer").to_numpy()[:50])
    share = found.cdf(np.datetime64("2024-04-15"))
    assert (share[late] < 0.2).all() and (share[~late] > 0.8).all()
    assert np.isfinite(found.logpdf(frame["day"].to_numpy()[:50])).mean() > 0.9
    assert found.quantile([0.1, 0.9]).shape == (50, 2) and found.sample(3).dtype.kind == "M"


def test_a_row_is_its_own(road_model: Any, road_rows: Any) -> None:
    """Rows with unknown cells, too, are predicted as they would be alone, by their number."""
    gaps = pa.table({"kilometres": [10, None, 30, None], "minutes": [20, 30, 40, 50]})
    whole = road_model.predict(gaps, "road", empty="unknown").proba()
    last = road_model.predict(gaps.slice(2), "road", empty="unknown", first_row=2).proba()
    assert np.array_equal(whole[2:], last)
    other = road_model.predict(gaps, "road", empty="unknown", seed=1).proba()
    assert not np.array_equal(whole, other), "the test can tell"


def test_scores(road_model: Any, road_rows: Any) -> None:
    odd = {"road": ["lane"] * 2, "kilometres": [50, 50], "minutes": [75, 5]}
    scores = road_model.score(odd)
    assert scores.log_likelihood[0] > scores.log_likelihood[1] and (scores.error >= 0).all()
    assert scores.surprise.shape == (2, 3) and scores.most_surprising()[1] in ("minutes", "road", "kilometres")
    whole = road_model.score(road_rows)
    assert np.array_equal(whole.log_likelihood[7:20], road_model.score(road_rows.slice(7, 13), first_row=7).log_likelihood)
    assert len(road_model.score(road_rows.slice(0, 0))) == 0


def test_ranges_lists_and_partial_rows(road_model: Any) -> None:
    ranged = road_model.sample(200, given={"kilometres": (20, 30)}, frame="pandas")
    assert ranged["kilometres"].between(20, 30).all()
    assert (road_model.sample(50, given={"kilometres": (None, 30)}, frame="pandas")["kilometres"] <= 30).all()
    assert set(road_model.sample(100, given={"road": ["lane", "motorway"]}, frame="pandas")["road"]) == {"lane", "motorway"}
    partial = road_model.sample(3, given=pa.table({"road": ["lane", "motorway"]}), frame="pandas")
    assert list(partial["road"]) == ["lane"] * 3 + ["motorway"] * 3
    with pytest.raises(pmm.DataError, match="kilometres"):
        road_model.sample(1, given={"kilometres": (1, 2, 3)})
