"""What models of tables, texts and images have in common."""

from __future__ import annotations

import html
import json
import os
from pathlib import Path
from typing import Any

from ._pickling import from_files, to_files


class Model:
    """A fitted model."""

    _native: Any

    def __init__(self, native: Any) -> None:
        self._native = native

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a folder, whole; a model that is there is replaced. :func:`pmm.load` reads it again."""
        self._native.save(path)

    @property
    def folder(self) -> Path | None:
        """The folder that it was read from or fitted in."""
        folder: Path | None = self._native.folder()
        return folder

    def info(self) -> dict[str, Any]:
        """What it is, how it was trained and how big it is."""
        info: dict[str, Any] = json.loads(self._native.info())["info"]
        return info

    def _facts(self) -> list[tuple[str, str]]:
        return [(name, value) for name, value in json.loads(self._native.info())["facts"]]

    def __repr__(self) -> str:
        facts = dict(self._facts())
        return f"<pmm.{type(self).__name__}: {facts.get('fit', '')}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
            for name, value in self._facts()
        )
        return f"<table>{rows}</table>"

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state["_native"] = to_files(self._native)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._native = from_files(state["_native"])
