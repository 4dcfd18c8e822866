//! Supports: which values a coordinate can have, and which kinds of data that serves.

use crate::error::ValueError;

/// How far the entries of a point of the simplex may sum from 1: f32 rounding over 50,000 classes.
const SIMPLEX_TOLERANCE: f64 = 1e-3;

/// The values that a coordinate can have. Points are in the space of means ([`Pair::embed`](crate::Pair::embed)): one or more
/// numbers, or one entry per class.
///
/// ```
/// use pmm_core::{DataKind, Support};
/// assert!(Support::Counts.contains(&[3.0]) && !Support::Counts.contains(&[2.5]));
/// let mut x = [2.7];
/// Support::Counts.move_to_nearest(&mut x);
/// assert_eq!(x, [3.0]);
/// assert!(Support::Reals.serves(DataKind::Count) && !Support::Counts.serves(DataKind::Real));
/// assert_eq!(Support::Tokens(3).check(&[0.5, 0.5, 0.0]).unwrap_err().to_string(),
///     "a token's one-hot vector must have one entry of 1 and zeros, got 0.5 at class 0");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// Finite numbers.
    Reals,
    /// Finite numbers of at least 0.
    NonNegative,
    /// Finite numbers above 0.
    Positive,
    /// Whole numbers of at least 0.
    Counts,
    /// One of V classes; as a point, a one-hot vector.
    Tokens(u32),
    /// Probabilities of V classes.
    Simplex(u32),
}

/// Kinds of data, as tables and images speak of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataKind {
    /// Numbers of any sign.
    Real,
    /// Whole numbers of at least 0.
    Count,
    /// Numbers above 0.
    Positive,
    /// One of several classes.
    Category,
}

impl Support {
    /// Refuses a point off the support, with the reason.
    pub fn check(self, point: &[f32]) -> Result<(), ValueError> {
        match self {
            Self::Tokens(_) => check_simplex(point).and_then(|()| check_vertex(point)),
            Self::Simplex(_) => check_simplex(point),
            _ => point.iter().try_for_each(|&x| self.check_number(x)),
        }
    }

    fn check_number(self, x: f32) -> Result<(), ValueError> {
        let error = match self {
            Self::Reals if !x.is_finite() => ValueError::NotFinite(x),
            Self::NonNegative if !(x >= 0.0 && x.is_finite()) => ValueError::NotAnIntensity(x),
            Self::Positive if !(x > 0.0 && x.is_finite()) => ValueError::NotPositive(x),
            Self::Counts if !(x >= 0.0 && x.is_finite() && x.fract() == 0.0) => ValueError::NotACount(x),
            _ => return Ok(()),
        };
        Err(error)
    }

    /// Whether a point lies on the support.
    pub fn contains(self, point: &[f32]) -> bool {
        self.check(point).is_ok()
    }

    /// Moves a point of finite entries to the nearest on the support: a count is rounded, a token is its likeliest class, a point of the
    /// simplex has negative entries set to 0 and the rest scaled to sum to 1 (uniform where nothing is left). The smallest positive value is that of f32.
    pub fn move_to_nearest(self, point: &mut [f32]) {
        match self {
            Self::Tokens(_) => {
                let best = (0..point.len()).fold(0, |best, v| if point[v] > point[best] { v } else { best });
                point.iter_mut().enumerate().for_each(|(v, p)| *p = if v == best { 1.0 } else { 0.0 });
            }
            Self::Simplex(_) if self.contains(point) => {}
            Self::Simplex(classes) => {
                point.iter_mut().for_each(|p| *p = p.max(0.0));
                let total: f32 = point.iter().sum();
                let share = |p: f32| if total > 0.0 { p / total } else { 1.0 / classes as f32 };
                point.iter_mut().for_each(|p| *p = share(*p));
            }
            _ => point.iter_mut().for_each(|x| *x = self.nearest_number(f64::from(*x)) as f32),
        }
    }

