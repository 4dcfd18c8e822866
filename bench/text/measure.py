"""Measures pmm on texts beside a PyTorch reference and n-gram models: `measure.py PART… [--orders-seconds 200] [--shakespeare-seconds 1200]`.
Every finished piece is kept in .cache/ under the hash of the binary; `report` writes RESULTS.md and the pictures from the newest of each."""

import argparse
import json
import lzma
import math
import subprocess
import sys
from pathlib import Path

import plots

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import measuring
from measuring import BINARY, ROOT, cpu_seconds, pmm, pmm_json

SHARED = measuring.SHARED / "text"
WORK, CACHE = HERE / ".work", HERE / ".cache"
SCHEDULES = ["log-linear", "linear", "staircase", "semi-autoregressive"]
CALLS = [8, 16, 32, 64, 128, 256]
SAMPLERS = ["steps", "parallel", "confident"]
STEPS, SCHEDULE_STEPS = 400, 300
TINY = ["pattern_rate=0.3", "net.hash_bits=18"]
# Networks of one size: what each is, and its settings for `ordered_measure`.
ORDERS = {
    "ordered": ("ordered, as `text8-tiny`", [*TINY, "order.random=2"]),
    "straight": ("the same network, left to right only: a left-to-right transformer of the same parts", [*TINY, "order.random=0", "order.infill=0"]),
    "masked": ("masked", ["net.kind=masked"]),
    "masked-muon": ("masked, with Muon", ["net.kind=masked", "muon.rate=0.02", "train.schedule=trapezoid"]),
}
# Those that `masked_parts.py` trains: in the same seconds, and in as many steps as the ordered network took with the same seed.
MASKED_PARTS = {
    "parts": "masked, with blocks, window, tables of patterns and Muon of the ordered one, PyTorch",
    "parts-steps": "the same, as many steps as the ordered one",
}
SEEDS = [0, 1]
# Both networks for Shakespeare; the time of a step is judged by two fits of so many steps, without looks on the way.
SHAKESPEARE = {"ordered": [], "masked": ["--set", "net.kind=masked"]}
TRIAL_STEPS = (20, 60)


def kept(name, make, of=BINARY):
    return measuring.kept(CACHE, name, make, of)


def torch(*arguments):
    out = subprocess.run([sys.executable, str(HERE / "train.py"), *map(str, arguments)], check=True, stdout=subprocess.PIPE)
    return json.loads(out.stdout.splitlines()[-1])


def shakespeare():
    import gzip
    path = WORK / "shakespeare.txt"
    if not path.exists():
        WORK.mkdir(exist_ok=True)
        path.write_bytes(gzip.decompress((SHARED / "tinyshakespeare.txt.gz").read_bytes()))
    text = path.read_bytes()
    held_out = WORK / "shakespeare.valid.txt"
    held_out.write_bytes(text[len(text) - round(0.05 * len(text)) :])
    return path, held_out


def text8():
    path, held_out = WORK / "text8.txt", WORK / "text8.valid.txt"
    if not path.exists():
        WORK.mkdir(exist_ok=True)
        text = lzma.open(SHARED / "text8.first70M.xz").read()
        held_out.write_bytes(text[-4_000_000:])
        path.write_bytes(text)
    return path, held_out


def fit_seconds(model, text, *settings):
    """CPU seconds of a fit."""
    before = cpu_seconds()
    pmm("fit", text, "--out", model, "--force", "--quiet", *settings)
    return cpu_seconds() - before


def fit_and_eval(model, text, held_out, *settings):
    """The scores of a fit, with its CPU seconds and its curve (step, bits per character held out)."""
    seconds = fit_seconds(model, text, *settings)
    rows = [line.split(",") for line in (model / "log.csv").read_text().splitlines()[1:]]
    extra = {"fit_cpu": seconds, "curve": [(int(row[0]), float(row[3]) / math.log(2)) for row in rows]}
    return pmm_json("eval", model, held_out) | extra


