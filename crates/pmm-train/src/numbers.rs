//! Numbers of some weights on their way from rank to rank: gradients, or the weights themselves.

use std::ops::Range;

use rayon::prelude::*;

use crate::segment::Segment;
use crate::train_config::Exchange;

/// Numbers per task of an addition.
const CHUNK: usize = 1 << 14;

/// One number for each of some weights, and rows of large tables of which a batch reads few.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Numbers {
    /// The loss, of which they are the gradient.
    pub(crate) loss: f64,
    /// Of weights one after the other.
    pub(crate) dense: Vec<f32>,
    /// Where rows begin in the weights, sorted; each with its numbers.
    pub(crate) rows: Vec<(usize, Vec<f32>)>,
}

impl Numbers {
    /// `self + other`, in this order.
    pub(crate) fn add(mut self, other: Self) -> Self {
        self.loss += other.loss;
        let both = self.dense.par_chunks_mut(CHUNK).zip(other.dense.par_chunks(CHUNK));
        both.for_each(|(to, from)| to.iter_mut().zip(from).for_each(|(to, from)| *to += from));
        let mut rows = Vec::with_capacity(self.rows.len() + other.rows.len());
        let mut left = self.rows.into_iter().peekable();
        for (at, values) in other.rows {
            rows.extend(std::iter::from_fn(|| left.next_if(|(before, _)| *before < at)));
            match left.next_if(|(same, _)| *same == at) {
                Some((at, mut sum)) => {
                    sum.iter_mut().zip(&values).for_each(|(to, from)| *to += from);
                    rows.push((at, sum));
                }
                None => rows.push((at, values)),
            }
        }
        rows.extend(left);
        Self { rows, ..self }
    }

    /// Those of a segment, where these are of all weights.
    pub(crate) fn write_segment(&self, segment: &Segment, exchange: Exchange, bytes: &mut Vec<u8>) {
        bytes.extend(self.loss.to_ne_bytes());
        write_floats(&self.dense[segment.dense.clone()], exchange, bytes);
        let rows = &self.rows[between(&self.rows, &segment.rows)];
        bytes.extend((rows.len() as u64).to_ne_bytes());
        for (at, values) in rows {
            bytes.extend((*at as u64).to_ne_bytes());
            write_floats(values, exchange, bytes);
        }
    }

    pub(crate) fn read(bytes: &mut Bytes<'_>, exchange: Exchange) -> Option<Self> {
        let loss = f64::from_bits(bytes.number()?);
        let dense = bytes.floats(exchange)?;
        let count = bytes.number()?;
        let mut rows = Vec::new();
        for _ in 0..count {
            rows.push((bytes.number()? as usize, bytes.floats(exchange)?));
        }
        Some(Self { loss, dense, rows })
    }
}

/// Which of some sorted rows begin within a range.
fn between(rows: &[(usize, Vec<f32>)], range: &Range<usize>) -> Range<usize> {
    let place = |border: usize| rows.partition_point(|(at, _)| *at < border);
    place(range.start)..place(range.end)
}

fn write_floats(floats: &[f32], exchange: Exchange, bytes: &mut Vec<u8>) {
    bytes.extend((floats.len() as u64).to_ne_bytes());
    match exchange {
        Exchange::Full => bytes.extend_from_slice(bytemuck::cast_slice(floats)),
        Exchange::Half => bytes.extend(floats.iter().flat_map(|x| half(*x).to_ne_bytes())),
    }
}

/// The upper half of the bits of a number, rounded to the nearest (bfloat16): all its range, and two to three digits.
fn half(x: f32) -> u16 {
    let bits = x.to_bits();
    if x.is_nan() {
        return (bits >> 16) as u16 | 0x40; // never rounded to infinity
    }
    ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16) as u16
}

/// What is left to read of what a rank has sent.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl Bytes<'_> {
    pub(crate) fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_ne_bytes(*number))
    }

    fn floats(&mut self, exchange: Exchange) -> Option<Vec<f32>> {
        let count = self.number()? as usize;
        let each = if exchange == Exchange::Full { 4 } else { 2 };
        let (floats, rest) = self.0.split_at_checked(count.checked_mul(each)?)?;
        self.0 = rest;
        Some(match exchange {
            Exchange::Full => bytemuck::pod_collect_to_vec(floats),
            Exchange::Half => {
                let whole = |half: &[u8; 2]| f32::from_bits(u32::from(u16::from_ne_bytes(*half)) << 16);
                floats.as_chunks().0.iter().map(whole).collect()
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrive_as_they_were_or_rounded() {
        let dense = vec![1.0, -0.1, 3.0e38, 1e-30, f32::NEG_INFINITY, 0.0];
        let numbers =
            Numbers { loss: 0.1, dense, rows: vec![(10, vec![1.0 + 1.0 / 256.0, 2.5]), (20, vec![7.0])] };
        let all = Segment { dense: 0..6, rows: 6..30 };
        let sent = |segment: &Segment, exchange| {
            let mut bytes = Vec::new();
            numbers.write_segment(segment, exchange, &mut bytes);
            (bytes.len(), Numbers::read(&mut Bytes(&bytes), exchange).unwrap())
        };
        let (full, arrived) = sent(&all, Exchange::Full);
        assert_eq!(arrived, numbers);
        let (_, part) = sent(&Segment { dense: 1..3, rows: 15..30 }, Exchange::Full);
        assert_eq!((part.dense, part.rows), (vec![-0.1, 3.0e38], vec![(20, vec![7.0])]));
        let (less, rounded) = sent(&all, Exchange::Half);
        assert_eq!(full - less, 9 * 2);
        // As torch.bfloat16 has them.
        assert_eq!(rounded.dense[..2], [1.0, -0.100_097_656]);
        assert_eq!(rounded.rows, [(10, vec![1.0, 2.5]), (20, vec![7.0])]);
        assert_eq!(rounded.dense[4..], [f32::NEG_INFINITY, 0.0]);
        let far = |(a, b): (&f32, &f32)| (a - b).abs() > a.abs() / 256.0;
        assert!(!numbers.dense[..4].iter().zip(&rounded.dense).any(far), "{:?}", rounded.dense);
        assert!(f32::from_bits(u32::from(half(f32::from_bits(0x7fff_ffff))) << 16).is_nan());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let numbers = Numbers { loss: 1.0, dense: vec![1.0; 10], rows: vec![(10, vec![2.0; 3])] };
        let mut bytes = Vec::new();
        numbers.write_segment(&Segment { dense: 0..10, rows: 10..20 }, Exchange::Full, &mut bytes);
        assert!(Numbers::read(&mut Bytes(&bytes), Exchange::Full).is_some());
        for length in [0, 7, 17, bytes.len() - 1] {
            assert!(Numbers::read(&mut Bytes(&bytes[..length]), Exchange::Full).is_none(), "{length}");
        }
    }
}
