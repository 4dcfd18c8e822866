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


def orders(networks, path):
    """Bits per character from left to right and in random order against seconds of processor time; (name, a result of each seed) of each network."""
    figure, both = plt.subplots(1, 2, figsize=(10, 5))
    for axes, order, label in zip(both, ("left_to_right", "random"), ("left to right", "random order")):
        for index, (name, results) in enumerate(networks):
            for seed, result in enumerate(results):
                points = [(point["seconds"], point[order]) for point in result["curve"] if point[order] is not None]
                if not points:
                    points = [(result["curve"][-1]["seconds"], result[order]["bits"])]
                label_of = name.replace("`", "") if seed == 0 else None
                axes.plot(*zip(*points), marker="o", markersize=3, color=f"C{index}", alpha=1 - 0.4 * seed, label=label_of)
        axes.set_title(label, fontsize=9)
        # A network that has learned one order knows nothing of another.
        axes.set_ylim(top=min(axes.get_ylim()[1], 4.3))
        finish(figure, axes, "seconds of processor time", "bits per character", path, size=6)


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


def finish(figure, axes, x, y, path, size=8):
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.legend(fontsize=size)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
