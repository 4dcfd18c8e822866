//! Sweeps over the rows of the ordered network: norms by the root of the mean square, heads that are normed and turned, ReLU².
//!
//! Compiled for several widths of vectors, as [`rows`](super::rows); the order of sums is fixed by lanes.

use multiversion::multiversion;

use super::rows::sum_of_products;

/// Added to the mean square.
const EPSILON: f32 = 1e-6;

/// h/√(mean h² + ε) by rows, and 1/√….
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn rms_norm(h: &[f32], width: usize) -> (Vec<f32>, Vec<f32>) {
    let mut normed = vec![0.0; h.len()];
    let mut inverse = vec![0.0; h.len() / width];
    for row in 0..inverse.len() {
        let h = &h[row * width..][..width];
        let out = &mut normed[row * width..][..width];
        let scale = 1.0 / (sum_of_products(h, h) / width as f32 + EPSILON).sqrt();
        for i in 0..width {
            out[i] = h[i] * scale;
        }
        inverse[row] = scale;
    }
    (normed, inverse)
}

/// Every row times the gains.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn gained(normed: &[f32], gain: &[f32]) -> Vec<f32> {
    let width = gain.len();
    let mut out = vec![0.0; normed.len()];
    for row in 0..normed.len() / width {
        let (n, out) = (&normed[row * width..][..width], &mut out[row * width..][..width]);
        for i in 0..width {
            out[i] = n[i] * gain[i];
        }
    }
    out
}

/// From the gradient `d` by [`gained`]'s result: d_h += that by h, d_gain += that by the gains.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn rms_norm_back(
    d: &mut [f32],
    normed: &[f32],
    inverse: &[f32],
    gain: &[f32],
    d_h: &mut [f32],
    d_gain: &mut [f32],
) {
    let width = gain.len();
    let d_gain = &mut d_gain[..width];
    for row in 0..inverse.len() {
        let (d, n) = (&mut d[row * width..][..width], &normed[row * width..][..width]);
        let out = &mut d_h[row * width..][..width];
        for i in 0..width {
            d_gain[i] += d[i] * n[i];
            d[i] *= gain[i];
        }
        let along = sum_of_products(d, n) / width as f32;
        let scale = inverse[row];
        for i in 0..width {
            out[i] += scale * (d[i] - n[i] * along);
        }
    }
}

/// max(x, 0)².
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn relu_squared(before: &[f32]) -> Vec<f32> {
    let n = before.len();
    let mut out = vec![0.0; n];
    let to = &mut out[..n];
    for i in 0..n {
        let x = if before[i] > 0.0 { before[i] } else { 0.0 };
        to[i] = x * x;
    }
    out
}

/// The gradient by what [`relu_squared`] saw, from that by what it gave.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn relu_squared_back(d: &mut [f32], before: &[f32]) {
    let n = d.len();
    let before = &before[..n];
    for i in 0..n {
        d[i] *= if before[i] > 0.0 { 2.0 * before[i] } else { 0.0 };
    }
}

/// h += y.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn add_to(h: &mut [f32], y: &[f32]) {
    let n = h.len();
    let y = &y[..n];
    for i in 0..n {
        h[i] += y[i];
    }
}

/// The angles at which queries and keys stand: cosines and sines, `[positions + 1, half a head]`, first those of the start symbol.
#[derive(Clone, Copy)]
pub(super) struct Angles<'a> {
    pub(super) cosines: &'a [f32],
    pub(super) sines: &'a [f32],
    pub(super) half: usize,
}

/// Where the token of each step stands and what the step is to predict, as rows of [`Angles`].
#[derive(Clone, Copy)]
pub(super) struct Turns<'a> {
    pub(super) own: &'a [u32],
    pub(super) target: &'a [u32],
    pub(super) heads: usize,
    /// The last so many heads have their keys where the step's target is.
    pub(super) at_target: usize,
}

impl Turns<'_> {
    /// The row of angles of a head; heads of queries come before those of keys.
    #[inline(always)]
    fn angle(&self, row: usize, head: usize) -> usize {
        let key_at_own = head >= self.heads && head < 2 * self.heads - self.at_target;
        (if key_at_own { self.own[row] } else { self.target[row] }) as usize
    }
}

/// Norms every head of the queries and keys, and turns it; returns 1/√(mean square) of each, `[rows, 2 · heads]`.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn norm_and_turn(qkv: &mut [f32], turns: Turns<'_>, angles: Angles<'_>) -> Vec<f32> {
    let (half, heads) = (angles.half, turns.heads);
    let size = 2 * half;
    let width = 3 * heads * size;
    let mut inverse = vec![0.0; turns.target.len() * 2 * heads];
    for row in 0..turns.target.len() {
        for head in 0..2 * heads {
            let values = &mut qkv[row * width + head * size..][..size];
            let scale = 1.0 / (sum_of_products(values, values) / size as f32 + EPSILON).sqrt();
            inverse[row * 2 * heads + head] = scale;
            let at = turns.angle(row, head) * half;
            let (c, s) = (&angles.cosines[at..][..half], &angles.sines[at..][..half]);
            let (first, second) = values.split_at_mut(half);
            let second = &mut second[..half];
            for i in 0..half {
                let (a, b) = (first[i] * scale, second[i] * scale);
                first[i] = a * c[i] - b * s[i];
                second[i] = a * s[i] + b * c[i];
            }
        }
    }
    inverse
}

/// The gradient by the queries and keys before [`norm_and_turn`], from that by what it gave and what that was. A turn changes no inner
/// product, so it is undone last.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn norm_and_turn_back(
    d_qkv: &mut [f32],
    qkv: &[f32],
    inverse: &[f32],
    turns: Turns<'_>,
    angles: Angles<'_>,
) {
    let (half, heads) = (angles.half, turns.heads);
    let size = 2 * half;
    let width = 3 * heads * size;
    for row in 0..turns.target.len() {
        for head in 0..2 * heads {
            let at = row * width + head * size;
            let (d, n) = (&mut d_qkv[at..][..size], &qkv[at..][..size]);
            let along = sum_of_products(d, n) / size as f32;
            let scale = inverse[row * 2 * heads + head];
            let at = turns.angle(row, head) * half;
            let (c, s) = (&angles.cosines[at..][..half], &angles.sines[at..][..half]);
            let (d_first, d_second) = d.split_at_mut(half);
            let (first, second) = n.split_at(half);
            let (d_second, second) = (&mut d_second[..half], &second[..half]);
            for i in 0..half {
                let a = scale * (d_first[i] - first[i] * along);
                let b = scale * (d_second[i] - second[i] * along);
                d_first[i] = a * c[i] + b * s[i];
                d_second[i] = b * c[i] - a * s[i];
            }
        }
    }
}
