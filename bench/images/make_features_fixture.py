"""Makes crates/pmm-net/tests/features.safetensors: features of three networks written here in plain PyTorch.

Weights and images are a hash of their place, which the Rust tests compute too, so that only outputs are stored.
Run with bench/text's environment.
"""

import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import nn


def uniform(seed: int, count: int) -> np.ndarray:
    """Numbers from -1 to 1: a hash of seed and place, in 32 bits."""
    h = (np.arange(count, dtype=np.uint64) * 2654435761 + seed * 40503 + 12345) & 0xFFFFFFFF
    for _ in range(2):
        h = ((h ^ (h >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
    h ^= h >> 16
    return h.astype(np.float64) / 2.0**31 - 1.0


def fill(model: nn.Module) -> None:
    """Fills the state by the order of its names: norms near 1 and 0, the rest uniform with variance 2/fan-in."""
    state = {k: v for k, v in model.state_dict().items() if not k.endswith("num_batches_tracked")}
    for seed, name in enumerate(sorted(state)):
        tensor = state[name]
        u = uniform(seed, tensor.numel())
        if name.endswith("running_var"):
            u = 1 + 0.5 * u
        elif tensor.dim() == 1:
            u = (1 if name.endswith("weight") else 0) + 0.1 * u
        else:
            u = (6 * tensor.shape[0] / tensor.numel()) ** 0.5 * u
        tensor.copy_(torch.from_numpy(u.astype(np.float32)).reshape(tensor.shape))


def images(seed: int, count: int, channels: int, height: int, width: int) -> torch.Tensor:
    """Bytes as floats: smooth waves with noise."""
    u = uniform(seed, count * channels * height * width).reshape(count, channels, height, width)
    y, x = np.mgrid[:height, :width]
    k = np.arange(count * channels).reshape(count, channels, 1, 1)
    wave = np.sin(0.3 * x + 0.2 * (k + 1) * y + k)
    return torch.from_numpy(np.floor(127.5 + 90 * wave + 30 * u).astype(np.float32))


class Resnet(nn.Module):
    def __init__(self, blocks=3):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16)
        width = 16
        for stage, out in enumerate([16, 32, 64], 1):
            layers = []
            for _ in range(blocks):
                block = nn.Module()
                block.conv1 = nn.Conv2d(width, out, 3, out // width, 1, bias=False)
                block.bn1, block.bn2 = nn.BatchNorm2d(out), nn.BatchNorm2d(out)
                block.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
                layers.append(block)
                width = out
            setattr(self, f"layer{stage}", nn.Sequential(*layers))
        self.linear = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        for block in [*self.layer1, *self.layer2, *self.layer3]:
            y = block.bn2(block.conv2(F.relu(block.bn1(block.conv1(x)))))
            if y.shape[1] != x.shape[1]:
                side = (y.shape[1] - x.shape[1]) // 2
                x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, side, side))
            x = F.relu(y + x)
        features = x.mean((2, 3))
        return features, self.linear(features)


def same(conv, x):
    pad = []
    for side, kernel in ((x.shape[3], conv.kernel_size[1]), (x.shape[2], conv.kernel_size[0])):
        total = max((-(-side // conv.stride[0]) - 1) * conv.stride[0] + kernel - side, 0)
        pad += [total // 2, total - total // 2]
    return conv(F.pad(x, pad))


class Efficientnet(nn.Module):
    STAGES = [(1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192), (1, 3, 1, 6, 320)]

    def __init__(self):
        super().__init__()
        norm = lambda width: nn.BatchNorm2d(width, eps=1e-3)
        self._conv_stem, self._bn0 = nn.Conv2d(3, 32, 3, 2, bias=False), norm(32)
        blocks, width = [], 32
        for count, kernel, stride, expand, out in self.STAGES:
            for place in range(count):
                block, inner = nn.Module(), width * expand
                if expand != 1:
                    block._expand_conv, block._bn0 = nn.Conv2d(width, inner, 1, bias=False), norm(inner)
                step = stride if place == 0 else 1
                block._depthwise_conv = nn.Conv2d(inner, inner, kernel, step, groups=inner, bias=False)
                block._bn1, block._bn2 = norm(inner), norm(out)
                block._project_conv = nn.Conv2d(inner, out, 1, bias=False)
                blocks.append(block)
                width = out
        self._blocks = nn.ModuleList(blocks)
        self._conv_head, self._bn1 = nn.Conv2d(width, 1280, 1, bias=False), norm(1280)

    def forward(self, x):
        x = F.relu6(self._bn0(same(self._conv_stem, x)))
        for block in self._blocks:
            y = x
            if hasattr(block, "_expand_conv"):
                y = F.relu6(block._bn0(block._expand_conv(y)))
            y = F.relu6(block._bn1(same(block._depthwise_conv, y)))
            y = block._bn2(block._project_conv(y))
            x = x + y if x.shape == y.shape else y
        return F.relu6(self._bn1(self._conv_head(x))).mean((2, 3))


class Conv(nn.Module):
    def __init__(self, width, out, kernel, stride=1, pad=0):
        super().__init__()
        self.conv = nn.Conv2d(width, out, kernel, stride, pad, bias=False)
        self.bn = nn.BatchNorm2d(out, eps=1e-3)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)))


def mean(x):
    return F.avg_pool2d(x, 3, 1, 1, count_include_pad=False)


class A(nn.Module):
    def __init__(self, c, pool):
        super().__init__()
        self.branch1x1 = Conv(c, 64, 1)
        self.branch5x5_1, self.branch5x5_2 = Conv(c, 48, 1), Conv(48, 64, 5, pad=2)
        self.branch3x3dbl_1, self.branch3x3dbl_2, self.branch3x3dbl_3 = Conv(c, 64, 1), Conv(64, 96, 3, pad=1), Conv(96, 96, 3, pad=1)
        self.branch_pool = Conv(c, pool, 1)

    def forward(self, x):
        double = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        return torch.cat([self.branch1x1(x), self.branch5x5_2(self.branch5x5_1(x)), double, self.branch_pool(mean(x))], 1)


class B(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.branch3x3 = Conv(c, 384, 3, 2)
        self.branch3x3dbl_1, self.branch3x3dbl_2, self.branch3x3dbl_3 = Conv(c, 64, 1), Conv(64, 96, 3, pad=1), Conv(96, 96, 3, 2)

    def forward(self, x):
        return torch.cat([self.branch3x3(x), self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x))), F.max_pool2d(x, 3, 2)], 1)


