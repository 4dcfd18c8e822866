//! Coded rows as tables that can be scored.

use pmm_data::{Cell, Cells, Coding, Column};
use pmm_eval::table::{Frame, FrameColumn, MISSING, TableError};

use super::model::Model;

/// The modelled columns of coded rows, but for those that are absent.
pub(crate) fn frame(model: &Model, columns: &[Cells], absent: &[usize]) -> Result<Frame, TableError> {
    let places = &model.denoiser.net().coordinates().columns;
    let present = places.iter().map(|place| place.column).filter(|column| !absent.contains(column));
    Frame::new(present.map(|index| column(&model.schema().columns[index], &columns[index])).collect())
}

/// Numbers stay numbers, levels keep their names; a special value that is a text counts as missing, and so does a level never
/// seen.
fn column(column: &Column, cells: &Cells) -> FrameColumn {
    if let Coding::Numbers(_) = &column.coding {
        let numbers = cells.iter().map(|cell| column.number(cell).unwrap_or(f64::NAN));
        return FrameColumn::numbers(&column.name, numbers.collect());
    }
    let levels = (0..column.n_codes() as u32).map(|code| column.text(Cell::Level(code), 0.0));
    let code = |cell| if let Cell::Level(code) = cell { code } else { MISSING };
    FrameColumn::levels(&column.name, cells.iter().map(code).collect(), levels.collect())
}
