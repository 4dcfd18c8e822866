"""The pictures of the pages of results."""

import matplotlib
import numpy as np
from PIL import Image

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "pmm"
import matplotlib.pyplot as plt  # noqa: E402

PAPER = 128  # the grey between images


def grid(images, columns):
    """Images [n, height, width], grey or in colour [n, height, width, 3], row by row, a pixel apart."""
    framed = np.pad(images, ((0, 0), (0, 1), (0, 1), (0, 0))[: images.ndim], constant_values=PAPER)
    rows = [np.concatenate(list(framed[first : first + columns]), axis=1) for first in range(0, len(framed) - columns + 1, columns)]
    return np.concatenate(rows)


def beside(grids, gap=8):
    """Grids of the same height, side by side."""
    between = np.full((len(grids[0]), gap), 255, np.uint8)
    parts = [part for grid in grids for part in (between, grid)]
    return np.concatenate(parts[1:], axis=1)


def save(picture, path, scale=2):
    Image.fromarray(picture.repeat(scale, 0).repeat(scale, 1)).save(path, optimize=True)


def calls(rows, real, label, path):
    """Distances against network calls, sampler by sampler, from (sampler, calls, distance)."""
    figure, axes = plt.subplots(figsize=(7, 4.2))
    for name in dict.fromkeys(sampler for sampler, _, _ in rows):
        axes.plot(*zip(*[(count, distance) for sampler, count, distance in rows if sampler == name]), marker="o", label=name)
    axes.axhline(real, color="grey", linestyle="--", label="real test images")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("network calls")
    axes.set_ylabel(label)
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
