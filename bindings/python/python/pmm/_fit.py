"""Fitting and loading models of any kind."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np

from . import _pmm
from ._arguments import one_of, whole, whole_or_none
from ._errors import FitInterrupted
from ._frames import ArrowStream, TableLike, take
from ._image import ImageModel, take_images
from ._model import Model
from ._running import Running
from ._table import TableModel
from ._text import TextModel, take_texts

Kind = Literal["table", "text", "image"]
Path = str | os.PathLike[str]


@overload
def fit(data: Sequence[str], *, kind: Literal["text"] | None = None, **options: Any) -> TextModel: ...
@overload
def fit(data: ArrowStream | Mapping[str, Any], target: str | None = None, **options: Any) -> TableModel: ...
@overload
def fit(data: Any, target: str | None = None, *, kind: Literal["table"], **options: Any) -> TableModel: ...
@overload
def fit(data: Any, *, kind: Literal["text"], **options: Any) -> TextModel: ...
@overload
def fit(data: Any, *, kind: Literal["image"], **options: Any) -> ImageModel: ...
@overload
def fit(data: Any, target: str | None = None, *, kind: None = None, **options: Any) -> Any: ...


def fit(
    data: Any,
    target: str | None = None,
    *,
    seed: int = 0,
    minutes: float | None = None,
    steps: int | None = None,
    out: Path | None = None,
    replace: bool = False,
    resume: bool = False,
    kind: Kind | None = None,
    preset: str | None = None,
    columns: Mapping[str, str | Mapping[str, Any]] | None = None,
    rules: bool | Sequence[str] = True,
    without_rules: Sequence[str] = (),
    missing: Sequence[str] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    held_out: TableLike | None = None,
    labels: Sequence[Any] | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Any:
    """Fits a model to a table, to texts or to images.

    data:
        A path, of which the kind is found out; a frame of pandas or polars, a table of pyarrow or anything else with
        ``__arrow_c_stream__``; a list of documents; an array of images (bytes, images × height × width (× 3)) or a list of
        pictures of PIL.
    target:
        A column whose prediction matters most.
    seed:
        Fixes every random number, for any number of threads.
    minutes, steps:
        How long to train: roughly so many minutes, or exactly so many steps. By default the size of the data says.
    out:
        A folder for the model, with checkpoints on the way. ``replace=True`` replaces a model that is there, ``resume=True`` goes
        on with a fit that was stopped, bit for bit as if it had not been.
    kind:
        ``"table"``, ``"text"`` or ``"image"``, where a path should not be guessed.
    preset:
        Settings that go together, by name, for texts and images.
    columns:
        What is known of columns better than their values tell: ``{"zip": "category"}``, or
        ``{"visits": {"kind": "count", "pair": "poisson"}}``.
    rules, without_rules:
        Rules that the rows keep, beside those that are found: ``["dropoff >= pickup", "total = fare + tip", "zone -> borough"]``;
        and which of those that are found they need not: about a column, of a kind, or a rule as it is printed. ``rules=False``
        leaves out all.
    missing, header, delimiter:
        How a file of text is read, where that should not be guessed: what stands for a missing cell, whether the first line has
        the names, and what separates fields. In frames only what is null is missing.
    held_out:
        Rows to validate on, in place of some of the table.
    labels:
        The class of each image of an array.
    threads, progress:
        How many threads; whether a bar is shown (by default on a terminal and in notebooks).
    settings:
        Any setting of a model's ``config.toml``: ``net__width=128`` or ``net={"width": 128}``.

    Ctrl-C stops a fit and raises :class:`pmm.FitInterrupted`, a ``KeyboardInterrupt`` whose ``model`` is what was learned.

    >>> import pyarrow as pa, pmm
    >>> table = pa.table({"a": list(range(7)) * 30, "b": [2 * (i % 7) for i in range(210)]})
    >>> model = pmm.fit(table, steps=20)
    >>> model.sample(3).num_rows
    3
    """
    options = {
        "seed": whole("seed", seed),
        "steps": whole_or_none("steps", steps),
        "minutes": minutes,
        "preset": preset,
        "settings": flat_settings(settings),
        "out": out,
        "existing": _existing(replace, resume),
    }
    if kind is not None:
        one_of("kind", kind, ("table", "text", "image"))
    found = kind or _kind_of(data, preset)
    of_table = {
        "target": None if target is None else str(target),
        "held_out": None if held_out is None else take(held_out)[0],
        "columns": _wishes(columns),
        "rules": [] if isinstance(rules, bool) else _several("rules", rules),
        "without_rules": _several("without_rules", without_rules),
        "missing": None if missing is None else _several("missing", missing),
        "header": header,
        "delimiter": delimiter,
    }
    if labels is not None and found != "image":
        raise TypeError(f"labels are for images: the data are of kind {found!r}")
    if found == "table":
        if rules is False:
            options["settings"] = {**flat_settings(settings), "rules": False}
        return _fit_table(data, of_table, options, Running(progress, threads, logging.INFO))
    unused = sorted(name for name, value in of_table.items() if not (value is None or isinstance(value, list) and not value))
    if unused:
        raise TypeError(f"{', '.join(unused)}: for tables alone, and the data are of kind {found!r}")
    with Running(progress, threads, logging.INFO) as running:
        if found == "text":
            texts, interrupt = _pmm.fit_text(take_texts(data), options, running)
            return _finished(TextModel(texts), interrupt)
        images, interrupt = _pmm.fit_images(take_images(data, labels), options, running)
        return _finished(ImageModel(images), interrupt)


def load(path: Path, *, frame: Literal["pandas", "polars", "pyarrow"] | None = None) -> Any:
    """Reads a model of any kind from its folder, whole and unaltered.

    ``frame`` says in which frame type a table's rows come: by default pandas if it is there, else polars, else pyarrow.

    >>> import pmm
    >>> pmm.load("no/such/model.pmm")
    Traceback (most recent call last):
    ...
    pmm.ModelNotFoundError: no/such/model.pmm is not a model: it has no config.toml
    hint: fit a model first
    """
    with Running(progress=False) as running:
        native = _pmm.open_model(path, running)
    return wrapped(native, frame)


def wrapped(native: Any, frame: str | None = None) -> Model:
    """The model that a Python programmer sees."""
    from ._frames import default_giver

    if isinstance(native, _pmm.TableModel):
        return TableModel(native, default_giver(frame))
    if isinstance(native, _pmm.TextModel):
        return TextModel(native)
    return ImageModel(native)


def _fit_table(data: Any, of_table: dict[str, Any], options: dict[str, Any], around: Running) -> TableModel:
    source, giver = take(data)
    with around as running:
        native, interrupt = _pmm.fit_table(source, options, of_table, running)
    model: TableModel = _finished(TableModel(native, giver), interrupt)
    left_out = [column.name for column in model.schema if column.kind == "other"]
    if left_out:
        what = "columns of types that are not modelled are empty in samples"
        warnings.warn(f"{what}: {', '.join(map(_typed(source), left_out))}", stacklevel=3)
    return model


def _typed(source: Any) -> Callable[[str], str]:
    """Names of columns beside their types, where these are known."""
    types = {field.name: field.type for field in source.schema} if type(source).__module__.startswith("pyarrow") else {}
    return lambda name: f"{name!r} ({types[name]})" if name in types else repr(name)


def _finished(model: Any, interrupt: BaseException | None) -> Any:
    if interrupt is None:
        return model
    if isinstance(interrupt, KeyboardInterrupt):
        raise FitInterrupted(model) from interrupt
    raise interrupt


def _existing(replace: bool, resume: bool) -> str:
    if replace and resume:
        raise ValueError("replace and resume cannot both be")
    return "replace" if replace else "resume" if resume else "refuse"


def _kind_of(data: Any, preset: str | None) -> str:
    if isinstance(data, (str, os.PathLike)):
        return _pmm.recognise(data, preset)
    if isinstance(data, np.ndarray):
        return "image" if data.ndim > 2 else "table"
    if isinstance(data, (list, tuple)) and data:
        return "text" if isinstance(data[0], str) else "image" if _is_picture(data[0]) else "table"
    return "table"


def _is_picture(element: Any) -> bool:
    """An array, or what becomes one, as pictures of PIL do."""
    return hasattr(element, "__array__") or hasattr(element, "__array_interface__")


def flat_settings(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Settings by dotted names: ``net__width`` and ``{"net": {"width": …}}`` are ``net.width``."""
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        name = prefix + key.replace("__", ".")
        if isinstance(value, Mapping):
            flat.update(flat_settings(value, f"{name}."))
        elif value is not None:
            flat[name] = value
    return flat


def _several(name: str, texts: Sequence[str]) -> list[str]:
    """Some texts; one alone would be taken apart letter by letter."""
    if isinstance(texts, str):
        raise TypeError(f"{name}={texts!r}: give a list, [{texts!r}]")
    return [str(text) for text in texts]


def _wishes(columns: Mapping[str, str | Mapping[str, Any]] | None) -> list[tuple[str, str]]:
    wishes = []
    for name, wish in (columns or {}).items():
        if not isinstance(wish, (str, Mapping)):
            raise TypeError(f"columns={{{name!r}: {wish!r}}}: say a kind, such as 'category', or a dict of settings")
        for key, value in ({"kind": wish} if isinstance(wish, str) else wish).items():
            text = value if isinstance(value, str) else ";".join(map(str, value))
            wishes.append((f"columns.{name}.{key}", text))
    return wishes
