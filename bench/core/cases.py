"""The cases: their inputs, NumPy's fastest way, and the closed forms that both sides must agree with.

Every case has rows of 1000 coordinates and one clock per row, shared along the row and spread over half to one and a
half times the stated value. Where there were several ways to write the NumPy side, the comment says which were slower.
"""

from dataclasses import dataclass
from typing import Callable

import numpy as np

WIDTH, V, MASK, TARGET = 1000, 27, np.uint32(2**32 - 1), 10.0
rng = np.random.default_rng(0)  # PCG64


@dataclass
class Case:
    pair: str
    operation: str  # "draw": at clock a. "advance": from clock TARGET - a to TARGET.
    setting: str
    a: np.ndarray  # [rows, 1]: the clock, or the step of the clock
    x: np.ndarray  # the data, or the estimate x̂
    start: np.ndarray  # the statistic before
    numpy: Callable[[np.ndarray], None]  # writes the statistic to its argument, which holds `start`
    check: Callable[[np.ndarray], float]  # the largest deviation from the closed form, in standard errors


def pattern(rows):
    """Deterministic numbers in (0, 1) and tokens, [rows, WIDTH]."""
    i = np.arange(rows * WIDTH).reshape(rows, WIDTH) * 7919
    return (i % 1000 + 0.5) / 1000, (i % V).astype(np.uint32)


def clocks(rows, a):
    return a * (0.5 + (np.arange(rows)[:, None] + 0.5) / rows)


def clock_setting(operation, a):
    return f"a = {a:g}" if operation == "draw" else f"Δa = {a:g}"


def z_scores(s, mean, variance, excess):
    """Deviations of the mean and of the variance of s, each coordinate standardised, in standard errors.

    `excess` is the excess kurtosis, so that (z² − 1) has variance 2 + excess.
    """
    z = (s - mean) / np.sqrt(variance)
    excess = np.broadcast_to(excess, z.shape)
    return max(abs(z.sum()) / np.sqrt(z.size), abs((z * z - 1).sum()) / np.sqrt((2 + excess).sum()))


def scalar(pair, operation, setting, a, x, into, moments):
    """A pair whose statistic is one number; `into(out)` writes the increments."""
    start = np.full(x.shape, float(operation == "advance"))
    scratch = np.empty(x.shape)

    def numpy(s):
        if operation == "draw":
            into(s)
        else:
            into(scratch)
            np.add(s, scratch, out=s)

    return Case(pair, operation, setting, a, x, start, numpy, lambda s: z_scores(s - start, *moments))


def normal(operation, a, rows=1000):
    u, _ = pattern(rows)
    a, x, setting = clocks(rows, a), (2 * u - 1).astype(np.float32), clock_setting(operation, a)
    block = np.empty((16, WIDTH))

    # Whole arrays at once, out of place or in place, and rng.normal(a * x, √a) are slower than blocks that stay in cache.
    def into(out):
        root = np.sqrt(a)
        for r in range(0, rows, 16):
            s, part = out[r : r + 16], block[: min(16, rows - r)]
            rng.standard_normal(out=s)
            np.multiply(root[r : r + 16], x[r : r + 16], out=part)
            s += part
            s *= root[r : r + 16]

    return scalar("Normal", operation, setting, a, x, into, (a * x, a, 0))


def poisson(operation, mean, rows=1000):
    u, _ = pattern(rows)
    a, x, setting = clocks(rows, 1), (mean * (0.5 + u)).astype(np.float32), f"mean {mean:g}"
    rate = np.empty(x.shape)

    # rng.poisson has no `out`; row by row is slower.
    def into(out):
        np.multiply(a, x, out=rate)
        out[...] = rng.poisson(rate)

    return scalar("Poisson", operation, setting, a, x, into, (a * x, a * x, 1 / (a * x)))


def gamma(operation, a, rows=1000):
    u, _ = pattern(rows)
    a, x, setting = clocks(rows, a), (0.5 + u).astype(np.float32), clock_setting(operation, a)

    # The whole array at once and rng.gamma(a, x) are slower than one shape at a time.
    def into(out):
        for r in range(rows):
            s = out[r]
            rng.standard_gamma(a[r, 0], out=s)
            s *= x[r]

    return scalar("Gamma", operation, setting, a, x, into, (a * x, a * x * x, 6 / a))


def masked_draw(a, rows=1000):
    _, token = pattern(rows)
    a, setting = clocks(rows, a), f"a = {a:g}"
    u, start = np.empty(token.shape), np.full(token.shape, MASK)
    p = -np.expm1(-a)

    # MASK has all bits set. np.where and np.putmask branch, and are slower; so is float32, which is also coarser.
    def numpy(s):
        rng.random(out=u)
        np.bitwise_or(token, (u >= -np.expm1(-a)) * MASK, out=s)

    def check(s):
        assert ((s == token) | (s == MASK)).all()
        return z_scores(s == token, p, p * (1 - p), (1 - 6 * p * (1 - p)) / (p * (1 - p)))

    return Case("Masked", "draw", setting, a, token, start, numpy, check)


