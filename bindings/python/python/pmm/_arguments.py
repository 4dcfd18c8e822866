"""Arguments that are wrong are told by their name and value, before anything begins."""

from __future__ import annotations

import operator
from typing import Any


def whole(name: str, value: Any, least: int = 0) -> int:
    """A whole number of 64 bits.

    >>> whole("steps", 1e3)
    Traceback (most recent call last):
    ...
    TypeError: steps=1000.0: a whole number is needed
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r}: a whole number is needed") from None
    if not least <= number < 2**64:
        raise ValueError(f"{name}={value!r}: at least {least} is needed, and at most 2**64 - 1")
    return number


def whole_or_none(name: str, value: Any, least: int = 0) -> int | None:
    """The same, where none need be given."""
    return None if value is None else whole(name, value, least)


def one_of(name: str, value: Any, known: tuple[str, ...]) -> None:
    """One of some words."""
    if value not in known:
        raise ValueError(f"{name}={value!r} is none of {', '.join(map(repr, known))}")


def misfit(error: BaseException | None) -> TypeError | None:
    """What is wrong with an option that the native part could not read: it knows the name, and why."""
    words = str(error)
    if not isinstance(error, TypeError) or not words.startswith("failed to extract field "):
        return None
    name = words.split()[-1].rpartition(".")[2]
    why = error.__cause__ if error.__cause__ is not None else "it is of another type"
    return TypeError(f"{name}: {why}")
