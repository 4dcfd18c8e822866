"""ForestDiffusion, cut down to bound its cost: 20 noise levels, each row repeated 10 times, 50 trees of depth 7 a level.

Its defaults are 50, 100 and 100. Categories go first, since it mixes up one-hot columns from the eleventh on.
"""

import numpy as np
import pandas as pd
from ForestDiffusion import ForestDiffusionModel

import job as j

SIZE = dict(n_t=20, duplicate_K=10, n_estimators=50, max_depth=7)


def encode(frame, kinds):
    """An array of numbers, categories of more than two levels first; its columns; the levels of each category."""
    levels = {c: sorted(frame[c].unique()) for c in frame if kinds[c] == "cat"}
    columns = sorted(frame, key=lambda c: len(levels.get(c, ())) <= 2)
    coded = frame[columns].copy()
    for c, values in levels.items():
        coded[c] = coded[c].map({v: i for i, v in enumerate(values)})
    return coded.to_numpy(float), columns, levels


def decode(array, columns, levels):
    frame = pd.DataFrame(array, columns=columns)
    for c, values in levels.items():
        index = frame[c].round().clip(0, len(values) - 1).astype(int)
        frame[c] = np.array(values, dtype=object)[index]
    return frame


def fit(x, columns, levels, kinds, seed):
    where = lambda keep: [i for i, c in enumerate(columns) if keep(c)]
    many = where(lambda c: len(levels.get(c, ())) > 2)
    if len(many) > 10:
        raise SystemExit("more than ten categories: ForestDiffusion 1.0.6 would mix them up")
    two = where(lambda c: c in levels and len(levels[c]) <= 2)
    whole = where(lambda c: kinds[c] == "count")
    kinds_of = dict(cat_indexes=many, bin_indexes=two, int_indexes=whole)
    one_model = x.shape[1] > 1  # for all columns; it fails on a single one
    return ForestDiffusionModel(x, **kinds_of, p_in_one=one_model, n_batch=0, n_jobs=2, nthread=1, seed=seed, **SIZE)


def main():
    job, train = j.load()
    gaps = j.Gaps(train, job["kinds"], job["seed"])
    x, columns, levels = encode(gaps.close(train), gaps.kinds)
    model, fitting = j.timed(lambda: fit(x, columns, levels, gaps.kinds, job["seed"]))
    array, drawing = j.timed(lambda: model.generate(batch_size=job["n"]))
    synth = gaps.open(decode(array, columns, levels))
    j.finish("synth.csv", synth[list(job["kinds"])], fitting, drawing)


if __name__ == "__main__":
    main()
