//! Sweeps over the rows of a batch.
//!
//! Each is compiled for the widest vectors that a processor may have, and picks its version when it runs. Loops count by
//! index: within such functions the compiler does not inline iterators. The order of sums is fixed by lanes.

#![expect(
    clippy::needless_range_loop,
    reason = "iterators are not inlined into functions with vectors of their own"
)]

use multiversion::multiversion;

use super::activation::{gelu as gelu_of, gelu_slope, sigmoid};
use crate::mlp::EPSILON;

/// Lanes of a sum.
const LANES: usize = 16;

/// The bias in every row, or added to it.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn add_bias(out: &mut [f32], bias: &[f32], add: bool) {
    let width = bias.len();
    for out in out.chunks_exact_mut(width) {
        let out = &mut out[..width];
        if add {
            for i in 0..width {
                out[i] += bias[i];
            }
        } else {
            out.copy_from_slice(bias);
        }
    }
}

/// out + the sum of rows, or the sum alone.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn add_rows(out: &mut [f32], rows: &[f32], add: bool) {
    let width = out.len();
    if !add {
        out.fill(0.0);
    }
    for row in rows.chunks_exact(width) {
        let row = &row[..width];
        for i in 0..width {
            out[i] += row[i];
        }
    }
}

/// p/(1 + e^(−p)), thinned by dropout.
pub(super) fn silu(before: &[f32], mask: Option<&[f32]>) -> Vec<f32> {
    let mut out = before.to_vec();
    silu_in_place(&mut out, mask);
    out
}

/// The same in the place of p.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn silu_in_place(x: &mut [f32], mask: Option<&[f32]>) {
    let n = x.len();
    for i in 0..n {
        x[i] *= sigmoid(x[i]);
    }
    if let Some(mask) = mask {
        let mask = &mask[..n];
        for i in 0..n {
            x[i] *= mask[i];
        }
    }
}

/// The gradient by what [`silu`] saw, from that by what it gave.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn silu_back(d: &mut [f32], before: &[f32], mask: Option<&[f32]>) {
    let n = d.len();
    let before = &before[..n];
    if let Some(mask) = mask {
        let mask = &mask[..n];
        for i in 0..n {
            d[i] *= mask[i];
        }
    }
    for i in 0..n {
        let (p, s) = (before[i], sigmoid(before[i]));
        d[i] *= s * (1.0 + p * (1.0 - s));
    }
}

/// (h − mean)/σ by rows, and 1/σ.
pub(super) fn norm(h: &[f32], width: usize) -> (Vec<f32>, Vec<f32>) {
    let mut normed = h.to_vec();
    let inverse = norm_in_place(&mut normed, width);
    (normed, inverse)
}

/// The same in the place of h; returns 1/σ.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn norm_in_place(h: &mut [f32], width: usize) -> Vec<f32> {
    let mut inverse = vec![0.0; h.len() / width];
    for row in 0..inverse.len() {
        let h = &mut h[row * width..][..width];
        let mean = sum(h) / width as f32;
        for i in 0..width {
            h[i] -= mean;
        }
        let scale = 1.0 / (sum_of_products(h, h) / width as f32 + EPSILON as f32).sqrt();
        for i in 0..width {
            h[i] *= scale;
        }
        inverse[row] = scale;
    }
    inverse
}

/// d_h += 1/σ (d − mean(d) − n mean(d n)).
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn norm_back(d: &[f32], normed: &[f32], inverse: &[f32], width: usize, d_h: &mut [f32]) {
    for row in 0..inverse.len() {
        let (d, n) = (&d[row * width..][..width], &normed[row * width..][..width]);
        let out = &mut d_h[row * width..][..width];
        let (mean, along) = (sum(d) / width as f32, sum_of_products(d, n) / width as f32);
        let scale = inverse[row];
        for i in 0..width {
            out[i] += scale * (d[i] - mean - n[i] * along);
        }
    }
}

/// GELU of every number.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn gelu(before: &[f32]) -> Vec<f32> {
    let n = before.len();
    let mut out = vec![0.0; n];
    let to = &mut out[..n];
    for i in 0..n {
        to[i] = gelu_of(before[i]);
    }
    out
}

/// The gradient by what [`gelu`] saw, from that by what it gave.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn gelu_back(d: &mut [f32], before: &[f32]) {
    let n = d.len();
    let before = &before[..n];
    for i in 0..n {
        d[i] *= gelu_slope(before[i]);
    }
}

/// n (1 + scale) + shift, in every row.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn modulate(n: &[f32], shift: &[f32], scale: &[f32]) -> Vec<f32> {
    let width = shift.len();
    let mut out = vec![0.0; n.len()];
    let scale = &scale[..width];
    for row in 0..n.len() / width {
        let (n, out) = (&n[row * width..][..width], &mut out[row * width..][..width]);
        for i in 0..width {
            out[i] = n[i] * (1.0 + scale[i]) + shift[i];
        }
    }
    out
}

