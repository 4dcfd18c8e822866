"""Tables as the caller has them, both ways: pandas, polars, pyarrow, anything with ``__arrow_c_stream__``.

A table goes in as a stream of Arrow's C interface, without a copy where its library makes none. A :class:`Giver` remembers what it
was, and gives rows back as the same: frame type, types of columns, index, categories.
"""

from __future__ import annotations

import importlib.util
import os
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ._arguments import one_of
from ._errors import DataError

if TYPE_CHECKING:
    from ._pmm import ArrowRows


@runtime_checkable
class ArrowStream(Protocol):
    """Anything that gives its rows through Arrow's C stream interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


#: What goes in where a table is asked for.
TableLike = Any

#: The names by which a frame type can be asked for.
FRAMES = ("pandas", "polars", "pyarrow")


class Giver:
    """Gives rows back as a table of pyarrow."""

    def give(self, rows: ArrowRows, index: Any = None) -> Any:
        return _pyarrow().table(rows)

    def index_of(self, data: Any, draws: int = 1) -> Any:
        """The index that rows of ``data`` have, so many times; none where frames have none."""
        return None


class DatasetGiver(Giver):
    """Gives rows back as a dataset of Hugging Face, with the features of the one that came in."""

    def __init__(self, features: Any) -> None:
        self._features = features

    def give(self, rows: ArrowRows, index: Any = None) -> Any:
        from datasets import Dataset

        table = super().give(rows)
        is_alike = table.column_names == list(self._features)
        return Dataset(table.cast(self._features.arrow_schema) if is_alike else table)


class ArrayGiver(Giver):
    """Gives rows back as an array of NumPy, in the type of the one that came in unless that has no room for gaps."""

    def __init__(self, dtype: Any) -> None:
        self._dtype = dtype

    def give(self, rows: ArrowRows, index: Any = None) -> Any:
        import numpy

        table = super().give(rows)
        array = numpy.column_stack([column.to_numpy(zero_copy_only=False) for column in table.columns])
        has_gaps = any(column.null_count for column in table.columns)
        return array if has_gaps and self._dtype.kind in "biu" else array.astype(self._dtype)


class PolarsGiver(Giver):
    """Gives rows back as a frame of polars, with the types of the one that came in."""

    def __init__(self, schema: Any = None) -> None:
        self._schema = dict(schema) if schema is not None else {}

    def give(self, rows: ArrowRows, index: Any = None) -> Any:
        import polars

        frame = polars.DataFrame(rows)
        other = {
            name: kind for name, kind in self._schema.items() if name in frame.columns and frame.schema[name] != kind
        }
        return frame.cast(other) if other else frame


class PandasGiver(Giver):
    """Gives rows back as a frame of pandas, with the types, categories and labels of the one that came in."""

    def __init__(self, template: Any = None, metadata: Any = None) -> None:
        self._template, self._metadata = template, metadata

    def give(self, rows: ArrowRows, index: Any = None) -> Any:
        table = _distinct(_pyarrow().table(rows))
        if self._template is None:
            frame = _untemplated(table)
        else:
            frame = self._templated(table)
        if index is not None:
            frame.index = index
        return frame

    def _templated(self, table: Any) -> Any:
        full = table.drop_columns(_empty_nested(table))
        frame = full.replace_schema_metadata(self._metadata).to_pandas(split_blocks=True, integer_object_nulls=True)
        for place, name in enumerate(table.column_names):
            if name not in full.column_names:
                frame.insert(place, name, None)
        labels = {str(label): label for label in self._template.columns}
        if list(labels) == table.column_names:
            frame.columns = self._template.columns
        else:
            frame.columns = [labels.get(name, name) for name in table.column_names]
        for label in self._template.columns:
            if label in frame.columns and frame[label].dtype != self._template[label].dtype:
                frame[label] = _as_type(frame[label], self._template[label].dtype)
        return frame

    def index_of(self, data: Any, draws: int = 1) -> Any:
        index = getattr(data, "index", None)
        if index is None or draws == 1:
            return index
        return index.append([index] * (draws - 1))


def _distinct(table: Any) -> Any:
    """Dictionaries in which each value comes once, as categories of pandas must; those of rows that were put together may repeat."""
    pa = _pyarrow()
    for place, column in enumerate(table.columns):
        if pa.types.is_dictionary(column.type) and any(_repeats(chunk.dictionary) for chunk in column.chunks):
            again = column.cast(column.type.value_type).dictionary_encode()
            table = table.set_column(place, table.column_names[place], again)
    return table


def _repeats(values: Any) -> bool:
    return len(values.unique()) < len(values)


def _empty_nested(table: Any) -> list[str]:
    """Columns of nested types without a cell: intervals of whole numbers would be made up for them."""
    nested = _pyarrow().types.is_nested
    return [name for name in table.column_names if nested(table[name].type) and table[name].null_count == table.num_rows]


def _as_type(column: Any, dtype: Any) -> Any:
    """The column in the type that it had; as it is where a value of it has none, such as a gap among integers."""
    try:
        levels = _levels(dtype)
        named = column if levels is None else column.map(dict(zip(levels, dtype.categories, strict=True)))
        found = named.astype(dtype)
    except (TypeError, ValueError):
        return column
    # Some types have no gaps and take any number for one, and a category that is not among theirs for a gap.
    return found if (found.isna() == column.isna()).all() else column


def _untemplated(table: Any) -> Any:
    """A frame of pandas by the types of Arrow: integers stay integers, with gaps or without."""
    import pandas

    pa = _pyarrow()
    nullable = {
        getattr(pa, name.lower())(): getattr(pandas, f"{name}Dtype")()
        for name in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
    }
    frame = table.to_pandas(split_blocks=True)
    for position, column in enumerate(table.columns):
        if column.null_count and column.type in nullable:
            frame[table.column_names[position]] = column.to_pandas(types_mapper=nullable.get)
    return frame


def default_giver(frame: str | None = None) -> Giver:
    """What gives rows back where no frame came in: by name, else pandas, polars or pyarrow, whichever is there first."""
    if frame is None:
        frame = next((name for name in FRAMES if importlib.util.find_spec(name)), "pyarrow")
    givers: dict[str, type[Giver]] = {"pandas": PandasGiver, "polars": PolarsGiver, "pyarrow": Giver}
    one_of("frame", frame, FRAMES)
    return givers[frame]()


def take(data: TableLike, giver: Giver | None = None) -> tuple[Any, Giver]:
    """What the native part reads (a path, or a stream), and what gives rows back as they came."""
    if isinstance(data, (str, os.PathLike)):
        return os.fspath(data), giver or default_giver()
    package, name = _library(data)
    if package in ("pandas", "polars") and name == "Series":
        raise TypeError("a Series is one column, no table: to_frame() makes a table of it")
    if package == "pandas" and hasattr(data, "columns"):
        return _take_pandas(data)
    if package == "polars":
        return _take_polars(data)
    if package == "datasets":
        return _take_dataset(data)
    if package == "numpy":
        return _take_array(data), giver or ArrayGiver(data.dtype)
    if isinstance(data, dict):
        return _converted(lambda: _pyarrow().table(data)), giver or Giver()
    if hasattr(data, "__arrow_c_stream__"):
        return data, Giver() if package == "pyarrow" else giver or Giver()
    raise TypeError(
        f"a {type(data).__name__} is no table: give the path of a file, a frame of pandas or polars, "
        "a table of pyarrow, or anything else with __arrow_c_stream__"
    )


def _library(data: Any) -> tuple[str, str]:
    """The library that a table is of, and its class there; frames of classes derived from those are as good."""
    for base in type(data).__mro__:
        package = base.__module__.partition(".")[0]
        if package in (*FRAMES, "numpy", "datasets"):
            return package, base.__name__
    return "", type(data).__name__


def _take_pandas(data: Any) -> tuple[Any, Giver]:
    if data.columns.nlevels > 1:
        raise DataError("the columns have several levels of names", "give each column one name")
    names = [str(label) for label in data.columns]
    _refuse_twins(names)
    try:
        table = _pyarrow().Table.from_pandas(_readable(data), preserve_index=False)
    except (ValueError, TypeError, NotImplementedError, OverflowError) as error:
        raise _unusable(data, error) from error
    # Names that are tuples are written in another way there.
    table = table.rename_columns(names) if table.column_names != names else table
    return table, PandasGiver(data.iloc[:0].copy(), table.schema.metadata)


def _readable(data: Any) -> Any:
    """The frame in types that Arrow has: not sparse, and with categories of other things, such as intervals, by their texts."""
    changed = {}
    for label, dtype in data.dtypes.items():
        if type(dtype).__name__ == "SparseDtype":
            changed[label] = data[label].sparse.to_dense()
        elif _levels(dtype) is not None:
            changed[label] = data[label].cat.rename_categories(_levels(dtype))
    if not changed:
        return data
    data = data.copy(deep=False)
    for label, column in changed.items():
        data[label] = column
    return data


def _levels(dtype: Any) -> list[str] | None:
    """The texts of categories that are neither texts, numbers nor dates: of intervals, say."""
    categories = getattr(dtype, "categories", None)
    if categories is None or type(dtype).__name__ != "CategoricalDtype" or categories.dtype.kind in "biufmM":
        return None
    texts = [str(category) for category in categories]
    strange = any(not isinstance(category, str) for category in categories)
    return texts if strange and len(set(texts)) == len(texts) else None


def _unusable(data: Any, error: Exception) -> DataError:
    """Which column cannot be read, and what is in it."""
    pa, readable = _pyarrow(), _readable(data)
    for label in data.columns:
        try:
            pa.array(readable[label], from_pandas=True)
        except (ValueError, TypeError, NotImplementedError, OverflowError) as trouble:
            return DataError(f"column {str(label)!r} {_contents(data[label], trouble)}", _ONE_TYPE)
    return DataError(str(error), _ONE_TYPE)


#: What to do about a column that cannot be read.
_ONE_TYPE = "give the column one type, such as text: column.astype(str), or leave it out"


def _contents(column: Any, trouble: Exception) -> str:
    firsts: dict[str, Any] = {}
    for cell in column.dropna():
        firsts.setdefault(type(cell).__name__, cell)
    shown = ", ".join(f"{_short(cell)} ({kind})" for kind, cell in list(firsts.items())[:3])
    if len(firsts) > 1:
        return f"has cells of several types: {shown}"
    if isinstance(trouble, OverflowError):
        return f"has numbers that 64 bits do not hold, such as {max(column.dropna(), key=abs)}"
    return f"has cells of a type that no table has: {shown}"


def _short(cell: Any) -> str:
    text = repr(cell)
    return text if len(text) <= 40 else text[:39] + "…"


def _take_polars(data: Any) -> tuple[Any, Giver]:
    if not hasattr(data, "__arrow_c_stream__") or not hasattr(data, "schema"):
        raise TypeError(f"a {type(data).__name__} of polars is no frame: collect() makes one of a lazy frame")
    return data, PolarsGiver(data.schema)


def _take_dataset(data: Any) -> tuple[Any, Giver]:
    if type(data).__name__ != "Dataset":
        raise TypeError(f"a {type(data).__name__} is no table: give one split, such as dataset['train'], and no stream")
    return data.with_format("arrow")[:], DatasetGiver(data.features)


def _take_array(data: Any) -> Any:
    if data.ndim != 2:
        raise DataError(f"an array of {data.ndim} dimensions is no table", "give rows and columns")
    pa = _pyarrow()

    def convert() -> Any:
        # In an array a missing cell is one that is no number.
        return pa.table({f"x{place}": pa.array(data[:, place], from_pandas=True) for place in range(data.shape[1])})

    return _converted(convert)


def _refuse_twins(names: list[str]) -> None:
    twins = sorted({name for name in names if names.count(name) > 1})
    if twins:
        raise DataError(f"several columns are called {', '.join(map(repr, twins))}", "give each a name of its own")


def _converted(convert: Any) -> Any:
    """What pyarrow cannot convert is data that cannot be used: it says which column."""
    pa = _pyarrow()
    try:
        return convert()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError) as error:
        raise DataError(str(error), "give each column one type") from error


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError("this needs pyarrow: pip install pyarrow") from error
    return pyarrow
