//! The rules of inference: what kind of column a profile is, and why.

use std::collections::HashMap;

use super::profile::{Entry, Nature, Profile, Seen};
use super::schema::Kind;

/// A guess and its reason.
pub(crate) struct Guess {
    pub(crate) kind: Kind,
    pub(crate) reason: String,
}

impl Guess {
    fn new(kind: Kind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into() }
    }
}

/// Fewer rows than this say little about being unique.
const FEW: u64 = 20;

/// The opposites that make a category a yes/no column.
const OPPOSITES: [[&str; 2]; 7] =
    [["no", "yes"], ["false", "true"], ["0", "1"], ["0.0", "1.0"], ["n", "y"], ["f", "t"], ["off", "on"]];

/// The kind of a column, as far as its texts tell; [`Kind::Real`] stands for any numbers.
pub(crate) fn guess(profile: &Profile, name: &str) -> Guess {
    if profile.present() == 0 {
        return Guess::new(Kind::Constant, "every cell is missing; kept out of the model");
    }
    if let Seen::Texts(texts) = &profile.seen
        && let Some(guess) = few_levels(profile, texts)
    {
        return guess;
    }
    if is_dates(profile) {
        return Guess::new(Kind::DateTime, "dates");
    }
    if is_numbers(profile) {
        let numbering = row_numbers(profile, name).filter(|_| profile.nature != Nature::Times);
        return numbering.unwrap_or_else(|| Guess::new(Kind::Real, "numbers"));
    }
    match &profile.seen {
        Seen::Texts(texts) => texts_guess(profile, name, texts),
        _ if profile.too_long && profile.nature == Nature::Numbers => {
            let reason = "numbers of more than 15 digits, too many for a category; kept out of the model";
            Guess::new(Kind::Identifier, reason)
        }
        _ => Guess::new(Kind::Text, "too many distinct texts to be a category; kept out of the model"),
    }
}

/// Up to three levels, blanks and case aside, in order.
fn first_levels(texts: &HashMap<Box<str>, Entry>) -> Vec<String> {
    let mut levels: Vec<String> = texts.keys().take(3).map(|text| text.trim().to_lowercase()).collect();
    levels.sort_unstable();
    levels
}

/// Whether the cells are two opposites, such as true and false.
pub(crate) fn is_yes_no(profile: &Profile) -> bool {
    let Seen::Texts(texts) = &profile.seen else { return false };
    matches!(first_levels(texts).as_slice(), [a, b] if OPPOSITES.contains(&[a.as_str(), b.as_str()]))
}

/// One level, or two opposites.
fn few_levels(profile: &Profile, texts: &HashMap<Box<str>, Entry>) -> Option<Guess> {
    match first_levels(texts).as_slice() {
        [_] if profile.missing == 0 => {
            Some(Guess::new(Kind::Constant, "the same in every row; kept out of the model"))
        }
        [_] => Some(Guess::new(Kind::Category, "one value or missing")),
        [a, b] if OPPOSITES.contains(&[a.as_str(), b.as_str()]) => {
            Some(Guess::new(Kind::YesNo, format!("only {a} and {b}")))
        }
        _ => None,
    }
}

/// Whether the cells are dates, or numbers with few other texts.
pub(crate) fn is_typed(profile: &Profile) -> bool {
    is_dates(profile) || is_numbers(profile)
}

fn is_dates(profile: &Profile) -> bool {
    match profile.nature {
        Nature::Dates => return !matches!(profile.seen, Seen::TooMany),
        Nature::Levels => return false,
        _ => {}
    }
    let sampled =
        !matches!(&profile.seen, Seen::Values(sample) if sample.date.is_none() || !sample.tokens.is_empty());
    profile.date.is_some() && !matches!(profile.seen, Seen::TooMany) && sampled
}

/// Numbers with at most a fifth, and five kinds, of other texts (such as `<5` or `refused`), which become special values.
fn is_numbers(profile: &Profile) -> bool {
    match profile.nature {
        Nature::Numbers | Nature::Times => return !profile.too_long && profile.numbers > 0,
        Nature::Levels => return false,
        _ => {}
    }
    let tokens = match &profile.seen {
        Seen::Texts(texts) => texts.values().filter(|entry| entry.value.is_nan()).count(),
        Seen::Values(sample) if sample.date.is_none() => sample
            .tokens
            .keys()
            .filter(|text| profile.infinite.iter().all(|(infinite, _)| infinite != *text))
            .count(),
        _ => return false,
    };
    let other = profile.present() - profile.numbers;
    !profile.codes
        && !profile.too_long
        && tokens <= 5
        && other * 5 <= profile.present()
        && profile.numbers > 0
}