/// From the gradient `d` by [`modulate`]'s result: to `d` that by n, and to `d_shift` and `d_scale` theirs.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn modulate_back(
    d: &mut [f32],
    n: &[f32],
    scale: &[f32],
    d_shift: &mut [f32],
    d_scale: &mut [f32],
) {
    let width = scale.len();
    let (d_shift, d_scale) = (&mut d_shift[..width], &mut d_scale[..width]);
    for row in 0..n.len() / width {
        let (n, d) = (&n[row * width..][..width], &mut d[row * width..][..width]);
        for i in 0..width {
            d_shift[i] += d[i];
            d_scale[i] += d[i] * n[i];
            d[i] *= 1.0 + scale[i];
        }
    }
}

/// h += gate · y, in every row.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn add_gated(h: &mut [f32], y: &[f32], gate: &[f32]) {
    let width = gate.len();
    for row in 0..h.len() / width {
        let (y, h) = (&y[row * width..][..width], &mut h[row * width..][..width]);
        for i in 0..width {
            h[i] += gate[i] * y[i];
        }
    }
}

/// From the gradient by h after [`add_gated`]: that by y, and to `d_gate` that by the gate.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn gated_back(d_h: &[f32], y: &[f32], gate: &[f32], d_gate: &mut [f32]) -> Vec<f32> {
    let width = gate.len();
    let mut d_y = vec![0.0; y.len()];
    let d_gate = &mut d_gate[..width];
    for row in 0..y.len() / width {
        let (y, d_h) = (&y[row * width..][..width], &d_h[row * width..][..width]);
        let d_y = &mut d_y[row * width..][..width];
        for i in 0..width {
            d_gate[i] += d_h[i] * y[i];
            d_y[i] = d_h[i] * gate[i];
        }
    }
    d_y
}

/// y = f(factor · x + offset), with f SiLU or nothing.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn affine(y: &mut [f32], x: &[f32], factor: f32, offset: f32, silu: bool) {
    let n = y.len();
    let x = &x[..n];
    if silu {
        for i in 0..n {
            let before = factor * x[i] + offset;
            y[i] = before * sigmoid(before);
        }
    } else {
        for i in 0..n {
            y[i] = factor * x[i] + offset;
        }
    }
}

/// The gradient by what f saw, from that by what [`affine`] gave; returns its sum, and the sum of its products with x.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn affine_back(
    before: &mut [f32],
    d: &[f32],
    x: &[f32],
    factor: f32,
    offset: f32,
    silu: bool,
) -> (f32, f32) {
    let n = before.len();
    let (d, x) = (&d[..n], &x[..n]);
    if silu {
        for i in 0..n {
            let z = factor * x[i] + offset;
            let s = sigmoid(z);
            before[i] = d[i] * (s + z * s * (1.0 - s));
        }
    } else {
        before.copy_from_slice(d);
    }
    (sum(before), sum_of_products(before, x))
}

/// Mean and variance.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn moments(x: &[f32]) -> (f32, f32) {
    let n = x.len() as f32;
    let mean = sum(x) / n;
    let (chunks, rest) = x.as_chunks::<LANES>();
    let mut lanes = [0f32; LANES];
    for c in 0..chunks.len() {
        let chunk = &chunks[c];
        for l in 0..LANES {
            lanes[l] += (chunk[l] - mean) * (chunk[l] - mean);
        }
    }
    for i in 0..rest.len() {
        lanes[i] += (rest[i] - mean) * (rest[i] - mean);
    }
    (mean, total(&lanes, &[]) / n)
}

/// y ← y + number.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn add_number(y: &mut [f32], number: f32) {
    for i in 0..y.len() {
        y[i] += number;
    }
}

/// a · b, number by number.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn product(a: &[f32], b: &[f32]) -> Vec<f32> {
    let n = a.len();
    let b = &b[..n];
    let mut out = vec![0.0; n];
    let to = &mut out[..n];
    for i in 0..n {
        to[i] = a[i] * b[i];
    }
    out
}

/// The sum.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn sum_of(x: &[f32]) -> f32 {
    sum(x)
}

/// d ← a · d + b · x + c.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn linear_mix(d: &mut [f32], x: &[f32], a: f32, b: f32, c: f32) {
    let n = d.len();
    let x = &x[..n];
    for i in 0..n {
        d[i] = a * d[i] + b * x[i] + c;
    }
}

#[inline(always)]
fn sum(values: &[f32]) -> f32 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [0f32; LANES];
    for c in 0..chunks.len() {
        let chunk = &chunks[c];
        for l in 0..LANES {
            lanes[l] += chunk[l];
        }
    }
    total(&lanes, rest)
}

#[inline(always)]
pub(super) fn sum_of_products(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let b = &b[..a.len()];
    let mut lanes = [0f32; LANES];
    for c in 0..a.len() {
        let (a, b) = (&a[c], &b[c]);
        for l in 0..LANES {
            lanes[l] += a[l] * b[l];
        }
    }
    let mut rest = [0f32; LANES];
    for i in 0..a_rest.len() {
        rest[i] = a_rest[i] * b_rest[i];
    }
    total(&lanes, &rest)
}

#[inline(always)]
fn total(lanes: &[f32; LANES], rest: &[f32]) -> f32 {
    let mut sum = 0.0;
    for l in 0..LANES {
        sum += lanes[l];
    }
    for i in 0..rest.len() {
        sum += rest[i];
    }
    sum
}
