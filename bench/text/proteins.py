"""Proteins: a model of 20,000 sequences beside n-gram models, whole clusters held out.

`proteins.py FOLDER` takes the examples of Debian's packages mmseqs2-examples and hmmer-examples (apt-get download; nothing is installed),
writes PROTEINS.md beside itself and keeps all else in FOLDER. STEPS in the environment sets the training steps."""

import collections
import gzip
import hashlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BINARY = Path(os.environ.get("PMM_BINARY", ROOT / "target/release/pmm"))
SCORES = Path(os.environ.get("PMM_SCORES", ROOT / "target/release/examples/scores"))
STEPS = int(os.environ.get("STEPS", 1600))
RESIDUES = "ACDEFGHIKLMNPQRSTVWY"
WORD, SKETCH, SHARED = 5, 24, 3


def packages(folder):
    """The examples, unpacked."""
    root = folder / "packages"
    if not root.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", "mmseqs2-examples", "hmmer-examples"], cwd=folder, check=True)
        for package in folder.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, root], check=True)
    return root / "usr/share/doc"


def fasta(text):
    records = []
    for block in text.split(">")[1:]:
        head, *lines = block.splitlines()
        records.append((head.split()[0], "".join(lines).upper().replace("-", "").rstrip("*")))
    return [(name, sequence) for name, sequence in records if sequence]


def sketch(sequence):
    """The smallest hashes of a sequence's words: two sequences share about as many as they have words in common."""
    letters = numpy.frombuffer(sequence.encode(), dtype=numpy.uint8).astype(numpy.uint64)
    if len(letters) < WORD:
        return numpy.empty(0, dtype=numpy.uint64)
    words = sum(letters[i : len(letters) - WORD + 1 + i] * numpy.uint64(31**i) for i in range(WORD))
    mixed = words * numpy.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> numpy.uint64(29)
    return numpy.unique(mixed * numpy.uint64(0xBF58476D1CE4E5B9))[:SKETCH]


def clusters(sequences):
    """Sequences that share words, in one, and those that share words with these: single linkage."""
    parent = list(range(len(sequences)))

    def root(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    seen = collections.defaultdict(list)
    for i, sequence in enumerate(sequences):
        common = collections.Counter()
        for word in sketch(sequence).tolist():
            common.update(seen[word][-50:])
            seen[word].append(i)
        for j, count in common.items():
            if count >= SHARED:
                parent[root(i)] = root(j)
    return [root(i) for i in range(len(sequences))]


def split(folder):
    """Files of what is learned and of what is held out: one cluster in twenty, whole."""
    learned, held_out = folder / "learned.faa", folder / "held_out.faa"
    source = packages(folder) / "mmseqs2/example-data/DB.fasta.gz"
    records = [r for r in fasta(gzip.decompress(source.read_bytes()).decode()) if set(r[1]) <= set(RESIDUES) and len(r[1]) >= 30]
    found = clusters([sequence for _, sequence in records])
    out = {True: [], False: []}
    for record, cluster in zip(records, found):
        name = records[cluster][0].encode()
        out[hashlib.sha256(name).digest()[0] < 13].append(record)
    for path, part in ((held_out, out[True]), (learned, out[False])):
        path.write_text("".join(f">{name}\n{sequence}\n" for name, sequence in part))
    return learned, held_out, out[False], out[True], len(set(found))


def run(*command):
    return subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True).stdout


def shares(sequences, length):
    counts = collections.Counter(s[i : i + length] for s in sequences for i in range(len(s) - length + 1))
    total = sum(counts.values())
    return {word: count / total for word, count in counts.items()}


def distance(a, b):
    """Half the sum of differences: 0 for the same law, 1 for laws that share nothing."""
    return 0.5 * sum(abs(a.get(word, 0) - b.get(word, 0)) for word in a.keys() | b.keys())


