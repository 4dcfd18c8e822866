"""The columns of a table, and how each is modelled."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np

#: Bars of a small picture, at most.
BARS = 16


@dataclass(frozen=True)
class Column:
    """One column: what its values are, the conjugate pair that models it, and why."""

    name: str
    kind: str
    pair: str
    type: str | None
    missing: int
    reason: str
    #: How often its values come: of the likeliest levels, or of numbers in bins of one width.
    counts: tuple[int, ...] = field(default=(), repr=False)

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> Column:
        return cls(
            name=found["name"],
            kind=found["kind"],
            pair=found["pair"],
            type=found["arrow"],
            missing=found["missing"],
            reason=found["reason"],
            counts=_counts(found["coding"]),
        )

    def _bars(self) -> str:
        """A small picture of the counts."""
        width, height, most = 6, 18, max(self.counts, default=0)
        bars = "".join(
            f'<rect x="{width * place}" y="{height * (1 - count / most):.1f}" width="{width - 1}" '
            f'height="{height * count / most:.1f}" fill="#4878a8"/>'
            for place, count in enumerate(self.counts)
        )
        return f'<svg width="{width * BARS}" height="{height}">{bars}</svg>' if most else ""


def _counts(coding: Any) -> tuple[int, ...]:
    if not isinstance(coding, dict):
        return ()
    if "levels" in coding:
        return tuple(level["count"] for level in coding["levels"][:BARS])
    grid = coding.get("numbers", {}).get("grid")
    if not grid:
        return ()
    counts, _ = np.histogram(grid["values"], bins=BARS, weights=grid["counts"])
    return tuple(int(count) for count in counts)


class Schema(tuple[Column, ...]):
    """The columns of a table; a notebook shows them as a table.

    >>> example_model.schema["road"].kind
    'category'
    >>> [column.name for column in example_model.schema]
    ['road', 'kilometres', 'minutes']
    """

    rows: int

    @classmethod
    def from_json(cls, text: str) -> Schema:
        found = json.loads(text)
        schema = cls(Column.from_dict(column) for column in found["columns"])
        schema.rows = found["rows"]
        return schema

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        for column in self:
            if column.name == key:
                return column
        raise KeyError(key)

    def _repr_html_(self) -> str:
        head = "".join(f"<th style='text-align:left'>{name}</th>" for name in ("column", "", "kind", "pair", "missing", "why"))
        rows = "".join(
            "<tr>" + "".join(f"<td style='text-align:left'>{cell}</td>" for cell in self._cells(column)) + "</tr>"
            for column in self
        )
        return f"<table><tr>{head}</tr>{rows}</table>"

    def _cells(self, column: Column) -> tuple[str, ...]:
        pair = "left out" if column.pair == "none" else column.pair
        missing = f"{100 * column.missing / max(self.rows, 1):.1f} %" if column.missing else ""
        kind, reason = html.escape(column.kind), html.escape(column.reason)
        return html.escape(column.name), column._bars(), kind, html.escape(pair), missing, reason
