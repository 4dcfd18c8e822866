//! A grid as a change of variables: which scores a value stands for, and how fast scores change with values.

use super::grid::{Grid, quantile};

impl Grid {
    /// The score up to which draws come out at `value` or below. With `snap` draws are values of the grid; else they are
    /// interpolated, as in [`value`](Self::value). −∞ below the least value, ∞ from the largest on.
    ///
    /// ```
    /// use pmm_data::Grid;
    /// let grid = Grid::new(vec![1.0, 2.0, 5.0], vec![1, 2, 1])?;
    /// assert!((grid.score_up_to(2.0, true) - grid.score(2.0, 1.0)).abs() < 1e-3);
    /// assert_eq!(grid.score_up_to(1.5, true), grid.score_up_to(1.0, true));
    /// assert!((grid.value(grid.score_up_to(3.0, false), false) - 3.0).abs() < 1e-9);
    /// assert_eq!((grid.score_up_to(0.9, false), grid.score_up_to(5.0, false)), (f64::NEG_INFINITY, f64::INFINITY));
    /// # Ok::<(), pmm_data::GridError>(())
    /// ```
    pub fn score_up_to(&self, value: f64, snap: bool) -> f64 {
        let values = self.values();
        let below = values.partition_point(|&knot| knot <= value);
        if below == 0 {
            return f64::NEG_INFINITY;
        }
        if below == values.len() {
            return match self.tail() {
                Some(tail) if !snap => {
                    -quantile_or_end(self.beyond() * tail.share(value - values[below - 1]))
                }
                _ => f64::INFINITY,
            };
        }
        if snap { quantile(self.rank(below)) } else { quantile(self.middle_between(value)) }
    }

    /// Φ⁻¹ of a rank inside (0, 1).
    pub fn score_of_rank(rank: f64) -> f64 {
        quantile(rank)
    }

    /// dz/dy of the interpolated score z at a value y; 0 outside the range.
    ///
    /// ```
    /// use pmm_data::Grid;
    /// let grid = Grid::new((0..100).map(f64::from).collect(), vec![1; 100])?;
    /// let slope = (grid.score_up_to(40.6, false) - grid.score_up_to(40.4, false)) / 0.2;
    /// assert!((grid.score_slope(40.5) / slope - 1.0).abs() < 1e-4);
    /// assert_eq!(grid.score_slope(-1.0), 0.0);
    /// # Ok::<(), pmm_data::GridError>(())
    /// ```
    pub fn score_slope(&self, value: f64) -> f64 {
        let values = self.values();
        let above = values.partition_point(|&knot| knot <= value);
        if let (Some(tail), true) = (self.tail(), above == values.len()) {
            let excess = value - values[above - 1];
            let z = quantile_or_end(self.beyond() * tail.share(excess));
            return if z.is_finite() {
                self.beyond() * tail.density(excess) / normal_density(z)
            } else {
                0.0
            };
        }
        if above == 0 || above == values.len() {
            return 0.0;
        }
        let ranks = self.middle(above) - self.middle(above - 1);
        let z = quantile(self.middle_between(value));
        ranks / (values[above] - values[above - 1]) / normal_density(z)
    }

    /// The share of ranks beyond the mid-rank of the last value.
    fn beyond(&self) -> f64 {
        1.0 - self.middle(self.len() - 1)
    }

    /// The mid-rank of a value within the range, interpolated.
    fn middle_between(&self, value: f64) -> f64 {
        let i = self.index(value);
        if self.values()[i] == value { self.middle(i) } else { self.between(value) }
    }
}

/// The score that a share of all is below; −∞ of none.
fn quantile_or_end(share: f64) -> f64 {
    if share > 0.0 { quantile(share) } else { f64::NEG_INFINITY }
}

fn normal_density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt()
}
