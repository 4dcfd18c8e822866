//! The shape of identifiers: what all texts of a column have in common, and new ones of the same shape.

use std::fmt;

use pmm_core::Stream;
use serde::{Deserialize, Serialize};

/// A set of characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Characters {
    /// 0 to 9, the first of several not 0.
    Number,
    /// 0 to 9.
    Digit,
    /// A to Z.
    Upper,
    /// a to z.
    Lower,
    /// A to Z and a to z.
    Letter,
    /// 0 to 9 and a to f.
    LowerHex,
    /// 0 to 9 and A to F.
    UpperHex,
    /// 0 to 9, A to Z and a to z.
    Alphanumeric,
    /// 0 to 9, a to z, A to Z, and `.`, `_`, `-`, `+`: names in e-mail addresses.
    Name,
}

impl Characters {
    fn holds(self, c: char) -> bool {
        match self {
            Self::Number | Self::Digit => c.is_ascii_digit(),
            Self::Upper => c.is_ascii_uppercase(),
            Self::Lower => c.is_ascii_lowercase(),
            Self::Letter => c.is_ascii_alphabetic(),
            Self::LowerHex => c.is_ascii_digit() || ('a'..='f').contains(&c),
            Self::UpperHex => c.is_ascii_digit() || ('A'..='F').contains(&c),
            Self::Alphanumeric => c.is_ascii_alphanumeric(),
            Self::Name => c.is_ascii_alphanumeric() || "._-+".contains(c),
        }
    }

    /// What is drawn from: names are made of small letters and digits.
    pub(crate) fn alphabet(self) -> &'static [u8] {
        const ALL: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        match self {
            Self::Number | Self::Digit => &ALL[..10],
            Self::Lower => &ALL[10..36],
            Self::Upper => &ALL[36..],
            Self::Letter => &ALL[10..],
            Self::LowerHex => &ALL[..16],
            Self::UpperHex => b"0123456789ABCDEF",
            Self::Name => &ALL[..36],
            Self::Alphanumeric => ALL,
        }
    }

    fn expression(self) -> &'static str {
        match self {
            Self::Number | Self::Digit => "\\d",
            Self::Upper => "[A-Z]",
            Self::Lower => "[a-z]",
            Self::Letter => "[A-Za-z]",
            Self::LowerHex => "[0-9a-f]",
            Self::UpperHex => "[0-9A-F]",
            Self::Alphanumeric => "[0-9A-Za-z]",
            Self::Name => "[0-9A-Za-z._+-]",
        }
    }
}

/// A part of a shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Segment {
    /// The same in every text.
    Fixed(String),
    /// One of a few texts, with their counts.
    OneOf(Vec<(String, u64)>),
    /// Characters of one kind.
    Run {
        /// The kind.
        of: Characters,
        /// How many, with the counts of texts.
        lengths: Vec<(usize, u64)>,
    },
}

/// Segments in a row: `AB-\d{4}`.
///
/// ```
/// use pmm_core::{Purpose, Streams};
/// use pmm_data::rules::Pattern;
/// let texts: Vec<String> = (0..300).map(|i| format!("AB-{}", 1_000 + 7 * i)).collect();
/// let shapes = Pattern::learn(texts.iter().map(String::as_str));
/// assert_eq!(shapes[0].to_string(), r"AB-\d{4}");
/// let new = shapes[0].draw(&mut Streams::new(1).stream(Purpose::custom(1), 0, 0));
/// assert!(shapes[0].matches(&new));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// The segments.
    pub segments: Vec<Segment>,
    /// In how many texts it was seen.
    pub count: u64,
}

impl Pattern {
    /// Whether a text has this shape.
    pub fn matches(&self, text: &str) -> bool {
        let mut rest = text;
        for segment in &self.segments {
            let Some(left) = segment.strip(rest) else { return false };
            rest = left;
        }
        rest.is_empty()
    }

    /// A new text of this shape; lengths and alternatives as often as they were seen, characters uniformly.
    pub fn draw(&self, stream: &mut Stream) -> String {
        let mut text = String::new();
        for segment in &self.segments {
            segment.draw(stream, &mut text);
        }
        text
    }

    /// How many texts have this shape.
    pub fn possible(&self) -> f64 {
        let of = |segment: &Segment| match segment {
            Segment::Fixed(_) => 1.0,
            Segment::OneOf(texts) => texts.len() as f64,
            Segment::Run { of, lengths } => {
                lengths.iter().map(|&(length, _)| (of.alphabet().len() as f64).powf(length as f64)).sum()
            }
        };
        self.segments.iter().map(of).product()
    }

