//! Counter-based random streams: every draw is a function of (seed, purpose, step, row) and its position.
//!
//! A generator with hidden state makes results depend on who draws first. Here the stream of a row is Philox4x64-10
//! (Salmon et al. 2011) with key `(seed, purpose)` and counter `(block, step, row, 0)`, so a row gets the same noise
//! whichever thread, batch or restart asks for it. No two different quadruples share a block: nothing is hashed.
//!
//! It is our own because rows are short: on rows of ten columns, normal draws took 1.5 times as long from `rand_philox` and
//! 1.4 times as long from `rand_chacha`, which makes 256 bytes at a time (`cargo run --release -p bench-core --bin crates`).
//! The words are those of NumPy's `Philox`, which the tests quote.

use std::convert::Infallible;

use crate::purpose::Purpose;
use rand_core::TryRng;
use rand_distr::{Distribution, Exp1, StandardNormal};

/// All streams of one seed.
///
/// ```
/// use pmm_core::{Purpose, Streams};
/// let streams = Streams::new(7);
/// let first = streams.stream(Purpose::STATE, 3, 1_000).unit();
/// assert_eq!(first, streams.stream(Purpose::STATE, 3, 1_000).unit());
/// assert_ne!(first, streams.stream(Purpose::STATE, 4, 1_000).unit());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streams {
    seed: u64,
}

impl Streams {
    /// The streams of `seed`.
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// The seed.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Streams of their own for one of many alike, such as the second completed table: whatever purposes it uses, none is shared
    /// with its parent or its siblings.
    pub fn child(&self, purpose: Purpose, index: u64) -> Self {
        Self::new(self.stream(purpose, index, 0).word())
    }

    /// The stream of a row at a step.
    pub fn stream(&self, purpose: Purpose, step: u64, row: u64) -> Stream {
        self.block_stream(purpose, 0, step, row)
    }

    /// The stream of a row at a step for one block of a mixed space.
    pub fn block_stream(&self, purpose: Purpose, block: u32, step: u64, row: u64) -> Stream {
        let key = [self.seed, u64::from(purpose.0) | u64::from(block) << 32];
        Stream { key, counter: [0, step, row, 0], words: [0; WORDS], used: WORDS, bytes: 0, bytes_left: 0 }
    }
}

/// The streams of the rows of one block at one step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowStreams {
    pub(crate) streams: Streams,
    pub(crate) purpose: Purpose,
    pub(crate) block: u32,
    pub(crate) step: u64,
    /// The number of the batch's first row in the whole.
    pub(crate) first_row: u64,
}

impl RowStreams {
    /// The stream of a row of the batch.
    #[inline]
    pub(crate) fn row(&self, row: usize) -> Stream {
        self.streams.block_stream(self.purpose, self.block, self.step, self.first_row + row as u64)
    }
}

/// Words made at a time: two blocks. A block is a chain of ten multiplications; two chains side by side take little
/// longer than one.
const WORDS: usize = 8;

/// One stream of random numbers; see [`Streams`].
#[derive(Debug, Clone)]
pub struct Stream {
    key: [u64; 2],
    counter: [u64; 4],
    words: [u64; WORDS],
    used: usize,
    bytes: u64,
    bytes_left: u32,
}

impl Stream {
    /// The next 64 bits.
    #[inline]
    pub fn word(&mut self) -> u64 {
        if self.used == WORDS {
            self.refill();
        }
        let word = self.words[self.used];
        self.used += 1;
        word
    }

    #[inline(never)]
    fn refill(&mut self) {
        let [block, step, row, zero] = self.counter;
        let next = [block.wrapping_add(1), step, row, zero];
        let blocks = philox4x64([self.counter, next], self.key);
        self.words[..4].copy_from_slice(&blocks[0]);
        self.words[4..].copy_from_slice(&blocks[1]);
        self.counter[0] = block.wrapping_add(2);
        self.used = 0;
    }

    /// The next 8 bits, eight of them from one word.
    #[inline]
    pub(crate) fn byte(&mut self) -> u8 {
        if self.bytes_left == 0 {
            self.bytes = self.word();
            self.bytes_left = 8;
        }
        let byte = self.bytes as u8;
        self.bytes >>= 8;
        self.bytes_left -= 1;
        byte
    }

