//! Which of two ways to say a number is shorter, once another is known: the number itself, or by how much the two differ.

/// Neighbours on either side of a value that tell how dense values are around it.
const NEIGHBOURS: usize = 2;
/// Groups of rows in which the known number is nearly the same.
const GROUPS: usize = 16;
/// Rows that such a group has at least.
const LEAST: usize = 40;
/// Nats a row that the difference must save.
const SAVED: f64 = 0.1;

/// Whether the difference of two numbers is shorter to say than the second, where the first is known.
///
/// Given the first, both say the same, and a shift changes no density: so their entropies compare as they are. They are estimated among rows
/// of nearly the same first number, by how far apart neighbouring values lie. Values that repeat are as near as the numbers' own
/// resolution: round numbers, and grids that a difference would blur, count in favour of the number itself.
pub(crate) fn difference_is_shorter(mut pairs: Vec<(f64, f64)>) -> bool {
    if pairs.len() < LEAST {
        return false;
    }
    let mut second: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
    second.sort_by(f64::total_cmp);
    let gaps = second.windows(2).map(|two| two[1] - two[0]).filter(|gap| *gap > 0.0);
    let resolution = gaps.fold(f64::INFINITY, f64::min);
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let size = pairs.len().div_ceil(GROUPS).max(LEAST);
    let length = |of: &dyn Fn(&(f64, f64)) -> f64| -> f64 {
        pairs.chunks(size).map(|group| code_length(group.iter().map(of).collect(), resolution)).sum()
    };
    let saved = length(&|pair| pair.1) - length(&|pair| pair.1 - pair.0);
    resolution.is_finite() && saved > SAVED * pairs.len() as f64
}

/// Nats to say all values, each by the density around it.
fn code_length(mut values: Vec<f64>, resolution: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let one = |place: usize| {
        let low = values[place.saturating_sub(NEIGHBOURS)];
        let high = values[(place + NEIGHBOURS).min(n - 1)];
        let near =
            values.partition_point(|value| *value <= high) - values.partition_point(|value| *value < low);
        ((high - low + resolution) * n as f64 / near as f64).ln()
    };
    (0..n).map(one).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers between 0 and 1 that look random, the same on every machine.
    fn noise(seed: u64) -> impl Iterator<Item = f64> {
        let mut stream = pmm_core::Streams::new(seed).stream(pmm_core::Purpose::custom(0), 0, 0);
        std::iter::repeat_with(move || stream.unit())
    }

    #[test]
    fn a_journey_is_shorter_than_its_end() {
        let pairs = noise(1).zip(noise(2)).take(1000).map(|(begin, length)| {
            let begin = (begin * 1e6).round();
            (begin, begin + (length * 900.0).round())
        });
        assert!(difference_is_shorter(pairs.collect()));
    }

    #[test]
    fn days_that_heap_are_shorter_than_their_distance() {
        // Decided on the first day in a third of the stays, else at any time of it.
        let pairs: Vec<(f64, f64)> = noise(3)
            .zip(noise(4))
            .take(1000)
            .map(|(stay, day)| {
                let stay = (3.0 + 60.0 * stay).round();
                (stay, if day < 0.33 { 1.0 } else { (day * stay).ceil() })
            })
            .collect();
        assert!(!difference_is_shorter(pairs));
    }

    #[test]
    fn an_irregular_grid_is_not_left() {
        let grid: Vec<f64> = noise(5).take(100).collect();
        let pairs = noise(6).zip(noise(7)).take(2000).map(|(first, second)| {
            let second = grid[(second * 99.0) as usize];
            (second + 0.05 * first, second)
        });
        assert!(!difference_is_shorter(pairs.collect()));
    }
}
