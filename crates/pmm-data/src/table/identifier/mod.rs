//! Columns that name rows: what is known of them, and new ones for new rows.
//!
//! | step | by |
//! |---|---|
//! | cells → shapes, running numbers, where the real ones lie | [`learn`] |
//! | what is stored | [`Identifiers`], [`Running`], [`RealRanges`] |
//! | row number → new identifier | [`NewIdentifiers`] |
//! | texts of one form ⇄ numbers | `form` |
//! | row number → learned cells that never repeat | [`UniqueCells`] |
//! | numbers in an order without repeats | `permutation`, `order` |

mod form;
mod gathered;
mod identifiers;
mod learn;
mod new_ones;
mod order;
mod permutation;
mod real_ranges;
mod running;
mod unique;

pub use identifiers::{IdentifierPattern, Identifiers};
pub use real_ranges::RealRanges;
pub use running::Running;
pub use unique::UniqueCells;

pub(crate) use learn::learn;
pub(crate) use new_ones::NewIdentifiers;
