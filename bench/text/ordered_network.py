"""The ordered network of pmm in PyTorch, written from its description; also as a masked network of the same parts."""

import math
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

PATTERNS = [(-4, -3, -2, -1), (-6, -5, -4, -3, -2, -1), (1, 2, 3, 4), (-2, -1, 1, 2), (-3, -2, -1, 1, 2, 3)]
PATTERN_REACH = 6
# 2^64/φ as a signed number: products wrap.
SPREAD = 0x9E3779B97F4A7C15 - 2**64
EPSILON = 1e-6


class Shown(NamedTuple):
    """What the steps of texts are shown, `[batch, steps]`: the token that each reads, its position and that of the target, and the rows of the
    windows' and patterns' tables, `[batch, steps, …]`."""

    read: torch.Tensor
    own: torch.Tensor
    target: torch.Tensor
    windows: list
    patterns: torch.Tensor


def around(tokens, rank, centre, step, reach, classes):
    """Symbols at offsets −reach … reach, without 0, around a position of each step: tokens whose rank is below the step, `classes` where a token is
    not known yet, `classes + 1` outside the text."""
    offsets = torch.tensor([offset for offset in range(-reach, reach + 1) if offset])
    position = centre[..., None] + offsets
    length = tokens.shape[1]
    at = position.clamp(0, length - 1).flatten(1)
    known = rank.gather(1, at).view_as(position) < step[..., None]
    symbol = torch.where(known, tokens.gather(1, at).view_as(position), classes)
    return torch.where((position >= 0) & (position < length), symbol, classes + 1)


def window_rows(symbols, classes):
    return symbols + torch.arange(symbols.shape[-1]) * (classes + 2)


def pattern_rows(symbols, classes, bits):
    """Rows of the tables of patterns, which stand one below the other, by the symbols within their reach."""
    rows = []
    for table, pattern in enumerate(PATTERNS):
        number = torch.full(symbols.shape[:-1], table + 1)
        for offset in pattern:
            number = number * (classes + 3) + symbols[..., PATTERN_REACH + offset - (offset > 0)] + 1
        rows.append((((number * SPREAD) >> (64 - bits)) & ((1 << bits) - 1)) + (table << bits))
    return torch.stack(rows, dim=-1)


def shown(tokens, rank, read, own, target, step, net, classes):
    look = lambda centre, reach: around(tokens, rank, centre, step, reach, classes)
    windows = [window_rows(look(centre, net["window"]), classes) for centre in (target, own)]
    return Shown(read, own, target, windows, pattern_rows(look(target, PATTERN_REACH), classes, net["hash_bits"]))


def ordered(tokens, order, net, classes):
    """Texts in orders of their positions."""
    read = F.pad(tokens.gather(1, order)[:, :-1], (1, 0), value=classes)
    own = F.pad(order[:, :-1], (1, 0), value=-1)
    step = torch.arange(order.shape[1]).expand_as(order)
    return shown(tokens, order.argsort(1), read, own, order, step, net, classes)


def left_to_right(tokens, step, net, classes):
    """One step of texts that are known up to it."""
    target = torch.full((len(tokens), 1), step)
    read = tokens[:, step - 1 : step] if step else torch.full_like(target, classes)
    rank = torch.arange(tokens.shape[1]).expand_as(tokens)
    return shown(tokens, rank, read, target - 1, target, target, net, classes)


def masked(tokens, hidden, net, classes):
    """Texts of which some positions are hidden, all positions at once."""
    position = torch.arange(tokens.shape[1]).expand_as(tokens)
    look = lambda reach: around(tokens, hidden.long(), position, torch.ones_like(position), reach, classes)
    windows = [window_rows(look(net["window"]), classes)]
    read = torch.where(hidden, classes, tokens)
    return Shown(read, position, position, windows, pattern_rows(look(PATTERN_REACH), classes, net["hash_bits"]))


def turn(x, cosines, sines):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cosines - b * sines, a * sines + b * cosines], dim=-1)


def norm(x, gain=None):
    return F.rms_norm(x, x.shape[-1:], gain, EPSILON)


