//! Round tick positions and their labels.

use super::text;

/// A tick label: a number, or a number times a power of ten whose exponent is set raised.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Label {
    pub(super) text: String,
    pub(super) exponent: Option<String>,
}

/// The size of an exponent relative to its base.
pub(super) const RAISED: f64 = 0.72;

impl Label {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), exponent: None }
    }

    fn power(factor: &str, exponent: i32) -> Self {
        let text = if factor.is_empty() { "10".to_owned() } else { format!("{factor}×10") };
        Self { text: minus(&text), exponent: Some(minus(&exponent.to_string())) }
    }

    pub(super) fn width(&self, size: f64) -> f64 {
        let raised = self.exponent.as_deref().map_or(0.0, |e| text::width(e, size * RAISED));
        text::width(&self.text, size) + raised
    }
}

/// The ticks of one axis: labelled ones, and the small ones between.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ticks {
    pub(super) major: Vec<(f64, Label)>,
    pub(super) minor: Vec<f64>,
}

/// A round distance m·10ᵉ with m in {1, 2, 5}.
#[derive(Clone, Copy)]
struct Step {
    factor: f64,
    exponent: i32,
}

impl Step {
    /// The smallest round step of which at most `count` fit into `span`.
    fn fitting(span: f64, count: usize) -> Self {
        let raw = span / count.max(1) as f64;
        let exponent = raw.log10().floor() as i32;
        let rest = raw / power_of_ten(exponent);
        match [1.0, 2.0, 5.0].into_iter().find(|factor| rest <= factor * (1.0 + 1e-9)) {
            Some(factor) => Self { factor, exponent },
            None => Self { factor: 1.0, exponent: exponent + 1 },
        }
    }

    /// The multiple i·m·10ᵉ, divided rather than multiplied for e < 0, so that 3 × 0.2 is 0.6 to the last
    /// bit.
    fn times(self, i: f64) -> f64 {
        if self.exponent < 0 {
            i * self.factor / power_of_ten(-self.exponent)
        } else {
            i * self.factor * power_of_ten(self.exponent)
        }
    }

    fn length(self) -> f64 {
        self.times(1.0)
    }
}

fn power_of_ten(exponent: i32) -> f64 {
    if exponent < 0 { 1.0 / 10f64.powi(-exponent) } else { 10f64.powi(exponent) }
}

/// Widens `low..high` outwards to multiples of the step that gives about `count` ticks.
pub(super) fn round_outwards((low, high): (f64, f64), count: usize) -> (f64, f64) {
    let step = Step::fitting(high - low, count);
    let (first, last) = (low / step.length() + 1e-9, high / step.length() - 1e-9);
    (step.times(first.floor()).min(low), step.times(last.ceil()).max(high))
}

/// Widens a positive `low..high` outwards to 1, 2, 3 or 5 times a power of ten.
pub(super) fn round_outwards_log((low, high): (f64, f64)) -> (f64, f64) {
    let decade = |value: f64| value.log10().floor().clamp(-300.0, 300.0) as i32;
    let around = |value: f64| {
        let k = decade(value);
        [(1.0, k), (2.0, k), (3.0, k), (5.0, k), (1.0, k + 1)]
            .map(|(factor, exponent)| Step { factor, exponent }.length())
    };
    let below = around(low).into_iter().rev().find(|&tick| tick <= low * (1.0 + 1e-9));
    let above = around(high).into_iter().find(|&tick| tick >= high * (1.0 - 1e-9));
    (below.unwrap_or(low).min(low), above.unwrap_or(high).max(high))
}

/// At most about `count` ticks at round distances within `low..=high`.
pub(super) fn linear((low, high): (f64, f64), count: usize) -> Ticks {
    let step = Step::fitting(high - low, count);
    let first = (low / step.length() - 1e-9).ceil();
    let last = (high / step.length() + 1e-9).floor();
    let n = (last - first).clamp(0.0, 2.0 * count as f64 + 2.0) as usize;
    let values: Vec<f64> = (0..=n).map(|i| step.times(first + i as f64)).collect();
    let largest = low.abs().max(high.abs());
    let scientific = largest >= 1e6 || step.exponent < -5;
    let label = |v: f64| if scientific { in_powers(v, step.exponent) } else { in_decimals(v, step.exponent) };
    Ticks { major: values.into_iter().map(|v| (v, label(v))).collect(), minor: Vec::new() }
}

