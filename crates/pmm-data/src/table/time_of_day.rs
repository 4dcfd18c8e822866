//! Times of day as text ⇄ seconds since midnight.

use serde::{Deserialize, Serialize};

/// What follows the time of day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Zone {
    /// Nothing.
    #[default]
    Local,
    /// `Z`.
    Utc,
    /// `+02:00`, in minutes east of Greenwich.
    Offset(i16),
}

/// How the offset of a zone is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OffsetStyle {
    /// `+02:00`
    #[default]
    Colon,
    /// `+0200`
    Plain,
    /// `+02`
    Hours,
}

/// How the halves of the day are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HalfDay {
    /// `PM`, not `pm`.
    pub upper: bool,
    /// A blank stands before it.
    pub blank: bool,
}

/// Zeros at the end of a fraction of a second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FractionZeros {
    /// `00.500`, `01.000`
    #[default]
    Kept,
    /// `00.500`, `01`
    NoneIfWhole,
    /// `00.5`, `01`
    Dropped,
}

/// How the time of day is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TimeFormat {
    /// `T` or a blank, between date and time.
    pub separator: char,
    /// Hours have two digits.
    pub padded: bool,
    /// Whether seconds are written.
    pub seconds: bool,
    /// Digits of a fraction of a second, at most 6: f64 seconds since 1970 hold no more.
    pub fraction: u8,
    /// Zeros at the end of a fraction.
    pub zeros: FractionZeros,
    /// AM and PM.
    pub half_day: Option<HalfDay>,
    /// The zone.
    pub zone: Zone,
    /// How its offset is written.
    pub offset: OffsetStyle,
}

impl Default for TimeFormat {
    fn default() -> Self {
        Self {
            separator: 'T',
            padded: true,
            seconds: true,
            fraction: 0,
            zeros: FractionZeros::Kept,
            half_day: None,
            zone: Zone::Local,
            offset: OffsetStyle::Colon,
        }
    }
}

/// Zones are at most this many minutes from Greenwich.
const MAX_OFFSET: i16 = 18 * 60;

/// A time taken apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeScan {
    pub(crate) format: TimeFormat,
    /// Seconds since midnight, as the clock shows them.
    pub(crate) clock: f64,
    /// Whether the hour shows if hours are padded: `09`, `9`.
    pub(crate) shows_padding: bool,
    pub(crate) hour: u32,
}

impl TimeScan {
    /// Takes a text after the separator of date and time apart.
    pub(crate) fn new(separator: char, text: &str) -> Option<Self> {
        let at = text.find(|c: char| !(c.is_ascii_digit() || c == ':' || c == '.')).unwrap_or(text.len());
        let (clock, rest) = text.split_at(at);
        let (half, rest) = scan_half(rest);
        let (zone, offset) = scan_zone(rest)?;
        let mut fields = clock.split(':');
        let first = fields.next()?;
        let (hour, minute) = (whole(first, 2)?, fixed(fields.next()?)?);
        let second = fields.next();
        let (whole_second, fraction) =
            second.map_or(("00", ""), |text| text.split_once('.').unwrap_or((text, "")));
        let second_value = fixed(whole_second)?;
        let point = second.is_some_and(|text| text.ends_with('.'));
        let in_range = hour < 24 && minute < 60 && second_value < 60 && !point;
        if !in_range
            || fields.next().is_some()
            || fraction.len() > 9
            || half.is_some() && !(1..=12).contains(&hour)
        {
            return None;
        }
        let part = if fraction.is_empty() {
            0.0
        } else {
            f64::from(whole(fraction, 9)?) / 10f64.powi(fraction.len() as i32)
        };
        let hours = half.map_or(hour, |(_, later)| hour % 12 + if later { 12 } else { 0 });
        let format = TimeFormat {
            separator,
            padded: first.len() == 2,
            seconds: second.is_some(),
            fraction: fraction.len().min(6) as u8,
            zeros: FractionZeros::Kept,
            half_day: half.map(|(half, _)| half),
            zone,
            offset,
        };
        let clock = f64::from(hours * 3600 + minute * 60 + second_value) + part;
        Some(Self { format, clock, shows_padding: hour < 10, hour: hours })
    }

    /// Seconds since midnight in Greenwich, or on the clock where there is no zone.
    pub(crate) fn seconds(&self) -> f64 {
        self.clock - self.format.zone.seconds()
    }
}

impl Zone {
    /// Seconds east of Greenwich.
    pub(crate) fn seconds(self) -> f64 {
        if let Self::Offset(minutes) = self { f64::from(minutes) * 60.0 } else { 0.0 }
    }

    fn text(self, style: OffsetStyle) -> String {
        let Self::Offset(minutes) = self else {
            return if self == Self::Utc { "Z".into() } else { String::new() };
        };
        let sign = if minutes < 0 { '-' } else { '+' };
        let (hours, minutes) = (minutes.unsigned_abs() / 60, minutes.unsigned_abs() % 60);
        match style {
            OffsetStyle::Hours if minutes == 0 => format!("{sign}{hours:02}"),
            OffsetStyle::Plain => format!("{sign}{hours:02}{minutes:02}"),
            _ => format!("{sign}{hours:02}:{minutes:02}"),
        }
    }
}