def reference(example_name, script):
    """Whether ten steps in PyTorch, by a script, agree with those of an example."""
    text, _ = shakespeare()
    folder = WORK / script
    subprocess.run([str(example(example_name)), str(text), str(folder)], check=True)
    out = subprocess.run([sys.executable, str(HERE / f"{script}.py"), str(folder)], stdout=subprocess.PIPE, text=True)
    print(out.stdout)
    return {"agrees": out.returncode == 0, "said": out.stdout.splitlines()[-1]}


def references():
    kept("reference", lambda: reference("text_reference", "reference"))
    kept("ordered-reference", lambda: reference("ordered_reference", "ordered_reference"))


def same():
    """The same network, trained as long in both."""
    text, held_out = shakespeare()
    for seed in range(3):
        kept(f"same-pmm-{seed}", lambda: fit_and_eval(
            WORK / "same.pmm", text, held_out, "--set", "net.kind=masked", "--steps", STEPS, "--seed", seed, "--set", f"train.ema={1 - 10 / STEPS}"))
        kept(f"same-torch-{seed}", lambda: torch(text, "--valid", 0.05, "--steps", STEPS, "--seed", seed), HERE / "train.py")


def text8_tiny():
    text, held_out = text8()
    for seed in reversed(SEEDS):  # the first seed's model stays, for `calls`
        kept(f"text8-pmm-{seed}", lambda: fit_and_eval(
            WORK / "text8.pmm", text, held_out, "--preset", "text8-tiny", "--valid", 4 / 70, "--seed", seed))


def text8_masked():
    text, held_out = text8()
    model = WORK / "text8-masked.pmm"
    kept("text8-masked", lambda: fit_and_eval(model, text, held_out, "--preset", "text8-tiny-masked", "--valid", 4 / 70))


def example(name):
    """An example of pmm-train, built beside the program if it is not there."""
    path = BINARY.parent / "examples" / name
    if not path.exists():
        command = ["cargo", "build", "--release", "--quiet", "-p", "pmm-train", "--example", name]
        subprocess.run(command, check=True, cwd=ROOT)
        path = ROOT / "target/release/examples" / name
    return path


def orders(seconds):
    """Networks of one size on text8 with the same seconds of one processor each, by two seeds."""
    text, _ = text8()
    program = example("ordered_measure")

    def run(settings, seed):
        command = [program, WORK / "text8.tokens", seconds, *settings, f"seed={seed}"]
        environment = {"TEXT": text, "RAYON_NUM_THREADS": 1}
        out = subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE,
                             env=measuring.os.environ | {key: str(value) for key, value in environment.items()})
        return json.loads(out.stdout)

    def run_parts(seed, *budget):
        command = [sys.executable, HERE / "masked_parts.py", text, "--seed", seed, *budget]
        return json.loads(subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE).stdout)

    parts = tuple(HERE / name for name in ("masked_parts.py", "ordered_network.py", "optimisers.py"))
    for seed in SEEDS:
        for name, (_, settings) in ORDERS.items():
            kept(f"orders-{seconds}-{name}-{seed}", lambda: run(settings, seed), program)
        kept(f"orders-{seconds}-parts-{seed}", lambda: run_parts(seed, "--seconds", seconds), parts)
        steps = measuring.newest(CACHE)[f"orders-{seconds}-ordered-{seed}"]["steps"]
        kept(f"orders-{seconds}-parts-steps-{seed}", lambda: run_parts(seed, "--steps", steps), (*parts, program))


def shakespeare_both(seconds):
    """Either network with the same processor seconds on two threads: as many steps as two short fits say; looks at held-out text come on top."""
    text, held_out = shakespeare()
    model = WORK / "shakespeare.pmm"

    def steps_within(settings):
        unseen = ["--set", "train.validate_every=1000000"]
        few, many = (fit_seconds(model, text, "--threads", 2, "--steps", steps, *unseen, *settings) for steps in TRIAL_STEPS)
        each = (many - few) / (TRIAL_STEPS[1] - TRIAL_STEPS[0])
        return TRIAL_STEPS[0] + round((seconds - few) / each)

    for name, settings in SHAKESPEARE.items():
        kept(f"shakespeare-{seconds}-{name}", lambda: fit_and_eval(
            model, text, held_out, "--threads", 2, "--steps", steps_within(settings), *settings))


