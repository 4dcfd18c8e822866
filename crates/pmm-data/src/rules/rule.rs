//! A rule: what holds in the rows of a table, by the names of its columns.

use serde::{Deserialize, Serialize};

use super::date_part::{DatePart, TimeUnit};
use super::pattern::Pattern;
use super::value::{Condition, State, Value};

/// What holds in the rows of a table (in all of them, or in a share that its [`Evidence`](super::Evidence) tells).
///
/// ```
/// use pmm_data::rules::Rule;
/// let rule = Rule::Order { low: "pickup".into(), high: "dropoff".into(), strict: false };
/// assert_eq!(rule.sentence(), "dropoff is never below pickup");
/// assert_eq!(serde_json::to_string(&rule)?, r#"{"rule":"order","low":"pickup","high":"dropoff","strict":false}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case", deny_unknown_fields)]
pub enum Rule {
    /// The output is a function of the inputs, which a table lists. Where a cell is missing it says nothing.
    Determined {
        /// One to three columns.
        inputs: Vec<String>,
        /// The column that they determine.
        output: String,
        /// The function.
        table: Vec<Entry>,
    },
    /// Two columns say the same in other words: a code and its name.
    OneToOne {
        /// The one.
        left: String,
        /// The other.
        right: String,
        /// What belongs together.
        pairs: Vec<(Value, Value)>,
    },
    /// The output is read off a date.
    DatePart {
        /// The date.
        date: String,
        /// What is read off.
        part: DatePart,
        /// The column that holds it.
        output: String,
        /// How the output counts.
        numbering: Numbering,
    },
    /// A cell repeats another column's.
    Equal {
        /// The one.
        left: String,
        /// The other.
        right: String,
        /// Says something only where neither is 0.
        nonzero: bool,
    },
    /// output = Σ factor · column + one of the constants, within a distance.
    Sum {
        /// What is computed.
        output: String,
        /// What is added up.
        terms: Vec<Term>,
        /// What may come on top, most frequent first: \[0\] for a plain sum.
        constants: Vec<f64>,
        /// How far off it may be: half of the last digit.
        within: f64,
    },
    /// output = factor · Π numerators / Π denominators, within a distance. Says nothing where a denominator is 0.
    Product {
        /// What is computed.
        output: String,
        /// A fixed factor.
        factor: f64,
        /// What is multiplied.
        numerators: Vec<String>,
        /// What is divided by.
        denominators: Vec<String>,
        /// How far off it may be: half of the last digit.
        within: f64,
    },
    /// output = end − start, in a unit of time.
    Duration {
        /// What is computed.
        output: String,
        /// The earlier date.
        start: String,
        /// The later date.
        end: String,
        /// The unit that the output counts.
        unit: TimeUnit,
        /// How the time becomes the output's digits.
        rounding: Rounding,
        /// The output's last digit: 1 for whole numbers, 0.01 for two decimals.
        step: f64,
    },
    /// low ≤ high, or low < high.
    Order {
        /// The lower column.
        low: String,
        /// The higher column.
        high: String,
        /// Never equal either.
        strict: bool,
    },
    /// low ≤ column ≤ high.
    Range {
        /// The column.
        column: String,
        /// The least, if there is one.
        low: Option<f64>,
        /// The largest, if there is one.
        high: Option<f64>,
    },
    /// States of two columns that never meet. Says something where either of them is in a listed state.
    Impossible {
        /// The one.
        left: String,
        /// The other.
        right: String,
        /// What never meets.
        pairs: Vec<(State, State)>,
    },
    /// Where one column is in some state, another is in some state: a cost of 0 without a claim.
    Gate {
        /// The condition.
        when: Condition,
        /// What follows.
        then: Condition,
        /// Whether it also follows the other way.
        both_ways: bool,
    },
    /// Columns whose cells are missing in the same rows.
    MissingTogether {
        /// Two columns or more.
        columns: Vec<String>,
    },
    /// Two columns that are never equal: a club does not play itself.
    NeverEqual {
        /// The one.
        left: String,
        /// The other.
        right: String,
    },
    /// No two rows have the same cells in these columns.
    Unique {
        /// One column or two.
        columns: Vec<String>,
    },
    /// Each row's number is the last row's plus a step.
    Running {
        /// The column.
        column: String,
        /// The first row's.
        first: f64,
        /// The step.
        step: f64,
    },
    /// Texts of one or a few shapes.
    Shape {
        /// The column.
        column: String,
        /// The shapes, most frequent first.
        shapes: Vec<Pattern>,
    },
    /// Numbers on a grid: remainder + multiples of a step. With `nonzero`, says nothing about 0.
    Multiple {
        /// The column.
        column: String,
        /// The step.
        step: f64,
        /// What is left after division by the step: .99 for prices of a step of 1.
        remainder: f64,
        /// Says nothing about 0.
        nonzero: bool,
    },
    /// Dates on a grid of time.
    OnTime {
        /// The column.
        column: String,
        /// The grid.
        grid: TimeGrid,
    },
}

/// One line of the table of a function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// What the inputs are.
    pub inputs: Vec<Value>,
    /// What the output then is.
    pub output: Value,
}

/// One term of a sum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// What the column is multiplied by.
    pub factor: f64,
    /// The column.
    pub column: String,
}

/// How a column counts a part of a date.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Numbering {
    /// The part plus a number: goes on for dates that were never seen.
    Offset(f64),
    /// The part's values, one by one.
    Table(Vec<(f64, Value)>),
}

/// How a number becomes one with fewer digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rounding {
    /// To the nearest.
    Nearest,
    /// To the next lower.
    Down,
    /// To the next higher.
    Up,
}