    /// A uniform draw from [0, 1) on a grid of 2⁻⁵³.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// A standard normal draw.
    #[inline(always)]
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(self)
    }

    /// A standard exponential draw.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        Exp1.sample(self)
    }

    /// A uniform draw from `0..n` (`n` > 0), without bias (Lemire's multiplication with rejection).
    pub fn below(&mut self, n: u64) -> u64 {
        loop {
            let wide = u128::from(self.word()) * u128::from(n);
            if wide as u64 >= n || wide as u64 >= n.wrapping_neg() % n {
                return (wide >> 64) as u64;
            }
        }
    }

    /// Shuffles a slice uniformly (Fisher–Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.word() >> 32) as u32)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.word())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.word().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

/// Ten rounds of Philox on four 64-bit words, for each of N counters.
#[inline]
fn philox4x64<const N: usize>(mut counters: [[u64; 4]; N], mut key: [u64; 2]) -> [[u64; 4]; N] {
    const MULTIPLIERS: [u64; 2] = [0xD2E7_470E_E14C_6C93, 0xCA5A_8263_9512_1157];
    const WEYL: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xBB67_AE85_84CA_A73B];
    for _ in 0..10 {
        for c in &mut counters {
            let p0 = u128::from(MULTIPLIERS[0]) * u128::from(c[0]);
            let p1 = u128::from(MULTIPLIERS[1]) * u128::from(c[2]);
            *c = [(p1 >> 64) as u64 ^ c[1] ^ key[0], p1 as u64, (p0 >> 64) as u64 ^ c[3] ^ key[1], p0 as u64];
        }
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counters
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Independent values, from NumPy 2.4.6. NumPy counts up before its first block, hence the −1:
    /// `numpy.random.Philox(key=[5, 3], counter=(11 << 64) + (20 << 128) - 1).random_raw(8)`.
    #[test]
    fn words_are_numpys() {
        let mut stream = Streams::new(5).stream(Purpose::STATE, 11, 20);
        let words: Vec<u64> = (0..8).map(|_| stream.word()).collect();
        let numpy = [
            0x1096_5841_ae70_42c0,
            0x2456_bc9c_1dc0_a8c7,
            0x8c06_b9fc_ee9d_1021,
            0xe44b_a4be_528b_7d48,
            0x7b73_401b_caf8_5a0f,
            0x2990_4895_1d50_ad81,
            0xfd7e_c314_703a_fa13,
            0x7d81_6bec_0c8b_db5e,
        ];
        assert_eq!(words, numpy);
    }

    /// Value stability: a change of any draw below changes every seeded result that users have kept.
    #[test]
    fn seeded_draws_are_stable() {
        let mut stream = Streams::new(0).stream(Purpose::ADVANCE, 0, 0);
        let draws = [stream.unit(), stream.normal(), stream.exponential(), stream.below(1000) as f64];
        assert_eq!(draws, [0.9072447902646278, 0.4752785119883496, 1.2974274289982963, 87.0]);
    }

    #[test]
    fn every_part_of_the_key_matters() {
        let streams = Streams::new(1);
        let mut first = [
            Streams::new(2).stream(Purpose::DATA, 0, 0),
            streams.stream(Purpose::DATA, 0, 0),
            streams.stream(Purpose::TIME, 0, 0),
            streams.stream(Purpose::custom(0), 0, 0),
            streams.stream(Purpose::DATA, 1, 0),
            streams.stream(Purpose::DATA, 0, 1),
            streams.block_stream(Purpose::DATA, 1, 0, 0),
        ]
        .map(|mut stream| stream.word());
        first.sort_unstable();
        assert!(first.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn bytes_and_fill_follow_the_words() {
        let stream = Streams::new(3).stream(Purpose::DATA, 0, 0);
        let (mut by_word, mut by_byte, mut filled) = (stream.clone(), stream.clone(), stream);
        let expected = by_word.word().to_le_bytes();
        assert_eq!([0; 8].map(|_: u8| by_byte.byte()), expected);
        let mut buffer = [0; 8];
        filled.try_fill_bytes(&mut buffer).expect("infallible");
        assert_eq!(buffer, expected);
    }

    /// Each of 6 permutations of 3 items: 60,000 shuffles, chi-square with 5 degrees of freedom, false alarm 1e-6.
    #[test]
    fn shuffles_are_uniform() {
        let mut stream = Streams::new(4).stream(Purpose::ORDER, 0, 0);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..60_000 {
            let mut items = [0, 1, 2];
            stream.shuffle(&mut items);
            *counts.entry(items).or_insert(0.0) += 1.0;
        }
        let chi2: f64 = counts.values().map(|n: &f64| (n - 1e4).powi(2) / 1e4).sum();
        assert!(counts.len() == 6 && chi2 < 37.0, "{counts:?}");
    }
}
