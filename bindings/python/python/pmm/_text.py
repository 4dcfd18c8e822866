"""Models of texts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ._arguments import whole, whole_or_none
from ._errors import DataNotFoundError
from ._model import Model
from ._report import Picture, Report, evaluating
from ._running import Running
from ._scores import TextScores

if TYPE_CHECKING:
    from ._pmm import TextModel as NativeModel

#: A file, a folder, or documents.
TextLike = str | os.PathLike[str] | Sequence[str]
Order = Literal["left_to_right", "random"]
Sampler = Literal["events", "steps", "parallel", "confident"]


def take_texts(data: TextLike) -> Any:
    """What the native part reads: a path, or a list of documents."""
    if isinstance(data, (str, os.PathLike)):
        if isinstance(data, str) and not os.path.exists(data):
            shown = data if len(data) < 60 else data[:59] + "…"
            raise DataNotFoundError(f"{shown!r}: there is no such file", "a text of your own goes in a list: [text]")
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
        length: int | None = None,
        seed: int = 0,
        order: Order | None = None,
        sampler: Sampler | None = None,
        steps: int | None = None,
        temperature: float | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> list[str]:
        """``n`` new texts; ``given`` is the beginning of each.

        length:
            Tokens of a text, its beginning among them: those of the model's window by default. What is written from left to right
            may be longer.
        order:
            ``"left_to_right"`` (the default of an ordered network) or ``"random"``: the order in which positions are filled.
        sampler, steps:
            How masks are lifted in place of an order, with how many calls of the network.
        temperature, top_k, top_p:
            Below 1 keeps closer to what is likely; the likeliest tokens alone; the fewest that hold a share.
        """
        n = whole("n", n)
        length = whole_or_none("length", length, least=1)
        drawing = _drawing(seed, order, sampler, steps, temperature, top_k, top_p)
        with Running(progress, threads) as running:
            return self._native.sample(n, given, length, drawing, running)

    def infill(
        self,
        text: str,
        n: int = 1,
        *,
        candidates: int | None = None,
        longest: int | None = None,
        likeliest_length: bool = False,
        whole_words: bool = False,
        return_bits: bool = False,
        seed: int = 0,
        order: Order | None = None,
        sampler: Sampler | None = None,
        steps: int | None = None,
        temperature: float | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Any:
        """``text`` with its gaps filled, ``n`` times: a list of texts in which all else is kept.

        A gap is ``____`` (three or more, one token each), ``[MASK:12]`` for twelve tokens, or ``[MASK]`` for as many as fit, of
        which ``longest`` is the most and ``likeliest_length`` takes the likeliest number in place of a drawn one.

        ``candidates`` are drawn, and the ``n`` likeliest given, the likeliest first; ``return_bits=True`` returns (texts, bits),
        −log₂ p of each. ``whole_words`` keeps the words beside a gap as they are. The rest is as for :meth:`sample`.
        """
        if return_bits and candidates is None:
            raise ValueError("return_bits: completions are ranked by their bits if candidates= says of how many")
        completing = {
            "completions": whole("n", n, least=1),
            "candidates": whole_or_none("candidates", candidates, least=1),
            "longest": whole_or_none("longest", longest, least=1),
            "likeliest_length": likeliest_length,
            "whole_words": whole_words,
        }
        drawing = _drawing(seed, order, sampler, steps, temperature, top_k, top_p)
        with Running(progress, threads) as running:
            found = self._native.infill(text, completing, drawing, running)
        texts = [completion for completion, _ in found]
        return (texts, np.array([bits for _, bits in found], dtype=np.float64)) if return_bits else texts

    def score(
        self,
        documents: TextLike,
        *,
        orders: int | None = None,
        seed: int = 0,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> TextScores:
        """How many bits each document costs, by its exact likelihood: from left to right, in random orders, and token by token.

        ``orders`` is the number of random orders in which each is read, 8 by default; with 0 it is read from left to right alone.
        """
        orders = whole_or_none("orders", orders)
        taken = take_texts(documents)
        with Running(progress, threads) as running:
            return TextScores(self._native.score(taken, orders, seed, running) if taken else [])

    def evaluate(
        self,
        test: TextLike,
        *,
        train: TextLike | None = None,
        samples: Sequence[str] | None = None,
        seed: int = 0,
        out: str | os.PathLike[str] | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Report:
        """Scores on text that the model has not seen, beside those of n-gram models. ``out`` is a folder for the page.

        Likelihoods are told in both orders, from left to right and random. With ``samples``, texts that anyone has made, these are
        scored and nothing else.
        """
        trained = None if train is None else take_texts(train)
        made = None if samples is None else list(samples)
        with Running(progress, threads) as running:
            return Report(self._native.evaluate(take_texts(test), trained, made, evaluating(seed, out), running))

    def trace(self, *, seed: int = 0, threads: int | None = None) -> Picture:
        """A picture that moves: a text coming out of its masks."""
        with Running(False, threads) as running:
            return Picture(svg=self._native.trace(seed, running))


def _drawing(
    seed: int,
    order: Order | None,
    sampler: Sampler | None,
    steps: int | None,
    temperature: float | None,
    top_k: int | None,
    top_p: float | None,
) -> dict[str, Any]:
    return {
        "seed": whole("seed", seed),
        "order": order,
        "sampler": sampler,
        "steps": whole_or_none("steps", steps, least=1),
        "temperature": temperature,
        "top_k": whole_or_none("top_k", top_k),
        "top_p": top_p,
    }
