//! A column that is a function of others.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::super::date_part::DatePart;
use super::super::error::RuleError;
use super::super::place::{Place, join, key};
use super::super::rows::{Cell, Column, DateUnit};
use super::super::rule::{Entry, Numbering};
use super::super::value::Value;
use super::allowed::Allowed;
use super::flag::{Flag, Told, told};
use super::ranges::Ranges;
use super::relation::{Asked, Relate, Row};

/// Stretches of time that are listed for a part of a date, at most.
const MOST_STRETCHES: f64 = 20_000.0;

/// output = map(inputs); with a flag, in the rows of which that says so.
#[derive(Debug)]
pub(super) struct Function {
    inputs: Vec<Place>,
    output: Place,
    map: Map,
    flag: Option<Flag>,
}

/// A function.
#[derive(Debug)]
pub(super) enum Map {
    /// By a table: its lines by the joined keys of the inputs, and one by one.
    Table { lines: HashMap<u64, Cell<'static>>, listed: Vec<Line> },
    /// Read off a date. The dates of every part are listed when they are first asked for.
    Part { part: DatePart, written: PartCells, dates: OnceLock<HashMap<u64, Ranges>> },
    /// A product of the first `above` inputs over the others.
    Product { factor: f64, above: usize, within: f64 },
}

/// A line of a table: inputs, and the output.
type Line = (Vec<Cell<'static>>, Cell<'static>);

/// How parts of dates are written.
#[derive(Debug)]
pub(super) enum PartCells {
    Offset(f64),
    Table(HashMap<u64, Cell<'static>>),
}

impl Function {
    pub(super) fn new(
        inputs: Vec<Place>,
        output: Place,
        map: Map,
        derived: Option<usize>,
        columns: &[Column],
    ) -> Result<Self, RuleError> {
        Ok(Self { inputs, output, map, flag: Flag::new(derived, columns)? })
    }