def both_bits(pieces, order):
    """The mean over seeds with the mean standard error over windows, and each seed."""
    each = [piece[order]["bits"] for piece in pieces]
    error = sum(piece[order]["error"] for piece in pieces) / len(pieces)
    return f"{sum(each) / len(each):.3f} ± {error:.3f} ({', '.join(f'{bits:.3f}' for bits in each)})"


def report_orders(orders_seconds, shakespeare_seconds):
    """ORDERS.md, of the newest of each piece, and its picture."""
    found = measuring.newest(CACHE)
    names = {name: what for name, (what, _) in ORDERS.items()} | MASKED_PARTS
    seeds = lambda name: [found[key] for seed in SEEDS if (key := f"orders-{orders_seconds}-{name}-{seed}") in found]
    networks = [(what, pieces) for name, what in names.items() if (pieces := seeds(name))]
    lines = ["# Networks of texts beside each other", "",
             "Made by `bench/text/run orders shakespeare`; times are seconds of processor time, since the machine had other work beside.", ""]
    if networks:
        lines += [f"## text8, {orders_seconds} CPU seconds each, one thread", "",
                  "66M characters to learn; 64 windows of the 4M that are held out, bits per character: the mean over seeds ± the standard error over windows (each seed).",
                  "Curves of pmm's masked networks are their bound, on 128 windows. What tables of patterns read ahead comes on top of the seconds, and is in the curves.", "",
                  "| network | steps | left to right | random order |", "|---|---|---|---|"]
        lines += [f"| {what} | {', '.join(str(piece['steps']) for piece in pieces)} | {both_bits(pieces, 'left_to_right')} | {both_bits(pieces, 'random')} |"
                  for what, pieces in networks]
        plots.orders(networks, HERE / "orders.svg")
        lines += ["", "![Bits per character while training](orders.svg)", ""]
    shakespeares = [(name, found[key]) for name in SHAKESPEARE if (key := f"shakespeare-{shakespeare_seconds}-{name}") in found]
    if shakespeares:
        lines += [f"## Shakespeare, {shakespeare_seconds} CPU seconds each, two threads", "", "The first 95 % of a megabyte to learn, the last 5 % held out; bits per character.", "",
                  "| network | CPU seconds, looks at held-out text among them | steps | left to right, or the bound | random order | 30 % hidden: in turn | recovered at once |", "|---|---|---|---|---|---|---|"]
        for name, one in shakespeares:
            random = one["random_order_bits"]
            lines.append(f"| {name} | {one['fit_cpu']:.0f} | {one['curve'][-1][0]} | {bits(one)} | {'–' if random is None else f'{random:.3f}'} | {one['gaps']['bits']:.3f} | {100 * one['gaps']['recovered']:.1f} % |")
        lines += ["", "n-gram models of the same text: " + ", ".join(f"{value:.3f} (order {order})" for order, value in shakespeares[0][1]["ngram_bits"]) + ".", ""]
    (HERE / "ORDERS.md").write_text("\n".join(lines))


def cache():
    """Characters a second beside PyTorch with a cache: bench/speed/WRITING.md."""
    subprocess.run([str(HERE.parent / "speed/writing")], check=True)


def proteins():
    """Writes PROTEINS.md."""
    example = ["cargo", "build", "--release", "--quiet", "-p", "pmm", "--example", "scores"]
    subprocess.run(example, check=True, cwd=ROOT)
    subprocess.run([sys.executable, str(HERE / "proteins.py"), str(WORK / "proteins")], check=True)


def causal():
    """An autoregressive transformer of the same size and budget."""
    text, _ = text8()
    kept("text8-causal", lambda: torch(text, "--valid", 4 / 70, "--causal", "--cpu-minutes", 60), HERE / "train.py")


def schedules():
    text, held_out = text8()
    for name in SCHEDULES:
        kept(f"schedule-{name}", lambda: fit_and_eval(
            WORK / "schedule.pmm", text, held_out, "--valid", 4 / 70, "--steps", SCHEDULE_STEPS, "--set", "net.kind=masked", "--set", f"schedule={name}"))


