"""MNIST, and digits in folders of PNGs."""

import gzip

import numpy as np
from PIL import Image

from bench import MNIST


def mnist(part):
    """Images [n, 28, 28] and labels of `train` or `t10k`."""
    images = gzip.decompress((MNIST / f"{part}-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((MNIST / f"{part}-labels-idx1-ubyte.gz").read_bytes())
    numbers = lambda data, offset: np.frombuffer(data, np.uint8, offset=offset).copy()
    return numbers(images, 16).reshape(-1, 28, 28), numbers(labels, 8)


def read(folder, most=None):
    """The images of a folder and of those in it, by name, and the folders that they are in."""
    paths = sorted(folder.rglob("*.png"), key=lambda path: path.name)[:most]
    return np.stack([np.asarray(Image.open(path).convert("L")) for path in paths]), [path.parent.name for path in paths]


def write(path, image):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image).save(path)
