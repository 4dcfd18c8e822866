"""What can go wrong: each exception is also of the kind that Python uses for such trouble, and says what to do."""

from __future__ import annotations

from typing import Any


class PmmError(Exception):
    """Something that pmm could not do. ``remedy`` says what to do, where that is known."""

    remedy: str | None

    def __init__(self, message: str = "", remedy: str | None = None) -> None:
        super().__init__(message if remedy is None else f"{message}\nhint: {remedy}")
        self.remedy = remedy


class DataError(PmmError, ValueError):
    """Data, or a request about them, that cannot be used."""


class ColumnError(DataError):
    """A column that is not there, or that the model leaves out."""


class SettingError(PmmError, ValueError):
    """A setting that is not known, or out of its bounds."""


class FitError(PmmError, RuntimeError):
    """A fit that came to nothing."""


class DeviceError(PmmError, RuntimeError):
    """A device that cannot be had."""


class ModelError(PmmError, ValueError):
    """A model that cannot be used, or not for this."""


class ModelNotFoundError(ModelError, FileNotFoundError):
    """There is no model."""


class ModelExistsError(PmmError, FileExistsError):
    """There is a model already, or something else."""


class ModelLockedError(PmmError, BlockingIOError):
    """Somebody else writes to the model's folder."""


class DataNotFoundError(PmmError, FileNotFoundError):
    """There is no such file."""


class DataPermissionError(PmmError, PermissionError):
    """A file that may not be read or written."""


class DataAccessError(PmmError, OSError):
    """A file that cannot be read or written."""


class FitInterrupted(KeyboardInterrupt):
    """A fit was stopped by Ctrl-C. ``model`` is what it had learned by then.

    With ``out=``, the folder keeps it as well, and ``resume=True`` goes on.
    """

    def __init__(self, model: Any) -> None:
        super().__init__("the fit was stopped; what it had learned is in the exception's .model")
        self.model = model


# They are known by the names under which they are caught.
for _exception in (PmmError, *PmmError.__subclasses__(), ColumnError, ModelNotFoundError, FitInterrupted):
    _exception.__module__ = "pmm"
