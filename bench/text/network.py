"""The text network of pmm in PyTorch, written from its description: the independent reference."""

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, heads, condition, causal, rotary):
        super().__init__()
        self.heads, self.causal, self.rotary = heads, causal, rotary
        self.modulation = nn.Linear(condition, 6 * width)
        self.qkv = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        nn.init.zeros_(self.modulation.weight)
        nn.init.zeros_(self.modulation.bias)

    def forward(self, h, c):
        rows, length, width = h.shape
        shift1, scale1, gate1, shift2, scale2, gate2 = self.modulation(c)[:, None].chunk(6, dim=-1)
        x = F.layer_norm(h, (width,)) * (1 + scale1) + shift1
        q, k, v = (part.view(rows, length, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        if self.rotary:
            q, k = turn(q), turn(k)
        x = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        h = h + gate1 * self.project(x.transpose(1, 2).reshape(rows, length, width))
        x = F.layer_norm(h, (width,)) * (1 + scale2) + shift2
        return h + gate2 * self.down(F.gelu(self.up(x), approximate="tanh"))


def turn(x):
    """Rotary positions: pairs (i, i + half) of a head turned by position · 10000^(−i/half)."""
    length, half = x.shape[-2], x.shape[-1] // 2
    angles = torch.arange(length)[:, None] * 10_000 ** (-torch.arange(half) / half)
    (a, b), c, s = x.split(half, dim=-1), angles.cos(), angles.sin()
    return torch.cat([a * c - b * s, a * s + b * c], dim=-1)


class Network(nn.Module):
    """Tokens (the mask is `classes`) and features of the clock in, logits at all positions out. With `causal`, an autoregressive
    model of the same size: the clock is told nothing."""

    def __init__(self, classes, width, blocks, heads, length, condition, features=64, causal=False, rotary=True):
        super().__init__()
        self.token = nn.Embedding(classes + 1, width)
        self.position = None if rotary else nn.Parameter(torch.randn(length, width) * 0.02)
        self.time_in = nn.Linear(features, condition)
        self.time_out = nn.Linear(condition, condition)
        self.blocks = nn.ModuleList(Block(width, heads, condition, causal, rotary) for _ in range(blocks))
        self.modulation = nn.Linear(condition, 2 * width)
        self.output = nn.Linear(width, classes)
        nn.init.normal_(self.token.weight, std=0.02)
        for layer in (self.modulation, self.output):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, tokens, clock):
        h = self.token(tokens)
        if self.position is not None:
            h = h + self.position[: tokens.shape[1]]
        c = F.silu(self.time_out(F.silu(self.time_in(clock))))
        for block in self.blocks:
            h = block(h, c)
        shift, scale = self.modulation(c)[:, None].chunk(2, dim=-1)
        return self.output(F.layer_norm(h, h.shape[-1:]) * (1 + scale) + shift)


def load(network, tensors):
    """The weights of a pmm model (their matrices are [inputs, outputs])."""
    state = {}
    for name, tensor in tensors.items():
        if name == "token":
            state["token.weight"] = tensor
        elif name == "position":
            state["position"] = tensor
        else:
            name = name.replace("time.", "time_").replace("block.", "blocks.")
            state[name] = tensor[0] if name.endswith("bias") else tensor.T.contiguous()
    network.load_state_dict(state)


def clock_features(level, features=64):
    """Waves of the logarithm of the information."""
    half = features // 2
    rates = [0.1 * 300 ** (k / (half - 1)) for k in range(half)]
    waves = torch.stack([level * rate for rate in rates], dim=-1)
    return torch.cat([waves.sin(), waves.cos()], dim=-1)
