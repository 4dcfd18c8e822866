"""Makes crates/pmm-net/tests/resnet8-zip.pth and resnet8-legacy.pth: a ResNet-8 of CIFAR-10 as PyTorch saves it, in a few KB.

Most tensors are one number each, which a view repeats; the rest is small. The Rust tests make the same numbers. The new form is
a checkpoint (state_dict, module), the old one a plain state. Run with bench/speed's environment.
"""

from collections import OrderedDict
from pathlib import Path

import torch


def shapes() -> dict:
    found = {"conv1.weight": (16, 3, 3, 3), "linear.weight": (10, 64), "linear.bias": (10,)}
    norms = {"bn1": 16}
    width = 16
    for stage, out in enumerate([16, 32, 64], 1):
        for k, inputs in [(1, width), (2, out)]:
            found[f"layer{stage}.0.conv{k}.weight"] = (out, inputs, 3, 3)
            norms[f"layer{stage}.0.bn{k}"] = out
        width = out
    for norm, out in norms.items():
        found.update({f"{norm}.{part}": (out,) for part in ["weight", "bias", "running_mean", "running_var"]})
    return dict(sorted(found.items()))


def state() -> OrderedDict:
    found = shapes()
    one = torch.arange(len(found)) / 64
    ones = torch.cat([0.5 + one, (one - 0.25) / 16])
    tensors = OrderedDict()
    for place, (name, shape) in enumerate(found.items()):
        tensors[name] = ones[place + (0 if len(shape) == 1 else len(found))].expand(shape)
    weight = (torch.arange(432) / 512 - 0.4).reshape(16, 3, 3, 3)
    tensors["conv1.weight"] = weight.contiguous(memory_format=torch.channels_last)
    tensors["linear.weight"] = (torch.arange(10) / 8)[:, None].expand(10, 64)
    tensors["linear.bias"] = (0.5 - torch.arange(10) / 4).half()
    tensors["bn1.num_batches_tracked"] = torch.tensor(7)
    tensors._metadata = OrderedDict({"": {"version": 1}})
    return tensors


def main(folder: Path) -> None:
    tensors = state()
    checkpoint = {"state_dict": OrderedDict((f"module.{k}", v) for k, v in tensors.items()), "best_prec1": 91.5}
    for name, value, new in [("zip", checkpoint, True), ("legacy", tensors, False)]:
        path = folder / f"resnet8-{name}.pth"
        torch.save(value, path, _use_new_zipfile_serialization=new)
        print(path.name, path.stat().st_size, "bytes,", len(tensors), "tensors")


if __name__ == "__main__":
    main(Path(__file__).resolve().parents[2] / "crates/pmm-net/tests")
