//! One coded cell, and a column of them.

/// What a model sees of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell {
    /// An ordinary number of a number column; dates count days or seconds since 1970.
    Value(f64),
    /// A level of a category, by its code; rare levels share codes.
    Level(u32),
    /// A value apart from the continuum: `specials[s]` of a number column.
    Special(u32),
    /// Known to be empty.
    Missing,
    /// A level that the column never had: not empty, and nothing that the model knows.
    Unseen,
}

/// The cells of one column, eight bytes each.
///
/// ```
/// use pmm_data::{Cell, Cells};
/// let mut cells: Cells = [Cell::Value(0.5), Cell::Level(7), Cell::Missing].into_iter().collect();
/// cells.push(Cell::Unseen);
/// assert_eq!((cells.len(), cells.get(1), cells.get(3)), (4, Cell::Level(7), Cell::Unseen));
/// assert_eq!(cells.iter().filter(|cell| *cell == Cell::Missing).count(), 1);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cells(Vec<u64>);

/// Cells that are no numbers are stored as negative NaNs, which no number is: the case in bits 32 to 47, its code below.
const BOXED: u64 = 0xfff8 << 48;

impl Cells {
    /// No cells.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// No cells, with room for some.
    pub fn with_capacity(cells: usize) -> Self {
        Self(Vec::with_capacity(cells))
    }

    /// The same cell in every row.
    pub fn filled(cell: Cell, rows: usize) -> Self {
        Self(vec![pack(cell); rows])
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none, as in a column that is not modelled or not in the file.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The cell of a row; panics beyond the last one, as slices do.
    pub fn get(&self, row: usize) -> Cell {
        unpack(self.0[row])
    }

    /// Replaces the cell of a row; panics beyond the last one, as slices do.
    pub fn set(&mut self, row: usize, cell: Cell) {
        self.0[row] = pack(cell);
    }

    /// Appends a cell.
    pub fn push(&mut self, cell: Cell) {
        self.0.push(pack(cell));
    }

    /// The cells in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Cell> + Clone + '_ {
        self.0.iter().map(|&bits| unpack(bits))
    }

    /// The cells of some rows, in the order given; panics beyond the last one, as slices do.
    pub fn select(&self, rows: &[usize]) -> Self {
        Self(rows.iter().map(|&row| self.0[row]).collect())
    }
}

impl FromIterator<Cell> for Cells {
    fn from_iter<I: IntoIterator<Item = Cell>>(cells: I) -> Self {
        Self(cells.into_iter().map(pack).collect())
    }
}

impl Extend<Cell> for Cells {
    fn extend<I: IntoIterator<Item = Cell>>(&mut self, cells: I) {
        self.0.extend(cells.into_iter().map(pack));
    }
}

fn pack(cell: Cell) -> u64 {
    let boxed = |case: u64, code: u32| BOXED | case << 32 | u64::from(code);
    match cell {
        Cell::Value(value) if value.is_nan() => f64::NAN.to_bits() & !(1 << 63),
        Cell::Value(value) => value.to_bits(),
        Cell::Level(code) => boxed(1, code),
        Cell::Special(code) => boxed(2, code),
        Cell::Missing => boxed(3, 0),
        Cell::Unseen => boxed(4, 0),
    }
}

fn unpack(bits: u64) -> Cell {
    match bits ^ BOXED {
        other if other >> 35 != 0 => Cell::Value(f64::from_bits(bits)),
        boxed => match boxed >> 32 {
            1 => Cell::Level(boxed as u32),
            2 => Cell::Special(boxed as u32),
            3 => Cell::Missing,
            4 => Cell::Unseen,
            _ => Cell::Value(f64::from_bits(bits)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_comes_back() {
        let numbers = [0.0, -0.0, 1.5, -1e300, f64::MIN_POSITIVE, f64::INFINITY, f64::NEG_INFINITY];
        for value in numbers {
            let Cell::Value(back) = unpack(pack(Cell::Value(value))) else { panic!("{value}") };
            assert_eq!(back.to_bits(), value.to_bits());
        }
        for nan in [f64::NAN, -f64::NAN, f64::from_bits(BOXED | 1 << 32 | 5)] {
            assert!(matches!(unpack(pack(Cell::Value(nan))), Cell::Value(value) if value.is_nan()));
        }
        for code in [0, 1, 1023, u32::MAX] {
            for cell in [Cell::Level(code), Cell::Special(code), Cell::Missing, Cell::Unseen] {
                assert_eq!(unpack(pack(cell)), cell);
            }
        }
    }

    #[test]
    fn rows_are_set_and_selected() {
        let mut cells = Cells::filled(Cell::Missing, 3);
        cells.set(1, Cell::Value(2.0));
        assert_eq!(cells.select(&[1, 0]).iter().collect::<Vec<_>>(), [Cell::Value(2.0), Cell::Missing]);
    }
}