impl TimeFormat {
    /// The text of whole seconds since midnight on the clock and ticks of the fraction.
    pub(crate) fn text(&self, second: u32, ticks: u64) -> String {
        let hour = second / 3600;
        let shown = if self.half_day.is_some() { (hour + 11) % 12 + 1 } else { hour };
        let mut text = if self.padded { format!("{shown:02}") } else { shown.to_string() };
        text.push_str(&format!(":{:02}", second / 60 % 60));
        if self.seconds {
            text.push_str(&format!(":{:02}", second % 60));
            text.push_str(&self.fraction_text(ticks));
        }
        if let Some(half) = self.half_day {
            let name = if hour < 12 { "am" } else { "pm" };
            text.push_str(if half.blank { " " } else { "" });
            text.push_str(&if half.upper { name.to_ascii_uppercase() } else { name.to_owned() });
        }
        text + &self.zone.text(self.offset)
    }

    fn fraction_text(&self, ticks: u64) -> String {
        let width = usize::from(self.fraction.min(6));
        let text = format!(".{ticks:0width$}");
        match self.zeros {
            _ if width == 0 => String::new(),
            FractionZeros::NoneIfWhole if ticks == 0 => String::new(),
            FractionZeros::Dropped => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
            _ => text,
        }
    }

    /// Whether the parts make sense together.
    pub(crate) fn is_valid(&self) -> bool {
        matches!(self.separator, 'T' | 't' | ' ')
            && self.fraction <= 6
            && (self.seconds || self.fraction == 0)
            && !matches!(self.zone, Zone::Offset(minutes) if minutes.unsigned_abs() > MAX_OFFSET.unsigned_abs())
    }
}

/// AM or PM at the beginning of a text, whether it is PM, and what follows.
fn scan_half(text: &str) -> (Option<(HalfDay, bool)>, &str) {
    let (blank, rest) = text.strip_prefix(' ').map_or((false, text), |rest| (true, rest));
    let later = match rest.get(..2) {
        Some("am" | "AM") => false,
        Some("pm" | "PM") => true,
        _ => return (None, text),
    };
    (Some((HalfDay { upper: rest.starts_with(['A', 'P']), blank }, later)), &rest[2..])
}

fn scan_zone(text: &str) -> Option<(Zone, OffsetStyle)> {
    match text {
        "" => Some((Zone::Local, OffsetStyle::Colon)),
        "Z" | "z" => Some((Zone::Utc, OffsetStyle::Colon)),
        _ => scan_offset(text).map(|(minutes, style)| (Zone::Offset(minutes), style)),
    }
}

/// `+02:00`, `+0200` or `+02`, in minutes.
fn scan_offset(text: &str) -> Option<(i16, OffsetStyle)> {
    let digits = text.strip_prefix(['+', '-'])?;
    let (hours, minutes, style) = match digits.split_once(':') {
        Some((hours, minutes)) => (fixed(hours)?, fixed(minutes)?, OffsetStyle::Colon),
        None if digits.len() == 2 => (fixed(digits)?, 0, OffsetStyle::Hours),
        None => (fixed(digits.get(..2)?)?, fixed(digits.get(2..)?)?, OffsetStyle::Plain),
    };
    let total = (hours * 60 + minutes) as i16;
    let signed = if text.starts_with('-') { -total } else { total };
    (minutes < 60 && total <= MAX_OFFSET).then_some((signed, style))
}

/// A number of two digits.
fn fixed(text: &str) -> Option<u32> {
    whole(text, 2).filter(|_| text.len() == 2)
}

/// A number of one to `most` digits.
pub(crate) fn whole(text: &str, most: usize) -> Option<u32> {
    let digits = (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back() {
        for (text, seconds) in [
            ("14:05", 50_700.0),
            ("09:05:30", 32_730.0),
            ("12:00 AM", 0.0),
            ("12:30pm", 45_000.0),
            ("3:05:09 PM", 54_309.0),
            ("10:00:00.125Z", 36_000.125),
            ("10:00:00+0200", 28_800.0),
            ("10:00:00-03", 46_800.0),
        ] {
            let scan = TimeScan::new(' ', text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(scan.seconds(), seconds, "{text}");
            let ticks = (scan.clock.fract() * 10f64.powi(i32::from(scan.format.fraction))).round();
            assert_eq!(scan.format.text(scan.clock as u32, ticks as u64), text);
        }
        for text in [
            "24:00",
            "9:5",
            "10:60",
            "13:00 PM",
            "0:30 am",
            "10:00:00.",
            "10:00 Am",
            "10:00+é",
            "10:00+25:00",
            "",
            "é",
        ] {
            assert!(TimeScan::new(' ', text).is_none(), "{text}");
        }
    }
}
