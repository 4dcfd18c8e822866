//! SiLU, GELU and their slopes, branch-free so that the compiler vectorises them.

/// 1/(1 + e^(−x)), to a relative error of 2e-7.
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

const TANH_RATE: f32 = 1.595_769_2; // 2 √(2/π)
const TANH_CUBE: f32 = 0.044_715;

/// GELU in its tanh form: x σ(2 √(2/π) (x + .044715 x³)).
#[inline(always)]
pub(crate) fn gelu(x: f32) -> f32 {
    x * sigmoid(TANH_RATE * (x + TANH_CUBE * x * x * x))
}

/// Its slope.
#[inline(always)]
pub(crate) fn gelu_slope(x: f32) -> f32 {
    let s = sigmoid(TANH_RATE * (x + TANH_CUBE * x * x * x));
    s + x * s * (1.0 - s) * TANH_RATE * (1.0 + 3.0 * TANH_CUBE * x * x)
}

/// e^x by 2^n times a polynomial on |r| ≤ ½ ln 2.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    const ROUND: f32 = 12_582_912.0; // 1.5 · 2²³: adding it rounds to an integer, which is then in the lowest bits
    let x = x.clamp(-87.0, 88.0);
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = x - n * LN_2_HIGH - n * LN_2_LOW;
    let p = 1.987_569_1e-4;
    let p = p * r + 1.398_199_9e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_5e-1;
    let p = p * r + 0.5;
    let p = p * r * r + r + 1.0;
    // n is added to the exponent of p; a conversion to an integer would not be vectorised.
    f32::from_bits(p.to_bits().wrapping_add(rounded.to_bits() << 23))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_to_libm() {
        for i in -8700..8800 {
            let x = i as f32 / 100.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 3e-7, "{x}");
        }
        assert!(exp(-1e9) > 0.0 && exp(1e9).is_finite() && sigmoid(f32::NAN).is_nan());
    }
}
