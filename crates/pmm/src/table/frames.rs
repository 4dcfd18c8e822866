//! Coded rows as tables that can be scored.

use pmm_data::{Cell, Cells, Coding, Column, Numbers};
use pmm_eval::chart::Calendar;
use pmm_eval::table::{Frame, FrameColumn, MISSING, TableError};

use super::model::Model;

/// The modelled columns of coded rows, but for those that are absent.
pub(crate) fn frame(model: &Model, columns: &[Cells], absent: &[usize]) -> Result<Frame, TableError> {
    let places = model.places();
    let present = places.iter().map(|place| place.column).filter(|column| !absent.contains(column));
    Frame::new(present.map(|index| column(&model.schema().columns[index], &columns[index])).collect())
}

/// Numbers stay numbers, levels keep their names; a special value that is a text counts as missing, and so does a level never
/// seen.
fn column(column: &Column, cells: &Cells) -> FrameColumn {
    if let Coding::Numbers(numbers) = &column.coding {
        let values = cells.iter().map(|cell| column.number(cell).unwrap_or(f64::NAN));
        return FrameColumn {
            calendar: calendar(numbers),
            ..FrameColumn::numbers(&column.name, values.collect())
        };
    }
    let levels = (0..column.n_codes() as u32).map(|code| column.text(Cell::Level(code), 0.0));
    let code = |cell| if let Cell::Level(code) = cell { code } else { MISSING };
    FrameColumn::levels(&column.name, cells.iter().map(code).collect(), levels.collect())
}

/// What the numbers of a column of dates count; none of others.
fn calendar(numbers: &Numbers) -> Option<Calendar> {
    numbers.date.as_ref()?;
    Some(if numbers.is_time_of_day() {
        Calendar::Clock
    } else if numbers.counts_days() {
        Calendar::Days
    } else {
        Calendar::Seconds
    })
}
