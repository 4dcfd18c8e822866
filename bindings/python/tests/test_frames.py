"""Tables go in and come out as the caller has them: frame type, types of columns, index, categories."""

from __future__ import annotations

import datetime
import decimal
import threading
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pmm
from helpers import SMALL

ROWS = 240


def every_type() -> pd.DataFrame:
    """A column of every type that pandas has a name for, with gaps where the type allows them."""
    draw = np.random.default_rng(5)
    sizes = pd.Categorical.from_codes(draw.integers(0, 3, ROWS), ["small", "medium", "large"], ordered=True)
    days = pd.Timestamp("2024-01-01", tz="Europe/Rome") + pd.to_timedelta(draw.integers(0, 400, ROWS), unit="D")
    price = [decimal.Decimal(int(cents)) / 100 for cents in draw.integers(999, 5000, ROWS)]
    name = [["ada", "bob", "cyd"][place] for place in draw.integers(0, 3, ROWS)]
    frame = pd.DataFrame(
        {
            "int64": draw.integers(0, 9, ROWS),
            "int8": draw.integers(0, 9, ROWS).astype("int8"),
            "nullable": pd.array(draw.integers(0, 30, ROWS), dtype="Int32"),
            "float32": draw.normal(size=ROWS).astype("float32"),
            "truth": draw.random(ROWS) < 0.3,
            "nullable_truth": pd.array(draw.random(ROWS) < 0.3, dtype="boolean"),
            "size": sizes,
            "name": pd.Series(name, dtype=object),
            "string": pd.array(name, dtype="string"),
            "price": pd.Series(price, dtype=object),
            "instant": days,
            "naive": days.tz_localize(None),
            "day": [day.date() for day in days],
        }
    )
    for column in ("nullable", "nullable_truth", "name", "string", "price", "instant"):
        frame.loc[draw.random(ROWS) < 0.1, column] = None
    frame.index = pd.Index([f"row {place}" for place in range(ROWS)], name="key")
    return frame


@pytest.fixture(scope="module")
def typed() -> pd.DataFrame:
    return every_type()


@pytest.fixture(scope="module")
def typed_model(typed: pd.DataFrame) -> Any:
    return pmm.fit(typed, steps=40, **SMALL)


def test_pandas_samples_have_the_types(typed: pd.DataFrame, typed_model: Any) -> None:
    made = typed_model.sample(300)
    assert isinstance(made, pd.DataFrame) and len(made) == 300
    assert dict(made.dtypes) == dict(typed.dtypes)
    assert list(made["size"].cat.categories) == ["small", "medium", "large"] and made["size"].cat.ordered
    assert isinstance(made["price"].dropna().iloc[0], decimal.Decimal)
    assert isinstance(made["day"].iloc[0], datetime.date)
    assert str(made["instant"].dt.tz) == "Europe/Rome"


def test_imputed_rows_keep_all_else(typed: pd.DataFrame, typed_model: Any) -> None:
    full = typed_model.impute(typed)
    assert dict(full.dtypes) == dict(typed.dtypes)
    pd.testing.assert_index_equal(full.index, typed.index)
    assert not full.isna().any().any()
    known = typed.notna()
    for column in typed.columns:
        where = known[column]
        assert list(full.loc[where, column]) == list(typed.loc[where, column]), column
    several = typed_model.impute(typed, draws=3)
    assert list(several["draw"]) == [1] * ROWS + [2] * ROWS + [3] * ROWS
    assert list(several.index[:ROWS]) == list(typed.index) and len(several.index) == 3 * ROWS


def test_a_pickled_model_gives_the_same_frames(typed: pd.DataFrame, typed_model: Any) -> None:
    import pickle

    again = pickle.loads(pickle.dumps(typed_model))
    pd.testing.assert_frame_equal(again.sample(50, seed=3), typed_model.sample(50, seed=3))


def test_polars_in_polars_out() -> None:
    draw = np.random.default_rng(2)
    frame = pl.DataFrame(
        {
            "count": draw.integers(0, 20, ROWS),
            "kind": [["ash", "oak", None][place] for place in draw.integers(0, 3, ROWS)],
            "when": [datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=int(h)) for h in draw.integers(0, 900, ROWS)],
            "truth": draw.random(ROWS) < 0.5,
        }
    ).with_columns(
        pl.col("kind").cast(pl.Categorical).alias("category"),
        pl.col("kind").cast(pl.Enum(["oak", "ash"])).alias("enum"),
        (pl.col("count") / 4).cast(pl.Decimal(10, 2)).alias("price"),
        pl.col("when").dt.replace_time_zone("UTC").alias("instant"),
        pl.col("count").cast(pl.UInt8).alias("small"),
    )
    model = pmm.fit(frame, steps=20, **SMALL)
    made, full = model.sample(100), model.impute(frame)
    assert isinstance(made, pl.DataFrame) and made.schema == frame.schema
    assert full.schema == frame.schema and full["kind"].null_count() == 0
    with pytest.raises(TypeError, match="collect"):
        pmm.fit(frame.lazy())


