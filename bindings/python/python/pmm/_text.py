"""Models of texts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from ._model import Model
from ._report import Picture, Report, evaluating
from ._running import Running

if TYPE_CHECKING:
    from ._pmm import TextModel as NativeModel

#: A file, a folder, or documents.
TextLike = str | os.PathLike[str] | Sequence[str]
Sampler = Literal["events", "steps", "parallel", "confident"]


def take_texts(data: TextLike) -> Any:
    """What the native part reads: a path, or a list of documents."""
    if isinstance(data, (str, os.PathLike)):
        return os.fspath(data)
    documents = list(data)
    for document in documents:
        if not isinstance(document, str):
            raise TypeError(f"a {type(document).__name__} is no text")
    return documents


class TextModel(Model):
    """A model of texts, which draws new ones and fills gaps anywhere."""

    _native: NativeModel

    @property
    def length(self) -> int:
        """Tokens of a text that is drawn."""
        return self._native.length()

    def sample(
        self,
        n: int = 1,
        *,
        given: str = "",
        seed: int = 0,
        sampler: Sampler | None = None,
        steps: int | None = None,
        temperature: float | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> list[str]:
        """``n`` new texts; ``given`` is the beginning of each."""
        drawing = _drawing(seed, sampler, steps, temperature, top_k, top_p)
        with Running(progress, threads) as running:
            return self._native.sample(n, given, drawing, running)

    def infill(
        self,
        text: str,
        n: int = 1,
        *,
        seed: int = 0,
        sampler: Sampler | None = None,
        steps: int | None = None,
        temperature: float | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> list[str]:
        """``text`` with its gaps filled, ``n`` times: ``____`` (three or more, one token each) or ``[MASK:12]``."""
        drawing = _drawing(seed, sampler, steps, temperature, top_k, top_p)
        with Running(progress, threads) as running:
            return self._native.infill(text, n, drawing, running)

    def evaluate(
        self,
        test: TextLike,
        *,
        train: TextLike | None = None,
        seed: int = 0,
        out: str | os.PathLike[str] | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Report:
        """Scores on text that the model has not seen, beside those of n-gram models. ``out`` is a folder for the page."""
        trained = None if train is None else take_texts(train)
        with Running(progress, threads) as running:
            return Report(self._native.evaluate(take_texts(test), trained, evaluating(seed, out), running))

    def trace(self, *, seed: int = 0, threads: int | None = None) -> Picture:
        """A picture that moves: a text coming out of its masks."""
        with Running(False, threads) as running:
            return Picture(svg=self._native.trace(seed, running))


def _drawing(
    seed: int,
    sampler: Sampler | None,
    steps: int | None,
    temperature: float | None,
    top_k: int | None,
    top_p: float | None,
) -> dict[str, Any]:
    return {
        "seed": seed,
        "sampler": sampler,
        "steps": steps,
        "temperature": temperature,
        "top_k": top_k,
        "top_p": top_p,
    }
