//! Rules in plain words.

use super::date_part::DatePart;
use super::rule::{Numbering, Rounding, Rule, Term};
use super::value::{Condition, State, Value, plain};

/// Pairs of an impossible combination that are written out.
const SHOWN: usize = 6;

impl Rule {
    /// The rule as a sentence: "total is fare + tip + tolls".
    pub fn sentence(&self) -> String {
        match self {
            Self::Determined { inputs, output, .. } => {
                format!("{output} is determined by {}", list(inputs, "and"))
            }
            Self::OneToOne { left, right, .. } => format!("{left} and {right} determine each other"),
            Self::DatePart { date, part, output, numbering } => date_part(date, *part, output, numbering),
            Self::Equal { left, right, nonzero } => {
                format!("{left} equals {right}{}", if *nonzero { " where neither is 0" } else { "" })
            }
            Self::Sum { output, terms, constants, .. } => format!("{output} is {}", sum(terms, constants)),
            Self::Product { output, factor, numerators, denominators, .. } => {
                format!("{output} is {}", product(*factor, numerators, denominators))
            }
            Self::Duration { output, start, end, unit, rounding, .. } => {
                let rounded = match rounding {
                    Rounding::Nearest => "",
                    Rounding::Down => ", rounded down",
                    Rounding::Up => ", rounded up",
                };
                format!("{output} is {end} − {start} in {}{rounded}", unit.name())
            }
            Self::Order { low, high, strict: true } => format!("{high} is above {low}"),
            Self::Order { low, high, strict: false } => format!("{high} is never below {low}"),
            Self::Range { column, low, high } => range(column, *low, *high),
            Self::Impossible { left, right, pairs } => impossible(left, right, pairs),
            Self::Gate { when, then, both_ways } => {
                let place = if *both_ways { "exactly where" } else { "where" };
                format!("{} {place} {}", condition(then), condition(when))
            }
            Self::MissingTogether { columns } => format!("{} are missing together", list(columns, "and")),
            Self::NeverEqual { left, right } => format!("{left} is never equal to {right}"),
            Self::Unique { columns } if columns.len() == 1 => format!("{} is unique", columns[0]),
            Self::Unique { columns } => format!("{} together are unique", list(columns, "and")),
            Self::Running { column, step, .. } => {
                format!("{column} goes up by {} from row to row", plain(*step))
            }
            Self::Shape { column, shapes } => {
                let shapes: Vec<String> = shapes
                    .iter()
                    .map(|shape| {
                        shape.name().map_or(format!("`{shape}`"), |name| format!("{name} `{shape}`"))
                    })
                    .collect();
                format!("{column} is written {}", list(&shapes, "or"))
            }
            Self::Multiple { column, step, remainder, nonzero } => {
                multiple(column, *step, *remainder, *nonzero)
            }
            Self::OnTime { column, grid } => format!("{column} is {}", grid.name()),
        }
    }
}

/// "a, b and c".
fn list<S: AsRef<str>>(words: &[S], last: &str) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.split_last() {
        Some((word, rest)) if !rest.is_empty() => format!("{} {last} {word}", rest.join(", ")),
        Some((word, _)) => (*word).to_owned(),
        None => String::new(),
    }
}

fn date_part(date: &str, part: DatePart, output: &str, numbering: &Numbering) -> String {
    let name = part.name();
    match numbering {
        Numbering::Offset(offset) if part == DatePart::DayNumber => {
            let day = super::date_part::written(-offset, super::rows::DateUnit::Days);
            format!("{output} is {name} from {day} to {date}")
        }
        Numbering::Offset(0.0) => format!("{output} is {name} of {date}"),
        Numbering::Offset(offset) => {
            let sign = if *offset < 0.0 { "−" } else { "+" };
            format!("{output} is {name} of {date} {sign} {}", plain(offset.abs()))
        }
        Numbering::Table(table) if one_to_one(table) => format!("{output} is {name} of {date}"),
        Numbering::Table(_) => format!("{output} is determined by {name} of {date}"),
    }
}

/// Whether each part has a value of its own: Monday is 1, Tuesday is 2.
fn one_to_one(table: &[(f64, Value)]) -> bool {
    table.iter().enumerate().all(|(place, line)| table[..place].iter().all(|other| other.1 != line.1))
}

