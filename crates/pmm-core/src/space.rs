//! Spaces: blocks of coordinates, each block with its pair and its clock, side by side in one row.

use std::sync::Arc;

use crate::any_pair::AnyPair;
use crate::clock::Clock;
use crate::elements::{Element, Elements};
use crate::error::{ParameterError, SpaceError};
use crate::pair::Pair;

/// `width` coordinates of one pair on one clock.
#[derive(Debug, Clone)]
pub struct Block {
    pub(crate) pair: AnyPair,
    pub(crate) width: usize,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Block {
    /// A block of at least one coordinate.
    pub fn new(
        pair: impl Into<AnyPair>,
        width: usize,
        clock: impl Clock + 'static,
    ) -> Result<Self, ParameterError> {
        ParameterError::unless(width > 0, "a block's width", "at least 1", width as f64)?;
        Ok(Self { pair: pair.into(), width, clock: Arc::new(clock) })
    }

    /// The pair.
    pub fn pair(&self) -> &AnyPair {
        &self.pair
    }

    /// The number of coordinates.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The clock.
    pub fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// Where coordinate c of C stands, as clocks are asked: c/C.
    pub fn relative_position(&self, coordinate: usize) -> f64 {
        coordinate as f64 / self.width as f64
    }

    /// The clock reading of a coordinate at time t.
    pub fn information(&self, t: f64, coordinate: usize) -> f64 {
        self.clock.information(t, self.relative_position(coordinate))
    }
}

/// Blocks side by side: a text is one masked block, an image one real block, a table several.
///
/// ```
/// use pmm_core::{Block, Exponential, LogLinear, Masked, Normal, Space, Elements, Values};
/// let space = Space::new(vec![
///     Block::new(Normal::new(1.0, 0.0)?, 2, Exponential::default())?,
///     Block::new(Masked::new(3)?, 1, LogLinear)?,
/// ]);
/// let rows = Values::new(vec![Elements::from(vec![0.1f32, -0.2, 1.5, 0.3]), Elements::from(vec![2u32, 0])]);
/// assert_eq!(space.check(&rows)?, 2);
/// let bad = Values::new(vec![Elements::from(vec![0.1f32, f32::NAN]), Elements::from(vec![2u32])]);
/// assert_eq!(space.check(&bad).unwrap_err().to_string(),
///     "row 0, block 0, coordinate 1: a real value must be finite, got NaN");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Space {
    blocks: Arc<[Block]>,
}

impl Space {
    /// A space of these blocks.
    pub fn new(blocks: Vec<Block>) -> Self {
        Self { blocks: blocks.into() }
    }

    /// The blocks.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The number of rows, once every value has been found to be of the right type, shape and support.
    pub fn check(&self, values: &Values) -> Result<usize, SpaceError> {
        if values.blocks.len() != self.blocks.len() {
            let (expected, found) = (self.blocks.len(), values.blocks.len());
            let block = expected.min(found);
            return Err(SpaceError::Shape {
                block,
                expected: format!("one of {expected} blocks"),
                found: format!("{found} blocks"),
            });
        }
        let mut rows = None;
        for (index, block) in self.blocks.iter().enumerate() {
            let found = block.pair.erased().check(index, block.width, &values.blocks[index])?;
            if *rows.get_or_insert(found) != found {
                let expected = format!("{} rows, as the blocks before", rows.unwrap_or(0));
                return Err(SpaceError::Shape { block: index, expected, found: format!("{found}") });
            }
        }
        Ok(rows.unwrap_or(0))
    }
}

pub(crate) fn check_block<P: Pair>(
    pair: &P,
    block: usize,
    width: usize,
    elements: &Elements,
) -> Result<usize, SpaceError> {
    let row_len = width * pair.value_len();
    let Some(values) = P::Value::get(elements).filter(|values| values.len() % row_len == 0) else {
        let expected = format!("a multiple of {row_len} {} values", P::Value::NAME);
        let found = format!("{} {} values", elements.len(), elements.element_name());
        return Err(SpaceError::Shape { block, expected, found });
    };
    for (index, x) in values.chunks_exact(pair.value_len()).enumerate() {
        let (row, coordinate) = (index / width, index % width);
        pair.check(x).map_err(|source| SpaceError::Value { row, block, coordinate, source })?;
    }
    Ok(values.len() / row_len)
}

/// Rows of data: one buffer per block, `[rows, width, value_len]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    blocks: Vec<Elements>,
}

impl Values {
    /// One buffer per block.
    pub fn new(blocks: Vec<Elements>) -> Self {
        Self { blocks }
    }

    /// The buffers.
    pub fn blocks(&self) -> &[Elements] {
        &self.blocks
    }

    /// The f32 values of a block (empty where it holds tokens).
    pub fn reals(&self, block: usize) -> &[f32] {
        self.blocks[block].as_f32().unwrap_or(&[])
    }

    /// The tokens of a block (empty where it holds numbers).
    pub fn tokens(&self, block: usize) -> &[u32] {
        self.blocks[block].as_tokens().unwrap_or(&[])
    }
}