def calls():
    """Quality against network calls, for each sampler, of the text8 model."""
    _, held_out = text8()
    model, out = WORK / "text8.pmm", WORK / "calls.jsonl"

    def score(*sampler):
        pmm("sample", model, "-n", 32, "--out", out, "--quiet", *sampler)
        return pmm_json("eval", model, held_out, "--samples", out)["scores"]

    kept("calls-events", lambda: score("--sampler", "events"))
    for sampler in SAMPLERS:
        for count in CALLS:
            kept(f"calls-{sampler}-{count}", lambda: score("--sampler", sampler, "--steps", count))


def memory():
    """Peak memory of a fit on a gigabyte beside one on a megabyte, the network the same."""
    small, _ = shakespeare()
    large = WORK / "gigabyte.txt"
    piece = small.read_bytes()
    with large.open("wb") as out:
        for _ in range(2**30 // len(piece) + 1):
            out.write(piece)

    def peak(text):
        cost = WORK / "cost.json"
        command = [BINARY, "fit", text, "--out", WORK / "memory.pmm", "--force", "--quiet", "--steps", 20]
        watched = [sys.executable, HERE.parent / "tables/cost.py", cost, 3600, *command]
        subprocess.run(list(map(str, watched)), check=True)
        return json.loads(cost.read_text())["megabytes"]

    kept("memory", lambda: {"bytes": large.stat().st_size, "small": peak(small), "large": peak(large)})
    large.unlink()


def report():
    found = measuring.newest(CACHE)
    lines = ["# Texts, measured", "", "Made by `bench/text/run`; two cores, no accelerator. Budgets are in CPU minutes of both cores together, since the machine",
             "had other work beside. Parts that have not been run are absent. ORDERED.md has more of the ordered network, PROTEINS.md sequences.", ""]
    if "reference" in found:
        lines += ["## The reference", "", f"Ten steps from the same weights on the same batches: {found['reference']['said']}.", ""]
    if "ordered-reference" in found:
        lines += [f"The same of the ordered network: {found['ordered-reference']['said']}.", ""]
    pairs = [(found.get(f"same-pmm-{s}"), found.get(f"same-torch-{s}")) for s in range(3)]
    pairs = [pair for pair in pairs if all(pair)]
    if pairs:
        lines += [f"## The same network, {STEPS} steps in each, bits per character of held-out Shakespeare", "",
                  "| seed | pmm | PyTorch | pmm, CPU seconds of training | PyTorch |", "|---|---|---|---|---|"]
        for seed, (a, b) in enumerate(pairs):
            lines.append(f"| {seed} | {bits(a)} | {bits(b)} | {a['fit_cpu']:.0f} | {b['cpu_seconds']:.0f} |")
        lines.append("")
    if "text8-pmm-0" in found:
        ours = found["text8-pmm-0"]
        lines += ["## text8: 66M characters to learn, 4M held out", "", "| model | bits per character |", "|---|---|"]
        lines += [f"| n-gram of order {order}, modified Kneser–Ney, first 20M characters | {value:.3f} |" for order, value in ours["ngram_bits"]]
        lines.append(f"| pmm `text8-tiny`, {ours['fit_cpu'] / 60:.0f} CPU minutes: left to right | {bits(ours)} |")
        lines.append(f"| the same, random order | {ours['random_order_bits']:.3f} |")
        if "text8-pmm-1" in found:
            second = found["text8-pmm-1"]
            lines.append(f"| another seed: left to right | {bits(second)} |")
            lines.append(f"| the same, random order | {second['random_order_bits']:.3f} |")
        if "text8-masked" in found:
            masked = found["text8-masked"]
            lines.append(f"| pmm `text8-tiny-masked`, {masked['fit_cpu'] / 60:.0f} CPU minutes: bound | {bits(masked)} |")
            lines.append(f"| the same, NPC | {masked['npc_bits']:.3f} |")
        if "text8-causal" in found:
            causal = found["text8-causal"]
            lines.append(f"| autoregressive transformer of the same size, PyTorch, {causal['cpu_seconds'] / 60:.0f} CPU minutes | {bits(causal)} |")
            plots.curve(ours, causal, HERE / "curve.svg")
            lines += ["", "![Bits per character while training](curve.svg)"]
        ngram = ours["gaps_ngram"]
        lines += ["", "Hidden characters of held-out passages: all at once, and one after the other, each given the truth before:", "",
                  "| | bits, at once | recovered, at once | bits, in turn | recovered, in turn |", "|---|---|---|---|---|"]
        lines += [f"| {name} | {gaps['at_once_bits']:.3f} | {100 * gaps['recovered']:.1f} % | {gaps['bits']:.3f} | {100 * gaps['in_turn_recovered']:.1f} % |"
                  for name, gaps in (("30 % hidden", ours["gaps"]), ("gaps of 20", ours["gaps_of_20"]))]
        lines += [f"| 30 % hidden, trigram model, exact | – | {100 * ngram['recovered']:.1f} % | {ngram['bits']:.3f} | – |", ""]
    if any(f"schedule-{name}" in found for name in SCHEDULES):
        lines += [f"## Schedules: {SCHEDULE_STEPS} steps each, text8", "", "| schedule | bound, bits per character | NPC |", "|---|---|---|"]
        lines += [f"| {name} | {bits(found[f'schedule-{name}'])} | {found[f'schedule-{name}']['npc_bits']:.3f} |"
                  for name in SCHEDULES if f"schedule-{name}" in found]
        lines.append("")
    if "calls-events" in found:
        lines += ["## Quality against network calls: 32 texts of 256 characters", "",
                  "Bits per character under a 5-gram judge (real text beside it), and distance of bigrams.", "",
                  "| sampler | calls | judge | real | bigram distance | real |", "|---|---|---|---|---|---|"]
        rows = [("events", 256, found["calls-events"])]
        rows += [(s, c, found[f"calls-{s}-{c}"]) for s in SAMPLERS for c in CALLS if f"calls-{s}-{c}" in found]
        for sampler, count, scores in rows:
            judge, bigrams = scores["judge"], scores["bigrams"]
            lines.append(f"| {sampler} | {count} | {judge['samples']:.3f} | {judge['real']:.3f} | {bigrams['samples']:.3f} | {bigrams['real']:.3f} |")
        plots.calls(rows, HERE / "calls.svg")
        lines += ["", "![Quality against network calls](calls.svg)", ""]
    if "memory" in found:
        m = found["memory"]
        lines += ["## Memory", "", f"Peak of a fit on {m['bytes'] / 2**30:.2f} GiB of text: {m['large']:.0f} MB; on 1 MB of text, same network: {m['small']:.0f} MB.", ""]
    (HERE / "RESULTS.md").write_text("\n".join(lines))


def bits(result):
    return f"{result['bits_per_character']:.3f} ± {result['standard_error']:.3f}"


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("parts", nargs="*", metavar="PART")
    ask.add_argument("--orders-seconds", type=int, default=200, help="processor seconds of each network of `orders`")
    ask.add_argument("--shakespeare-seconds", type=int, default=1200, help="processor seconds of each network of `shakespeare`")
    args = ask.parse_args()
    budgets = (args.orders_seconds, args.shakespeare_seconds)
    parts = {"reference": references, "same": same, "text8": text8_tiny, "masked": text8_masked, "causal": causal, "schedules": schedules,
             "calls": calls, "memory": memory, "orders": lambda: orders(args.orders_seconds), "cache": cache,
             "shakespeare": lambda: shakespeare_both(args.shakespeare_seconds), "proteins": proteins, "report": lambda: None}
    chosen = args.parts or list(parts)
    if unknown := set(chosen) - set(parts):
        ask.error(f"no such part: {', '.join(unknown)}; there are {', '.join(parts)}")
    for part in chosen:
        parts[part]()
    if {"orders", "shakespeare", "report"} & set(chosen):
        report_orders(*budgets)
    # The others write files of their own.
    if set(chosen) - {"orders", "shakespeare", "cache", "proteins"}:
        report()


if __name__ == "__main__":
    main()