fn sum(terms: &[Term], constants: &[f64]) -> String {
    let mut text = String::new();
    for (place, term) in terms.iter().enumerate() {
        let sign = if term.factor < 0.0 { "−" } else { "+" };
        match (place, term.factor < 0.0) {
            (0, false) => {}
            (0, true) => text.push('−'),
            _ => text.push_str(&format!(" {sign} ")),
        }
        if term.factor.abs() != 1.0 {
            text.push_str(&format!("{} × ", plain(term.factor.abs())));
        }
        text.push_str(&term.column);
    }
    match constants {
        [] | [0.0] => text,
        [constant] => {
            let sign = if *constant < 0.0 { "−" } else { "+" };
            format!("{text} {sign} {}", plain(constant.abs()))
        }
        several => {
            let texts: Vec<String> = several.iter().map(|&constant| plain(constant)).collect();
            format!("{text}, plus {}", list(&texts, "or"))
        }
    }
}

fn product(factor: f64, numerators: &[String], denominators: &[String]) -> String {
    let mut factors: Vec<String> = numerators.to_vec();
    if factor != 1.0 || factors.is_empty() {
        factors.insert(0, plain(factor));
    }
    let above = factors.join(" × ");
    match denominators {
        [] => above,
        [one] => format!("{above} / {one}"),
        several => format!("{above} / ({})", several.join(" × ")),
    }
}

fn range(column: &str, low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{column} is within {} and {}", plain(low), plain(high)),
        (Some(low), None) => format!("{column} is never below {}", plain(low)),
        (None, Some(high)) => format!("{column} is never above {}", plain(high)),
        (None, None) => format!("{column} is any number"),
    }
}

fn impossible(left: &str, right: &str, pairs: &[(State, State)]) -> String {
    let mut parts: Vec<(String, Vec<String>)> = Vec::new();
    for (a, b) in pairs {
        let (a, b) = (a.to_string(), b.to_string());
        match parts.iter_mut().find(|part| part.0 == a) {
            Some(part) => part.1.push(b),
            None => parts.push((a, vec![b])),
        }
    }
    let shown: Vec<String> = parts
        .iter()
        .take(SHOWN)
        .map(|(a, b)| {
            let rest =
                if b.len() > SHOWN { format!(" (or {} more)", b.len() - SHOWN) } else { String::new() };
            format!("{left} {a} never with {right} {}{rest}", list(&b[..b.len().min(SHOWN)], "or"))
        })
        .collect();
    let rest = parts.len().saturating_sub(SHOWN);
    let more = if rest > 0 { format!("; and {rest} more") } else { String::new() };
    format!("{}{more}", shown.join("; "))
}

/// "cost is 0", "reason is missing".
fn condition(condition: &Condition) -> String {
    let states: Vec<String> = condition.states.iter().map(State::to_string).collect();
    let shown = states.len().min(SHOWN);
    let mut words = states[..shown].to_vec();
    if states.len() > shown {
        words.push(format!("{} more", states.len() - shown));
    }
    format!("{} is {}", condition.column, list(&words, "or"))
}

fn multiple(column: &str, step: f64, remainder: f64, nonzero: bool) -> String {
    let zero = if nonzero { " where it is not 0" } else { "" };
    if remainder != 0.0 && step == 1.0 {
        return format!("{column} ends in {}{zero}", plain(remainder).trim_start_matches('0'));
    }
    if remainder != 0.0 {
        return format!("{column} is {} more than a multiple of {}{zero}", plain(remainder), plain(step));
    }
    match (1..=9).find(|&digits| (step * 10_f64.powi(digits) - 1.0).abs() < 1e-9) {
        None if step == 1.0 => format!("{column} is a whole number"),
        Some(1) => format!("{column} has one decimal{zero}"),
        Some(digits) => format!("{column} has {digits} decimals{zero}"),
        None => format!("{column} is a multiple of {}{zero}", plain(step)),
    }
}

/// One rule of every kind.
#[cfg(test)]
pub(crate) fn examples() -> Vec<Rule> {
    tests::sentences().into_iter().map(|(rule, _)| rule).collect()
}

#[cfg(test)]
mod tests {
    use super::super::date_part::TimeUnit;
    use super::super::pattern::Pattern;
    use super::super::rule::{Entry, TimeGrid};
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn terms(terms: &[(f64, &str)]) -> Vec<Term> {
        terms.iter().map(|&(factor, column)| Term { factor, column: column.to_owned() }).collect()
    }

