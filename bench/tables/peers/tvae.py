"""TVAE (package ctgan) at its default size and 300 epochs."""

import torch
from ctgan import TVAE

import job as j

EPOCHS = 300


def main():
    torch.set_num_threads(2)
    job, train = j.load()
    torch.manual_seed(job["seed"])
    gaps = j.Gaps(train, job["kinds"], job["seed"])
    closed = gaps.close(train)
    categories = [c for c in closed if gaps.kinds[c] == "cat"]
    model = TVAE(epochs=EPOCHS, enable_gpu=False)
    model.set_random_state(job["seed"])
    _, fitting = j.timed(lambda: model.fit(closed, categories))
    synth, drawing = j.timed(lambda: model.sample(job["n"]))
    j.finish("synth.csv", gaps.open(synth)[list(job["kinds"])], fitting, drawing)


if __name__ == "__main__":
    main()