class C(nn.Module):
    def __init__(self, c, m):
        super().__init__()
        wide, high = dict(kernel=(1, 7), pad=(0, 3)), dict(kernel=(7, 1), pad=(3, 0))
        self.branch1x1 = Conv(c, 192, 1)
        self.branch7x7_1, self.branch7x7_2, self.branch7x7_3 = Conv(c, m, 1), Conv(m, m, **wide), Conv(m, 192, **high)
        self.branch7x7dbl_1, self.branch7x7dbl_2, self.branch7x7dbl_3 = Conv(c, m, 1), Conv(m, m, **high), Conv(m, m, **wide)
        self.branch7x7dbl_4, self.branch7x7dbl_5 = Conv(m, m, **high), Conv(m, 192, **wide)
        self.branch_pool = Conv(c, 192, 1)

    def forward(self, x):
        seven = self.branch7x7_3(self.branch7x7_2(self.branch7x7_1(x)))
        double = self.branch7x7dbl_3(self.branch7x7dbl_2(self.branch7x7dbl_1(x)))
        double = self.branch7x7dbl_5(self.branch7x7dbl_4(double))
        return torch.cat([self.branch1x1(x), seven, double, self.branch_pool(mean(x))], 1)


class D(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.branch3x3_1, self.branch3x3_2 = Conv(c, 192, 1), Conv(192, 320, 3, 2)
        self.branch7x7x3_1, self.branch7x7x3_2 = Conv(c, 192, 1), Conv(192, 192, (1, 7), pad=(0, 3))
        self.branch7x7x3_3, self.branch7x7x3_4 = Conv(192, 192, (7, 1), pad=(3, 0)), Conv(192, 192, 3, 2)

    def forward(self, x):
        seven = self.branch7x7x3_4(self.branch7x7x3_3(self.branch7x7x3_2(self.branch7x7x3_1(x))))
        return torch.cat([self.branch3x3_2(self.branch3x3_1(x)), seven, F.max_pool2d(x, 3, 2)], 1)


class E(nn.Module):
    def __init__(self, c, largest):
        super().__init__()
        self.largest = largest
        self.branch1x1 = Conv(c, 320, 1)
        self.branch3x3_1 = Conv(c, 384, 1)
        self.branch3x3_2a, self.branch3x3_2b = Conv(384, 384, (1, 3), pad=(0, 1)), Conv(384, 384, (3, 1), pad=(1, 0))
        self.branch3x3dbl_1, self.branch3x3dbl_2 = Conv(c, 448, 1), Conv(448, 384, 3, pad=1)
        self.branch3x3dbl_3a, self.branch3x3dbl_3b = Conv(384, 384, (1, 3), pad=(0, 1)), Conv(384, 384, (3, 1), pad=(1, 0))
        self.branch_pool = Conv(c, 192, 1)

    def forward(self, x):
        three, double = self.branch3x3_1(x), self.branch3x3dbl_2(self.branch3x3dbl_1(x))
        pooled = F.max_pool2d(x, 3, 1, 1) if self.largest else mean(x)
        parts = [self.branch1x1(x), self.branch3x3_2a(three), self.branch3x3_2b(three)]
        return torch.cat([*parts, self.branch3x3dbl_3a(double), self.branch3x3dbl_3b(double), self.branch_pool(pooled)], 1)


class Inception(nn.Module):
    def __init__(self):
        super().__init__()
        self.Conv2d_1a_3x3, self.Conv2d_2a_3x3, self.Conv2d_2b_3x3 = Conv(3, 32, 3, 2), Conv(32, 32, 3), Conv(32, 64, 3, pad=1)
        self.Conv2d_3b_1x1, self.Conv2d_4a_3x3 = Conv(64, 80, 1), Conv(80, 192, 3)
        self.Mixed_5b, self.Mixed_5c, self.Mixed_5d, self.Mixed_6a = A(192, 32), A(256, 64), A(288, 64), B(288)
        self.Mixed_6b, self.Mixed_6c, self.Mixed_6d, self.Mixed_6e = C(768, 128), C(768, 160), C(768, 160), C(768, 192)
        self.Mixed_7a, self.Mixed_7b, self.Mixed_7c = D(768), E(1280, False), E(2048, True)

    def forward(self, x):
        x = F.max_pool2d(self.Conv2d_2b_3x3(self.Conv2d_2a_3x3(self.Conv2d_1a_3x3(x))), 3, 2)
        x = F.max_pool2d(self.Conv2d_4a_3x3(self.Conv2d_3b_1x1(x)), 3, 2)
        for name in "5b 5c 5d 6a 6b 6c 6d 6e 7a 7b 7c".split():
            x = getattr(self, f"Mixed_{name}")(x)
        return x.mean((2, 3))


def corner_resize(x, side):
    """TensorFlow 1's bilinear resize: pixel i lies at i."""
    def places(size):
        at = torch.arange(side, dtype=torch.float64) * size / side
        low = at.long()
        return low, (low + 1).clamp(max=size - 1), (at - low).float()
    low, high, share = places(x.shape[2])
    x = x[:, :, low] * (1 - share[:, None]) + x[:, :, high] * share[:, None]
    low, high, share = places(x.shape[3])
    return x[..., low] * (1 - share) + x[..., high] * share


def centred_resize(x, side):
    return F.interpolate(x, (side, side), mode="bilinear", align_corners=False)


@torch.no_grad()
def main(path: Path) -> None:
    torch.set_num_threads(1)
    out = {}
    model = Resnet().eval()
    fill(model)
    scale = lambda values: torch.tensor(values).reshape(1, 3, 1, 1)
    mean, deviation = scale([0.485, 0.456, 0.406]), scale([0.229, 0.224, 0.225])
    x = centred_resize(images(1, 2, 3, 32, 32), 32)
    out["resnet.features"], out["resnet.logits"] = model((x / 255 - mean) / deviation)
    x = centred_resize(images(2, 2, 1, 28, 28).repeat(1, 3, 1, 1), 32)
    out["resnet.grey"] = model((x / 255 - mean) / deviation)[0]
    model = Efficientnet().eval()
    fill(model)
    x = centred_resize(images(3, 2, 3, 32, 40), 224)
    out["efficientnet.features"] = model((x - 127) / 128)
    model = Inception().eval()
    fill(model)
    x = corner_resize(images(4, 2, 3, 48, 32), 299)
    out["inception.features"] = model((x - 128) / 128)
    for name, value in out.items():
        print(name, tuple(value.shape), "mean %.3g deviation %.3g between images %.3g" % (value.mean(), value.std(), (value[0] - value[1]).std()))
    save_file({name: value.contiguous() for name, value in out.items()}, path)


if __name__ == "__main__":
    here = Path(__file__).resolve().parents[2]
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else here / "crates/pmm-net/tests/features.safetensors")
