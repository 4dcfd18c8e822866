//! Rules that hold in the rows of a table: found, told, and counted in made rows.

use std::convert::Infallible;

use pmm_data::rules::{
    Batch, Cell as RuleCell, Column as RuleColumn, ColumnKind, DateUnit, Found, Options, Rows, Rule, count,
    find,
};
use pmm_data::{Cell, Cells, Coding, Column, Schema};

/// Rows that are told apart at a time.
const CHUNK: usize = 4096;
/// Rows in which rules are sought: more would tell no more.
const MOST_ROWS: usize = 200_000;

/// Coded rows, as the finder of rules sees them.
struct CodedRows<'a> {
    columns: Vec<RuleColumn>,
    cells: Vec<(&'a Column, &'a Cells)>,
    rows: usize,
}

impl<'a> CodedRows<'a> {
    /// The modelled columns that are there.
    fn new(schema: &'a Schema, columns: &'a [Cells], rows: usize) -> Self {
        let present = schema.columns.iter().zip(columns);
        let cells: Vec<(&Column, &Cells)> =
            present.filter(|(column, cells)| column.is_modelled() && cells.len() >= rows).collect();
        Self { columns: cells.iter().map(|(column, _)| described(column)).collect(), cells, rows }
    }
}

fn described(column: &Column) -> RuleColumn {
    let kind = match &column.coding {
        Coding::Numbers(numbers) if numbers.date.is_some() => {
            ColumnKind::Date { unit: if numbers.counts_days() { DateUnit::Days } else { DateUnit::Seconds } }
        }
        Coding::Numbers(numbers) => ColumnKind::Number { decimals: numbers.places.map(u32::from) },
        _ => ColumnKind::Levels {
            texts: (0..column.n_codes() as u32).map(|code| column.text(Cell::Level(code), 0.0)).collect(),
        },
    };
    let mut described = RuleColumn::new(column.name.clone(), kind);
    if let Coding::Numbers(numbers) = &column.coding {
        described.specials = numbers.specials.iter().map(|special| special.text.clone()).collect();
    }
    described
}

impl Rows for CodedRows<'_> {
    type Error = Infallible;

    fn columns(&self) -> &[RuleColumn] {
        &self.columns
    }

    fn scan(&self, see: &mut dyn FnMut(&Batch<'_>)) -> Result<(), Infallible> {
        for first in (0..self.rows).step_by(CHUNK) {
            let cell = |column: &Column, cell: Cell| match cell {
                Cell::Value(value) => RuleCell::Number(value),
                Cell::Level(code) => RuleCell::Level(code),
                // A special that is a number is that number.
                Cell::Special(s) => column.number(cell).map_or(RuleCell::Special(s), RuleCell::Number),
                Cell::Missing | Cell::Unseen => RuleCell::Missing,
            };
            let end = self.rows.min(first + CHUNK);
            let columns: Vec<Vec<RuleCell<'_>>> = self
                .cells
                .iter()
                .map(|(column, cells)| (first..end).map(|row| cell(column, cells.get(row))).collect())
                .collect();
            see(&Batch { first_row: first as u64, columns: columns.iter().map(Vec::as_slice).collect() });
        }
        Ok(())
    }
}

/// The rules of coded rows, with their evidence.
pub(crate) fn find_rules(schema: &Schema, columns: &[Cells], rows: usize) -> Vec<Found> {
    let rows = CodedRows::new(schema, columns, rows.min(MOST_ROWS));
    find(&rows, &Options::default()).unwrap_or_else(|error: Infallible| match error {})
}

/// In what share of the rows to which it applies each rule is broken; none where it cannot be told.
pub(crate) fn broken(schema: &Schema, columns: &[Cells], rows: usize, rules: &[Rule]) -> Vec<Option<f64>> {
    let rows = CodedRows::new(schema, columns, rows);
    let one = |rule: &Rule| {
        let evidence = count(&rows, std::slice::from_ref(rule), 0).ok()?.into_iter().next()?;
        (evidence.applies > 0).then(|| 1.0 - evidence.share())
    };
    rules.iter().map(one).collect()
}
