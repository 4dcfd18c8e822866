//! Orders: in which sequence the clocks of a text reveal its positions.

use std::sync::Arc;

use crate::clock::Clock;
use crate::error::ParameterError;
use crate::purpose::Purpose;
use crate::rng::{Stream, Streams};

/// The positions of a text in the order of their events, and when each happened.
///
/// ```
/// use pmm_core::EventOrder;
/// let order = EventOrder::sorted(&[0.7, 0.2, 1.3, 0.7, 1.1]);
/// assert_eq!(order.positions, [1, 0, 3, 2, 4]); // of equal times the left one first; what comes after the end, left to right
/// assert_eq!((order.events, &order.times[..]), (3, &[0.2, 0.7, 0.7, 1.0, 1.0][..]));
/// assert_eq!(order.ranks(), [1, 0, 3, 2, 4]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct EventOrder {
    /// All positions, σ(0), σ(1), ….
    pub positions: Vec<u32>,
    /// The time of each event in this order; 1 for the positions that are still hidden at the end.
    pub times: Vec<f64>,
    /// How many positions are revealed before t = 1. The others are the terminal term.
    pub events: usize,
}

impl EventOrder {
    /// Sorts positions by the times of their events. Those of 1 or later come last, left to right.
    pub fn sorted(times: &[f64]) -> Self {
        let time = |position: u32| times[position as usize].min(1.0);
        let mut positions: Vec<u32> = (0..times.len() as u32).collect();
        positions.sort_by(|&a, &b| time(a).total_cmp(&time(b)));
        let times: Vec<f64> = positions.iter().map(|&position| time(position)).collect();
        let events = times.partition_point(|&t| t < 1.0);
        Self { positions, times, events }
    }

    /// When each position comes: the inverse of `positions`.
    pub fn ranks(&self) -> Vec<u32> {
        let mut ranks = vec![0; self.positions.len()];
        for (rank, &position) in self.positions.iter().enumerate() {
            ranks[position as usize] = rank as u32;
        }
        ranks
    }
}

/// A law of orders. Each is a family of clocks, one a position: an order is drawn by drawing every position's time and sorting.
#[derive(Debug, Clone)]
pub enum OrderLaw {
    /// c before c + 1: the semi-autoregressive clock as its width goes to 0.
    LeftToRight,
    /// Every order is as likely as any other: any clock that all positions share and that ends at A(1) = ∞.
    Random,
    /// Spans of a mean length 2^U(0, 5), of which each is hidden with the same probability U(0, 1). What is known comes first,
    /// left to right, then the gaps, left to right.
    Infill,
    /// Position c has its event when the clock at c/C reads a standard exponential draw.
    Clock(Arc<dyn Clock>),
}

/// The largest exponent of an [`OrderLaw::Infill`]'s mean span.
const LONGEST_SPAN: f64 = 5.0;

impl OrderLaw {
    /// Draws an order of so many positions.
    pub fn draw(&self, length: usize, rng: &mut Stream) -> EventOrder {
        EventOrder::sorted(&self.times(length, rng))
    }

    /// The time of each position's event.
    fn times(&self, length: usize, rng: &mut Stream) -> Vec<f64> {
        let place = |c: usize| c as f64 / length as f64;
        match self {
            Self::LeftToRight => (0..length).map(place).collect(),
            Self::Random => (0..length).map(|_| rng.unit()).collect(),
            Self::Infill => {
                let hidden = hidden_spans(length, rng);
                (0..length).map(|c| 0.5 * (place(c) + f64::from(u8::from(hidden[c])))).collect()
            }
            Self::Clock(clock) => (0..length).map(|c| clock.time(rng.exponential(), place(c))).collect(),
        }
    }
}

/// Whether each position is in a hidden span.
fn hidden_spans(length: usize, rng: &mut Stream) -> Vec<bool> {
    let mean = (LONGEST_SPAN * rng.unit()).exp2();
    let share = rng.unit();
    let mut hidden = false;
    (0..length)
        .map(|c| {
            if c == 0 || rng.unit() < 1.0 / mean {
                hidden = rng.unit() < share;
            }
            hidden
        })
        .collect()
}

/// Several laws of orders with their weights.
///
/// In a batch the laws are stratified: of n texts, each law gets n times its share, up to one.
///
/// ```
/// use pmm_core::{OrderLaw, OrderMixture, Streams};
/// let laws = OrderMixture::new(vec![(OrderLaw::LeftToRight, 1.0), (OrderLaw::Random, 3.0)])?;
/// let streams = Streams::new(1);
/// let straight = |step: u64| {
///     (0..8).filter(|&row| laws.draw(50, step, row, 8, &streams).positions.is_sorted()).count()
/// };
/// assert!((0..10).all(|step| straight(step) == 2));
/// # Ok::<(), pmm_core::ParameterError>(())
/// ```
#[derive(Debug, Clone)]
pub struct OrderMixture {
    laws: Vec<OrderLaw>,
    /// Cumulative shares.
    shares: Vec<f64>,
}

