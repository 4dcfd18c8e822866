"""Measures pmm on texts beside a PyTorch reference and n-gram models. `measure.py PART…`: parts are reference, same, text8, masked,
orders, shakespeare, causal, schedules, calls, memory, proteins, report. Every finished piece is kept in .cache/ under the hash of the binary; `report` writes RESULTS.md
and the pictures from the newest of each."""

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
# Networks of one size: what each is, and its settings.
ORDERS = {
    "ordered": ("ordered, as `text8-tiny`", [*TINY, "order.random=2"]),
    "straight": ("the same, left to right only", [*TINY, "order.random=0", "order.infill=0"]),
    "masked": ("masked", ["net.kind=masked"]),
    "masked-muon": ("masked, with Muon", ["net.kind=masked", "muon.rate=0.02", "train.schedule=trapezoid"]),
}
ORDER_SECONDS = 200
# Shakespeare in 300 CPU seconds: steps of either network, by the time that a step takes.
SHAKESPEARE_STEPS = {"ordered": 385, "masked": 415}


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


def fit_and_eval(model, text, held_out, *settings):
    """The scores of a fit, with its CPU seconds and its curve (step, bits per character held out)."""
    before = cpu_seconds()
    pmm("fit", text, "--out", model, "--force", "--quiet", *settings)
    after = cpu_seconds()
    rows = [line.split(",") for line in (model / "log.csv").read_text().splitlines()[1:]]
    extra = {"fit_cpu": after - before, "curve": [(int(row[0]), float(row[3]) / math.log(2)) for row in rows]}
    return pmm_json("eval", model, held_out) | extra


def reference():
    text, _ = shakespeare()
    folder = WORK / "reference"
    subprocess.run([str(example("text_reference")), str(text), str(folder)], check=True)
    out = subprocess.run([sys.executable, str(HERE / "reference.py"), str(folder)], stdout=subprocess.PIPE, text=True)
    print(out.stdout)
    return {"agrees": out.returncode == 0, "said": out.stdout.splitlines()[-1]}


def same():
    """The same network, trained as long in both."""
    text, held_out = shakespeare()
    for seed in range(3):
        kept(f"same-pmm-{seed}", lambda: fit_and_eval(
            WORK / "same.pmm", text, held_out, "--set", "net.kind=masked", "--steps", STEPS, "--seed", seed, "--set", f"train.ema={1 - 10 / STEPS}"))
        kept(f"same-torch-{seed}", lambda: torch(text, "--valid", 0.05, "--steps", STEPS, "--seed", seed), HERE / "train.py")


def text8_tiny():
    text, held_out = text8()
    model = WORK / "text8.pmm"
    kept("text8-pmm", lambda: fit_and_eval(model, text, held_out, "--preset", "text8-tiny", "--valid", 4 / 70))


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


def orders():
    """Networks of one size on text8 with the same seconds of one processor each."""
    text, _ = text8()
    program = example("ordered_measure")

    def run(settings):
        command = [program, WORK / "text8.tokens", ORDER_SECONDS, *settings]
        environment = {"TEXT": text, "RAYON_NUM_THREADS": 1}
        out = subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE,
                             env=measuring.os.environ | {key: str(value) for key, value in environment.items()})
        return json.loads(out.stdout)

    for name, (_, settings) in ORDERS.items():
        kept(f"orders-{name}", lambda: run(settings), program)
    report_orders()


def shakespeare_both():
    """Either network for the same time, a quarter of the ten minutes of two cores that the preset has."""
    text, held_out = shakespeare()
    for name, settings in {"ordered": [], "masked": ["--set", "net.kind=masked"]}.items():
        kept(f"shakespeare-{name}", lambda: fit_and_eval(
            WORK / "shakespeare.pmm", text, held_out, "--threads", 1, "--steps", SHAKESPEARE_STEPS[name], *settings))
    report_orders()


