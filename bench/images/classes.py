"""How often a classifier sees the digit that was asked for."""

import numpy as np

import pictures
from bench import SAMPLERS, fresh
from digits import read
from measuring import BINARY, pmm, table
from mnist import PEER, peer_samples
from seen import SCRIPT, classifier, percent, told

# Guidance 0 leaves the class out.
ASKED = [("normal", 1), ("normal", 2), ("normal", 4), ("normal", 0), ("poisson", 1)]
SHOWN = 4


def measure(bench):
    tell = classifier(bench).tell
    for pair, guidance in ASKED:
        bench.kept(f"classes-{pair}-{guidance}", lambda: asked(bench, tell, pair, guidance), (BINARY, SCRIPT))
    if "fit-peer" in bench.found():
        bench.kept("classes-peer", lambda: told(tell, peer_samples(bench)), (PEER, SCRIPT))


def asked(bench, tell, pair, guidance):
    """Digits of every class, each in a folder; what is seen in them, and how far they are from real ones."""
    folder, (sampler, calls) = fresh(bench.path(f"classes-{pair}-{guidance}")), SAMPLERS[pair]
    how = ["-n", bench.budget.asked, "--sampler", sampler, "--steps", calls, "--guidance", guidance, "--quiet", *bench.threads]
    for digit in range(10):
        pmm("sample", bench.model(pair), *how, "--given", f"label={digit}", "--seed", digit, "--out", folder / str(digit))
    return told(tell, folder) | {"score": bench.score(folder), "calls": calls}


def rows(found):
    names = {0: "Normal pair, no class told", "poisson": "Poisson pair, guidance 1"}
    for pair, guidance in ASKED:
        if piece := found.get(f"classes-{pair}-{guidance}"):
            name = names.get(guidance) or names.get(pair) or f"Normal pair, guidance {guidance}"
            yield [name, percent(piece["right"]), f"{piece['score']['frechet']['samples']:.3f}"]
    if piece := found.get("classes-peer"):
        yield ["torchcfm", percent(piece["right"]), "–"]
    if piece := found.get("classifier"):
        yield ["real test digits", f"{100 * piece['accuracy']:.1f} %", "–"]


def picture(bench):
    """For each guidance some digits, a column a class."""
    folders = [bench.path(f"classes-normal-{guidance}") for guidance in (1, 2, 4)]
    if all(folder.exists() for folder in folders):
        some = [np.stack([read(folder / str(digit), SHOWN)[0] for digit in range(10)], 1).reshape(-1, 28, 28) for folder in folders]
        pictures.save(pictures.beside([pictures.grid(images, 10) for images in some]), bench.base / "classes.png", 1)
    return ["![Digits by class, with guidance 1, 2 and 4](classes.png)", ""] if (bench.base / "classes.png").exists() else []


def report(bench, found):
    pieces = [piece for pair, guidance in ASKED if (piece := found.get(f"classes-{pair}-{guidance}"))]
    if not pieces or "classifier" not in found:
        return []
    score, trained = pieces[0]["score"], found["classifier"]
    return ["## Classes and guidance", "",
            f"{pieces[0]['right']['images']:,} digits for each row, as many of every class. A small convolutional network, trained on MNIST for",
            f"{trained['steps']:,} steps, says what it sees. The last column is the {score['frechet_name']}",
            f"(as many real test images: {score['frechet']['held_out']:.3f}).", "",
            *table(["", "the digit asked for is seen", "Fréchet distance"], rows(found)), *picture(bench)]