/// Ticks on a logarithmic axis: decades, or 1–2–5 within one or two decades, or round distances within less.
pub(super) fn log((low, high): (f64, f64), count: usize) -> Ticks {
    let (first, last) = ((low.log10() - 1e-9).ceil() as i32, (high.log10() + 1e-9).floor() as i32);
    if (high / low).log10() >= 1.5 && last > first {
        return decades(first, last, count, (low, high));
    }
    let within = |factors: &[f64]| -> Vec<f64> {
        let all = (first - 1..=last)
            .flat_map(|e| factors.iter().map(move |&f| Step { factor: f, exponent: e }.length()));
        all.filter(|&v| v >= low * (1.0 - 1e-9) && v <= high * (1.0 + 1e-9)).collect()
    };
    let major = within(&[1.0, 2.0, 5.0]);
    if major.len() < 3 {
        return linear((low, high), count);
    }
    let minor = within(&[3.0, 4.0, 6.0, 7.0, 8.0, 9.0]);
    Ticks { major: major.into_iter().map(|v| (v, one_digit(v))).collect(), minor }
}

fn decades(first: i32, last: i32, count: usize, (low, high): (f64, f64)) -> Ticks {
    let stride = (last - first + 1).div_euclid(count.max(1) as i32 + 1) + 1;
    let labelled = |e: &i32| e.rem_euclid(stride) == 0;
    let plain = first >= -3 && last <= 4 && last - first <= 4;
    let label = |e| if plain { in_decimals(power_of_ten(e), e) } else { Label::power("", e) };
    let major = (first..=last).filter(labelled).map(|e| (power_of_ten(e), label(e))).collect();
    let minor = match last - first {
        0..=7 if stride == 1 => (first - 1..=last).flat_map(between_decades).collect(),
        _ if stride <= 10 => (first..=last).filter(|e| !labelled(e)).map(power_of_ten).collect(),
        _ => Vec::new(),
    };
    Ticks { major, minor: minor.into_iter().filter(|&v| v > low && v < high).collect() }
}

fn between_decades(exponent: i32) -> impl Iterator<Item = f64> {
    (2..=9).map(move |factor| Step { factor: f64::from(factor), exponent }.length())
}

/// `value` with the decimals that a step of 10ᵉ needs.
fn in_decimals(value: f64, exponent: i32) -> Label {
    Label::plain(minus(&grouped(&format!("{:.*}", (-exponent).max(0) as usize, value + 0.0))))
}

/// `value` as a mantissa times a power of ten, with the digits that a step of 10ᵉ needs.
fn in_powers(value: f64, step_exponent: i32) -> Label {
    if value == 0.0 {
        return Label::plain("0");
    }
    let exponent = (value.abs().log10() + 1e-12).floor() as i32;
    let digits = (exponent - step_exponent).clamp(0, 12) as usize;
    match format!("{:.digits$}", value / power_of_ten(exponent)).as_str() {
        "1" => Label::power("", exponent),
        factor => Label::power(factor, exponent),
    }
}

fn one_digit(value: f64) -> Label {
    let exponent = (value.log10() + 1e-9).floor() as i32;
    if (-4..5).contains(&exponent) { in_decimals(value, exponent) } else { in_powers(value, exponent) }
}

/// Sets thin spaces between thousands from five digits on.
fn grouped(number: &str) -> String {
    let whole = number.find('.').unwrap_or(number.len());
    let first = usize::from(number.starts_with('-'));
    let space = |i: usize| i > first && i < whole && whole - first > 4 && (whole - i).is_multiple_of(3);
    number.char_indices().flat_map(|(i, c)| space(i).then_some('\u{2009}').into_iter().chain([c])).collect()
}

