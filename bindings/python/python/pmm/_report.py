"""Reports and pictures, which show themselves in a notebook."""

from __future__ import annotations

import html
import json
import os
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

from ._arguments import whole


def evaluating(seed: int, out: str | os.PathLike[str] | None, target: str | None = None) -> dict[str, Any]:
    """How an evaluation is made, for the native part."""
    return {"seed": whole("seed", seed), "out": out, "target": target}


class Score(NamedTuple):
    """A figure of a report, beside that of real data or of a prediction that knows nothing of the row."""

    name: str
    value: str
    baseline: str
    meaning: str


class Report:
    """What a model was found to be worth.

    ``scores`` are the headlines, ``figures`` are all numbers, ``html`` is the whole page with its charts, which a notebook shows.
    """

    def __init__(self, parts: dict[str, Any]) -> None:
        self.html: str = parts["html"]
        self.figures: dict[str, Any] = json.loads(parts["json"])
        self.scores: list[Score] = [Score(*row) for row in parts["rows"]]
        self.notes: list[str] = parts["notes"]
        self._words: str = parts["words"]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file."""
        Path(path).write_text(self.html, encoding="utf-8")

    def __str__(self) -> str:
        if not self.scores:
            return self._words
        widths = [max(len(score[k]) for score in self.scores) for k in range(3)]
        lines = []
        for score in self.scores:
            start = "  ".join(score[k].ljust(widths[k]) for k in range(3)) + "  "
            meaning = textwrap.wrap(score.meaning, 60) or [""]
            lines.append(start + meaning[0])
            lines.extend(" " * len(start) + line for line in meaning[1:])
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<pmm.Report: {len(self.scores) or 'some'} scores>\n{self}"

    def _repr_html_(self) -> str:
        page = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" width="100%" height="640" style="border:1px solid #ccc"></iframe>'


class Picture:
    """A picture: it shows itself in a notebook, and can be saved."""

    def __init__(self, *, svg: str | None = None, png: bytes | None = None) -> None:
        self.svg, self.png = svg, png

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture to a file, by its ending as SVG or PNG."""
        path = Path(path)
        ending = path.suffix.lower()
        if ending == ".svg" and self.svg is not None:
            path.write_text(self.svg, encoding="utf-8")
        elif ending == ".png" and self.png is not None:
            path.write_bytes(self.png)
        else:
            known = [name for name, found in ((".svg", self.svg), (".png", self.png)) if found is not None]
            raise ValueError(f"{path} does not end in {' or '.join(known)}")

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/plain": "<pmm.Picture>"}
        if self.svg is not None:
            bundle["image/svg+xml"] = self.svg
        elif self.png is not None:
            import base64

            bundle["image/png"] = base64.b64encode(self.png).decode("ascii")
        return bundle