def test_pyarrow_and_anything_with_a_stream(road_rows: pa.Table, road_model: Any) -> None:
    made = road_model.sample(10)
    assert isinstance(made, pa.Table) and made.schema.types == road_rows.schema.types

    class Other:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return road_rows.__arrow_c_stream__()

    other = pmm.fit(Other(), target="minutes", steps=300, **SMALL)
    assert other.sample(10).equals(made), "the same rows, whoever holds them"
    assert isinstance(road_model.sample(3, frame="polars"), pl.DataFrame)
    assert isinstance(road_model.sample(3, frame="pandas"), pd.DataFrame)


def test_duckdb_relations(road_rows: pa.Table, road_model: Any) -> None:
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.connect().from_arrow(road_rows)
    assert len(road_model.predict(relation, "minutes")) == road_rows.num_rows


def test_datasets_of_hugging_face(road_rows: pa.Table) -> None:
    datasets = pytest.importorskip("datasets")
    label = datasets.ClassLabel(names=["lane", "motorway"])
    codes = pa.array([label.str2int(road) for road in road_rows["road"].to_pylist()])
    whole = datasets.Dataset(road_rows.set_column(0, "road", codes)).cast_column("road", label)
    some = whole.select(range(0, 400, 2))
    model = pmm.fit(some, steps=20, **SMALL)
    made, full = model.sample(30), model.impute(some)
    assert model.schema.rows == 200, "the rows that are chosen"
    assert isinstance(made, datasets.Dataset) and made.features == whole.features and len(made) == 30
    assert full.to_dict() == some.to_dict()
    for other in (datasets.DatasetDict({"train": whole}), whole.to_iterable_dataset()):
        with pytest.raises(TypeError, match="one split"):
            pmm.fit(other)


def test_arrays_in_arrays_out() -> None:
    draw = np.random.default_rng(3)
    array = draw.normal(size=(120, 3)).astype("float32")
    array[::7, 1] = np.nan
    model = pmm.fit(array, steps=20, **SMALL)
    made, full = model.sample(40), model.impute(array)
    assert isinstance(made, np.ndarray) and made.shape == (40, 3) and made.dtype == np.float32
    known = ~np.isnan(array)
    assert not np.isnan(full).any() and np.array_equal(full[known], array[known])
    whole = pmm.fit(draw.integers(0, 9, (120, 2)), steps=20, **SMALL).sample(40)
    assert whole.dtype == np.int64 and whole.min() >= 0 and whole.max() < 9


def test_frames_of_classes_of_their_own() -> None:
    class Survey(pd.DataFrame):
        pass

    made = pmm.fit(Survey({"n": [1, 2, 3] * 40, "c": ["x", "y", "z"] * 40}), steps=20, **SMALL).sample(5)
    assert isinstance(made, pd.DataFrame) and list(made.columns) == ["n", "c"]


def test_rows_without_end_are_drawn_in_pieces(road_model: Any) -> None:
    whole = road_model.sample(30, seed=4)
    pieces = [road_model.sample(13, seed=4), road_model.sample(17, seed=4, first_row=13)]
    assert pa.concat_tables(pieces).equals(whole.combine_chunks()) or pa.concat_tables(pieces).to_pylist() == whole.to_pylist()


def test_rows_with_keys_come_out_alike_in_any_order(road_rows: pa.Table, road_model: Any) -> None:
    gaps = road_rows.slice(0, 60).to_pandas().astype({"minutes": "Int64"})
    gaps.loc[::2, "minutes"] = pd.NA
    gaps.loc[1::3, "road"] = None
    gaps["id"] = [f"row {place}" for place in range(len(gaps))]
    mixed = gaps.sample(frac=1, random_state=0)
    whole = road_model.impute(gaps, key="id", draws=1)
    pd.testing.assert_frame_equal(road_model.impute(mixed, key="id").loc[gaps.index], whole)
    pieces = [road_model.impute(piece, key="id") for piece in (mixed[:7], mixed[7:])]
    pd.testing.assert_frame_equal(pd.concat(pieces).loc[gaps.index], whole)
    assert not road_model.impute(mixed).loc[gaps.index].equals(whole), "without a key the place counts"
    forth = road_model.predict(gaps, "minutes", key="id")
    back = road_model.predict(gaps[::-1], "minutes", key="id")
    assert np.array_equal(forth.sample(3), back.sample(3)[::-1]) and np.array_equal(forth.mean(), back.mean()[::-1])
    scores = road_model.score(gaps, key="id").log_likelihood
    assert np.array_equal(scores, road_model.score(gaps[::-1], key="id").log_likelihood[::-1])
    with pytest.raises(pmm.DataError, match="row 2: the key id is that of row 1 as well"):
        road_model.impute(pd.concat([gaps[:1], gaps[:1]]), key="id")
    with pytest.raises(pmm.ColumnError, match="name"):
        road_model.impute(gaps, key="name")
    with pytest.raises(ValueError, match="first_row"):
        road_model.impute(gaps, key="id", first_row=7)


