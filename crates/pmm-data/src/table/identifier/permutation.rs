//! Keyed permutations of {0, …, n − 1}: every number once, in an order that looks random, without a table.

use pmm_core::Stream;

const ROUNDS: usize = 8;

/// A Feistel network on the next even number of bits, walked until it is back below n.
///
/// Halves (l, r) become (r, l ⊕ F(k, r)) eight times, which can be undone and so is a permutation of the 4^h numbers of 2h bits;
/// following it from a number below n to the next one below n permutes those.
#[derive(Debug, Clone)]
pub(crate) struct Permutation {
    size: u128,
    /// Bits of a half.
    half: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// The largest n: halves have 64 bits at most.
    pub(crate) const MOST: u128 = 1 << 120;

    /// A permutation of `size` numbers, from 1 to [`MOST`](Self::MOST), by the keys that a stream gives.
    pub(crate) fn new(size: u128, stream: &mut Stream) -> Self {
        let size = size.clamp(1, Self::MOST);
        let bits = u128::BITS - (size - 1).leading_zeros();
        Self { size, half: bits.div_ceil(2).max(1), keys: [(); ROUNDS].map(|()| stream.word()) }
    }

    /// How many numbers it permutes.
    pub(crate) fn size(&self) -> u128 {
        self.size
    }

    /// The image of a number below the size.
    pub(crate) fn image(&self, number: u128) -> u128 {
        debug_assert!(number < self.size);
        let mut image = self.rounds(number);
        while image >= self.size {
            image = self.rounds(image);
        }
        image
    }

    fn rounds(&self, number: u128) -> u128 {
        let mask = u64::MAX >> (u64::BITS - self.half);
        let (mut left, mut right) = ((number >> self.half) as u64 & mask, number as u64 & mask);
        for key in self.keys {
            (left, right) = (right, left ^ mixed(right.wrapping_add(key)) & mask);
        }
        u128::from(left) << self.half | u128::from(right)
    }
}

/// The finaliser of SplitMix64: every bit of the answer hangs on every bit of the question.
fn mixed(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use pmm_core::{Purpose, Streams};

    use super::*;

    fn permutation(size: u128, key: u64) -> Permutation {
        Permutation::new(size, &mut Streams::new(key).stream(Purpose::custom(1), 0, 0))
    }

    #[test]
    fn every_number_once() {
        for size in (1..70).chain([255, 256, 257, 1000, 4096, 5000]) {
            let permutation = permutation(size, 3);
            let mut images: Vec<u128> = (0..size).map(|number| permutation.image(number)).collect();
            images.sort_unstable();
            assert!(images.into_iter().eq(0..size), "{size}");
        }
    }

    #[test]
    fn large_spaces_do_not_repeat() {
        for size in [Permutation::MOST, Permutation::MOST - 12_345, (1 << 63) + 1, 1 << 64] {
            let permutation = permutation(size, 4);
            let images: std::collections::HashSet<u128> =
                (0..20_000).map(|number| permutation.image(number)).collect();
            assert!(images.len() == 20_000 && images.iter().all(|image| *image < size), "{size}");
        }
    }

    /// Counts of 16 equal parts over 20,000 images: chi-squared with 15 degrees is beyond 44.3 once in 10,000.
    #[test]
    fn images_are_spread_evenly() {
        for size in [100_000, 1 << 50, Permutation::MOST - 1] {
            let permutation = permutation(size, 5);
            let mut counts = [0.0_f64; 16];
            for number in 0..20_000 {
                counts[(permutation.image(number) / size.div_ceil(16)) as usize] += 1.0;
            }
            let chi: f64 = counts.iter().map(|count| (count - 1250.0).powi(2) / 1250.0).sum();
            assert!(chi < 44.3, "{size}: {chi}");
        }
    }
}
