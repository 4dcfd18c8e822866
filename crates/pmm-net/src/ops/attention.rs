//! Attention of one text, head by head: the scores of a head stay in cache and are computed again on the way back.

#![expect(
    clippy::needless_range_loop,
    reason = "iterators are not inlined into functions with vectors of their own"
)]

use multiversion::multiversion;

use super::activation::exp;
use super::matmul::{Matrix, matmul_into};

/// Shape of an attention, with the cosines and sines of rotary positions (empty without).
#[derive(Clone, Copy)]
pub(super) struct Attention<'a> {
    pub(super) length: usize,
    pub(super) width: usize,
    pub(super) heads: usize,
    pub(super) angles: (&'a [f32], &'a [f32]),
    /// Whether a position sees those before it only.
    pub(super) causal: bool,
}

impl Attention<'_> {
    fn size(&self) -> usize {
        self.width / self.heads
    }

    fn scale(&self) -> f32 {
        1.0 / (self.size() as f32).sqrt()
    }

    /// Query, key or value (0, 1, 2) of a head.
    fn part<'m>(&self, qkv: &'m [f32], which: usize, head: usize) -> Matrix<'m> {
        let start = which * self.width + head * self.size();
        Matrix::new(qkv, self.length, 3 * self.width).columns(start..start + self.size())
    }

    /// softmax(q kᵀ/√d) of a head.
    fn shares(&self, qkv: &[f32], head: usize, scores: &mut [f32]) {
        let (q, k) = (self.part(qkv, 0, head), self.part(qkv, 1, head).transposed());
        matmul_into(scores, self.length, false, self.scale(), q, k);
        for (position, row) in scores.chunks_exact_mut(self.length).enumerate() {
            let (seen, unseen) = row.split_at_mut(if self.causal { position + 1 } else { self.length });
            softmax(seen);
            unseen.fill(0.0);
        }
    }

    /// Turns queries and keys by the angles of their positions; `back` turns the other way.
    pub(super) fn turn(&self, qkv: &mut [f32], back: bool) {
        let (cosines, sines) = self.angles;
        if cosines.is_empty() {
            return;
        }
        let half = self.size() / 2;
        for (position, row) in qkv.chunks_exact_mut(3 * self.width).enumerate() {
            for head in row[..2 * self.width].chunks_exact_mut(2 * half) {
                for pair in 0..half {
                    let c = cosines[position * half + pair];
                    let s = if back { -sines[position * half + pair] } else { sines[position * half + pair] };
                    let (a, b) = (head[pair], head[half + pair]);
                    (head[pair], head[half + pair]) = (a * c - b * s, a * s + b * c);
                }
            }
        }
    }

    /// `[length, 3 · width]` → `[length, width]`.
    pub(super) fn forward(&self, qkv: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; self.length * self.width];
        let mut scores = vec![0.0; self.length * self.length];
        for head in 0..self.heads {
            self.shares(qkv, head, &mut scores);
            let shares = Matrix::new(&scores, self.length, self.length);
            let out = &mut out[head * self.size()..];
            matmul_into(out, self.width, false, 1.0, shares, self.part(qkv, 2, head));
        }
        out
    }

    /// The gradient by `qkv`, from `out` = forward(qkv) and the gradient by it.
    pub(super) fn backward(&self, qkv: &[f32], out: &[f32], d_out: &[f32]) -> Vec<f32> {
        let (length, width, size) = (self.length, self.width, self.size());
        let mut d = vec![0.0; length * 3 * width];
        let mut shares = vec![0.0; length * length];
        let mut d_scores = vec![0.0; length * length];
        for head in 0..self.heads {
            let columns = head * size..(head + 1) * size;
            self.shares(qkv, head, &mut shares);
            let d_head = Matrix::new(d_out, length, width).columns(columns.clone());
            let p = Matrix::new(&shares, length, length);
            matmul_into(&mut d[2 * width + head * size..], 3 * width, false, 1.0, p.transposed(), d_head);
            matmul_into(&mut d_scores, length, false, 1.0, d_head, self.part(qkv, 2, head).transposed());
            for row in 0..length {
                let at = row * width;
                let inner = dot(&out[at..][columns.clone()], &d_out[at..][columns.clone()]);
                softmax_back(
                    &mut d_scores[row * length..][..length],
                    &shares[row * length..][..length],
                    inner,
                    self.scale(),
                );
            }
            let ds = Matrix::new(&d_scores, length, length);
            matmul_into(&mut d[head * size..], 3 * width, false, 1.0, ds, self.part(qkv, 1, head));
            let q = self.part(qkv, 0, head);
            matmul_into(&mut d[width + head * size..], 3 * width, false, 1.0, ds.transposed(), q);
        }
        d
    }
}

const LANES: usize = 16;

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(crate) fn softmax(row: &mut [f32]) {
    let (chunks, rest) = row.as_chunks_mut::<LANES>();
    let mut most = [f32::NEG_INFINITY; LANES];
    for c in 0..chunks.len() {
        let chunk = &chunks[c];
        for l in 0..LANES {
            most[l] = if chunk[l] > most[l] { chunk[l] } else { most[l] };
        }
    }
    let mut top = f32::NEG_INFINITY;
    for l in 0..LANES {
        top = if most[l] > top { most[l] } else { top };
    }
    for i in 0..rest.len() {
        top = if rest[i] > top { rest[i] } else { top };
    }
    let mut sums = [0f32; LANES];
    for c in 0..chunks.len() {
        let chunk = &mut chunks[c];
        for l in 0..LANES {
            let e = exp(chunk[l] - top);
            chunk[l] = e;
            sums[l] += e;
        }
    }
    let mut sum = 0.0;
    for i in 0..rest.len() {
        rest[i] = exp(rest[i] - top);
        sum += rest[i];
    }
    for l in 0..LANES {
        sum += sums[l];
    }
    let scale = 1.0 / sum;
    for i in 0..row.len() {
        row[i] *= scale;
    }
}

/// d ← p (d − ⟨p, d⟩) · scale, where ⟨p, d⟩ is known to be `inner`.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn softmax_back(d: &mut [f32], p: &[f32], inner: f32, scale: f32) {
    let n = d.len();
    let p = &p[..n];
    for i in 0..n {
        d[i] = p[i] * (d[i] - inner) * scale;
    }
}

pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