/// A grid of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeGrid {
    /// The first day of a year, at midnight.
    YearStart,
    /// The first day of a month, at midnight.
    MonthStart,
    /// Midnight.
    Midnight,
    /// Full hours.
    Hour,
    /// Half hours.
    HalfHour,
    /// Quarters of an hour.
    QuarterHour,
    /// Five minutes.
    FiveMinutes,
    /// Full minutes.
    Minute,
}

impl TimeGrid {
    /// All grids, the coarsest first.
    pub const ALL: [Self; 8] = [
        Self::YearStart,
        Self::MonthStart,
        Self::Midnight,
        Self::Hour,
        Self::HalfHour,
        Self::QuarterHour,
        Self::FiveMinutes,
        Self::Minute,
    ];

    /// Whether a date, in seconds since 1970, is on the grid.
    pub fn holds(self, seconds: f64) -> bool {
        let step = match self {
            Self::YearStart | Self::MonthStart | Self::Midnight => 86_400.0,
            Self::Hour => 3_600.0,
            Self::HalfHour => 1_800.0,
            Self::QuarterHour => 900.0,
            Self::FiveMinutes => 300.0,
            Self::Minute => 60.0,
        };
        let part = |part: DatePart| part.of(seconds, super::rows::DateUnit::Seconds);
        seconds.rem_euclid(step) == 0.0
            && match self {
                Self::YearStart => part(DatePart::MonthAndDay) == Some(101.0),
                Self::MonthStart => part(DatePart::Day) == Some(1.0),
                _ => true,
            }
    }

    /// The share of dates with any seconds that are on it by chance.
    pub(crate) fn chance(self, days_only: bool) -> f64 {
        let second = if days_only { 1.0 } else { 1.0 / 86_400.0 };
        match self {
            Self::YearStart => second / 365.25,
            Self::MonthStart => second * 12.0 / 365.25,
            Self::Midnight => second,
            Self::Hour => 1.0 / 3_600.0,
            Self::HalfHour => 1.0 / 1_800.0,
            Self::QuarterHour => 1.0 / 900.0,
            Self::FiveMinutes => 1.0 / 300.0,
            Self::Minute => 1.0 / 60.0,
        }
    }

    /// Its name in a sentence.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::YearStart => "the first day of a year",
            Self::MonthStart => "the first day of a month",
            Self::Midnight => "at midnight",
            Self::Hour => "on the hour",
            Self::HalfHour => "on the half hour",
            Self::QuarterHour => "on the quarter hour",
            Self::FiveMinutes => "on five minutes",
            Self::Minute => "on the minute",
        }
    }
}

impl Rule {
    /// The columns that the rule speaks of, its output last where it has one.
    pub fn columns(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        match self {
            Self::Determined { inputs, output, .. } => {
                names.extend(inputs.iter().map(String::as_str));
                names.push(output);
            }
            Self::OneToOne { left, right, .. }
            | Self::Equal { left, right, .. }
            | Self::Impossible { left, right, .. }
            | Self::NeverEqual { left, right } => names.extend([left.as_str(), right]),
            Self::DatePart { date, output, .. } => names.extend([date.as_str(), output]),
            Self::Sum { output, terms, .. } => {
                names.extend(terms.iter().map(|term| term.column.as_str()));
                names.push(output);
            }
            Self::Product { output, numerators, denominators, .. } => {
                names.extend(numerators.iter().chain(denominators).map(String::as_str));
                names.push(output);
            }
            Self::Duration { output, start, end, .. } => names.extend([start.as_str(), end, output]),
            Self::Order { low, high, .. } => names.extend([low.as_str(), high]),
            Self::Gate { when, then, .. } => names.extend([when.column.as_str(), &then.column]),
            Self::MissingTogether { columns } | Self::Unique { columns } => {
                names.extend(columns.iter().map(String::as_str));
            }
            Self::Range { column, .. }
            | Self::Running { column, .. }
            | Self::Shape { column, .. }
            | Self::Multiple { column, .. }
            | Self::OnTime { column, .. } => names.push(column),
        }
        names
    }

    /// The kind of rule, as its JSON names it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Determined { .. } => "determined",
            Self::OneToOne { .. } => "one_to_one",
            Self::DatePart { .. } => "date_part",
            Self::Equal { .. } => "equal",
            Self::Sum { .. } => "sum",
            Self::Product { .. } => "product",
            Self::Duration { .. } => "duration",
            Self::Order { .. } => "order",
            Self::Range { .. } => "range",
            Self::Impossible { .. } => "impossible",
            Self::Gate { .. } => "gate",
            Self::MissingTogether { .. } => "missing_together",
            Self::NeverEqual { .. } => "never_equal",
            Self::Unique { .. } => "unique",
            Self::Running { .. } => "running",
            Self::Shape { .. } => "shape",
            Self::Multiple { .. } => "multiple",
            Self::OnTime { .. } => "on_time",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_survives_json() {
        for rule in super::super::sentence::examples() {
            let json = serde_json::to_string(&rule).unwrap();
            assert!(json.starts_with(&format!(r#"{{"rule":"{}""#, rule.kind())), "{json}");
            assert_eq!(serde_json::from_str::<Rule>(&json).unwrap(), rule, "{json}");
            assert!(!rule.columns().is_empty());
        }
    }

    #[test]
    fn time_grids() {
        // 2011-02-01 00:00 and 12:30.
        let day = 15_006.0 * 86_400.0;
        assert!(TimeGrid::MonthStart.holds(day) && !TimeGrid::YearStart.holds(day));
        assert!(TimeGrid::HalfHour.holds(day + 45_000.0) && !TimeGrid::Hour.holds(day + 45_000.0));
    }
}
