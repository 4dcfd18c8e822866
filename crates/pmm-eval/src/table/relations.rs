//! What columns are to each other, as columns of their own: differences, ratios, equalities, what is left of a sum, parts of dates.
//!
//! Trees split one column at a time. That a total is the sum of its parts, or an end after its beginning, they see only roughly; in
//! a column that holds the difference they see it at once.

use super::frame::{ColumnData, Frame, FrameColumn, MISSING};
use super::linear::Linear;
use super::rank::{correlation, ranks};

/// Rows from which relations are chosen, at most.
const ROWS: usize = 5000;
/// New columns for each column of a table, and in all, at most.
const EACH: usize = 3;
const MOST: usize = 120;
/// Correlations of ranks below this make no relation.
const LEAST: f64 = 0.3;

/// Relations that are known beforehand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownRelations {
    /// Columns that hold dates, with the seconds of their unit since 1970: 86,400 for days.
    pub dates: Vec<(String, f64)>,
    /// Pairs of columns that belong together, such as those of a rule.
    pub pairs: Vec<(String, String)>,
}

/// One new column.
#[derive(Clone, Debug)]
enum Relation {
    Difference(usize, usize),
    Ratio(usize, usize),
    Equal(usize, usize),
    /// What is left of a column when the others have told what they can, linearly.
    Rest(usize),
    Date(usize, f64, DatePart),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum DatePart {
    Weekday,
    Month,
    Hour,
}

/// Relations of a table, chosen from some rows of it and ready to be computed for others.
#[derive(Clone, Debug)]
pub(crate) struct Relations {
    relations: Vec<Relation>,
    linear: Linear,
}

impl Relations {
    /// The relations of rows: known ones first, then what is left of sums, then the pairs of numbers whose ranks are correlated
    /// most, and pairs of columns with common levels.
    pub(crate) fn of(frame: &Frame, known: &KnownRelations) -> Self {
        let frame = frame.sample(ROWS, 0, 9);
        let most = MOST.min(EACH * frame.columns.len());
        let place = |name: &String| frame.position(name).ok();
        let numeric = |column: usize| frame.columns[column].is_numeric();
        let mut relations = Vec::new();
        for (name, unit) in &known.dates {
            let parts = [DatePart::Weekday, DatePart::Month, DatePart::Hour];
            let parts = parts.into_iter().filter(|part| *part != DatePart::Hour || *unit < 86_400.0);
            relations.extend(
                place(name)
                    .into_iter()
                    .flat_map(|column| parts.clone().map(move |part| Relation::Date(column, *unit, part))),
            );
        }
        let linear = Linear::fit(&frame);
        relations.extend(linear.columns().into_iter().map(Relation::Rest));
        let pairs = known.pairs.iter().filter_map(|(a, b)| Some((place(a)?, place(b)?)));
        let mut taken = Vec::new();
        for (a, b) in pairs.chain(correlated(&frame)).chain(level_pairs(&frame)) {
            let (a, b) = (a.min(b), a.max(b));
            if a == b || taken.contains(&(a, b)) || numeric(a) != numeric(b) {
                continue;
            }
            taken.push((a, b));
            if numeric(a) {
                relations.extend([Relation::Difference(a, b), Relation::Ratio(a, b)]);
            }
            relations.push(Relation::Equal(a, b));
        }
        relations.truncate(most);
        Self { relations, linear }
    }

    /// The table with the new columns behind its own. Levels must be those of the rows from which relations were chosen.
    pub(crate) fn with(&self, frame: &Frame) -> Frame {
        let mut columns = frame.columns.clone();
        for (at, relation) in self.relations.iter().enumerate() {
            columns.push(FrameColumn::numbers(format!("relation {at}"), self.values(relation, frame)));
        }
        Frame { columns }
    }

