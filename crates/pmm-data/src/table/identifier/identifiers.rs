//! What is known of a column of identifiers.

use serde::{Deserialize, Serialize};

use super::form::Forms;
use super::real_ranges::RealRanges;
use super::running::Running;
use crate::rules::{Characters, Pattern, Segment};

/// Characters of a shape that a sentence shows, at most.
const LONG: usize = 40;

/// What is known of a column that names rows: enough to write new ones, and to write none of the real.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identifiers {
    /// The share of empty cells.
    pub empty: f64,
    /// How many identifiers rows share; none if no two rows have the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<u64>,
    /// What they look like.
    pub pattern: IdentifierPattern,
}

/// What identifiers look like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdentifierPattern {
    /// Numbers that go on after the last.
    Running(Running),
    /// Texts of some shapes.
    Shapes {
        /// The shapes, by how often they were seen.
        shapes: Vec<Pattern>,
        /// Where the real ones lie, form by form.
        real: Vec<RealRanges>,
    },
}

impl Identifiers {
    /// What is wrong, if anything.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        if !(0.0..=1.0).contains(&self.empty) || self.shared == Some(0) {
            return Some("the shares of its identifiers are none");
        }
        match &self.pattern {
            IdentifierPattern::Running(running) => {
                (running.step <= 0).then_some("its numbers do not go on after the last")
            }
            IdentifierPattern::Shapes { shapes, real } => {
                let empty = |segment: &Segment| match segment {
                    Segment::Fixed(_) => false,
                    Segment::OneOf(texts) => texts.is_empty(),
                    Segment::Run { lengths, .. } => lengths.is_empty(),
                };
                if shapes.is_empty() || shapes.iter().flat_map(|shape| &shape.segments).any(empty) {
                    return Some("its identifiers have no shape");
                }
                let forms = Forms::new(shapes).forms;
                let fits = |ranges: &RealRanges| {
                    forms.get(ranges.form()).is_some_and(|form| ranges.marks(form.size).is_some())
                };
                (!real.iter().all(fits)).then_some("its real identifiers do not fit their shapes")
            }
        }
    }

    /// Whether all are plain integers of at most 18 digits.
    pub(crate) fn is_integer(&self) -> bool {
        let digits = |shape: &Pattern| match shape.segments.as_slice() {
            [Segment::Run { of: Characters::Number, lengths }] => lengths.iter().all(|one| one.0 <= 18),
            [first, rest @ ..] if starts_without_zero(first) => {
                let length: Option<usize> = rest.iter().map(longest_digits).sum();
                length.is_some_and(|length| length <= 17)
            }
            _ => false,
        };
        match &self.pattern {
            IdentifierPattern::Running(running) => running.is_integer(),
            IdentifierPattern::Shapes { shapes, .. } => shapes.iter().all(digits),
        }
    }

    /// In words: what new ones are.
    pub fn sentence(&self) -> String {
        match &self.pattern {
            IdentifierPattern::Running(running) => {
                let after = running.text(0, 0).unwrap_or_default();
                format!("new ones go on from {after}")
            }
            IdentifierPattern::Shapes { shapes, .. } => {
                let pattern = shapes[0].to_string();
                match shapes[0].name() {
                    Some(name) => format!("new ones have the same shape ({name})"),
                    None if pattern.chars().count() <= LONG => format!("new ones look like {pattern}"),
                    None => "new ones have the same shape".to_owned(),
                }
            }
        }
    }
}

/// One digit from 1 to 9, or several such.
fn starts_without_zero(segment: &Segment) -> bool {
    let fits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    match segment {
        Segment::Fixed(text) => text.len() == 1 && fits(text),
        Segment::OneOf(texts) => texts.iter().all(|one| one.0.len() == 1 && fits(&one.0)),
        Segment::Run { .. } => false,
    }
}

/// The digits of a segment, at most; none if it has anything else.
fn longest_digits(segment: &Segment) -> Option<usize> {
    let fits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then_some(text.len());
    match segment {
        Segment::Fixed(text) => fits(text),
        Segment::OneOf(texts) => texts.iter().map(|one| fits(&one.0)).max().flatten(),
        Segment::Run { of: Characters::Digit | Characters::Number, lengths } => {
            lengths.iter().map(|one| one.0).max()
        }
        Segment::Run { .. } => None,
    }
}