    /// The output for inputs that are all known; none where it says nothing.
    fn value(&self, cells: &[Cell<'static>]) -> Option<Cell<'static>> {
        match &self.map {
            Map::Table { lines, .. } => {
                let keys = self.inputs.iter().map(|input| input.key(cells)).collect::<Option<Vec<_>>>()?;
                lines.get(&join(keys.into_iter())).copied()
            }
            Map::Part { part, written, .. } => {
                written.cell(*part, self.inputs[0].scalar(cells)?, &self.output)
            }
            Map::Product { .. } => self.output.cell_of_number(self.product(cells)?),
        }
    }

    /// Whether an output is that of the inputs; none where it says nothing.
    fn agrees(&self, cells: &[Cell<'static>]) -> Option<bool> {
        if let Map::Product { within, .. } = self.map {
            let product = self.product(cells)?;
            return Some((self.output.scalar(cells)? - product).abs() <= within + 1e-12 * product.abs());
        }
        let expected = self.value(cells)?;
        (cells[self.output.index] != Cell::Missing).then(|| expected == cells[self.output.index])
    }

    fn product(&self, cells: &[Cell<'static>]) -> Option<f64> {
        let Map::Product { factor, above, .. } = self.map else { return None };
        let mut product = factor;
        for (at, input) in self.inputs.iter().enumerate() {
            let x = input.scalar(cells)?;
            product = if at < above { product * x } else { product / Some(x).filter(|x| *x != 0.0)? };
        }
        Some(product)
    }

    /// What is left of an output that is known not to follow.
    fn restrict_output(&self, asked: Asked<'_>, allowed: &mut Allowed<'_>) {
        let inputs_known = self.inputs.iter().all(|input| asked.row.is_known(input));
        let told = told(self.flag.as_ref(), asked.row);
        if self.flag.is_none() || told == Told::NotYet || !inputs_known {
            return;
        }
        let Some(expected) = self.value(asked.row.cells) else { return };
        allowed.keep_missing(told == Told::Nothing);
        if told == Told::Holds(false) {
            allowed.exclude(expected, self.output.levels());
        }
    }

    /// What is left of an input while the output is known.
    fn restrict_input(&self, input: &Place, asked: Asked<'_>, allowed: &mut Allowed<'_>) {
        let Told::Holds(wanted) = told(self.flag.as_ref(), asked.row) else { return };
        if !asked.row.is_known(&self.output) || asked.row.is_gap(&self.output) {
            return;
        }
        let mut others = self.inputs.iter().filter(|other| other.index != asked.column);
        if !others.all(|place| asked.row.is_known(place)) {
            if wanted {
                self.keep_listed(input, asked, allowed);
            }
        } else if input.levels() > 0 {
            asked.keep_levels(input, allowed, |cells| {
                self.agrees(cells).is_none_or(|agrees| agrees == wanted)
            });
        } else if let Some(numbers) = self.numbers_of(input, asked).filter(|numbers| !numbers.is_none()) {
            allowed.keep_numbers(&if wanted { numbers } else { numbers.complement() });
        }
    }

    /// Keeps what stands in a line with the known inputs and the known output, where there is such a line.
    fn keep_listed(&self, input: &Place, asked: Asked<'_>, allowed: &mut Allowed<'_>) {
        let cells = self.listed(input, asked);
        if cells.is_empty() {
            return;
        }
        if input.levels() > 0 {
            allowed.keep_levels(input.levels(), |code| cells.contains(&Cell::Level(code)));
        } else {
            allowed.keep_numbers(&points(&cells));
        }
    }

    /// The cells of an input in the lines of a table with the known inputs and the known output.
    fn listed(&self, input: &Place, asked: Asked<'_>) -> Vec<Cell<'static>> {
        let Map::Table { listed, .. } = &self.map else { return Vec::new() };
        let Some(at) = self.inputs.iter().position(|place| place.index == input.index) else {
            return Vec::new();
        };
        let meets = |(inputs, output): &&Line| {
            let known = self.inputs.iter().zip(inputs).filter(|(place, _)| asked.row.is_known(place));
            *output == asked.row.cells[self.output.index]
                && known.into_iter().all(|(place, cell)| asked.row.cells[place.index] == *cell)
        };
        listed.iter().filter(meets).map(|line| line.0[at]).collect()
    }

    /// The numbers of an input for which the function has the known output.
    fn numbers_of(&self, input: &Place, asked: Asked<'_>) -> Option<Ranges> {
        let wanted = asked.row.cells[self.output.index];
        match &self.map {
            Map::Table { .. } => Some(points(&self.listed(input, asked))),
            Map::Part { part, written, dates } => {
                let span = asked.spans[input.index];
                let all = dates.get_or_init(|| self.dates(*part, written, input, span));
                all.get(&key(wanted)?).cloned()
            }
            Map::Product { factor, above, within } => {
                let y = self.output.scalar(asked.row.cells)?;
                let at = self.inputs.iter().position(|place| place.index == input.index)?;
                let mut rest = *factor;
                for (other, place) in self.inputs.iter().enumerate().filter(|(other, _)| *other != at) {
                    let x = place.scalar(asked.row.cells).filter(|x| *x != 0.0)?;
                    rest = if other < *above { rest * x } else { rest / x };
                }
                let ends = [y - within, y + within].map(|y| if at < *above { y / rest } else { rest / y });
                Some(Ranges::between(ends[0].min(ends[1]), ends[0].max(ends[1])))
            }
        }
    }

    /// The dates of every part, by the key of its cell.
    fn dates(
        &self,
        part: DatePart,
        written: &PartCells,
        date: &Place,
        span: (f64, f64),
    ) -> HashMap<u64, Ranges> {
        let mut of: HashMap<u64, Vec<Ranges>> = HashMap::new();
        for (from, to) in stretches(part, span) {
            if let Some(key) = written.cell(part, from, &self.output).and_then(key) {
                // A little less than the next begins, in the date's own unit: no rounding leads there.
                let (first, last) = (from / date.scale(), to / date.scale() - 1e-3);
                of.entry(key).or_default().push(Ranges::between(first, last));
            }
        }
        of.into_iter().map(|(key, ranges)| (key, Ranges::union(ranges))).collect()
    }
}

impl Relate for Function {
    fn members(&self) -> Vec<usize> {
        self.inputs.iter().chain([&self.output]).map(|place| place.index).collect()
    }

    fn follows(&self, row: Row<'_>) -> Option<(usize, Cell<'static>)> {
        let inputs_known = self.inputs.iter().all(|input| row.is_known(input));
        match (told(self.flag.as_ref(), row), &self.flag) {
            (Told::Holds(true), _) if inputs_known && !row.is_known(&self.output) => {
                Some((self.output.index, self.value(row.cells)?))
            }
            (Told::NotYet, Some(flag)) => {
                if self.inputs.iter().chain([&self.output]).any(|place| row.is_gap(place)) {
                    return flag.cell(None);
                }
                match (inputs_known, row.is_known(&self.output)) {
                    (true, true) => flag.cell(self.agrees(row.cells)),
                    (true, false) if self.value(row.cells).is_none() => flag.cell(None),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn restrict<'a>(&'a self, asked: Asked<'_>, allowed: &mut Allowed<'a>) {
        if asked.column == self.output.index {
            return self.restrict_output(asked, allowed);
        }
        if let Some(input) = self.inputs.iter().find(|input| input.index == asked.column) {
            self.restrict_input(input, asked, allowed);
        }
    }

    fn breaks(&self, row: Row<'_>) -> Option<bool> {
        let Told::Holds(wanted) = told(self.flag.as_ref(), row) else { return Some(false) };
        Some(self.agrees(row.cells).is_some_and(|agrees| agrees != wanted))
    }

    fn function(&self) -> Option<(usize, Vec<usize>)> {
        Some((self.output.index, self.inputs.iter().map(|input| input.index).collect()))
    }
}

impl Map {
    pub(super) fn table(inputs: &[Place], output: &Place, table: &[Entry]) -> Self {
        let line = |entry: &Entry| {
            let keys = inputs.iter().zip(&entry.inputs).map(|(place, value)| place.key_of(value));
            let keys = keys.collect::<Option<Vec<_>>>()?;
            Some((join(keys.into_iter()), output.cell_of(&entry.output)?))
        };
        let cells = |entry: &Entry| {
            let cells = inputs.iter().zip(&entry.inputs).map(|(place, value)| place.cell_of(value));
            Some((cells.collect::<Option<Vec<_>>>()?, output.cell_of(&entry.output)?))
        };
        let lines = table.iter().filter_map(line).collect();
        Self::Table { lines, listed: table.iter().filter_map(cells).collect() }
    }

    pub(super) fn part(part: DatePart, numbering: &Numbering, output: &Place) -> Self {
        let written = match numbering {
            Numbering::Offset(offset) => PartCells::Offset(*offset),
            Numbering::Table(table) => {
                let line = |(part, value): &(f64, Value)| Some((part.to_bits(), output.cell_of(value)?));
                PartCells::Table(table.iter().filter_map(line).collect())
            }
        };
        Self::Part { part, written, dates: OnceLock::new() }
    }
}

impl PartCells {
    fn cell(&self, part: DatePart, seconds: f64, output: &Place) -> Option<Cell<'static>> {
        let part = part.of(seconds, DateUnit::Seconds)?;
        match self {
            Self::Offset(offset) => output.cell_of_number(part + offset),
            Self::Table(table) => table.get(&part.to_bits()).copied(),
        }
    }
}

/// The numbers among cells.
fn points(cells: &[Cell<'static>]) -> Ranges {
    Ranges::union(cells.iter().filter_map(|cell| match cell {
        Cell::Number(number) => Some(Ranges::point(*number)),
        _ => None,
    }))
}

/// Stretches of time, in seconds, in which a part of a date stays the same, each up to the next; none where there would be too many.
fn stretches(part: DatePart, (low, high): (f64, f64)) -> Vec<(f64, f64)> {
    let step = match part {
        DatePart::Minute => 60.0,
        DatePart::Hour => 3_600.0,
        _ => 86_400.0,
    };
    let first = (low / step).floor();
    let count = (high / step).floor() - first + 1.0;
    if !(1.0..=MOST_STRETCHES).contains(&count) {
        return Vec::new();
    }
    let stretch = |at: f64| ((first + at) * step, (first + at + 1.0) * step);
    (0..count as u64).map(|at| stretch(at as f64)).collect()
}
