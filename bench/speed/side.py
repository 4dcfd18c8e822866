"""PyTorch's side: `side.py CASE FOLDER THREADS eager|compile` answers on a pipe as `bench-speed` does, for the network, weights and batch
that it wrote to the folder. PyTorch gets its fastest optimisers (fused AdamW; Muon of all matrices of one shape at once; sparse gradients of
tables) and average (foreach). `write N`, of the ordered network alone, keeps keys and values. `product N` is answered with the
seconds of a product of two square matrices of 1,024: what the machine can do at best. `where N` is answered with the seconds of a step by
operation, as JSON."""

import json
import os
import sys
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

HERE = Path(__file__).resolve().parent


class Trunk(nn.Module):
    """The network of a table."""

    def __init__(self, inputs, outputs, width, blocks):
        super().__init__()
        self.input = nn.Linear(inputs, width)
        self.up = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.down = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.output = nn.Linear(width, outputs)

    def forward(self, x):
        h = self.input(x)
        norm = lambda h: F.layer_norm(h, h.shape[-1:])
        for up, down in zip(self.up, self.down):
            h = h + down(F.silu(up(norm(h))))
        return self.output(norm(h))

    def load(self, tensors):
        state = {}
        for name, tensor in tensors.items():
            if name.startswith("block."):
                _, block, layer, what = name.split(".")
                name = f"{layer}.{block}.{what}"
            state[name] = tensor[0] if name.endswith("bias") else tensor.T.contiguous()
        self.load_state_dict(state)


def table(given, tensors, run):
    net = given["net"]
    network = Trunk(given["inputs"], given["outputs"], net["width"], net["blocks"])
    network.load(tensors)
    x = torch.tensor(given["batch"]["x"]).reshape(-1, given["inputs"])
    y = torch.tensor(given["batch"]["y"]).reshape(-1, given["outputs"])
    call = run(network)
    return network, lambda: 0.5 * F.mse_loss(call(x), y)


def text(given, tensors, run):
    sys.path.insert(0, str(HERE.parent / "text"))
    from network import Network, load
    net, texts = given["net"], given["batch"]
    network = Network(given["classes"], net["width"], net["blocks"], net["heads"], net["length"], net["condition"], rotary=True)
    load(network, tensors)
    tokens = torch.tensor([text["tokens"] for text in texts])
    clock = torch.tensor([text["clock"] for text in texts])
    rows = torch.tensor([row for row, text in enumerate(texts) for _ in text["wanted"]])
    flat = lambda name: torch.tensor([value for text in texts for value in text[name]])
    wanted, targets, weights = flat("wanted"), flat("targets"), flat("weights")
    call = run(network)

    def loss():
        picked = call(tokens, clock)[rows, wanted]
        return (F.cross_entropy(picked, targets, reduction="none") * weights).sum() / len(texts)

    return network, loss


def ordered(given, tensors, run):
    sys.path.insert(0, str(HERE.parent / "text"))
    import ordered_network
    net, classes = given["net"], given["classes"]
    network = ordered_network.OrderedNetwork(classes, net)
    network.load_state_dict(ordered_network.state(tensors))
    # A compiled function has no sparse gradients: the tables are read outside.
    network.through = run(network.through)
    order, told = (torch.tensor([text[what] for text in given["batch"]]) for what in ("positions", "tokens"))
    shown = ordered_network.ordered(torch.zeros_like(told).scatter(1, order, told), order, net, classes)
    return network, lambda: F.cross_entropy(network(shown).flatten(0, 1), told.flatten())


def image(given, tensors, run):
    sys.path.insert(0, str(HERE.parent / "images"))
    from network import Unet, load
    from reference import losses, prepared
    network = Unet(**given["net"])
    load(network, tensors)
    ready = prepared(given["net"], given["batch"], given["pixels"]["mean"], given["pixels"]["sd"])
    call = run(network)
    return network, lambda: losses(call, ready).mean()


def adamw(weights):
    decayed, others = ([w for w in weights if (w.ndim > 1) == matrix] for matrix in (True, False))
    groups = [{"params": decayed, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.99), fused=True)


def optimisers(network):
    """What moves the weights, and those of them that have a gradient for each number."""
    if not hasattr(network, "patterns"):
        weights = list(network.parameters())
        return [adamw(weights)], weights
    from optimisers import Muon, RowAdagrad
    weights = [w for w in network.parameters() if w is not network.patterns]
    return [adamw(network.others()), Muon(network.matrices()), RowAdagrad(network.patterns, 0.3)], weights


@torch.no_grad()
def write(network, given, count):
    """Writes texts from left to right, all at once."""
    from ordered_network import left_to_right
    net, classes = given["net"], given["classes"]
    tokens = torch.zeros(count, net["length"], dtype=torch.long)
    past = network.empty_past(count)
    for step in range(net["length"]):
        logits = network(left_to_right(tokens, step, net, classes), past, torch.tensor([step]))
        tokens[:, step] = torch.multinomial(logits[:, 0].softmax(-1), 1)[:, 0]


def where(train, times):
    """CPU seconds of a step by PyTorch's operations, of both threads."""
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU]) as found:
        for _ in range(times):
            train()
    return {row.key: row.self_cpu_time_total / 1e6 / times for row in found.key_averages()}


def seconds(work, times):
    begin = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - begin) / times


def main():
    case, folder, threads, mode = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    torch.set_num_threads(threads)
    from safetensors.torch import load_file
    given = json.loads((folder / "case.json").read_text())
    make = {"table": table, "text": text, "ordered": ordered, "image": image}[case.removesuffix("-large")]
    network, loss = make(given, load_file(folder / "weights.safetensors"), torch.compile if mode == "compile" else lambda network: network)
    with torch.no_grad():
        found = loss().item()
    if abs(found - given["loss"]) > 1e-4 * abs(given["loss"]):
        sys.exit(f"{case}: the loss is {found} here and {given['loss']} in pmm")
    moves, weights = optimisers(network)
    average = [w.detach().clone() for w in weights]

    def train():
        network.zero_grad()
        loss().backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        for move in moves:
            move.step()
        with torch.no_grad():
            torch._foreach_lerp_(average, weights, 0.001)

    def infer():
        with torch.no_grad():
            loss()

    square = torch.rand(1024, 1024)

    def product():
        torch.mm(square, square)

    answers = {
        "train": lambda times: seconds(train, times),
        "infer": lambda times: seconds(infer, times),
        "product": lambda times: seconds(product, times),
        "write": lambda count: seconds(lambda: write(network, given, count), 1) / count,
        "where": lambda times: json.dumps(where(train, times)),
        "memory": lambda _: int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024,
    }
    print("ready", flush=True)
    for line in sys.stdin:
        request, times = (line.split() + [1])[:2]
        print(answers[request](int(times)), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    main()