    /// The nearest number of a support of numbers.
    pub(crate) fn nearest_number(self, x: f64) -> f64 {
        match self {
            Self::NonNegative => x.max(0.0),
            Self::Positive => x.max(f64::from(f32::MIN_POSITIVE)),
            Self::Counts => x.max(0.0).round(),
            _ => x,
        }
    }

    /// Whether its values are classes, so that a value is drawn and not averaged.
    pub fn is_token(self) -> bool {
        matches!(self, Self::Tokens(_))
    }

    /// Whether its points are probabilities of classes.
    pub fn is_probabilities(self) -> bool {
        matches!(self, Self::Tokens(_) | Self::Simplex(_))
    }

    /// The kind of data that it is made for.
    pub fn kind(self) -> DataKind {
        match self {
            Self::Reals => DataKind::Real,
            Self::NonNegative | Self::Counts => DataKind::Count,
            Self::Positive => DataKind::Positive,
            Self::Tokens(_) | Self::Simplex(_) => DataKind::Category,
        }
    }

    /// Whether data of a kind can be its values. Counts are served by positive numbers as well, as long as none of them is 0 (which
    /// [`Support::check`] then refuses).
    pub fn serves(self, kind: DataKind) -> bool {
        match kind {
            DataKind::Real => self == Self::Reals,
            DataKind::Count => !self.is_probabilities(),
            DataKind::Positive => matches!(self, Self::Reals | Self::NonNegative | Self::Positive),
            DataKind::Category => self.is_probabilities(),
        }
    }
}

/// Refuses a vector off the simplex.
fn check_simplex(x: &[f32]) -> Result<(), ValueError> {
    if let Some((class, &value)) = x.iter().enumerate().find(|(_, p)| !(**p >= 0.0 && p.is_finite())) {
        return Err(ValueError::NotAProbability { class, value });
    }
    let sum: f64 = x.iter().copied().map(f64::from).sum();
    if (sum - 1.0).abs() > SIMPLEX_TOLERANCE { Err(ValueError::OffSimplex { sum }) } else { Ok(()) }
}

/// Refuses a point of the simplex that is not a vertex.
fn check_vertex(x: &[f32]) -> Result<(), ValueError> {
    match x.iter().enumerate().find(|(_, p)| **p != 0.0 && **p != 1.0) {
        Some((class, &value)) => Err(ValueError::NotAVertex { class, value }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Support; 6] = [
        Support::Reals,
        Support::NonNegative,
        Support::Positive,
        Support::Counts,
        Support::Tokens(3),
        Support::Simplex(3),
    ];

    #[test]
    fn the_nearest_point_is_on_the_support_and_stays() {
        for support in ALL {
            for point in [[-1.5f32, 0.4, 2.6], [0.0, 0.0, 0.0], [0.2, 0.3, 0.5], [-1.0, -2.0, -3.0]] {
                let mut nearest = point;
                support.move_to_nearest(&mut nearest);
                assert!(support.contains(&nearest), "{support:?}: {point:?} → {nearest:?}");
                let mut again = nearest;
                support.move_to_nearest(&mut again);
                assert_eq!(again, nearest, "{support:?}");
            }
        }
        let mut token = [0.2, 0.5, 0.3];
        Support::Tokens(3).move_to_nearest(&mut token);
        assert_eq!(token, [0.0, 1.0, 0.0]);
    }

    #[test]
    fn no_support_holds_nan_or_infinity() {
        for support in ALL {
            for bad in [f32::NAN, f32::INFINITY] {
                assert!(!support.contains(&[bad, 0.0, 1.0]), "{support:?} {bad}");
            }
        }
    }

    #[test]
    fn every_support_serves_the_kind_it_is_made_for() {
        assert!(ALL.iter().all(|support| support.serves(support.kind())));
        assert!(!Support::Counts.serves(DataKind::Positive) && !Support::Positive.serves(DataKind::Real));
    }
}