def probabilities(rows):
    w = np.random.default_rng(1).random((rows * WIDTH, V)) ** 4
    return (w / w.sum(1, keepdims=True)).astype(np.float32)


def choose(x_hat, at):
    """A class for each row of x_hat[at]. Cumulative sums along the classes with argmax, sum or searchsorted are slower
    than going class by class; chunks stay in cache."""
    chosen = np.zeros(len(at), np.int64)
    for first in range(0, len(at), 8192):
        part = at[first : first + 8192]
        p, u, sum_ = x_hat.take(part, axis=0), rng.random(len(part)), np.zeros(len(part))
        for v in range(V - 1):
            sum_ += p[:, v]
            chosen[first : first + 8192] += sum_ <= u
    return chosen


def masked_advance(a, rows=100):
    _, token = pattern(rows)
    a, x_hat, setting = clocks(rows, a), probabilities(rows), f"Δa = {a:g}, half masked"
    start = np.where(np.arange(token.size).reshape(token.shape) % 2, MASK, token).astype(np.uint32)

    # Drawing for all coordinates and merging with np.where is slower.
    def numpy(s):
        p = np.broadcast_to(-np.expm1(-a), s.shape).ravel()
        s = s.ravel()
        at = np.flatnonzero(s == MASK)
        at = at[rng.random(len(at)) < p[at]]
        s[at] = choose(x_hat, at)

    def check(s):
        hidden = (start == MASK).ravel()
        assert (s.ravel()[~hidden] == start.ravel()[~hidden]).all()
        p = np.broadcast_to(-np.expm1(-a), s.shape).ravel()[hidden]
        revealed = s.ravel()[hidden] != MASK
        by_clock = z_scores(revealed, p, p * (1 - p), (1 - 6 * p * (1 - p)) / (p * (1 - p)))
        return max(by_clock, classes(s.ravel()[hidden][revealed], x_hat[hidden][revealed]))

    return Case("Masked", "advance", setting, a, x_hat, start, numpy, check)


def classes(chosen, p):
    """Deviation of the class numbers, whose law is p, from their mean and variance."""
    v = np.arange(V)
    mean = p @ v
    centred = v - mean[:, None]
    variance, fourth = (p * centred**2).sum(1), (p * centred**4).sum(1)
    return z_scores(chosen, mean, variance, fourth / variance**2 - 3)


def categorical_draw(a, rows=100):
    _, token = pattern(rows)
    a, setting = clocks(rows, a), f"a = {a:g}"
    x = np.eye(V, dtype=np.float32)[token.ravel()]
    start = np.zeros(x.shape)
    place = np.arange(token.size) * V + token.ravel()

    # Given the places of the ones beforehand. Fancy indexing, with or without leaving out zeros, is slower.
    def numpy(s):
        s.fill(0)
        s.put(place, rng.poisson(a, token.shape))

    def check(s):
        assert (s.sum(1) == s.ravel()[place]).all()
        return z_scores(s.ravel()[place].reshape(token.shape), a, a, 1 / a)

    return Case("Categorical", "draw", setting, a, x, start, numpy, check)


def categorical_advance(a, rows=100):
    a, x_hat, setting = clocks(rows, a), probabilities(rows), f"Δa = {a:g}"
    start = np.ones(x_hat.shape)

    # For steps up to about 10, a Poisson number of marks, each put in its class, is faster than rng.poisson(Δa x̂) and
    # than rng.multinomial.
    def numpy(s):
        at = np.repeat(np.arange(len(x_hat)), rng.poisson(a, (rows, WIDTH)).ravel())
        np.add.at(s.ravel(), at * V + choose(x_hat, at), 1.0)

    def check(s):
        mean = np.repeat(a, WIDTH, 1).reshape(-1, 1) * x_hat
        pooled = z_scores((s - start).sum(1), mean.sum(1), mean.sum(1), 1 / mean.sum(1))
        chosen = (s - start).astype(np.int64)
        flat = np.repeat(np.arange(chosen.size), chosen.ravel())
        return max(pooled, classes(flat % V, x_hat[flat // V]))

    return Case("Categorical", "advance", setting, a, x_hat, start, numpy, check)


def cases():
    """Makes the cases one at a time: together they would not fit a small machine's caches, nor need they."""
    yield from (lambda a=a: normal("draw", a) for a in (0.5, 5, 50))
    yield from (lambda a=a: normal("advance", a) for a in (0.05, 0.5))
    yield from (lambda m=m: poisson("draw", m) for m in (0.5, 5, 50, 1000))
    yield from (lambda m=m: poisson("advance", m) for m in (0.05, 0.5, 5))
    yield from (lambda a=a: gamma("draw", a) for a in (0.5, 5, 50))
    yield from (lambda a=a: gamma("advance", a) for a in (0.01, 0.5))
    yield from (lambda a=a: masked_draw(a) for a in (0.5, 5))
    yield from (lambda a=a: masked_advance(a) for a in (0.1, 1))
    yield from (lambda a=a: categorical_draw(a) for a in (0.5, 5, 50))
    yield from (lambda a=a: categorical_advance(a) for a in (0.1, 1))
