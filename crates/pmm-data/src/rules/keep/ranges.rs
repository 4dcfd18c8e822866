//! Sets of numbers: closed ranges, increasing and apart.

/// A set of numbers.
///
/// ```
/// use pmm_data::rules::Ranges;
/// let mut some = Ranges::between(0.0, 10.0);
/// some.intersect(&Ranges::between(3.0, 5.0).complement());
/// assert!(some.contains(0.0) && some.contains(6.0) && !some.contains(3.0) && !some.contains(11.0));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Ranges(Vec<(f64, f64)>);

impl Default for Ranges {
    fn default() -> Self {
        Self::all()
    }
}

impl Ranges {
    /// All numbers.
    pub fn all() -> Self {
        Self(vec![(f64::NEG_INFINITY, f64::INFINITY)])
    }

    /// No number.
    pub fn none() -> Self {
        Self(Vec::new())
    }

    /// The numbers from `low` to `high`, both included; none if there are none.
    pub fn between(low: f64, high: f64) -> Self {
        Self(if low <= high { vec![(low, high)] } else { Vec::new() })
    }

    /// One number.
    pub fn point(number: f64) -> Self {
        Self::between(number, number)
    }

    /// Numbers in any of some sets.
    pub fn union(sets: impl IntoIterator<Item = Self>) -> Self {
        let mut all: Vec<(f64, f64)> = sets.into_iter().flat_map(|set| set.0).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut joined: Vec<(f64, f64)> = Vec::with_capacity(all.len());
        for (low, high) in all {
            match joined.last_mut() {
                Some(last) if low <= last.1 => last.1 = last.1.max(high),
                _ => joined.push((low, high)),
            }
        }
        Self(joined)
    }

    /// The ranges, increasing.
    pub fn iter(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.0.iter().copied()
    }

    /// Whether it holds every number.
    pub fn is_all(&self) -> bool {
        self.0 == [(f64::NEG_INFINITY, f64::INFINITY)]
    }

    /// Whether it holds none.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it holds a number.
    pub fn contains(&self, number: f64) -> bool {
        let next = self.0.partition_point(|range| range.1 < number);
        self.0.get(next).is_some_and(|range| range.0 <= number)
    }

    /// The least and the largest number; none if there are none.
    pub fn ends(&self) -> Option<(f64, f64)> {
        Some((self.0.first()?.0, self.0.last()?.1))
    }

    /// The number of the set that is nearest to another.
    pub fn nearest(&self, number: f64) -> Option<f64> {
        let clamped = self.0.iter().map(|&(low, high)| number.clamp(low, high));
        clamped.min_by(|a, b| (a - number).abs().total_cmp(&(b - number).abs()))
    }

    /// Keeps what is in another set, too.
    pub fn intersect(&mut self, other: &Self) {
        if other.is_all() {
            return;
        }
        let (mut kept, mut i, mut j) = (Vec::new(), 0, 0);
        while let (Some(a), Some(b)) = (self.0.get(i), other.0.get(j)) {
            let (low, high) = (a.0.max(b.0), a.1.min(b.1));
            if low <= high {
                kept.push((low, high));
            }
            if a.1 < b.1 { i += 1 } else { j += 1 }
        }
        self.0 = kept;
    }

    /// The same numbers counted in units of another size; what lies outside by a rounding stays outside.
    pub(super) fn in_units_of(mut self, unit: f64) -> Self {
        if unit == 1.0 {
            return self;
        }
        for (low, high) in &mut self.0 {
            let (from, to) = (*low / unit, *high / unit);
            let inner = (
                if from * unit < *low { from.next_up() } else { from },
                if to * unit > *high { to.next_down() } else { to },
            );
            // A single number stays one.
            (*low, *high) = if inner.0 <= inner.1 { inner } else { (from, to) };
        }
        self
    }

    /// All other numbers.
    pub fn complement(&self) -> Self {
        let (mut rest, mut low) = (Vec::new(), f64::NEG_INFINITY);
        for &(from, to) in &self.0 {
            if from > low {
                rest.push((low, from.next_down()));
            }
            low = to.next_up();
        }
        if self.0.last().is_none_or(|last| last.1 < f64::INFINITY) {
            rest.push((low, f64::INFINITY));
        }
        Self(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Intersection, union and complement are those of sets, on a grid of numbers.
        #[test]
        fn they_are_sets(a in prop::collection::vec((-9i32..9, 0i32..4), 0..5), b in prop::collection::vec((-9i32..9, 0i32..4), 0..5)) {
            let set = |ranges: &[(i32, i32)]| {
                Ranges::union(ranges.iter().map(|&(low, len)| Ranges::between(f64::from(low), f64::from(low + len))))
            };
            let (left, right) = (set(&a), set(&b));
            let mut both = left.clone();
            both.intersect(&right);
            let either = Ranges::union([left.clone(), right.clone()]);
            for number in -20..40 {
                let number = f64::from(number) / 2.0;
                let (in_left, in_right) = (left.contains(number), right.contains(number));
                prop_assert_eq!(both.contains(number), in_left && in_right);
                prop_assert_eq!(either.contains(number), in_left || in_right);
                prop_assert_eq!(left.complement().contains(number), !in_left);
            }
            prop_assert_eq!(left.complement().complement(), left);
        }
    }

    #[test]
    fn units_keep_what_is_outside_outside() {
        for (unit, count) in
            [86_400.0, 0.001].into_iter().flat_map(|unit| (1..400).map(move |n| (unit, f64::from(n))))
        {
            let later = Ranges::between((count * unit).next_up(), f64::INFINITY).in_units_of(unit);
            assert!(!later.contains(count) && later.contains(count + 1.0), "{count} of {unit}");
        }
        assert!(Ranges::point(15_005.0 * 86_400.0).in_units_of(86_400.0).contains(15_005.0));
    }

    #[test]
    fn the_nearest_number() {
        let set = Ranges::union([Ranges::between(0.0, 1.0), Ranges::point(3.0)]);
        assert_eq!((set.nearest(1.5), set.nearest(2.5), set.nearest(0.5)), (Some(1.0), Some(3.0), Some(0.5)));
        assert_eq!(Ranges::none().nearest(0.0), None);
    }
}
