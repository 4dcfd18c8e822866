"""The two U-Nets of pmm in PyTorch, written from the description of the fixtures: the independent reference."""

import torch
from torch import nn
from torch.nn import functional as F


def norm(channels, epsilon):
    return nn.GroupNorm(min(32, channels // 4), channels, eps=epsilon)


class Block(nn.Module):
    def __init__(self, kind, inputs, outputs, embedding, resample=None, attention=False, per_head=64):
        super().__init__()
        self.adm, self.resample = kind == "adm", resample
        epsilon = 1e-5 if self.adm else 1e-6
        self.norm0 = norm(inputs, epsilon)
        self.conv0 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.affine = nn.Linear(embedding, outputs * (2 if self.adm else 1))
        self.norm1 = norm(outputs, epsilon)
        self.conv1 = nn.Conv2d(outputs, outputs, 3, padding=1)
        always = not self.adm and resample
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs or always else None
        self.heads = (max(outputs // per_head, 1) if self.adm else 1) if attention else 0
        if attention:
            self.norm2 = norm(outputs, epsilon)
            self.qkv = nn.Conv2d(outputs, 3 * outputs, 1)
            self.proj = nn.Conv2d(outputs, outputs, 1)

    def resampled(self, x):
        if self.resample == "down":
            return F.avg_pool2d(x, 2)
        return F.interpolate(x, scale_factor=2, mode="nearest") if self.resample == "up" else x

    def forward(self, x, e):
        told = self.affine(e)[:, :, None, None]
        h = self.conv0(self.resampled(F.silu(self.norm0(x))))
        if self.adm:
            scale, shift = told.chunk(2, dim=1)
            h = F.silu(torch.addcmul(shift, self.norm1(h), scale + 1))
        else:
            h = F.silu(self.norm1(h + told))
        x = self.resampled(x)
        x = self.rescaled(self.conv1(h) + (x if self.skip is None else self.skip(x)))
        return self.rescaled(self.attended(x) + x) if self.heads else x

    def rescaled(self, x):
        return x if self.adm else x * 0.5**0.5

    def attended(self, x):
        rows, channels, height, width = x.shape
        # The channels of a head are [channel, (q, k, v)].
        qkv = self.qkv(self.norm2(x)).reshape(rows, self.heads, channels // self.heads, 3, height * width)
        q, k, v = (part.transpose(-1, -2) for part in qkv.unbind(3))
        y = F.scaled_dot_product_attention(q, k, v).transpose(-1, -2)
        return self.proj(y.reshape(rows, channels, height, width))


class Unet(nn.Module):
    """As pmm's `[net]` settings say."""

    def __init__(self, kind, size, channels_in, channels_out, width, multipliers, blocks, attention, channels_per_head=64,
                 classes=0, augment=0, **_):
        super().__init__()
        self.adm, wide = kind == "adm", 4 * width
        self.kind, self.width, self.classes = kind, width, classes
        self.map_label = nn.Linear(classes, wide if self.adm else width, bias=not self.adm) if classes else None
        self.map_augment = nn.Linear(augment, width, bias=False) if augment else None
        self.map_layer0, self.map_layer1 = nn.Linear(width, wide), nn.Linear(wide, wide)
        now = width * multipliers[0] if self.adm else width
        self.enc, self.dec, skips = nn.ModuleDict(), nn.ModuleDict(), [now]
        block = lambda inputs, outputs, **how: Block(kind, inputs, outputs, wide, per_head=channels_per_head, **how)
        self.enc[f"{size}x{size}_conv"] = nn.Conv2d(channels_in, now, 3, padding=1)
        for level, multiplier in enumerate(multipliers):
            side = size >> level
            if level:
                self.enc[f"{side}x{side}_down"] = block(now, now, resample="down")
                skips.append(now)
            for k in range(blocks):
                self.enc[f"{side}x{side}_block{k}"] = block(now, width * multiplier, attention=side in attention)
                now = width * multiplier
                skips.append(now)
        for level, multiplier in reversed(list(enumerate(multipliers))):
            side = size >> level
            if level == len(multipliers) - 1:
                self.dec[f"{side}x{side}_in0"] = block(now, now, attention=True)
                self.dec[f"{side}x{side}_in1"] = block(now, now)
            else:
                self.dec[f"{side}x{side}_up"] = block(now, now, resample="up")
            for k in range(blocks + 1):
                attends = (self.adm or k == blocks) and side in attention
                self.dec[f"{side}x{side}_block{k}"] = block(now + skips.pop(), width * multiplier, attention=attends)
                now = width * multiplier
        last = norm(now, 1e-5 if self.adm else 1e-6), nn.Conv2d(now, channels_out, 3, padding=1)
        if self.adm:
            self.out_norm, self.out_conv = last
        else:
            self.dec[f"{size}x{size}_aux_norm"], self.dec[f"{size}x{size}_aux_conv"] = last
        self.last = last

    def embedding(self, noise, labels, augment):
        half = self.width // 2
        rates = 10_000 ** (-torch.arange(half) / (half if self.adm else half - 1))
        angles = noise[:, None] * rates
        e = torch.cat([angles.cos(), angles.sin()] if self.adm else [angles.sin(), angles.cos()], dim=1)
        if self.map_augment is not None and augment is not None:
            e = e + self.map_augment(augment)
        told = 0 if self.map_label is None else self.map_label(labels * (1 if self.adm else self.classes**0.5))
        if self.adm:
            return F.silu(self.map_layer1(F.silu(self.map_layer0(e))) + told)
        return F.silu(self.map_layer1(F.silu(self.map_layer0(e + told))))

    def forward(self, x, noise, labels=None, augment=None):
        e = self.embedding(noise, labels, augment)
        skips = []
        for block in self.enc.values():
            x = block(x, e) if isinstance(block, Block) else block(x)
            skips.append(x)
        for name, block in self.dec.items():
            if isinstance(block, Block):
                x = block(torch.cat([x, skips.pop()], dim=1) if "_block" in name else x, e)
        final_norm, convolution = self.last
        return convolution(F.silu(final_norm(x)))


def load(network, tensors):
    """The weights of a pmm model: matrices are [inputs, outputs], kernels [outputs, inputs · side²], vectors [1, numbers]."""
    state = {}
    for name, shaped in network.state_dict().items():
        if name.startswith("last."):
            continue
        tensor = tensors[name]
        state[name] = (tensor.T if shaped.ndim == 2 else tensor).reshape(shaped.shape).contiguous()
    missing, unexpected = network.load_state_dict(state, strict=False)
    assert not unexpected and all(name.startswith("last.") for name in missing), (missing, unexpected)
