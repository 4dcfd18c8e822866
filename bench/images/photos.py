"""CIFAR-10, and photographs in folders of PNGs."""

import numpy as np
from PIL import Image

from bench import CIFAR

SIDE = 32
FILES = {"train": (["train_1.webp", "train_2.webp"], "train_1_2_labels.u8"), "test": (["test.webp"], "test_labels.u8")}


def images(part):
    """Images [n, 32, 32, 3] and labels of `train` or `test`, cut from their mosaics row by row."""
    files, labels = FILES[part]
    cut = [tiles(np.asarray(Image.open(CIFAR / name).convert("RGB"))) for name in files]
    return np.concatenate(cut), np.frombuffer((CIFAR / labels).read_bytes(), np.uint8).copy()


def tiles(mosaic):
    rows, columns = mosaic.shape[0] // SIDE, mosaic.shape[1] // SIDE
    return mosaic.reshape(rows, SIDE, columns, SIDE, 3).swapaxes(1, 2).reshape(-1, SIDE, SIDE, 3)


def read(folder, most=None):
    """The images of a folder and of those in it, by name."""
    paths = sorted(folder.rglob("*.png"), key=lambda path: path.name)[:most]
    return np.stack([np.asarray(Image.open(path).convert("RGB")) for path in paths])
