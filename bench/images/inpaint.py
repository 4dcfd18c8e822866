"""Digits of which a part is hidden and drawn anew."""

import numpy as np

import pictures
from bench import fresh
from digits import mnist, read, write
from measuring import BINARY, pmm, table
from seen import SCRIPT, classifier, percent, share

MASKS = {"half": "the lower half", "square": "a square of 14×14 pixels anywhere"}
SIDE, FILLINGS, SHOWN = 14, 3, 10


def hidden(kind, rng):
    """Which pixels are."""
    mask = np.zeros((28, 28), bool)
    top, left = rng.integers(0, 28 - SIDE + 1, 2)
    if kind == "half":
        mask[14:] = True
    else:
        mask[top : top + SIDE, left : left + SIDE] = True
    return mask


def measure(bench):
    tell = classifier(bench).tell
    for kind in MASKS:
        bench.kept(f"inpaint-{kind}", lambda: fill_all(bench, tell, kind), (BINARY, SCRIPT))


def chosen(bench, kind):
    """Test digits, their labels and what is hidden of them."""
    (images, labels), rng = mnist("t10k"), np.random.default_rng(0)
    rows = rng.choice(len(images), bench.budget.filled, replace=False)
    return images[rows], labels[rows], np.stack([hidden(kind, rng) for _ in rows])


def fill(model, folder, number, image, mask, threads):
    """Fillings of one digit. Guidance 0: no class is told."""
    given, where = folder / "given" / f"{number:06}.png", folder / "mask" / f"{number:06}.png"
    write(given, image)
    write(where, mask.astype(np.uint8) * 255)
    how = ["-n", FILLINGS, "--guidance", 0, "--seed", number, "--quiet", *threads]
    pmm("sample", model, "--given", given, "--mask", where, *how, "--out", folder / "filled" / f"{number:06}")
    return read(folder / "filled" / f"{number:06}")[0]


def fill_all(bench, tell, kind):
    model, folder = bench.model("normal"), fresh(bench.path(f"inpaint-{kind}"))
    images, labels, masks = chosen(bench, kind)
    filled = np.stack([fill(model, folder, number, *both, bench.threads) for number, both in enumerate(zip(images, masks))])  # [digit, filling, 28, 28]
    kept = np.where(masks[:, None], 0, filled ^ images[:, None]) == 0
    mean = mnist("train")[0].mean(0).round().astype(np.uint8)
    seen = lambda images: share(tell(images.reshape(-1, 28, 28)).reshape(len(labels), -1) == labels[:, None])
    return {"digits": len(images), "unchanged": bool(kept.all()), "filled": seen(filled), "original": seen(images),
            "mean": seen(np.where(masks, mean, images))}


def picture(bench):
    """Rows: digits, what is given of them, and fillings; the two masks side by side."""
    grids = []
    for kind in MASKS:
        folder = bench.path(f"inpaint-{kind}") / "filled"
        if not folder.exists():
            return
        images, _, masks = (part[:SHOWN] for part in chosen(bench, kind))
        drawn = np.stack([read(folder / f"{number:06}")[0] for number in range(len(images))], 1)
        given = np.where(masks, pictures.PAPER, images).astype(np.uint8)
        grids.append(pictures.grid(np.concatenate([images, given, *drawn]), len(images)))
    pictures.save(pictures.beside(grids), bench.base / "inpaint.png", 1)


def report(bench, found):
    pieces = {kind: piece for kind in MASKS if (piece := found.get(f"inpaint-{kind}"))}
    if not pieces:
        return []
    picture(bench)
    cells = lambda piece: [percent(piece[name]) for name in ("filled", "mean", "original")]
    rows = [[MASKS[kind], *cells(piece), "yes" if piece["unchanged"] else "NO"] for kind, piece in pieces.items()]
    some = next(iter(pieces.values()))
    lines = ["## Filling in", "",
             f"{some['digits']} test digits, a part of each hidden, {FILLINGS} fillings by the Normal model, no class told (`--guidance 0`). How often the classifier",
             "sees the right digit: in the fillings, in the same digits with the mean of the training images in the hidden part, and in the digits as they were.", "",
             *table(["hidden", "filled by pmm", "filled with the mean", "nothing hidden", "all other pixels as given, to the byte"], rows)]
    shown = [f"Rows: the digit, what is given, {FILLINGS} fillings.", "", "![Digits filled in](inpaint.png)", ""]
    return lines + (shown if (bench.base / "inpaint.png").exists() else [])
