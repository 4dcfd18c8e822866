"""The pictures of RESULTS.md."""

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "pmm"
import matplotlib.pyplot as plt  # noqa: E402


def curve(ours, causal, path):
    """Bits per character against characters seen; n-gram models as levels."""
    figure, axes = plt.subplots(figsize=(7, 4.2))
    seen = lambda points: [step * 16 * 256 / 1e6 for step, _ in points]
    axes.plot(seen(ours["curve"]), [bits for _, bits in ours["curve"]], label="pmm text8-tiny (bound, held out)")
    axes.plot(seen(causal["curve"]), [bits for _, bits in causal["curve"]], label="autoregressive, PyTorch (training)")
    for order, bits in ours["ngram_bits"]:
        axes.axhline(bits, color="grey", linewidth=0.6)
        axes.annotate(f"{order}-gram", (0, bits), fontsize=7, color="grey", va="bottom")
    finish(figure, axes, "millions of characters seen", "bits per character", path)


def calls(rows, path):
    """Bits under the judge and distance of bigrams against network calls, sampler by sampler."""
    figure, both = plt.subplots(1, 2, figsize=(9, 4))
    names = list(dict.fromkeys(name for name, _, _ in rows))
    for axes, score, label in zip(both, ("judge", "bigrams"), ("judge: bits per character", "distance of bigrams")):
        for name in names:
            points = [(count, scores[score]["samples"]) for sampler, count, scores in rows if sampler == name]
            axes.plot(*zip(*points), marker="o", label=name)
        axes.axhline(rows[0][2][score]["real"], color="grey", linestyle="--", label="real text")
        axes.set_xscale("log", base=2)
        finish(figure, axes, "network calls for 256 characters", label, path)


def finish(figure, axes, x, y, path):
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