impl OrderMixture {
    /// Laws with weights of at least 0, not all 0.
    pub fn new(laws: Vec<(OrderLaw, f64)>) -> Result<Self, ParameterError> {
        let total: f64 = laws.iter().map(|(_, weight)| weight).sum();
        for (_, weight) in &laws {
            let fine = *weight >= 0.0 && weight.is_finite();
            ParameterError::unless(fine, "the weight of an order", "at least 0 and finite", *weight)?;
        }
        ParameterError::positive("the sum of the weights of orders", total)?;
        let mut sum = 0.0;
        let shares = laws.iter().map(|(_, weight)| {
            sum += weight / total;
            sum
        });
        Ok(Self { shares: shares.collect(), laws: laws.into_iter().map(|(law, _)| law).collect() })
    }

    /// The order of a row among the `rows` of a step's batch.
    pub fn draw(&self, length: usize, step: u64, row: u64, rows: u64, streams: &Streams) -> EventOrder {
        let shift = streams.stream(Purpose::ORDER_LAW, step, 0).unit();
        let at = (row as f64 + shift) / rows as f64;
        let law = self.shares.partition_point(|&share| share <= at).min(self.laws.len() - 1);
        self.laws[law].draw(length, &mut streams.stream(Purpose::EVENT_ORDER, step, row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LogLinear, SemiAutoregressive, Staircase};

    fn stream(row: u64) -> Stream {
        Streams::new(5).stream(Purpose::EVENT_ORDER, 0, row)
    }

    #[test]
    fn every_law_gives_permutations() {
        let clocks: [Arc<dyn Clock>; 3] =
            [Arc::new(LogLinear), Arc::new(Staircase::default()), Arc::new(SemiAutoregressive::default())];
        let mut laws = vec![OrderLaw::LeftToRight, OrderLaw::Random, OrderLaw::Infill];
        laws.extend(clocks.map(OrderLaw::Clock));
        for law in laws {
            for (row, length) in [0, 1, 2, 37].into_iter().enumerate() {
                let order = law.draw(length, &mut stream(row as u64));
                let mut ranks = order.ranks();
                ranks.sort_unstable();
                assert!(ranks.iter().copied().eq(0..length as u32), "{law:?}");
                assert!(order.times.is_sorted() && order.events <= length, "{law:?}");
            }
        }
    }

    /// A narrow semi-autoregressive clock is left to right, but for the last positions, whose clocks end too early.
    #[test]
    fn a_narrow_wave_runs_from_left_to_right() {
        let law = OrderLaw::Clock(Arc::new(SemiAutoregressive::new(1e-6).unwrap()));
        let order = law.draw(100, &mut stream(1));
        assert!(order.positions.is_sorted() && order.events >= 99);
    }

    /// Of three positions on one clock each of the six orders has a sixth: χ² with 5 degrees of freedom above 39.6 has
    /// probability 2e-7. The time of an event on the log-linear clock is uniform, so its mean over 60,000 is within 5 standard
    /// errors of ½ (6e-7).
    #[test]
    fn a_shared_clock_gives_random_orders() {
        for law in [OrderLaw::Random, OrderLaw::Clock(Arc::new(LogLinear))] {
            let mut counts = [0f64; 27];
            let mut sum = 0.0;
            let n = 20_000;
            for row in 0..n {
                let order = law.draw(3, &mut stream(row));
                let code = order.positions.iter().fold(0, |code, &p| 3 * code + p as usize);
                counts[code] += 1.0;
                sum += order.times.iter().sum::<f64>();
            }
            let expected = n as f64 / 6.0;
            let seen: Vec<f64> = counts.into_iter().filter(|count| *count > 0.0).collect();
            let chi: f64 = seen.iter().map(|count| (count - expected).powi(2) / expected).sum();
            assert!(seen.len() == 6 && chi < 39.6, "{law:?}: {chi}");
            let mean = sum / (3 * n) as f64;
            assert!((mean - 0.5).abs() < 5.0 / (12.0 * 3.0 * n as f64).sqrt(), "{law:?}: {mean}");
        }
    }

    /// Known positions come first and left to right, then the gaps left to right; half of all positions are hidden in the mean (5
    /// standard errors of a share that is uniform, 6e-7).
    #[test]
    fn infill_reads_what_is_known_first() {
        let (n, length) = (4_000, 64);
        let mut hidden = 0;
        for row in 0..n {
            let order = OrderLaw::Infill.draw(length, &mut stream(row));
            let turn = order.times.partition_point(|&t| t < 0.5);
            assert!(order.positions[..turn].is_sorted() && order.positions[turn..].is_sorted());
            hidden += length - turn;
        }
        let share = hidden as f64 / (n as usize * length) as f64;
        assert!((share - 0.5).abs() < 5.0 * (1.0 / 3.0f64 / n as f64).sqrt(), "{share}");
    }

    #[test]
    fn bad_weights_are_refused() {
        for weights in [[0.0, 0.0], [-1.0, 2.0], [f64::NAN, 1.0]] {
            let laws = vec![(OrderLaw::Random, weights[0]), (OrderLaw::Infill, weights[1])];
            assert!(OrderMixture::new(laws).is_err(), "{weights:?}");
        }
        assert!(OrderMixture::new(Vec::new()).is_err());
    }
}
