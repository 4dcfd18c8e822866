"""Models of tables."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from ._arguments import one_of, whole, whole_or_none
from ._errors import DataError
from ._frames import Giver, TableLike, default_giver, take
from ._model import Model
from ._prediction import Prediction
from ._report import Picture, Report, evaluating
from ._running import Running, logger
from ._schema import Schema
from ._scores import Scores

if TYPE_CHECKING:
    from ._pmm import TableModel as NativeModel


class MakingDict(TypedDict):
    seed: int
    first_row: int
    key: str | None
    steps: int | None
    snap: bool


class TableModel(Model):
    """A model of a table: p(any columns | any others), in one network.

    Every result is a function of model, seed and row number alone: not of threads or of the rows beside.
    """

    _native: NativeModel

    def __init__(self, native: NativeModel, giver: Giver | None = None) -> None:
        super().__init__(native)
        self._giver = giver or default_giver()

    @property
    def schema(self) -> Schema:
        """The columns and how they are modelled."""
        return Schema.from_json(self._native.schema())

    @property
    def target(self) -> str | None:
        """The column whose prediction mattered most when it was fitted."""
        return self._native.target()

    def sample(
        self,
        n: int = 1000,
        *,
        given: Mapping[str, Any] | TableLike | None = None,
        seed: int = 0,
        first_row: int = 0,
        steps: int | None = None,
        snap: bool = True,
        frame: Literal["pandas", "polars", "pyarrow"] | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Any:
        """``n`` new rows, in the frame type that the model was fitted to.

        given:
            What every row has: ``{"road": "lane"}`` a cell, ``{"minutes": (10, 20)}`` a range (None is an open end),
            ``{"road": ["lane", "motorway"]}`` one of some values. Or a frame of which some cells are known: ``n`` rows are then
            drawn for each of its own.
        seed, first_row:
            Row number r of a seed is the same whatever is drawn beside it: pieces fit together.
        steps:
            Network calls per row, for models with gradual clocks.
        snap:
            Whether repeated values (integers, prices) only take values that were seen.
        frame:
            Another frame type.

        >>> rows = example_model.sample(5, given={"road": "lane"}, frame="pyarrow")
        >>> rows.num_rows, set(rows["road"].to_pylist())
        (5, {'lane'})
        """
        n = whole("n", n)
        is_frame = given is not None and not isinstance(given, Mapping)
        wishes = [] if given is None or is_frame else [_wish(str(name), value) for name, value in given.items()]
        partial = take(given, self._giver)[0] if is_frame else None
        with Running(progress, threads) as running:
            rows, notes = self._native.sample(n, wishes, partial, _making(seed, first_row, None, steps, snap), running)
        _tell(notes)
        return (self._giver if frame is None else default_giver(frame)).give(rows)

    def impute(
        self,
        data: TableLike,
        *,
        draws: int = 1,
        seed: int = 0,
        first_row: int = 0,
        key: str | None = None,
        steps: int | None = None,
        snap: bool = True,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Any:
        """The rows with their missing cells filled by draws given the rest of the row. Every other cell stays as it is.

        With several ``draws`` as many completed tables come one after the other, numbered from 1 in a first column ``draw``.

        Draws are keyed by the number of the row, from ``first_row`` on; or by a column ``key`` of the rows, different in each, so that
        rows are filled alike in any order and in any pieces.

        >>> import pyarrow as pa
        >>> gaps = pa.table({"road": ["lane", None], "kilometres": [12, 90], "minutes": [None, 60]})
        >>> example_model.impute(gaps)["road"].null_count
        0
        """
        draws = whole("draws", draws, least=1)
        source, giver = take(data, self._giver)
        wanted = draws if draws > 1 else None
        with Running(progress, threads) as running:
            rows, _, notes = self._native.impute(source, wanted, _making(seed, first_row, key, steps, snap), running)
        _tell(notes)
        return giver.give(rows, giver.index_of(data, draws))

    def predict(
        self,
        data: TableLike,
        target: str | None = None,
        *,
        seed: int = 0,
        first_row: int = 0,
        key: str | None = None,
        empty: Literal["missing", "unknown"] = "missing",
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Prediction:
        """The distribution of a column in each row, given the others. What the rows say of the column is not looked at.

        A column that the rows do not have, and a level never seen, are unknown: the distribution is taken over what they may be.
        An empty cell says that there is nothing (``empty="missing"``), or nothing at all (``"unknown"``). ``first_row`` and ``key`` are
        as for :meth:`impute`.

        >>> import pyarrow as pa
        >>> roads = example_model.predict(pa.table({"kilometres": [20], "minutes": [30]}), "road")
        >>> bool(abs(roads.proba().sum() - 1) < 1e-9)
        True
        """
        column = target if target is not None else self.target
        if column is None:
            raise DataError("no target", "say which column to predict")
        source, _ = take(data, self._giver)
        making = _making(seed, first_row, key)
        with Running(progress, threads) as running:
            return Prediction(self._native.predict(source, str(column), _is_unknown(empty), making, running))

    def score(
        self,
        data: TableLike,
        *,
        seed: int = 0,
        first_row: int = 0,
        key: str | None = None,
        empty: Literal["missing", "unknown"] = "missing",
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Scores:
        """How likely each row is, how surprising each of its cells, and which rules it breaks.

        ``empty`` is as for :meth:`predict`, ``first_row`` and ``key`` as for :meth:`impute`.
        """
        source, _ = take(data, self._giver)
        making = _making(seed, first_row, key)
        with Running(progress, threads) as running:
            found = self._native.score(source, _is_unknown(empty), making, running)
        _tell(found[-1])
        return Scores(found, [column.name for column in self.schema])

    def evaluate(
        self,
        test: TableLike,
        *,
        train: TableLike | None = None,
        samples: TableLike | None = None,
        target: str | None = None,
        seed: int = 0,
        out: str | os.PathLike[str] | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Report:
        """Scores on rows that the model has not seen, each beside that of real rows. A notebook shows the whole report.

        With ``train``, the rows that it was fitted to, the baseline is theirs and copies are looked for. With ``samples``, rows that
        anyone has made, these are scored in place of the model's own. ``out`` is a folder for the page and its pictures.
        """
        source, _ = take(test, self._giver)
        trained, made = (None if rows is None else take(rows, self._giver)[0] for rows in (train, samples))
        with Running(progress, threads) as running:
            report = Report(self._native.evaluate(source, trained, made, evaluating(seed, out, target), running))
        _tell(report.notes)
        return report

    def trace(self, columns: Iterable[str] = (), *, seed: int = 0, threads: int | None = None) -> Picture:
        """A picture of rows in the making: what the model expects of columns, until the values are there."""
        with Running(False, threads) as running:
            svg, png = self._native.trace([str(name) for name in columns], whole("seed", seed), running)
        return Picture(svg=svg, png=png)

    def __repr__(self) -> str:
        names = [column.name for column in self.schema]
        shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        return f"<pmm.TableModel of {self.schema.rows} rows: {shown}>"

    def _repr_html_(self) -> str:
        return self.schema._repr_html_() + super()._repr_html_()


def _making(seed: int, first_row: int, key: Any = None, steps: int | None = None, snap: bool = True) -> MakingDict:
    first_row = whole("first_row", first_row)
    if key is not None and first_row:
        raise ValueError("key and first_row: rows are known by a column or by their numbers")
    key = None if key is None else str(key)
    steps = whole_or_none("steps", steps, least=1)
    return {"seed": whole("seed", seed), "first_row": first_row, "key": key, "steps": steps, "snap": snap}


def _is_unknown(empty: str) -> bool:
    one_of("empty", empty, ("missing", "unknown"))
    return empty == "unknown"


def _wish(column: str, value: Any) -> tuple[Any, ...]:
    """What is given of a column: a pair is a range, open where it has None; a list is one of some values."""
    if isinstance(value, tuple):
        if len(value) != 2:
            raise DataError(f"{column} = {value!r} is no range", "a range is a pair (low, high), one of some values is a list")
        low, high = (None if end is None else _cell(end) for end in value)
        return column, low, high
    if isinstance(value, (list, set, frozenset)):
        return column, [_cell(one) for one in value]
    return column, _cell(value)


def _cell(value: Any) -> str:
    """A cell as a file would have it; None, NaN and the like are a missing one."""
    if isinstance(value, str):
        return value
    if value is None or str(value) in ("<NA>", "NaT", "nan"):
        return ""
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return "true" if value else "false"
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return str(value)


def _tell(notes: list[str]) -> None:
    for note in notes:
        logger.warning(note)