    /// What people call it, if it has a name.
    pub fn name(&self) -> Option<&'static str> {
        if self.is_uuid() {
            return Some("UUID");
        }
        let at = |segment: &Segment| matches!(segment, Segment::Fixed(text) if text.contains('@'));
        if self.segments.iter().skip(1).any(at) {
            return Some("e-mail address");
        }
        self.is_phone().then_some("phone number")
    }

    /// Hexadecimal digits in groups of 8, 4, 4, 4 and 12.
    fn is_uuid(&self) -> bool {
        let mut groups = vec![0];
        for segment in &self.segments {
            let text = match segment {
                Segment::Run { lengths, .. } if lengths.len() == 1 => "0".repeat(lengths[0].0),
                Segment::OneOf(texts) if texts.iter().all(|one| one.0.len() == 1) => texts[0].0.clone(),
                Segment::Fixed(text) => text.clone(),
                _ => return false,
            };
            for c in text.chars() {
                match (c, groups.last_mut()) {
                    ('-', _) => groups.push(0),
                    (_, Some(last)) if c.is_ascii_hexdigit() => *last += 1,
                    _ => return false,
                }
            }
        }
        let hexadecimal = |of: &Characters| matches!(of, Characters::LowerHex | Characters::UpperHex);
        let run = |segment: &Segment| matches!(segment, Segment::Run { of, .. } if hexadecimal(of));
        groups == [8, 4, 4, 4, 12] && self.segments.iter().any(run)
    }

    /// At least seven digits in two groups or more, and nothing else but what separates them.
    fn is_phone(&self) -> bool {
        let (mut digits, mut groups, mut plain) = (0, 0, true);
        let separates = |c: char| " +-()/.".contains(c);
        for segment in &self.segments {
            match segment {
                Segment::Run { of: Characters::Digit | Characters::Number, lengths } => {
                    digits += lengths.iter().map(|length| length.0).max().unwrap_or(0);
                    groups += 1;
                }
                Segment::Fixed(text) => {
                    plain &= text.chars().all(|c| separates(c) || c.is_ascii_digit());
                    digits += text.chars().filter(char::is_ascii_digit).count();
                    groups += usize::from(text.chars().any(|c| c.is_ascii_digit()));
                }
                Segment::OneOf(texts)
                    if texts.iter().all(|(text, _)| text.chars().all(|c| c.is_ascii_digit())) =>
                {
                    digits += texts[0].0.len();
                    groups += 1;
                }
                _ => plain = false,
            }
        }
        plain && groups >= 2 && (7..=15).contains(&digits)
    }
}

impl Segment {
    /// What is left of a text behind this segment.
    fn strip<'a>(&self, text: &'a str) -> Option<&'a str> {
        match self {
            Self::Fixed(fixed) => text.strip_prefix(fixed.as_str()),
            Self::OneOf(texts) => {
                let fitting = texts.iter().filter(|(one, _)| text.starts_with(one.as_str()));
                fitting.map(|(one, _)| &text[one.len()..]).min_by_key(|left| left.len())
            }
            Self::Run { of, lengths } => {
                let run = text.bytes().take_while(|&byte| of.holds(char::from(byte))).count();
                let leading = *of == Characters::Number && run > 1 && text.starts_with('0');
                (!leading && lengths.iter().any(|&(length, _)| length == run)).then(|| &text[run..])
            }
        }
    }

    fn draw(&self, stream: &mut Stream, text: &mut String) {
        match self {
            Self::Fixed(fixed) => text.push_str(fixed),
            Self::OneOf(texts) => text.push_str(&texts[chosen(texts.iter().map(|one| one.1), stream)].0),
            Self::Run { of, lengths } => {
                let length = lengths[chosen(lengths.iter().map(|one| one.1), stream)].0;
                let alphabet = of.alphabet();
                for place in 0..length {
                    let low = u64::from(*of == Characters::Number && place == 0 && length > 1);
                    let index = low + stream.below(alphabet.len() as u64 - low);
                    text.push(char::from(alphabet[index as usize]));
                }
            }
        }
    }
}

/// One of some, by their counts.
fn chosen(counts: impl Iterator<Item = u64> + Clone, stream: &mut Stream) -> usize {
    let total: u64 = counts.clone().sum();
    let mut left = stream.below(total.max(1));
    for (index, count) in counts.enumerate() {
        if left < count {
            return index;
        }
        left -= count;
    }
    0
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in &self.segments {
            match segment {
                Segment::Fixed(text) => f.write_str(text)?,
                Segment::OneOf(texts) if texts.iter().all(|one| one.0.len() == 1) => {
                    let mut letters: Vec<&str> = texts.iter().map(|one| one.0.as_str()).collect();
                    letters.sort_unstable();
                    write!(f, "[{}]", letters.concat())?;
                }
                Segment::OneOf(texts) => {
                    let words: Vec<&str> = texts.iter().take(5).map(|one| one.0.as_str()).collect();
                    let more = if texts.len() > 5 { "|…" } else { "" };
                    write!(f, "({}{more})", words.join("|"))?;
                }
                Segment::Run { of, lengths } => {
                    let least = lengths.iter().map(|length| length.0).min().unwrap_or(0);
                    let most = lengths.iter().map(|length| length.0).max().unwrap_or(0);
                    match (least, most) {
                        (1, 1) => write!(f, "{}", of.expression())?,
                        _ if least == most => write!(f, "{}{{{most}}}", of.expression())?,
                        _ => write!(f, "{}{{{least},{most}}}", of.expression())?,
                    }
                }
            }
        }
        Ok(())
    }
}
