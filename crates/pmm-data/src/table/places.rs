//! Decimal places: the grid on which the numbers of a column lie.

use super::column_type::Width;
use super::view::rounded;

/// A number on a grid has at most 15 digits: of more, every f64 has some.
const MOST: u8 = 15;
const DIGITS: f64 = 1e15;
/// 2⁵³: below it f64 holds every integer.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The nearest multiple of 10^−places; the value itself where f64 has no digits left for rounding.
pub(crate) fn round_to(value: f64, places: u8) -> f64 {
    let power = 10f64.powi(i32::from(places));
    let scaled = value * power;
    if scaled.abs() < EXACT { scaled.round() / power } else { value }
}

/// The fewest decimal places that give a finite number exactly; none if it lies on no such grid.
pub(crate) fn places_of(value: f64) -> Option<u8> {
    places_in(Width::Double, value)
}

/// The same for a float of any width: 0.1 has one place in 32 bits, too.
pub(crate) fn places_in(width: Width, value: f64) -> Option<u8> {
    let fits = |places: &u8| {
        let power = 10f64.powi(i32::from(*places));
        (value * power).abs() < DIGITS && rounded(width, round_to(value, *places)) == value
    };
    (0..=MOST).find(fits)
}

/// The places of several numbers: those of the finest, none if one has none.
pub(crate) fn finest(a: Option<u8>, b: Option<u8>) -> Option<u8> {
    Some(a?.max(b?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_texts() {
        for (text, places) in [
            ("0", Some(0)),
            ("371.0", Some(0)),
            ("-2.50", Some(1)),
            ("0.3", Some(1)),
            ("1234567.891", Some(3)),
            ("1e-9", Some(9)),
            ("2.5199999809265137", None),
            ("3.141592653589793", None),
            ("1e300", None),
        ] {
            assert_eq!(places_of(text.parse().unwrap()), places, "{text}");
        }
        assert_eq!(places_in(Width::Single, f64::from(0.1f32)), Some(1));
        assert_eq!(places_of(0.1 + 0.2), None, "0.30000000000000004 is not 0.3");
        assert_eq!((finest(Some(1), Some(2)), finest(Some(1), None)), (Some(2), None));
    }

    /// Rounding gives the very number that the text means, for any text of up to six places.
    #[test]
    fn rounding_gives_what_is_parsed() {
        for i in 0..2_000u32 {
            let value = f64::from(i) * 7_919.731 - 3e6;
            for places in 0..=6u8 {
                let text = format!("{value:.*}", usize::from(places));
                assert_eq!(round_to(text.parse().unwrap(), places), text.parse::<f64>().unwrap(), "{text}");
            }
        }
        assert_eq!((round_to(180.4, 0), round_to(-0.4, 0), round_to(1e300, 2)), (180.0, 0.0, 1e300));
    }
}