def test_threads_change_nothing(road_rows: pa.Table) -> None:
    one, two = (pmm.fit(road_rows, steps=20, threads=threads, **SMALL) for threads in (1, 2))
    assert one.sample(50, threads=2).equals(two.sample(50, threads=1))


def test_no_rows(road_rows: pa.Table, road_model: Any) -> None:
    nothing = road_rows.slice(0, 0)
    assert road_model.sample(0).num_rows == 0
    assert road_model.impute(nothing).num_rows == 0
    assert road_model.predict(nothing, "minutes").mean().shape == (0,)
    assert road_model.predict(nothing, "road").proba().shape == (0, 2)
    empty = road_model.impute(nothing.to_pandas())
    assert isinstance(empty, pd.DataFrame) and len(empty) == 0
    with pytest.raises(pmm.DataError):
        pmm.fit(nothing)


def test_no_columns() -> None:
    for frame in (pd.DataFrame(index=range(20)), pl.DataFrame(), pa.table({})):
        with pytest.raises(pmm.DataError):
            pmm.fit(frame)


def test_names_that_come_twice_and_names_that_are_no_texts() -> None:
    draw = np.random.default_rng(0)
    twice = pd.DataFrame(draw.integers(0, 9, (100, 2)), columns=["a", "a"])
    with pytest.raises(pmm.DataError, match="'a'"):
        pmm.fit(twice)
    table = pa.table([pa.array([1, 2] * 40)] * 2, names=["b", "b"])
    with pytest.raises(pmm.DataError, match="b"):
        pmm.fit(table, **SMALL)
    numbered = pd.DataFrame(draw.integers(0, 9, (100, 3)))
    made = pmm.fit(numbered, steps=20, **SMALL).sample(5)
    assert list(made.columns) == [0, 1, 2]
    levels = pd.DataFrame(draw.integers(0, 9, (100, 2)), columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))
    with pytest.raises(pmm.DataError, match="levels"):
        pmm.fit(levels)


def test_names_that_are_tuples() -> None:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({1: draw.integers(0, 9, 100), "b": draw.normal(size=100)})
    frame.columns = pd.Index([("a", 2), pd.Timestamp("2020-01-01")], tupleize_cols=False)
    assert list(pmm.fit(frame, steps=10, **SMALL).sample(5).columns) == list(frame.columns)


def test_a_series_is_no_table() -> None:
    for series in (pd.Series([1, 2, 3]), pl.Series([1, 2, 3])):
        with pytest.raises(TypeError, match="to_frame"):
            pmm.fit(series)


def test_categories_of_anything_are_categories() -> None:
    """Intervals of cut() and truths, too, come back as what they were, with their order."""
    draw = np.random.default_rng(6)
    number = draw.normal(size=150)
    frame = pd.DataFrame({"number": number, "part": pd.cut(number, 4), "truth": pd.Categorical(number > 0)})
    frame["month"] = pd.Categorical(pd.PeriodIndex(np.array(["2020-01", "2021-05"])[draw.integers(0, 2, 150)], freq="M"))
    frame.loc[::5, "part"] = np.nan
    model = pmm.fit(frame, steps=20, **SMALL)
    assert model.schema["part"].kind == "category"
    made, full = model.sample(80), model.impute(frame)
    for rows in (made, full):
        assert rows.dtypes.tolist() == frame.dtypes.tolist()
        assert rows["part"].cat.ordered and isinstance(rows["part"].dropna().iloc[0], pd.Interval)
    assert not full["part"].isna().any()
    known = frame["part"].notna()
    assert full["part"][known].tolist() == frame["part"][known].tolist()
    some = frame["part"].dropna().iloc[0]
    assert set(model.sample(9, given={"part": some})["part"]) == {some}


def test_rows_that_are_given_in_part_keep_their_categories(typed: pd.DataFrame, typed_model: Any) -> None:
    known = typed[["size", "name"]].head(4)
    made = typed_model.sample(2, given=known)
    assert dict(made.dtypes) == dict(typed.dtypes) and len(made) == 8
    assert made["size"].tolist() == [size for size in known["size"] for _ in range(2)]