    fn is(column: &str, state: State) -> Condition {
        Condition { column: column.to_owned(), states: vec![state] }
    }

    pub(crate) fn sentences() -> Vec<(Rule, &'static str)> {
        let entry = Entry { inputs: vec!["Harlem".into()], output: "Manhattan".into() };
        let (left, right) = ("left".to_owned(), "right".to_owned());
        let shapes =
            Pattern::learn((10..30).map(|i| format!("K{i}")).collect::<Vec<_>>().iter().map(|t| &**t));
        let (fare, tip, total) = ("fare".to_owned(), "tip".to_owned(), "total".to_owned());
        vec![
            (
                Rule::Determined { inputs: names("zone"), output: "borough".into(), table: vec![entry] },
                "borough is determined by zone",
            ),
            (
                Rule::OneToOne { left, right, pairs: vec![(1.0.into(), "one".into())] },
                "left and right determine each other",
            ),
            (
                Rule::DatePart {
                    date: "day".into(),
                    part: DatePart::Year,
                    output: "yr".into(),
                    numbering: Numbering::Offset(-2011.0),
                },
                "yr is the year of day − 2011",
            ),
            (
                Rule::Equal { left: "paid".into(), right: "bill".into(), nonzero: true },
                "paid equals bill where neither is 0",
            ),
            (
                Rule::Sum {
                    output: total.clone(),
                    terms: terms(&[(1.0, "fare"), (1.0, "tip"), (-0.5, "refund")]),
                    constants: vec![0.0, 0.5, 3.3],
                    within: 0.005,
                },
                "total is fare + tip − 0.5 × refund, plus 0, 0.5 or 3.3",
            ),
            (
                Rule::Product {
                    output: tip.clone(),
                    factor: 2.0,
                    numerators: vec![fare.clone()],
                    denominators: vec![total.clone()],
                    within: 0.005,
                },
                "tip is 2 × fare / total",
            ),
            (
                Rule::Duration {
                    output: "minutes".into(),
                    start: "pickup".into(),
                    end: "dropoff".into(),
                    unit: TimeUnit::Minutes,
                    rounding: Rounding::Down,
                    step: 1.0,
                },
                "minutes is dropoff − pickup in minutes, rounded down",
            ),
            (Rule::Order { low: fare.clone(), high: total, strict: true }, "total is above fare"),
            (
                Rule::Range { column: "share".into(), low: Some(0.0), high: Some(1.0) },
                "share is within 0 and 1",
            ),
            (
                Rule::Impossible {
                    left: "species".into(),
                    right: "island".into(),
                    pairs: vec![
                        (State::Is("Gentoo".into()), State::Is("Dream".into())),
                        (State::Is("Gentoo".into()), State::Is("Torgersen".into())),
                    ],
                },
                "species Gentoo never with island Dream or Torgersen",
            ),
            (
                Rule::Gate {
                    when: is("claims", State::Is(0.0.into())),
                    then: is("cost", State::Is(0.0.into())),
                    both_ways: true,
                },
                "cost is 0 exactly where claims is 0",
            ),
            (Rule::MissingTogether { columns: names("a b c") }, "a, b and c are missing together"),
            (Rule::NeverEqual { left: "home".into(), right: "away".into() }, "home is never equal to away"),
            (Rule::Unique { columns: names("id year") }, "id and year together are unique"),
            (
                Rule::Running { column: "row".into(), first: 1.0, step: 1.0 },
                "row goes up by 1 from row to row",
            ),
            (Rule::Shape { column: "code".into(), shapes }, r"code is written `K\d{2}`"),
            (
                Rule::Multiple { column: tip, step: 1.0, remainder: 0.99, nonzero: true },
                "tip ends in .99 where it is not 0",
            ),
            (
                Rule::Multiple { column: fare, step: 0.01, remainder: 0.0, nonzero: false },
                "fare has 2 decimals",
            ),
            (Rule::OnTime { column: "start".into(), grid: TimeGrid::Hour }, "start is on the hour"),
        ]
    }

    #[test]
    fn sentences_are_plain() {
        for (rule, sentence) in sentences() {
            assert_eq!(rule.sentence(), sentence);
        }
    }
}