def nearest(sequences, learned):
    """The share of a sequence's words that its nearest learned sequence has, in the median and at most."""
    index = collections.defaultdict(set)
    for i, (_, sequence) in enumerate(learned):
        for at in range(len(sequence) - WORD + 1):
            index[sequence[at : at + WORD]].add(i)
    best = []
    for sequence in sequences:
        words = {sequence[at : at + WORD] for at in range(len(sequence) - WORD + 1)}
        counts = collections.Counter(i for word in words for i in index.get(word, ()))
        best.append(max(counts.values(), default=0) / max(len(words), 1))
    return sorted(best)[len(best) // 2], max(best)


def family(model, folder):
    """Within a family, the rank correlation of a column's entropy with the model's surprise at it, over the columns of its alignment."""
    lines = (packages(folder) / "hmmer/examples/tutorial/Pkinase.sto").read_text().splitlines()
    rows = collections.OrderedDict()
    for line in lines:
        if line and not line.startswith(("#", "//")):
            name, letters = line.split()
            rows[name] = rows.get(name, "") + letters.upper()
    file = folder / "family.faa"
    plain = {name: letters.replace(".", "").replace("-", "") for name, letters in rows.items()}
    file.write_text("".join(f">{name}\n{letters}\n" for name, letters in plain.items()))
    surprises = {(s := json.loads(line))["name"]: s["surprises"] for line in run(SCORES, model, file).splitlines()}
    entropies, means = [], []
    for column in range(len(next(iter(rows.values())))):
        letters, bits = [], []
        for name, aligned in rows.items():
            if aligned[column] in RESIDUES:
                letters.append(aligned[column])
                bits.append(surprises[name][sum(c in RESIDUES for c in aligned[:column])])
        if len(letters) >= 0.7 * len(rows):
            counts = collections.Counter(letters).values()
            entropies.append(-sum(c / len(letters) * math.log2(c / len(letters)) for c in counts))
            means.append(sum(bits) / len(bits))
    rank = lambda values: numpy.argsort(numpy.argsort(values))
    return float(numpy.corrcoef(rank(entropies), rank(means))[0, 1]), len(entropies), len(rows)


def main():
    folder = Path(sys.argv[1])
    learned_file, held_out_file, learned, held_out, count = split(folder)
    model = folder / "proteins.pmm"
    if not (model / "weights.safetensors").exists():
        run(BINARY, "fit", learned_file, "--out", model, "--force", "--quiet", "--steps", STEPS, *os.environ.get("FLAGS", "").split())
    scores = json.loads(run(BINARY, "eval", model, held_out_file, "--json", "--quiet"))
    made = [s for _, s in fasta(run(BINARY, "sample", model, "-n", 100, "--quiet"))]
    correlation, columns, members = family(model, folder)
    real, new = [s for _, s in held_out], [s for s in made if len(s) >= WORD]
    lines = ["# Proteins, measured", "", "Made by `bench/text/run proteins` from the examples of Debian's packages mmseqs2-examples and hmmer-examples.", "",
             f"{len(learned)} sequences of {sum(len(s) for _, s in learned)} residues learned, {len(held_out)} of {sum(map(len, real))} held out: whole clusters (of {count}), so that none "
             f"of them shares many 5-mers with one of those learned. {STEPS} steps.", "",
             "| | bits per residue, held out |", "|---|---|"]
    lines += [f"| n-gram of order {order}, modified Kneser–Ney | {bits:.3f} |" for order, bits in scores["ngram_bits"]]
    lines += [f"| pmm, left to right | {scores['bits_per_character']:.3f} ± {scores['standard_error']:.3f} |", f"| pmm, random order | {scores['random_order_bits']:.3f} |", "",
              "| 100 samples | samples | held out |", "|---|---|---|"]
    halves = [s for _, s in learned]
    for name, length in (("residues", 1), ("pairs of residues", 2)):
        law = shares(halves, length)
        lines.append(f"| distance of {name} to those learned | {distance(shares(new, length), law):.3f} | {distance(shares(real[:100], length), law):.3f} |")
    (made_median, made_most), (real_median, real_most) = nearest(new, learned), nearest(real[:100], learned)
    lines += [f"| words of {WORD} shared with the nearest sequence learned, median (largest) | {100 * made_median:.1f} % ({100 * made_most:.1f} %) | {100 * real_median:.1f} % ({100 * real_most:.1f} %) |",
              f"| residues, median | {sorted(map(len, made))[len(made) // 2]} | {sorted(map(len, real))[len(real) // 2]} |", "",
              f"Within one family (protein kinases, an alignment of {members} sequences in hmmer-examples): over {columns} columns the rank correlation of a column's entropy with the model's mean "
              f"surprise there is {correlation:.2f}: where the family varies, the model is less sure.", ""]
    (HERE / "PROTEINS.md").write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
