//! Figures as readers see them.

/// A number with about three digits that matter.
pub(super) fn number(value: f64) -> String {
    let digits = match value.abs() {
        x if !x.is_finite() => return "–".into(),
        x if x >= 1000.0 => 0,
        x if x >= 100.0 => 1,
        x if x >= 1.0 => 2,
        x if x >= 0.1 || x == 0.0 => 3,
        x => ((-x.log10()).ceil() as usize + 2).min(6),
    };
    format!("{value:.digits$}").replace('-', "−")
}

/// A share in percent.
pub(super) fn percent(share: f64) -> String {
    match share * 100.0 {
        p if !p.is_finite() => "–".into(),
        p if p == 0.0 || p == 100.0 => format!("{p:.0} %"),
        p if p < 0.1 => "< 0.1 %".into(),
        p if p < 10.0 => format!("{p:.1} %"),
        p if p > 99.0 => format!("{p:.1} %"),
        p => format!("{p:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_never_hide_their_size() {
        assert_eq!(
            [0.0, 0.5, 0.0123, 2.71528, 12345.6, -0.25, f64::NAN].map(number),
            ["0.000", "0.500", "0.0123", "2.72", "12346", "−0.250", "–"]
        );
        assert_eq!(
            [0.0, 0.0004, 0.034, 0.5, 0.999, 1.0].map(percent),
            ["0 %", "< 0.1 %", "3.4 %", "50 %", "99.9 %", "100 %"]
        );
    }
}
