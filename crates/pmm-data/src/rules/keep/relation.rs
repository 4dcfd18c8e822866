//! A rule as a relation between the cells of a row.

use std::fmt::Debug;
use std::sync::Arc;

use super::super::error::RuleError;
use super::super::place::Place;
use super::super::rows::{Cell, Column};
use super::super::rule::{Entry, Rule};
use super::super::value::Value;
use super::allowed::Allowed;
use super::duration::Duration;
use super::equal::{Equal, NeverEqual};
use super::function::{Function, Map};
use super::heap::Heap;
use super::order::{Order, Within};
use super::states::{Gate, Impossible, Together};
use super::sum::Sum;

/// The cells of a row, and which of them are known; what is not known may hold anything.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) cells: &'a [Cell<'static>],
    pub(super) known: &'a [bool],
}

/// A cell that is not known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) column: usize,
    pub(super) row: Row<'a>,
    /// The least and the largest number that each column can have, dates in seconds.
    pub(super) spans: &'a [(f64, f64)],
}

/// What holds between cells.
pub(super) trait Relate: Debug + Send + Sync {
    /// The columns that it speaks of, but for its key.
    fn members(&self) -> Vec<usize>;

    /// A cell that follows from the known ones, with its column.
    fn follows(&self, _row: Row<'_>) -> Option<(usize, Cell<'static>)> {
        None
    }

    /// Narrows what a cell of its columns may be.
    fn restrict<'a>(&'a self, asked: Asked<'_>, allowed: &mut Allowed<'a>);

    /// Whether cells that are all known break it; none where what it leaves open for one of them tells.
    fn breaks(&self, _row: Row<'_>) -> Option<bool> {
        None
    }

    /// The column that it determines, and those that determine it.
    fn function(&self) -> Option<(usize, Vec<usize>)> {
        None
    }
}

/// A relation with its place among the others.
#[derive(Debug, Clone)]
pub(super) struct Relation {
    pub(super) rule: Arc<dyn Relate>,
    /// The derived column, or another that is drawn before the last of the others.
    pub(super) key: Option<usize>,
    /// All columns that it speaks of, the key too.
    pub(super) members: Vec<usize>,
    /// The column that it determines, and those that determine it.
    pub(super) function: Option<(usize, Vec<usize>)>,
    /// The share of rows that keep it, where no column says which do; else 1.
    pub(super) share: f64,
}

impl Row<'_> {
    pub(super) fn is_known(&self, place: &Place) -> bool {
        self.known[place.index]
    }

    /// Whether a cell is known to be missing: then a rule about values says nothing, and so does its key.
    pub(super) fn is_gap(&self, place: &Place) -> bool {
        self.is_known(place) && self.cells[place.index] == Cell::Missing
    }

    /// The number of a cell that is known and holds one; dates in seconds.
    pub(super) fn number(&self, place: &Place) -> Option<f64> {
        if self.is_known(place) { place.scalar(self.cells) } else { None }
    }
}