class Block(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        normal = lambda rows, columns: nn.Parameter(torch.randn(rows, columns) / math.sqrt(width))
        self.norm_1, self.norm_2 = nn.Parameter(torch.ones(width)), nn.Parameter(torch.ones(width))
        self.qkv, self.up = normal(width, 3 * width), normal(width, 4 * width)
        self.project, self.down = nn.Parameter(torch.zeros(width, width)), nn.Parameter(torch.zeros(4 * width, width))

    def forward(self, h, query_turns, key_turns, past=None, at=None):
        batch, steps, width = h.shape
        q, k, v = (norm(h, self.norm_1) @ self.qkv).view(batch, steps, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k = turn(norm(q), *query_turns), turn(norm(k), *key_turns)
        scale, mask = 1.2 / math.sqrt(width // self.heads), None
        if past is not None:
            k, v = (kept.index_copy_(2, at, new) for kept, new in zip(past, (k, v)))
            mask = (torch.arange(k.shape[2]) <= at)[None]
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=self.causal and past is None, scale=scale)
        h = h + y.transpose(1, 2).reshape(batch, steps, width) @ self.project
        return h + F.relu(norm(h, self.norm_2) @ self.up).square() @ self.down


class OrderedNetwork(nn.Module):
    """Logits of the token at each step's target, to which the tables of patterns are added. Matrices are `[inputs, outputs]`. A masked network has
    one window, around the position itself, and every position sees all."""

    def __init__(self, classes, net, causal=True):
        super().__init__()
        width, self.heads, reach = net["width"], net["heads"], net["window"]
        self.size = width // self.heads
        window = lambda: nn.Parameter(torch.randn(2 * reach * (classes + 2), width) * 0.3 / math.sqrt(2 * reach))
        self.token = nn.Parameter(torch.randn(classes + 1, width) * 0.5)
        self.windows = nn.ParameterList(window() for _ in range(2 if causal else 1))
        self.blocks = nn.ModuleList(Block(width, self.heads, causal) for _ in range(net["blocks"]))
        self.norm = nn.Parameter(torch.ones(width))
        self.output, self.bias = nn.Parameter(torch.zeros(width, classes)), nn.Parameter(torch.zeros(classes))
        self.patterns = nn.Parameter(torch.zeros(len(PATTERNS) << net["hash_bits"], classes))
        half = self.size // 2
        angles = torch.arange(-1, net["length"])[:, None] * 1000.0 ** (-torch.arange(half, dtype=torch.float64) / half)
        self.register_buffer("cosines", angles.cos().float(), persistent=False)
        self.register_buffer("sines", angles.sin().float(), persistent=False)

    def turns(self, shown):
        """Cosines and sines for queries and for keys, a third of which is turned by the target's position."""
        at_target = self.heads // 3
        pick = lambda table, position: table[position + 1][:, None]
        queries = [pick(table, shown.target) for table in (self.cosines, self.sines)]
        own = [pick(table, shown.own) for table in (self.cosines, self.sines)]
        spread = lambda turns, heads: turns.expand(-1, heads, -1, -1)
        keys = [torch.cat([spread(a, self.heads - at_target), spread(b, at_target)], dim=1) for a, b in zip(own, queries)]
        return queries, keys

    def forward(self, shown, past=None, at=None):
        return self.through(shown, F.embedding(shown.patterns, self.patterns, sparse=True), past, at)

    def through(self, shown, said, past=None, at=None):
        """With what the tables of patterns say, `[batch, steps, tables, classes]`; with a past, one step after it, which is added to it."""
        h = F.embedding(shown.read, self.token)
        for table, rows in zip(self.windows, shown.windows):
            h = h + F.embedding_bag(rows.flatten(0, 1), table, mode="sum").view_as(h)
        queries, keys = self.turns(shown)
        for index, block in enumerate(self.blocks):
            h = block(h, queries, keys, None if past is None else past[index], at)
        return norm(h, self.norm) @ self.output + self.bias + said.sum(2)

    def empty_past(self, batch):
        """Room for the keys and values of all steps of each block."""
        shape = (batch, self.heads, len(self.cosines) - 1, self.size)
        return [(torch.zeros(shape), torch.zeros(shape)) for _ in self.blocks]

    def matrices(self):
        """The matrices of blocks, each with the number of matrices of their own that its columns are."""
        return [(w, 3 if w is block.qkv else 1) for block in self.blocks for w in (block.qkv, block.project, block.up, block.down)]

    def others(self):
        """All weights but the matrices of blocks and the tables of patterns."""
        apart = {id(w) for w, _ in self.matrices()} | {id(self.patterns)}
        return [w for w in self.parameters() if id(w) not in apart]


def state(tensors):
    """The weights of a pmm model by the names that they have here."""
    names = {"window.target": "windows.0", "window.token": "windows.1", "output.weight": "output", "output.bias": "bias"}
    vectors = lambda name, tensor: tensor[0] if "norm" in name or name == "bias" else tensor
    own = {names.get(name, name.replace("block.", "blocks.")): tensor for name, tensor in tensors.items() if not name.startswith("pattern.")}
    own = {name: vectors(name, tensor) for name, tensor in own.items()}
    return own | {"patterns": torch.cat([tensors[f"pattern.{table}"] for table in range(len(PATTERNS))])}
