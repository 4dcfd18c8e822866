"""Texts as lists, images as arrays and as pictures of PIL."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import pmm


@pytest.fixture(scope="module")
def text_model() -> Any:
    text = "the cat sat on the mat and the dog lay on the log. " * 60
    net = {"width": 32, "heads": 4, "blocks": 2, "length": 32}
    return pmm.fit([text], steps=120, net=net, progress=False)


def test_texts(text_model: Any) -> None:
    assert isinstance(text_model, pmm.TextModel) and text_model.length == 32
    texts = text_model.sample(3, given="the ", seed=1)
    assert len(texts) == 3 and all(text.startswith("the ") for text in texts)
    assert texts == text_model.sample(3, given="the ", seed=1) != text_model.sample(3, given="the ", seed=2)
    filled = text_model.infill("the ___ sat on the ___", 4)
    assert len(filled) == 4
    for text in filled:
        assert text.startswith("the ") and text[7:19] == " sat on the " and "_" not in text
    assert text_model.sample(1, temperature=0) == text_model.sample(1, temperature=0, seed=9)
    with pytest.raises(ValueError, match="sampler"):
        text_model.sample(1, sampler="backwards")
    with pytest.raises(pmm.DataError, match="no gap"):
        text_model.infill("nothing to fill")
    assert pickle.loads(pickle.dumps(text_model)).sample(2) == text_model.sample(2)
    assert text_model.trace().svg.startswith("<svg")
    report = text_model.evaluate(["the dog sat on the log and the cat lay on the mat. " * 12])
    assert report.figures["bits_per_character"] > 0 and "<html" in report.html


def test_orders_lengths_and_candidates(text_model: Any) -> None:
    assert text_model.sample(2, order="left_to_right") == text_model.sample(2)
    assert text_model.sample(2, order="random") != text_model.sample(2)
    assert text_model.sample(2, order="random") == text_model.sample(2, order="random")
    assert len(text_model.sample(1, length=100)[0]) == 100, "characters are the tokens, beyond the window"
    with pytest.raises(ValueError, match="order='backwards'|order=\"backwards\""):
        text_model.sample(1, order="backwards")
    with pytest.raises(pmm.DataError, match="order"):
        text_model.sample(1, order="random", steps=4)
    with pytest.raises(pmm.DataError, match="left to right"):
        text_model.sample(1, order="random", length=100)
    assert text_model.infill("the ___ sat", 2, order="random") == text_model.infill("the ___ sat", 2, order="random")
    ranked, bits = text_model.infill("the ___ sat on the ___", 3, candidates=20, return_bits=True)
    assert 1 <= len(ranked) == len(bits) <= 3 and (np.diff(bits) >= 0).all() and len(set(ranked)) == len(ranked)
    assert np.allclose(bits, text_model.score(ranked).left_to_right)
    open_gap = text_model.infill("the cat [MASK] mat", longest=8, whole_words=True)[0]
    assert open_gap.startswith("the cat") and open_gap.endswith(" mat")
    with pytest.raises(ValueError, match="candidates"):
        text_model.infill("the ___ sat", return_bits=True)


def test_scores_of_texts(text_model: Any, tmp_path: Any) -> None:
    texts = ["the cat sat on the mat", "tac eht tas no tam eht", "the dog"]
    scores = text_model.score(texts)
    assert len(scores) == 3 and "bits per character" in repr(scores)
    assert scores.left_to_right[0] < scores.left_to_right[1], "what was learned costs less"
    assert scores.tokens.tolist() == scores.characters.tolist() == [len(text) for text in texts]
    for text, surprises, bits in zip(texts, scores.surprises, scores.left_to_right):
        assert len(surprises) == len(text) and np.isclose(surprises.sum(), bits)
    assert (scores.order_averaged <= scores.random + 1e-9).all()
    assert np.array_equal(scores.random, text_model.score(texts).random)
    assert not np.array_equal(scores.random, text_model.score(texts, seed=1).random)
    alone = text_model.score(texts[:1], orders=0)
    assert np.isnan(alone.random[0]) and alone.left_to_right[0] == scores.left_to_right[0]
    assert len(text_model.score([])) == 0
    (tmp_path / "lines.jsonl").write_text('{"text": "the cat sat on the mat"}\n')
    assert text_model.score(tmp_path / "lines.jsonl").left_to_right[0] == scores.left_to_right[0]
    with pytest.raises(FileNotFoundError, match="in a list"):
        text_model.score("the cat sat on the mat")
    with pytest.raises(pmm.DataError, match="vocabulary"):
        text_model.score(["THE CAT"])


def test_others_texts_are_scored(text_model: Any) -> None:
    held_out = ["the dog sat on the log and the cat lay on the mat. " * 12]
    report = text_model.evaluate(held_out, samples=["the cat sat on the log. ", "the dog lay on the mat. "])
    assert "<html" in report.html


def bars(count: int) -> tuple[np.ndarray, list[str]]:
    """Images of 8×8 pixels with a bar, lying or standing."""
    images = np.full((count, 8, 8), 20, dtype=np.uint8)
    for place in range(count):
        at = 1 + place % 6
        images[place, at, :] = 230
        if place % 2:
            images[place] = images[place].T
    return images, ["lying" if place % 2 == 0 else "standing" for place in range(count)]


@pytest.fixture(scope="module")
def image_model() -> Any:
    images, labels = bars(80)
    return pmm.fit(images, labels=labels, steps=40, net__width=8, progress=False)


def test_images(image_model: Any) -> None:
    assert isinstance(image_model, pmm.ImageModel)
    assert image_model.shape == (8, 8) and image_model.classes == ["lying", "standing"]
    images, labels = image_model.sample(5, return_labels=True)
    assert images.shape == (5, 8, 8) and images.dtype == np.uint8 and set(labels) <= {"lying", "standing"}
    assert np.array_equal(images, image_model.sample(5))
    assert image_model.sample(2, label="lying", guidance=2.0, calls=4).shape == (2, 8, 8)
    unknown = np.zeros((8, 8), dtype=bool)
    unknown[:, 4:] = True
    filled = image_model.inpaint(images[0], unknown, 3)
    assert filled.shape == (3, 8, 8) and (filled[:, :, :4] == images[0][:, :4]).all()
    with pytest.raises(pmm.DataError, match="mask"):
        image_model.inpaint(images[0], unknown[:4])
    with pytest.raises(pmm.DataError, match="float64"):
        pmm.fit(np.zeros((9, 8, 8)))
    assert np.array_equal(pickle.loads(pickle.dumps(image_model)).sample(2), image_model.sample(2))
    assert image_model.trace().png.startswith(b"\x89PNG")


def test_pictures_of_pil_in_colours() -> None:
    pil = pytest.importorskip("PIL.Image")
    draw = np.random.default_rng(0)
    pictures = [pil.fromarray(draw.integers(0, 255, (8, 8, 3), dtype=np.uint8)) for _ in range(24)]
    model = pmm.fit(pictures, steps=3, net__width=8, progress=False)
    assert model.shape == (8, 8, 3) and model.sample(2, calls=3).shape == (2, 8, 8, 3)
    assert model.inpaint(pictures[0], np.eye(8, dtype=bool), calls=3).shape == (1, 8, 8, 3)
