//! Which rows of a table are learned and which are held out.

use pmm_core::{Purpose, Streams};

/// More rows than this tell no more about when to stop.
pub const MOST_HELD_OUT: usize = 4_000;
/// Below so many rows none is held out: validation then looks at the rows it learns from.
const LEAST_TO_HOLD_OUT: usize = 40;

/// Rows to learn from and rows held out, the same for the same seed.
///
/// ```
/// use pmm_core::Streams;
/// let (learned, held_out) = pmm_train::table::split(100, 0.1, &Streams::new(0));
/// assert_eq!((learned.len(), held_out.len()), (90, 10));
/// let (learned, held_out) = pmm_train::table::split(30, 0.1, &Streams::new(0));
/// assert_eq!(learned, held_out); // too few to spare any
/// ```
pub fn split(rows: usize, share: f64, streams: &Streams) -> (Vec<u32>, Vec<u32>) {
    let mut all: Vec<u32> = (0..rows as u32).collect();
    let held_out = (share * rows as f64).round() as usize;
    if rows < LEAST_TO_HOLD_OUT || held_out == 0 {
        return (all.clone(), all);
    }
    streams.stream(Purpose::TABLE_SPLIT, 0, 0).shuffle(&mut all);
    let held_out = all.split_off(rows - held_out.min(MOST_HELD_OUT));
    (all, held_out)
}
