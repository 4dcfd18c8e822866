//! Rules of a table: found in its rows, declared by its user, told in plain words, checked in other rows.
//!
//! | step | by |
//! |---|---|
//! | rows, batch by batch, as often as needed | [`Rows`], [`MemoryRows`] |
//! | rows → rules with their evidence | [`find`], [`Options`], [`Found`] |
//! | text → rule | [`Rule::parse`], [`learn_tables`] |
//! | rule → sentence | [`Rule::sentence`] |
//! | rule and row → does it hold | [`Rule::checker`], [`Verdict`] |
//! | rules and other rows → how many break them | [`count`], [`Evidence`] |
//! | rules and a row in the making → what follows, what is left open | [`Keeper`], [`Allowed`] |

mod bind;
mod check;
mod coded;
mod date_part;
mod error;
mod evidence;
mod find;
mod keep;
mod memory_rows;
mod parse;
mod pattern;
mod pattern_learn;
mod place;
mod rows;
mod rule;
mod sentence;
mod tables;
mod value;

pub use check::{Checker, Verdict};
pub use coded::{CodedRows, KeptRule};
pub use date_part::{DatePart, TimeUnit};
pub use error::{CountError, RuleError};
pub use evidence::{Evidence, Exception, Found, count};
pub use find::{Options, find};
pub use keep::{Allowed, HeapGrid, Keeper, Kept, Ranges, RowWay, derived_column};
pub use memory_rows::MemoryRows;
pub use pattern::{Characters, Pattern, Segment};
pub use rows::{Batch, Cell, Column, ColumnKind, DateUnit, Rows};
pub use rule::{Entry, Numbering, Rounding, Rule, Term, TimeGrid};
pub use tables::learn_tables;
pub use value::{Condition, State, Value};