/// Sets the typographic minus.
fn minus(text: &str) -> String {
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(ticks: &Ticks) -> Vec<f64> {
        ticks.major.iter().map(|tick| tick.0).collect()
    }

    fn labels(ticks: &Ticks) -> Vec<String> {
        let caret = |l: &Label| l.exponent.as_ref().map_or(l.text.clone(), |e| format!("{}^{e}", l.text));
        ticks.major.iter().map(|tick| caret(&tick.1)).collect()
    }

    #[test]
    fn linear_ticks_are_exact_decimals() {
        let ticks = linear((0.0, 1.0), 5);
        assert_eq!(values(&ticks), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(labels(&ticks), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&linear((-7.0, 12.0), 4)), ["−5", "0", "5", "10"]);
        assert_eq!(labels(&linear((0.0, 4e6), 4)), ["0", "10^6", "2×10^6", "3×10^6", "4×10^6"]);
        assert_eq!(
            labels(&linear((0.0, 2.4e-7), 5)),
            ["0", "5×10^−8", "1.0×10^−7", "1.5×10^−7", "2.0×10^−7"]
        );
    }

    #[test]
    fn thousands_are_set_apart_from_five_digits_on() {
        assert_eq!(
            ["-1234567.25", "10000", "1000", "-123", "0.00001"].map(grouped),
            ["-1\u{2009}234\u{2009}567.25", "10\u{2009}000", "1000", "-123", "0.00001"]
        );
    }

    #[test]
    fn linear_ranges_widen_to_the_next_round_step() {
        assert_eq!(round_outwards((3.2, 97.0), 5), (0.0, 100.0));
        assert_eq!(round_outwards((0.0, 1.0), 5), (0.0, 1.0));
        assert_eq!(round_outwards((-0.31, 0.3), 5), (-0.4, 0.4));
    }

    #[test]
    fn log_ranges_widen_to_round_numbers() {
        assert_eq!(round_outwards_log((0.013, 4.1)), (0.01, 5.0));
        assert_eq!(round_outwards_log((1.0, 1000.0)), (1.0, 1000.0));
        assert_eq!(round_outwards_log((45.0, 256.0)), (30.0, 300.0));
    }

    #[test]
    fn few_decades_are_plain_and_many_are_powers() {
        assert_eq!(labels(&log((0.01, 10.0), 6)), ["0.01", "0.1", "1", "10"]);
        assert_eq!(
            labels(&log((1e-6, 1.0), 8)),
            ["10^−6", "10^−5", "10^−4", "10^−3", "10^−2", "10^−1", "10^0"]
        );
        let wide = log((1e-100, 1e100), 6);
        assert!((2..=7).contains(&wide.major.len()), "{:?}", labels(&wide));
    }

    #[test]
    fn minor_ticks_fill_the_decades() {
        let ticks = log((1.0, 100.0), 6);
        assert_eq!(ticks.minor.len(), 16);
        assert!(ticks.minor.contains(&20.0) && !ticks.minor.contains(&10.0));
    }

    #[test]
    fn within_a_decade_ticks_are_one_two_five_or_linear() {
        assert_eq!(values(&log((1.0, 10.0), 6)), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(labels(&log((0.02, 0.5), 6)), ["0.02", "0.05", "0.1", "0.2", "0.5"]);
        assert_eq!(values(&log((3.0, 4.0), 5)), [3.0, 3.2, 3.4, 3.6, 3.8, 4.0]);
    }

    #[test]
    fn extreme_ranges_give_few_finite_ticks() {
        for range in [(-1e300, 1e300), (0.0, 1e-300), (1e15, 1e15 + 4.0), (5.0, 5.0 + 1e-11)] {
            let ticks = linear(range, 6);
            assert!(ticks.major.len() <= 14 && values(&ticks).iter().all(|v| v.is_finite()), "{range:?}");
        }
    }
}
