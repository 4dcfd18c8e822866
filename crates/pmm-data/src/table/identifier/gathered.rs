//! What is gathered of a column of identifiers, in bounded memory.

use std::collections::HashMap;

use super::running::RunningSeen;

/// Texts that are kept, at most, and their bytes.
const TEXTS: usize = 100_000;
const BYTES: usize = 16 << 20;

/// Cells of a column: all different texts with their counts or, where they are too many, those whose hash is low.
///
/// Of a text all cells or none are kept, so that repeats show in a sample as in the whole.
#[derive(Debug, Clone, Default)]
pub(crate) struct GatheredTexts {
    pub(crate) cells: u64,
    pub(crate) present: u64,
    pub(crate) running: RunningSeen,
    kept: HashMap<Box<str>, u64>,
    bytes: usize,
    /// Bits of the hash that must be zero.
    zeros: u32,
}

impl GatheredTexts {
    pub(crate) fn add(&mut self, text: Option<&str>) {
        self.cells += 1;
        let Some(text) = text else { return };
        self.present += 1;
        self.running.add(text);
        if self.zeros > 0 && hash(text).trailing_zeros() < self.zeros {
            return;
        }
        if let Some(count) = self.kept.get_mut(text) {
            *count += 1;
            return;
        }
        self.kept.insert(text.into(), 1);
        self.bytes += text.len();
        while self.kept.len() > TEXTS || self.bytes > BYTES {
            self.zeros += 1;
            let zeros = self.zeros;
            self.kept.retain(|text, _| hash(text).trailing_zeros() >= zeros);
            self.bytes = self.kept.keys().map(|text| text.len()).sum();
        }
    }

    /// Whether every text is kept.
    pub(crate) fn is_whole(&self) -> bool {
        self.zeros == 0
    }

    /// Kept texts, sorted: the order of a hash map is no order.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let mut texts: Vec<&str> = self.kept.keys().map(AsRef::as_ref).collect();
        texts.sort_unstable();
        texts
    }

    /// How many texts each kept one stands for.
    pub(crate) fn scale(&self) -> u64 {
        1 << self.zeros.min(63)
    }

    /// Blanks of a text, on average.
    pub(crate) fn blanks(&self) -> f64 {
        let blanks: usize = self.kept.keys().map(|text| text.matches(char::is_whitespace).count()).sum();
        blanks as f64 / self.kept.len().max(1) as f64
    }

    /// Whether no text repeats.
    pub(crate) fn unique(&self) -> bool {
        self.kept.values().all(|count| *count == 1)
    }

    /// The size M of the pool from which draws with replacement repeat as these cells do: d of n are different, as
    /// d = M (1 − exp(−n/M)) says.
    pub(crate) fn pool(&self) -> u64 {
        let n = self.kept.values().sum::<u64>() as f64;
        let d = (self.kept.len() as f64).min(n - 0.5);
        let different = |m: f64| m * -(-n / m).exp_m1();
        let (mut low, mut high) = (d.max(1.0), 1e4 * n * n + 1.0);
        for _ in 0..200 {
            let middle = (low * high).sqrt();
            if different(middle) < d { low = middle } else { high = middle }
        }
        (low * self.scale() as f64).round().max(1.0) as u64
    }
}

fn hash(text: &str) -> u64 {
    let digest = blake3::hash(text.as_bytes());
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest.as_bytes()[..8]);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use pmm_core::{Purpose, Streams};

    use super::*;

    #[test]
    fn many_texts_are_known_by_some() {
        let mut gathered = GatheredTexts::default();
        (0..250_000).for_each(|i| gathered.add(Some(&format!("x{i}"))));
        assert!(!gathered.is_whole() && gathered.unique());
        // 250,000 by 2² with a deviation of 866: beyond five of them once in a million.
        let estimate = gathered.texts().len() as f64 * gathered.scale() as f64;
        assert!((estimate - 250_000.0).abs() < 4330.0, "{estimate}");
        (0..250_000).for_each(|i| gathered.add(Some(&format!("x{i}"))));
        assert!(!gathered.unique());
    }

    /// 10,000 draws from 5,000: the estimate of the pool has a deviation of some 45; held to five.
    #[test]
    fn repeats_tell_the_size_of_the_pool() {
        let mut gathered = GatheredTexts::default();
        let mut stream = Streams::new(1).stream(Purpose::custom(1), 0, 0);
        (0..10_000).for_each(|_| gathered.add(Some(&stream.below(5000).to_string())));
        assert!((gathered.pool() as f64 - 5000.0).abs() < 225.0, "{}", gathered.pool());
    }
}