def test_cells_that_no_table_has_are_refused_by_name() -> None:
    odd = {
        r"'odd' has cells of several types: 1 \(int\), 'two' \(str\)": [1, "two"],
        "'odd' has cells of a type that no table has": [1j, 2.0 + 0j],
        f"'odd' has numbers that 64 bits do not hold, such as {2**70}": [2**70, 1],
    }
    for words, cells in odd.items():
        frame = pd.DataFrame({"good": [1, 2] * 20, "odd": pd.Series(cells * 20, dtype=None if cells == [1j, 2.0 + 0j] else object)})
        with pytest.raises(pmm.DataError, match=words):
            pmm.fit(frame)


def test_what_arrow_has_not_comes_back_as_it_was() -> None:
    draw = np.random.default_rng(4).integers(0, 3, 90)
    frame = pd.DataFrame(
        {
            "sparse": pd.arrays.SparseArray(np.array([0.0, 0.0, 1.5])[draw]),
            "period": pd.PeriodIndex(np.array(["2020-01", "2020-02", "2021-05"])[draw], freq="M"),
            "whole": pd.Series([[None, 1, 2**60][place] for place in draw], dtype=object),
            "span": pd.to_timedelta(np.array([1, 2, 30])[draw], unit="h"),
            "grade": pd.Categorical(np.array([3, 1, 2])[draw], categories=[3, 2, 1], ordered=True),
        }
    )
    model = pmm.fit(frame, steps=10, **SMALL)
    assert model.schema["grade"].kind == "category", "numbers that are categories are no counts"
    made, full = model.sample(60), model.impute(frame)
    for rows in (made, full):
        assert rows.dtypes.tolist() == frame.dtypes.tolist()
    assert set(made["grade"]) <= {1, 2, 3} and model.predict(frame, "grade").classes.dtype == np.int64
    assert {cell for cell in made["whole"] if cell is not None} <= {1, 2**60}, "integers, to the last digit"
    assert list(full["grade"].cat.categories) == [3, 2, 1] and full["grade"].cat.ordered
    known = frame["whole"].notna()
    assert full["whole"][known].tolist() == frame["whole"][known].tolist()


@pytest.mark.parametrize("step", [86_400 * 10**9, 3600 * 10**9, 60 * 10**9, 10**9, 10**6, 10**3])
@pytest.mark.parametrize("distinct", [20, ROWS])
def test_instants_of_nanoseconds_are_what_they_were(step: int, distinct: int) -> None:
    """Days, hours, minutes, seconds, milliseconds and microseconds stay whole, in columns that repeat and in columns that do not."""
    draw = np.random.default_rng(7)
    ticks = 10**9 * 86_400 * 19_000 + step * draw.integers(0, 900, distinct)
    when = pd.Series(np.resize(ticks, ROWS).astype("datetime64[ns]"))
    model = pmm.fit(pd.DataFrame({"when": when, "n": draw.integers(0, 5, ROWS)}), steps=5, **SMALL)
    made = model.sample(200)["when"]
    assert made.dtype == when.dtype and (made.astype("int64") % step == 0).all()
    if distinct == 20:
        assert set(made) <= set(when)


def test_columns_that_are_not_modelled_are_told_and_empty() -> None:
    draw = np.random.default_rng(5).integers(0, 3, 90)
    frame = pd.DataFrame({"n": draw, "c": np.array(["x", "y", "z"])[draw]})
    frame["list"] = [[int(place)] for place in draw]
    frame["between"] = pd.IntervalIndex.from_breaks(range(91))
    with pytest.warns(UserWarning, match="'list'.*'between'"):
        model = pmm.fit(frame, steps=10, **SMALL)
    made = model.sample(5)
    assert made["list"].isna().all() and made["between"].isna().all(), "nothing is made up"
    assert model.impute(frame)["between"].tolist() == frame["between"].tolist()


def test_a_frame_that_changes_while_it_is_fitted() -> None:
    """What was read counts: once the first step is taken, the frame may change."""
    draw = np.random.default_rng(3)
    values = draw.normal(size=(3000, 3))
    still = pd.DataFrame(values.copy(), columns=list("abc"))
    moving = still.copy()
    settings: dict[str, Any] = {**SMALL, "steps": 150}
    expected = pmm.fit(still, **settings)
    started, ended = threading.Event(), threading.Event()

    def change() -> None:
        started.wait()
        while not ended.is_set():
            moving.iloc[:, :] = 7.0

    import logging

    class Starting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.getMessage().startswith("step "):
                started.set()

    handler, logger = Starting(), logging.getLogger("pmm")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    thread = threading.Thread(target=change)
    thread.start()
    try:
        found = pmm.fit(moving, train__validate_every=10, **settings)
    finally:
        started.set()
        ended.set()
        thread.join()
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    assert (moving == 7.0).all().all(), "it has changed"
    del expected
    reference = pmm.fit(still, train__validate_every=10, **settings)
    pd.testing.assert_frame_equal(found.sample(100), reference.sample(100))
