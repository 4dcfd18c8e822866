"""How a long job is shown: a bar, and lines for whoever listens through ``logging``."""

from __future__ import annotations

import importlib.util
import logging
import sys
import time
from types import TracebackType
from typing import Any, TypedDict

from ._arguments import misfit, whole_or_none

logger = logging.getLogger("pmm")

#: Seconds before which no bar is shown.
PATIENCE = 0.5


class RunningDict(TypedDict):
    threads: int | None
    hear: Any


class Bar:
    """A line on standard error that is drawn over itself."""

    def __init__(self, what: str, total: int | None) -> None:
        self.what, self.total, self.done = what, total, 0
        self._width = 0

    def show(self, done: int, total: int | None, message: str) -> None:
        self.done, self.total = done, total or self.total
        if self.total:
            filled = min(24, 24 * done // self.total)
            text = f"{self.what} {'█' * filled}{'░' * (24 - filled)} {done}/{self.total}  {message}"
        else:
            text = f"{self.what}: {done}  {message}"
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def close(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


class TqdmBar(Bar):
    """The same by tqdm, which draws itself in notebooks, too."""

    def __init__(self, what: str, total: int | None) -> None:
        super().__init__(what, total)
        # Without its widgets, a notebook shows the bar of a terminal.
        if importlib.util.find_spec("ipywidgets"):
            from tqdm.auto import tqdm
        else:
            from tqdm.std import tqdm

        self._bar = tqdm(total=total, desc=what, leave=False)

    def show(self, done: int, total: int | None, message: str) -> None:
        if total:
            self._bar.total = total
        self._bar.n = done
        if message:
            self._bar.set_postfix_str(message, refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


def _make_bar(what: str, total: int | None) -> Bar:
    try:
        return TqdmBar(what, total)
    except ImportError:
        return Bar(what, total)


def _is_watched() -> bool:
    """Whether somebody sees a bar: on a terminal, or in a notebook."""
    if "ipykernel" in sys.modules:
        return True
    return sys.stderr is not None and sys.stderr.isatty()


class Running:
    """Around a job: hears how far it is, shows a bar if somebody sees it, and passes notes on, as warnings unless told otherwise."""

    def __init__(
        self, progress: bool | None = None, threads: int | None = None, notes: int = logging.WARNING
    ) -> None:
        self._level = notes
        self._threads = whole_or_none("threads", threads, least=1)
        self._shows = _is_watched() if progress is None else progress
        # Who asks for a bar sees it at once.
        self._begin = time.monotonic() + (0 if progress else PATIENCE)
        self._part: tuple[str, int | None] = ("", None)
        self._bar: Bar | None = None
        self._held_out: float | None = None

    def __enter__(self) -> RunningDict:
        return {"threads": self._threads, "hear": self._hear}

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        if (told := misfit(error)) is not None:
            raise told from None

    def _hear(
        self,
        part: tuple[str, int | None] | None,
        done: tuple[int, int | None] | None,
        losses: tuple[float | None, float | None],
        notes: list[str],
    ) -> None:
        for note in notes:
            logger.log(self._level, note)
        if part is not None:
            self._close()
            self._part = part
        if losses[1] is not None:
            self._held_out = losses[1]
        if done is not None and self._shows and time.monotonic() >= self._begin:
            if self._bar is None:
                self._bar = _make_bar(*self._part)
            self._bar.show(*done, self._message(losses[0]))

    def _message(self, loss: float | None) -> str:
        if loss is None:
            return ""
        held_out = "" if self._held_out is None else f", held out {self._held_out:.4f}"
        return f"loss {loss:.4f}{held_out}"

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