/// Integers that only number the rows: consecutive from 0 or 1 in any order, or nearly unique under a name like `id`.
fn row_numbers(profile: &Profile, name: &str) -> Option<Guess> {
    let steps = profile.steps;
    let integers = profile.numbers == profile.present() && profile.format.decimals == 0;
    let (distinct, low, high) = extent(profile)?;
    let consecutive = steps.by_one || distinct == 1.0 && high - low == (profile.cells - 1) as f64;
    let named = is_id_name(name) || steps.increasing && name.to_lowercase().ends_with("id");
    let enough = profile.cells >= FEW;
    let counted = consecutive && (named || enough && (low == 0.0 || low == 1.0));
    if profile.missing > 0 || !integers || !(counted || named && enough && distinct >= 0.9) {
        return None;
    }
    let what = match (counted, distinct == 1.0) {
        (true, _) => "row numbers".into(),
        (false, true) => "integers, unique per row".into(),
        (false, false) => {
            format!("integers under the name of an identifier, {:.0} % distinct", 100.0 * distinct)
        }
    };
    Some(Guess::new(Kind::Identifier, what + "; kept out of the model"))
}

/// The share of numbers that are distinct (as far as a sample shows), and the ends of their range.
fn extent(profile: &Profile) -> Option<(f64, f64, f64)> {
    match &profile.seen {
        Seen::Texts(texts) => {
            let values = texts.values().map(|entry| entry.value);
            let ends =
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
            Some((texts.len() as f64 / profile.present() as f64, ends.0, ends.1))
        }
        Seen::Values(sample) => {
            let mut sorted = sample.values.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            sorted.dedup();
            let distinct =
                if profile.steps.increasing { 1.0 } else { sorted.len() as f64 / sample.values.len() as f64 };
            Some((distinct, sample.low, sample.high))
        }
        Seen::TooMany => None,
    }
}

fn is_id_name(name: &str) -> bool {
    let lower = name.to_lowercase();
    let whole = [
        "id",
        "ids",
        "rowid",
        "row",
        "rowname",
        "rownames",
        "index",
        "idx",
        "key",
        "uuid",
        "guid",
        "unnamed: 0",
    ];
    whole.contains(&lower.as_str())
        || lower.starts_with("id_")
        || ["_id", ".id", " id", "-id"].iter().any(|end| lower.ends_with(end))
        || ["Id", "ID"].iter().any(|end| name.ends_with(end))
        || name.starts_with("ID")
}

/// Identifier, free text or category.
fn texts_guess(profile: &Profile, name: &str, texts: &HashMap<Box<str>, Entry>) -> Guess {
    let present = profile.present() as f64;
    let mean = |measure: fn(&str) -> usize| {
        texts.iter().map(|(text, entry)| measure(text) as f64 * entry.count as f64).sum::<f64>() / present
    };
    let (length, blanks) =
        (mean(|text| text.chars().count()), mean(|text| text.matches(char::is_whitespace).count()));
    let distinct = texts.len() as f64 / present;
    let enough = profile.present() >= FEW;
    let long = blanks >= 2.0 && length >= 20.0 || length > 60.0;
    if distinct >= 0.5 && long && (enough || length > 60.0) {
        return Guess::new(
            Kind::Text,
            format!("free text, {length:.0} characters on average; kept out of the model"),
        );
    }
    let unique = texts.len() as u64 == profile.present();
    if distinct >= 0.95 && (enough || unique && is_id_name(name)) {
        let share =
            if unique { "unique per row".into() } else { format!("{:.0} % distinct", 100.0 * distinct) };
        return Guess::new(Kind::Identifier, format!("texts, {share}; kept out of the model"));
    }
    let mut reason = category_reason(profile, texts.len());
    let trimmed: std::collections::HashSet<&str> = texts.keys().map(|text| text.trim()).collect();
    if trimmed.len() < texts.len() {
        reason += "; some differ only in blanks at their ends";
    }
    Guess::new(Kind::Category, reason)
}

fn category_reason(profile: &Profile, levels: usize) -> String {
    let mut reason = format!("{} levels", grouped(levels as u64));
    if levels > 1024 {
        reason += ", the rarest share 64 codes";
    }
    if profile.codes {
        reason += "; codes with leading zeros stay text";
    } else if profile.too_long {
        reason += "; integers beyond 2^53 are levels, not numbers";
    } else if profile.ambiguous {
        reason += "; dates whose day and month cannot be told apart stay text";
    } else if profile.numbers > 0 && profile.nature != Nature::Levels {
        reason += &format!(
            "; {} of the cells are numbers, the others are not",
            share(profile.numbers, profile.present())
        );
    }
    reason
}

/// `12,345`
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `91 %`, `3.4 %`, `0.49 %`
pub(crate) fn share(part: u64, whole: u64) -> String {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    let digits = if percent >= 9.95 {
        0
    } else if percent >= 0.995 {
        1
    } else {
        2
    };
    format!("{percent:.digits$} %")
}