def report_orders():
    """ORDERS.md, of the newest of each piece, and its picture."""
    found = measuring.newest(CACHE)
    lines = ["# Networks of texts beside each other", "", "Made by `bench/text/run orders shakespeare`; one thread, one seed; times are seconds of processor time, since the machine had other work beside.", ""]
    networks = [(what, found[f"orders-{name}"]) for name, (what, _) in ORDERS.items() if f"orders-{name}" in found]
    if networks:
        lines += [f"## text8, {ORDER_SECONDS} CPU seconds each", "",
                  "66M characters to learn; 64 windows of the 4M that are held out, bits per character ± standard error over windows. Curves of masked networks are their bound, on 128 windows.", "",
                  "| network | steps | left to right | random order |", "|---|---|---|---|"]
        both = lambda bits: f"{bits['bits']:.3f} ± {bits['error']:.3f}"
        lines += [f"| {what} | {one['steps']} | {both(one['left_to_right'])} | {both(one['random'])} |" for what, one in networks]
        plots.orders(networks, HERE / "orders.svg")
        lines += ["", "![Bits per character while training](orders.svg)", ""]
    shakespeares = [(name, found[f"shakespeare-{name}"]) for name in SHAKESPEARE_STEPS if f"shakespeare-{name}" in found]
    if shakespeares:
        lines += ["## Shakespeare", "", "The first 95 % of a megabyte to learn, the last 5 % held out; bits per character.", "",
                  "| network | CPU seconds, looks at held-out text among them | steps | left to right, or the bound | random order | 30 % hidden: in turn | recovered at once |", "|---|---|---|---|---|---|---|"]
        for name, one in shakespeares:
            random = one["random_order_bits"]
            lines.append(f"| {name} | {one['fit_cpu']:.0f} | {one['curve'][-1][0]} | {bits(one)} | {'–' if random is None else f'{random:.3f}'} | {one['gaps']['bits']:.3f} | {100 * one['gaps']['recovered']:.1f} % |")
        lines += ["", "n-gram models of the same text: " + ", ".join(f"{value:.3f} (order {order})" for order, value in shakespeares[0][1]["ngram_bits"]) + ".", ""]
    (HERE / "ORDERS.md").write_text("\n".join(lines))


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
    pairs = [(found.get(f"same-pmm-{s}"), found.get(f"same-torch-{s}")) for s in range(3)]
    pairs = [pair for pair in pairs if all(pair)]
    if pairs:
        lines += [f"## The same network, {STEPS} steps in each, bits per character of held-out Shakespeare", "",
                  "| seed | pmm | PyTorch | pmm, CPU seconds of training | PyTorch |", "|---|---|---|---|---|"]
        for seed, (a, b) in enumerate(pairs):
            lines.append(f"| {seed} | {bits(a)} | {bits(b)} | {a['fit_cpu']:.0f} | {b['cpu_seconds']:.0f} |")
        lines.append("")
    if "text8-pmm" in found:
        ours = found["text8-pmm"]
        lines += ["## text8: 66M characters to learn, 4M held out", "", "| model | bits per character |", "|---|---|"]
        lines += [f"| n-gram of order {order}, modified Kneser–Ney, first 20M characters | {value:.3f} |" for order, value in ours["ngram_bits"]]
        lines.append(f"| pmm `text8-tiny`, {ours['fit_cpu'] / 60:.0f} CPU minutes: left to right | {bits(ours)} |")
        lines.append(f"| the same, random order | {ours['random_order_bits']:.3f} |")
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


if __name__ == "__main__":
    parts = {"reference": lambda: kept("reference", reference), "same": same, "text8": text8_tiny, "masked": text8_masked, "causal": causal,
             "schedules": schedules, "calls": calls, "memory": memory, "orders": orders, "shakespeare": shakespeare_both, "proteins": proteins, "report": report}
    chosen = sys.argv[1:] or list(parts)
    for part in chosen:
        parts[part]()
    # These write files of their own.
    if set(chosen) - {"orders", "shakespeare", "proteins"}:
        report()
