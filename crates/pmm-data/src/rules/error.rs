//! What can be wrong with a rule.

use thiserror::Error;

/// A rule that does not fit the columns, or cannot be read.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum RuleError {
    /// No column has this name.
    #[error("the rule speaks of the column {name}, which the table does not have")]
    UnknownColumn {
        /// The name.
        name: String,
    },
    /// The column holds something else.
    #[error("column {name} does not hold {wanted}")]
    WrongKind {
        /// The column.
        name: String,
        /// What it should hold.
        wanted: &'static str,
    },
    /// The text ends, or goes on, where it should not.
    #[error("in the rule \"{rule}\", at \"{rest}\": expected {expected}")]
    Syntax {
        /// The rule.
        rule: String,
        /// What stands where something else was expected.
        rest: String,
        /// What was expected.
        expected: &'static str,
    },
}

/// Why rules could not be counted.
#[derive(Debug, Error)]
pub enum CountError<E> {
    /// A rule does not fit the columns.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The rows could not be read.
    #[error("{0}")]
    Rows(E),
}
