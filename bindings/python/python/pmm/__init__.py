"""Generative models of your data by Posterior Mean Matching: tables, texts and images, on a processor, in minutes.

>>> import pmm
>>> model = pmm.fit(example_rows, target="minutes", steps=20)    # a frame of pandas or polars, a table of pyarrow, a path
>>> new = model.sample(1000, given={"road": "lane"})
>>> minutes = model.predict(example_rows, "minutes")
>>> low, high = minutes.interval(0.9)
>>> bool((low <= high).all())
True

One model answers every conditional: it samples, fills gaps, predicts with uncertainty and shows itself.
"""

from ._errors import (
    ColumnError,
    DataAccessError,
    DataError,
    DataNotFoundError,
    DataPermissionError,
    DeviceError,
    FitError,
    FitInterrupted,
    ModelError,
    ModelExistsError,
    ModelLockedError,
    ModelNotFoundError,
    PmmError,
    SettingError,
)
from ._fit import fit, load
from ._image import ImageModel
from ._pmm import version as __version__
from ._prediction import Prediction
from ._report import Picture, Report, Score
from ._schema import Column, Schema
from ._scores import Scores, TextScores
from ._table import TableModel
from ._text import TextModel

__all__ = [
    "Column",
    "ColumnError",
    "DataAccessError",
    "DataError",
    "DataNotFoundError",
    "DataPermissionError",
    "DeviceError",
    "FitError",
    "FitInterrupted",
    "ImageModel",
    "ModelError",
    "ModelExistsError",
    "ModelLockedError",
    "ModelNotFoundError",
    "Picture",
    "PmmError",
    "Prediction",
    "Report",
    "Schema",
    "Score",
    "Scores",
    "SettingError",
    "TableModel",
    "TextModel",
    "TextScores",
    "__version__",
    "fit",
    "load",
]