impl Asked<'_> {
    /// Keeps the levels of a column for which something holds, each put into the row in turn.
    pub(super) fn keep_levels(
        &self,
        place: &Place,
        allowed: &mut Allowed<'_>,
        holds: impl Fn(&[Cell<'static>]) -> bool,
    ) {
        let mut cells = self.row.cells.to_vec();
        let mut fits = |code: u32| {
            cells[self.column] = Cell::Level(code);
            holds(&cells)
        };
        let fits: Vec<bool> = (0..place.levels() as u32).map(&mut fits).collect();
        // What no level meets leaves all open.
        if fits.contains(&true) {
            allowed.keep_levels(fits.len(), |code| fits[code as usize]);
        }
    }
}

impl Relation {
    fn new(rule: impl Relate + 'static, key: Option<usize>, share: f64) -> Self {
        let mut members: Vec<usize> = rule.members().into_iter().chain(key).collect();
        members.sort_unstable();
        members.dedup();
        Self { function: rule.function(), rule: Arc::new(rule), key, members, share }
    }

    /// Whether it holds by chance, in a share of the rows.
    pub(super) fn is_soft(&self) -> bool {
        self.share < 1.0
    }

    /// The relations of a rule between columns of these kinds; `derived` is the column derived from it. None for rules about
    /// single columns and about several rows, which columns keep by themselves.
    pub(super) fn of(
        rule: &Rule,
        share: f64,
        derived: Option<usize>,
        columns: &[Column],
    ) -> Result<Vec<Self>, RuleError> {
        let any = |name: &str| Place::new(name, columns);
        // A derived column says in which rows the rule holds.
        let share = if derived.is_some() { 1.0 } else { share };
        let one = |relation: Self| Ok(vec![relation]);
        match rule {
            Rule::Determined { inputs, output, table } => {
                let inputs = inputs.iter().map(|name| any(name)).collect::<Result<Vec<_>, _>>()?;
                let output = any(output)?;
                let map = Map::table(&inputs, &output, table);
                one(Self::new(Function::new(inputs, output, map, derived, columns)?, derived, share))
            }
            Rule::OneToOne { left, right, pairs } => {
                both_ways(any(left)?, any(right)?, pairs, derived, share, columns)
            }
            Rule::DatePart { date, part, output, numbering } => {
                let (date, output) = (Place::date(date, columns)?, any(output)?);
                let map = Map::part(*part, numbering, &output);
                one(Self::new(Function::new(vec![date], output, map, derived, columns)?, derived, share))
            }
            Rule::Product { output, factor, numerators, denominators, within } => {
                let inputs = numerators.iter().chain(denominators);
                let inputs =
                    inputs.map(|name| Place::number(name, columns, false)).collect::<Result<_, _>>()?;
                let output = Place::number(output, columns, false)?;
                let map = Map::Product { factor: *factor, above: numerators.len(), within: *within };
                one(Self::new(Function::new(inputs, output, map, derived, columns)?, derived, share))
            }
            Rule::Equal { left, right, .. } => {
                one(Self::new(Equal::new(any(left)?, any(right)?, derived, columns)?, derived, share))
            }
            Rule::Sum { output, terms, constants, within } => one(Self::new(
                Sum::new(output, terms, (constants, *within), derived, columns)?,
                derived,
                share,
            )),
            Rule::Duration { output, start, end, unit, rounding, step } => {
                let duration = Duration::new([output, start, end], (*unit, *rounding, *step), columns)?;
                let output = duration.output();
                one(Self::new(duration, Some(output), share))
            }
            Rule::Order { low, high, strict } => match derived {
                // The difference is a column of its own, whose law holds the rule.
                Some(derived) => {
                    one(Self::new(Sum::difference(low, high, derived, columns)?, Some(derived), share))
                }
                None => one(Self::new(Order::new(low, high, *strict, columns)?, None, share)),
            },
            Rule::Range { column, low, high } => {
                one(Self::new(Within::new(column, *low, *high, columns)?, None, share))
            }
            Rule::Impossible { left, right, pairs } => {
                one(Self::new(Impossible::new(&any(left)?, &any(right)?, pairs), None, share))
            }
            Rule::Gate { when, then, both_ways } => {
                one(Self::new(Gate::new(when, then, *both_ways, columns)?, None, share))
            }
            Rule::MissingTogether { columns: names } => {
                let places = names.iter().map(|name| any(name)).collect::<Result<Vec<_>, _>>()?;
                one(Self::new(Together::new(&places), None, share))
            }
            Rule::NeverEqual { left, right } => {
                one(Self::new(NeverEqual::new(any(left)?, any(right)?), None, share))
            }
            Rule::Multiple { column, step, remainder, .. } => {
                one(Self::new(Heap::new(column, *step, *remainder, columns)?, None, share))
            }
            Rule::Unique { .. } | Rule::Running { .. } | Rule::Shape { .. } | Rule::OnTime { .. } => {
                Ok(Vec::new())
            }
        }
    }
}

/// Two columns that determine each other: a function each way, or one where a column says in which rows it holds.
fn both_ways(
    left: Place,
    right: Place,
    pairs: &[(Value, Value)],
    derived: Option<usize>,
    share: f64,
    columns: &[Column],
) -> Result<Vec<Relation>, RuleError> {
    let table = |flipped: bool| -> Vec<Entry> {
        let line = |(a, b): &(Value, Value)| {
            let (input, output) = if flipped { (b, a) } else { (a, b) };
            Entry { inputs: vec![input.clone()], output: output.clone() }
        };
        pairs.iter().map(line).collect()
    };
    let function = |from: &Place, to: &Place, flipped: bool| {
        let inputs = vec![from.clone()];
        let map = Map::table(&inputs, to, &table(flipped));
        Ok(Relation::new(Function::new(inputs, to.clone(), map, derived, columns)?, derived, share))
    };
    let mut relations = vec![function(&left, &right, false)?];
    if derived.is_none() {
        relations.push(function(&right, &left, true)?);
    }
    Ok(relations)
}
