"""How fits and scores are shown in tables, whatever the images."""

import re

from bench import PAIRS


def fits(found, subject):
    """The models that were fitted, as PAIR-SEED, by pair and seed."""
    pattern = re.compile(rf"{subject.prefix}fit-(({'|'.join(PAIRS)})-\d+)")
    return sorted(match[1] for name in found if (match := pattern.fullmatch(name)))


def named(who, peer):
    """What a table calls a model."""
    pair, _, seed = who.partition("-")
    return f"pmm, {PAIRS[pair]} pair, seed {seed}" if pair in PAIRS else peer


def drawn_by(found, subject, who):
    """Its fit and its drawing, as far as they are there."""
    fit = found.get(f"{subject.prefix}fit-{who}")
    return fit, found.get(f"{subject.prefix}samples-{who}") or (fit or {}).get("drawn")


def trained(name, fit, drawn):
    """A row of what training and drawing took; none before both are done."""
    if not (fit and drawn):
        return None
    return [name, f"{fit['weights']:,}", fit["threads"], f"{fit['seconds'] / 60:.1f}", f"{fit.get('cpu_seconds', fit['cost']['cpu']) / 60:.1f}",
            f"{fit['seen']:,}", f"{fit['images_per_second']:.0f}", f"{fit['cost']['megabytes']:.0f}", f"{drawn['sampler']}, {drawn['calls']:.0f} calls",
            f"{drawn['images_per_second']:.1f}"]


def distances(scores, which):
    """Fréchet and kernel distances of samples, or of as many held-out images."""
    for score in scores:
        yield f"{score['frechet'][which]:.3f}"
        found = score["kernel"] and score["kernel"][which]
        yield f"{1000 * found['distance']:.2f} ± {1000 * found['standard_error']:.2f}" if found else "–"


def bits(scored):
    return f"{scored['bits_per_dimension']:.3f} ± {scored['standard_error']:.3f}" if scored else "–"
