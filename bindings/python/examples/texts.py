"""A text: fit, write more of it, fill a gap. `python examples/texts.py`"""

from __future__ import annotations

import pmm


def main() -> None:
    text = "the cat sat on the mat and the dog lay on the log. " * 60
    net = {"width": 32, "heads": 4, "blocks": 2, "length": 32}
    model: pmm.TextModel = pmm.fit([text], steps=200, net=net)
    print(model.sample(2, given="the "))
    print(model.infill("the ___ sat on the ___", 3))


if __name__ == "__main__":
    main()
