//! Coded rows as tables that can be scored.

use pmm_data::{Coding, Column, EMPTY, Table};
use pmm_eval::table::{Frame, FrameColumn, TableError};
use pmm_train::Model;

/// Rows as the coder gives them: (code, value) for every column of the schema.
pub(crate) type Coded = Vec<Vec<(u32, f64)>>;

/// The rows of a table.
pub(crate) fn coded(table: &Table) -> Coded {
    let cell = |row: usize, cells: &pmm_data::Cells| match (cells.code.get(row), cells.value.get(row)) {
        (Some(&code), Some(&value)) => (code, value),
        _ => (EMPTY, f64::NAN),
    };
    (0..table.rows).map(|row| table.columns.iter().map(|cells| cell(row, cells)).collect()).collect()
}

/// The modelled columns of coded rows, but for those that are absent.
pub(crate) fn frame(model: &Model, rows: &Coded, absent: &[usize]) -> Result<Frame, TableError> {
    let places = &model.denoiser.net().coordinates().columns;
    let column = |place: &pmm_net::table::ColumnPlace| {
        let cells = rows.iter().map(|row| row[place.column]);
        self::column(&model.schema.columns[place.column], cells)
    };
    Frame::new(places.iter().filter(|place| !absent.contains(&place.column)).map(column).collect())
}

/// Rows that a model has made, `[rows, modelled columns]`.
pub(crate) fn made(model: &Model, cells: &[(u32, f64)], absent: &[usize]) -> Result<Frame, TableError> {
    let places = &model.denoiser.net().coordinates().columns;
    let column = |(at, place): (usize, &pmm_net::table::ColumnPlace)| {
        let cells = cells.iter().skip(at).step_by(places.len()).copied();
        self::column(&model.schema.columns[place.column], cells)
    };
    let present = places.iter().enumerate().filter(|(_, place)| !absent.contains(&place.column));
    Frame::new(present.map(column).collect())
}

/// Numbers stay numbers, levels keep their names; a special value that is a text counts as missing.
fn column(column: &Column, cells: impl Iterator<Item = (u32, f64)>) -> FrameColumn {
    match &column.coding {
        Coding::Numbers(_) => FrameColumn::numbers(&column.name, cells.map(|(_, value)| value).collect()),
        _ => {
            let levels = (0..column.n_codes() as u32).map(|code| column.decode(code, f64::NAN, 0.0));
            FrameColumn::levels(&column.name, cells.map(|(code, _)| code).collect(), levels.collect())
        }
    }
}