    fn values(&self, relation: &Relation, frame: &Frame) -> Vec<f64> {
        let both = |a: usize, b: usize, of: fn(f64, f64) -> f64| {
            let (a, b) = (frame.columns[a].to_numbers(), frame.columns[b].to_numbers());
            a.iter().zip(&b).map(|(a, b)| of(*a, *b)).collect()
        };
        match *relation {
            Relation::Difference(a, b) => both(a, b, difference),
            Relation::Ratio(a, b) => both(a, b, |a, b| if b == 0.0 { f64::NAN } else { a / b }),
            Relation::Equal(a, b) if frame.columns[a].is_numeric() => both(a, b, equal),
            Relation::Equal(a, b) => same_level(&frame.columns[a].data, &frame.columns[b].data),
            Relation::Rest(column) => self.linear.rest(frame, column),
            Relation::Date(column, unit, part) => {
                frame.columns[column].to_numbers().iter().map(|value| part.of(value * unit)).collect()
            }
        }
    }
}

/// a − b; what is left of two equal decimals by the rounding of floats is 0.
fn difference(a: f64, b: f64) -> f64 {
    let difference = a - b;
    if difference.abs() <= 1e-12 * a.abs().max(b.abs()) { 0.0 } else { difference }
}

fn equal(a: f64, b: f64) -> f64 {
    match difference(a, b) {
        0.0 => 1.0,
        difference if difference.is_nan() => f64::NAN,
        _ => 0.0,
    }
}

fn same_level(a: &ColumnData, b: &ColumnData) -> Vec<f64> {
    let (ColumnData::Levels { codes: first, levels: names }, ColumnData::Levels { codes, levels }) = (a, b)
    else {
        return Vec::new();
    };
    let same = |(&a, &b): (&u32, &u32)| match (names.get(a as usize), levels.get(b as usize)) {
        (Some(a), Some(b)) => f64::from(u8::from(a == b)),
        _ => f64::NAN,
    };
    first.iter().zip(codes).map(same).collect()
}

/// Pairs of numbers, the most correlated first: at most as many as there are columns.
fn correlated(frame: &Frame) -> Vec<(usize, usize)> {
    let columns = || (0..frame.columns.len()).filter(|&column| frame.columns[column].is_numeric());
    let ranked: Vec<(usize, Vec<f64>)> =
        columns().map(|column| (column, ranks(&filled(&frame.columns[column].to_numbers())))).collect();
    let mut pairs = Vec::new();
    for (at, (a, first)) in ranked.iter().enumerate() {
        for (b, second) in &ranked[at + 1..] {
            let strength = correlation(first, second).abs();
            if strength >= LEAST {
                pairs.push((strength, *a, *b));
            }
        }
    }
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    pairs.into_iter().take(frame.columns.len()).map(|(_, a, b)| (a, b)).collect()
}

/// Missing cells as the mean.
fn filled(values: &[f64]) -> Vec<f64> {
    let known = values.iter().filter(|value| !value.is_nan());
    let mean = known.clone().sum::<f64>() / known.count().max(1) as f64;
    values.iter().map(|value| if value.is_nan() { mean } else { *value }).collect()
}

/// Pairs of columns that share two levels or more: home and guest, from and to.
fn level_pairs(frame: &Frame) -> Vec<(usize, usize)> {
    let used: Vec<(usize, Vec<&String>)> = (0..)
        .zip(&frame.columns)
        .filter_map(|(place, column)| match &column.data {
            ColumnData::Levels { codes, levels } => {
                let seen: std::collections::BTreeSet<u32> =
                    codes.iter().copied().filter(|code| *code != MISSING).collect();
                Some((place, seen.iter().filter_map(|code| levels.get(*code as usize)).collect()))
            }
            ColumnData::Numbers(_) => None,
        })
        .collect();
    let mut pairs = Vec::new();
    for (at, (a, first)) in used.iter().enumerate() {
        let alike = |second: &Vec<&String>| second.iter().filter(|level| first.contains(level)).count() >= 2;
        pairs.extend(used[at + 1..].iter().filter(|(_, second)| alike(second)).map(|(b, _)| (*a, *b)));
    }
    // Two levels such as yes and no are common to columns that have nothing to do with each other.
    pairs.retain(|(a, b)| {
        [a, b].iter().all(|c| used.iter().any(|(place, levels)| place == *c && levels.len() > 2))
    });
    pairs
}

impl DatePart {
    /// Of seconds since 1970.
    fn of(self, seconds: f64) -> f64 {
        if !seconds.is_finite() {
            return f64::NAN;
        }
        let day = (seconds / 86_400.0).floor();
        match self {
            // 1970 began on a Thursday; Monday is 0.
            Self::Weekday => (day + 3.0).rem_euclid(7.0),
            Self::Month => month(day),
            Self::Hour => ((seconds - day * 86_400.0) / 3600.0).floor(),
        }
    }
}

/// The month of a day since 1970: years are counted from March, so that the leap day is their last.
fn month(day: f64) -> f64 {
    let day_of_era = (day + 719_468.0).rem_euclid(146_097.0);
    let year = ((day_of_era - (day_of_era / 1460.0).floor() + (day_of_era / 36_524.0).floor()
        - (day_of_era / 146_096.0).floor())
        / 365.0)
        .floor();
    let day_of_year = day_of_era - (365.0 * year + (year / 4.0).floor() - (year / 100.0).floor());
    let from_march = ((5.0 * day_of_year + 2.0) / 153.0).floor();
    if from_march < 10.0 { from_march + 3.0 } else { from_march - 9.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `datetime.date(1970, 1, 1) + timedelta(d)` for d = −1, 0, 11016 (29 February 2000), 20454 (1 January 2026).
    #[test]
    fn parts_of_dates() {
        let parts = |day: f64| (DatePart::Weekday.of(day * 86_400.0), DatePart::Month.of(day * 86_400.0));
        assert_eq!(parts(-1.0), (2.0, 12.0));
        assert_eq!(parts(0.0), (3.0, 1.0));
        assert_eq!(parts(11_016.0), (1.0, 2.0));
        assert_eq!(parts(20_454.0), (3.0, 1.0));
        assert_eq!(DatePart::Hour.of(-1.0), 23.0);
    }

    #[test]
    fn new_columns_stand_behind_the_old() {
        let n = 60;
        let numbers = |of: fn(f64) -> f64| (0..n).map(|i| of(f64::from(i))).collect::<Vec<f64>>();
        let club = |shift: usize| (0..n as usize).map(move |i| ["a", "b", "c"][(i + shift * (i % 2)) % 3]);
        let frame = Frame::new(vec![
            FrameColumn::numbers("begin", numbers(|i| 10.0 * i)),
            FrameColumn::numbers("end", numbers(|i| 10.0 * i + (i * 7.0) % 5.0)),
            FrameColumn::named("home", club(0)),
            FrameColumn::named("guest", club(1)),
        ])
        .unwrap();
        let known = KnownRelations { dates: vec![("begin".into(), 86_400.0)], pairs: vec![] };
        let wide = Relations::of(&frame, &known).with(&frame);
        let column = |at: usize| wide.columns[4 + at].to_numbers();
        assert_eq!(column(0)[..3], [3.0, 6.0, 2.0], "weekdays");
        // Month, two rests, then difference, ratio and equality of begin and end, and of the clubs.
        assert_eq!(column(4)[..3], [0.0, -2.0, -4.0]);
        assert_eq!(column(6)[..3], [1.0, 0.0, 0.0]);
        assert_eq!(column(7)[..4], [1.0, 0.0, 1.0, 0.0]);
        assert_eq!(wide.columns.len(), 12);
    }
}
