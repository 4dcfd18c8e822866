//! Attention of one text in which a step sees itself and those before it: some queries at a time, with the keys up to the last of
//! them only. Scores stay in cache and are computed again on the way back.

use super::attention::{dot, softmax, softmax_back};
use super::matmul::{Matrix, matmul_into};

/// Queries at a time.
const TILE: usize = 64;

/// Shape of a causal attention over `[steps, 3 · width]` queries, keys and values.
#[derive(Clone, Copy)]
pub(super) struct CausalAttention {
    pub(super) steps: usize,
    pub(super) width: usize,
    pub(super) heads: usize,
    pub(super) scale: f32,
}

/// Some steps of a text.
type Steps = std::ops::Range<usize>;

impl CausalAttention {
    fn size(&self) -> usize {
        self.width / self.heads
    }

    /// Query, key or value (0, 1, 2) of a head, at some steps.
    fn part<'m>(&self, qkv: &'m [f32], which: usize, head: usize, steps: Steps) -> Matrix<'m> {
        let (stride, start) = (3 * self.width, which * self.width + head * self.size());
        let rows = &qkv[steps.start * stride..steps.end * stride];
        Matrix::new(rows, steps.len(), stride).columns(start..start + self.size())
    }

    fn tiles(&self) -> impl Iterator<Item = Steps> + use<> {
        let steps = self.steps;
        (0..steps).step_by(TILE).map(move |start| start..steps.min(start + TILE))
    }

    /// softmax(scale · q kᵀ) of the queries of a tile: `[tile, tile.end]`.
    fn shares(&self, qkv: &[f32], head: usize, tile: &Steps, scores: &mut [f32]) {
        let (q, k) = (self.part(qkv, 0, head, tile.clone()), self.part(qkv, 1, head, 0..tile.end));
        matmul_into(scores, tile.end, false, self.scale, q, k.transposed());
        for (step, row) in tile.clone().zip(scores.chunks_exact_mut(tile.end)) {
            let (seen, unseen) = row.split_at_mut(step + 1);
            softmax(seen);
            unseen.fill(0.0);
        }
    }

    /// `[steps, 3 · width]` → `[steps, width]`.
    pub(super) fn forward(&self, qkv: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; self.steps * self.width];
        let mut scores = vec![0.0; TILE * self.steps];
        for tile in self.tiles() {
            for head in 0..self.heads {
                let scores = &mut scores[..tile.len() * tile.end];
                self.shares(qkv, head, &tile, scores);
                let shares = Matrix::new(scores, tile.len(), tile.end);
                let out = &mut out[tile.start * self.width + head * self.size()..];
                matmul_into(out, self.width, false, 1.0, shares, self.part(qkv, 2, head, 0..tile.end));
            }
        }
        out
    }

    /// The gradient by `qkv`, from `out` = forward(qkv) and the gradient by it.
    pub(super) fn backward(&self, qkv: &[f32], out: &[f32], d_out: &[f32]) -> Vec<f32> {
        let mut d = vec![0.0; self.steps * 3 * self.width];
        let mut shares = vec![0.0; TILE * self.steps];
        let mut d_scores = vec![0.0; TILE * self.steps];
        for tile in self.tiles() {
            for head in 0..self.heads {
                let len = tile.len() * tile.end;
                let (shares, d_scores) = (&mut shares[..len], &mut d_scores[..len]);
                self.shares(qkv, head, &tile, shares);
                self.tile_back(qkv, (out, d_out), head, &tile, (shares, d_scores), &mut d);
            }
        }
        d
    }

    /// Adds what the queries of a tile give to the gradient.
    fn tile_back(
        &self,
        qkv: &[f32],
        (out, d_out): (&[f32], &[f32]),
        head: usize,
        tile: &Steps,
        (shares, d_scores): (&[f32], &mut [f32]),
        d: &mut [f32],
    ) {
        let (width, size, stride) = (self.width, self.size(), 3 * self.width);
        let columns = head * size..(head + 1) * size;
        let d_rows = &d_out[tile.start * width..tile.end * width];
        let d_head = Matrix::new(d_rows, tile.len(), width).columns(columns.clone());
        let p = Matrix::new(shares, tile.len(), tile.end);
        matmul_into(&mut d[2 * width + head * size..], stride, true, 1.0, p.transposed(), d_head);
        let values = self.part(qkv, 2, head, 0..tile.end).transposed();
        matmul_into(d_scores, tile.end, false, 1.0, d_head, values);
        let rows = d_scores.chunks_exact_mut(tile.end).zip(shares.chunks_exact(tile.end));
        for (step, (d_row, row)) in tile.clone().zip(rows) {
            let at = step * width;
            let inner = dot(&out[at..][columns.clone()], &d_out[at..][columns.clone()]);
            softmax_back(d_row, row, inner, self.scale);
        }
        let ds = Matrix::new(d_scores, tile.len(), tile.end);
        let d_queries = &mut d[tile.start * stride + head * size..];
        matmul_into(d_queries, stride, false, 1.0, ds, self.part(qkv, 1, head, 0..tile.end));
        let queries = self.part(qkv, 0, head, tile.clone());
        matmul_into(&mut d[width + head * size..], stride, true, 1.0, ds.transposed(), queries);
    }
}
