"""Models as bytes: the files of their folder, so that they can be pickled and sent to other processes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from ._pmm import open_model
from ._running import Running


def to_files(native: Any) -> dict[str, bytes]:
    """The files of a model's folder."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "model.pmm"
        native.save(place)
        return {
            path.relative_to(place).as_posix(): path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()
        }


def from_files(files: dict[str, bytes]) -> Any:
    """The model of such files."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "model.pmm"
        for name, content in files.items():
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        with Running(progress=False) as running:
            return open_model(place, running)
