"""Muon and Adagrad by rows, as pmm moves the matrices of blocks and the tables of patterns."""

import torch


def orthogonal(x):
    """Matrices `[n, rows, columns]` with singular values near 1, by Newton–Schulz steps."""
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-12)
    for _ in range(5):
        s = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(s, s, s, beta=-4.7750, alpha=2.0315), x, beta=3.4445)
    return x


class Muon:
    """For matrices `[inputs, outputs]`, each with the number of pieces that its columns are cut into; pieces of one shape go together."""

    def __init__(self, matrices, rate=0.02, momentum=0.95, weight_decay=0.02):
        self.weights, self.pieces = [w for w, _ in matrices], [pieces for _, pieces in matrices]
        self.rate, self.beta, self.decay = rate, momentum, weight_decay
        self.momentum = [torch.zeros_like(w) for w in self.weights]

    @torch.no_grad()
    def step(self, share=1.0):
        gradients = [w.grad for w in self.weights]
        torch._foreach_lerp_(self.momentum, gradients, 1 - self.beta)
        moves = torch._foreach_lerp(gradients, self.momentum, self.beta)
        cut = [piece for move, pieces in zip(moves, self.pieces) for piece in move.chunk(pieces, dim=1)]
        shapes = {tuple(sorted(piece.shape)) for piece in cut}
        for shape in shapes:
            same = [piece for piece in cut if tuple(sorted(piece.shape)) == shape]
            lying = torch.stack([piece if piece.shape[0] <= piece.shape[1] else piece.T for piece in same])
            for piece, found in zip(same, orthogonal(lying)):
                gain = max(1, piece.shape[1] / piece.shape[0]) ** 0.5
                piece.copy_(found if piece.shape[0] <= piece.shape[1] else found.T).mul_(gain)
        rate = self.rate * share
        torch._foreach_mul_(self.weights, 1 - rate * self.decay)
        torch._foreach_add_(self.weights, moves, alpha=-rate)


class RowAdagrad:
    """For a table whose gradient is sparse."""

    def __init__(self, table, rate):
        self.table, self.rate, self.sums = table, rate, torch.zeros_like(table)

    @torch.no_grad()
    def step(self, share=1.0, gradient=None):
        gradient = (self.table.grad if gradient is None else gradient).coalesce()
        rows, g = gradient.indices()[0], gradient.values()
        sums = self.sums[rows] + g * g
        self.sums[rows] = sums
        self.table.index_add_(0, rows, g / (sums.sqrt() + 1e-10), alpha=-self.rate * share)
