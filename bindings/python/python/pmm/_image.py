"""Models of images."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ._arguments import whole, whole_or_none
from ._errors import DataError
from ._model import Model
from ._report import Picture, Report, evaluating
from ._running import Running

if TYPE_CHECKING:
    from ._pmm import ImageModel as NativeModel

#: A file or folder; an array of images × height × width (× 3) of bytes; or pictures of PIL.
ImageLike = Any
Pixels = npt.NDArray[np.uint8]
Sampler = Literal["sde", "sde2", "euler", "heun", "dpm", "leap"]


def take_images(data: ImageLike, labels: Sequence[Any] | None = None) -> Any:
    """What the native part reads: a path, or (shape, pixels, labels, classes)."""
    if isinstance(data, (str, os.PathLike)):
        if labels is not None:
            raise DataError("labels go with an array of images", "in a folder of images, folders are classes, or its labels.csv says them")
        return os.fspath(data)
    planes = _planes(data)
    if labels is None:
        return planes.shape[1:], planes.tobytes(), [], []
    names = [str(label) for label in labels]
    classes = sorted(set(names))
    return planes.shape[1:], planes.tobytes(), [classes.index(name) for name in names], classes


def _planes(data: Any) -> Pixels:
    """Images × channels × height × width."""
    array = np.asarray(data) if isinstance(data, np.ndarray) else np.stack([np.asarray(image) for image in data])
    if array.dtype != np.uint8:
        raise DataError(f"pixels of type {array.dtype}", "give bytes: (255 * array).astype('uint8'), if they are shares")
    if array.ndim == 3:
        array = array[..., np.newaxis]
    if array.ndim != 4 or array.shape[3] not in (1, 3):
        raise DataError(
            f"an array of shape {array.shape} holds no images", "give images × height × width, and × 3 for colours"
        )
    return np.ascontiguousarray(np.moveaxis(array, 3, 1))


class ImageModel(Model):
    """A model of images, which draws new ones and fills in parts."""

    _native: NativeModel

    @property
    def shape(self) -> tuple[int, ...]:
        """Height and width of an image, and 3 for colours."""
        (channels, height, width), _ = self._native.shape()
        return (height, width) if channels == 1 else (height, width, channels)

    @property
    def classes(self) -> list[str]:
        """The names of the classes; none where images have none."""
        return self._native.shape()[1]

    def sample(
        self,
        n: int = 64,
        *,
        label: Any = None,
        guidance: float | None = None,
        seed: int = 0,
        sampler: Sampler | None = None,
        calls: int | None = None,
        churn: float | None = None,
        ending: Literal["estimate", "mean"] | None = None,
        return_labels: bool = False,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Any:
        """``n`` new images: an array of bytes, images × height × width (× 3).

        ``label`` is the class of all; by default classes are as frequent as in the data, and ``return_labels=True`` returns them as
        well. ``guidance`` above 1 makes images more typical of their class.
        """
        drawing = _drawing(seed, label, guidance, sampler, calls, churn, ending)
        with Running(progress, threads) as running:
            pixels, labels = self._native.sample(whole("n", n), drawing, running)
        images = self._images(pixels)
        if not return_labels:
            return images
        classes = self.classes
        return images, [None if place is None else classes[place] for place in labels]

    def inpaint(
        self,
        image: Any,
        unknown: npt.ArrayLike,
        n: int = 1,
        *,
        label: Any = None,
        guidance: float | None = None,
        seed: int = 0,
        sampler: Sampler | None = None,
        calls: int | None = None,
        churn: float | None = None,
        ending: Literal["estimate", "mean"] | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Pixels:
        """``n`` completions of an image: pixels that are ``unknown`` (an array of truths, height × width) are filled in."""
        planes = _planes(np.asarray(image)[np.newaxis])
        mask = np.asarray(unknown, dtype=bool)
        if mask.shape != planes.shape[2:]:
            raise DataError(f"a mask of shape {mask.shape} for an image of {planes.shape[2:]}", "give one truth a pixel")
        drawing = _drawing(seed, label, guidance, sampler, calls, churn, ending)
        with Running(progress, threads) as running:
            pixels, _ = self._native.inpaint(planes.tobytes(), mask.ravel().tolist(), whole("n", n), drawing, running)
        return self._images(pixels)

    def evaluate(
        self,
        test: ImageLike,
        *,
        labels: Sequence[Any] | None = None,
        train: ImageLike | None = None,
        samples: ImageLike | None = None,
        seed: int = 0,
        out: str | os.PathLike[str] | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Report:
        """Scores on images that the model has not seen. ``out`` is a folder for the page and its pictures.

        With ``samples``, images that anyone has made, these are scored in place of the model's own.
        """
        trained, made = (None if images is None else take_images(images) for images in (train, samples))
        how = evaluating(seed, out)
        with Running(progress, threads) as running:
            return Report(self._native.evaluate(take_images(test, labels), trained, made, how, running))

    def trace(self, *, seed: int = 0, threads: int | None = None, progress: bool | None = None) -> Picture:
        """A picture that moves: images coming out of noise."""
        with Running(progress, threads) as running:
            return Picture(png=bytes(self._native.trace(seed, running)))

    def _images(self, pixels: Pixels) -> Pixels:
        (channels, height, width), _ = self._native.shape()
        images = np.moveaxis(pixels.reshape(-1, channels, height, width), 1, 3)
        return np.ascontiguousarray(images[..., 0] if channels == 1 else images)


def _drawing(
    seed: int,
    label: Any,
    guidance: float | None,
    sampler: Sampler | None,
    calls: int | None,
    churn: float | None,
    ending: str | None,
) -> dict[str, Any]:
    return {
        "seed": whole("seed", seed),
        "label": None if label is None else str(label),
        "guidance": guidance,
        "sampler": sampler,
        "calls": whole_or_none("calls", calls),
        "churn": churn,
        "ending": ending,
    }
