//! What can be refused: parameters, values, estimates. Every message states the condition and the offending value.

use thiserror::Error;

/// A parameter outside its range.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error("{name} must be {condition}, got {value}")]
pub struct ParameterError {
    /// The parameter, in words.
    pub name: &'static str,
    /// The condition that it violates.
    pub condition: &'static str,
    /// The value given.
    pub value: f64,
}

impl ParameterError {
    /// `Ok(value)` where `holds`, else the error.
    pub(crate) fn unless(
        holds: bool,
        name: &'static str,
        condition: &'static str,
        value: f64,
    ) -> Result<f64, Self> {
        if holds { Ok(value) } else { Err(Self { name, condition, value }) }
    }

    /// A positive finite number.
    pub(crate) fn positive(name: &'static str, value: f64) -> Result<f64, Self> {
        Self::unless(value > 0.0 && value.is_finite(), name, "positive and finite", value)
    }
}

/// A data value outside the support of its pair.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum ValueError {
    /// NaN or infinite.
    #[error("a real value must be finite, got {0}")]
    NotFinite(f32),
    /// Negative or not a whole number where counts are expected.
    #[error("a count must be a whole number of at least 0, got {0}")]
    NotACount(f32),
    /// Negative or not finite where an intensity is expected.
    #[error("an intensity must be finite and at least 0, got {0}")]
    NotAnIntensity(f32),
    /// Zero, negative or not finite where a positive value is expected.
    #[error("a positive value must be finite and above 0, got {0}")]
    NotPositive(f32),
    /// A value that a pair of another crate refuses.
    #[error("a value must be {condition}, got {value}")]
    Refused {
        /// The condition that it violates.
        condition: &'static str,
        /// The value.
        value: f64,
    },
    /// A token beyond the vocabulary.
    #[error("a token must be below the vocabulary size {classes}, got {token}")]
    NotAToken {
        /// The token.
        token: u32,
        /// The vocabulary size V.
        classes: u32,
    },
    /// A negative or non-finite entry of a point that should lie on the simplex.
    #[error("a probability must be finite and at least 0, got {value} at class {class}")]
    NotAProbability {
        /// The class.
        class: usize,
        /// The entry.
        value: f32,
    },
    /// Entries that do not sum to 1.
    #[error("the entries of a point of the simplex must sum to 1, got {sum}")]
    OffSimplex {
        /// Their sum.
        sum: f64,
    },
    /// A point of the simplex that is not a vertex, where tokens are expected.
    #[error("a token's one-hot vector must have one entry of 1 and zeros, got {value} at class {class}")]
    NotAVertex {
        /// The class.
        class: usize,
        /// The entry.
        value: f32,
    },
}

/// A refused value or estimate, with its place.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SpaceError {
    /// A data value off its support.
    #[error("row {row}, block {block}, coordinate {coordinate}: {source}")]
    Value {
        /// The row within the batch.
        row: usize,
        /// The block.
        block: usize,
        /// The coordinate within the block.
        coordinate: usize,
        /// What is wrong with it.
        source: ValueError,
    },
    /// An estimate of the denoiser that is not finite or cannot be a mean of the data.
    #[error("row {row}, block {block}, coordinate {coordinate}: the denoiser returned {value}, {why}")]
    Estimate {
        /// The row within the batch.
        row: usize,
        /// The block.
        block: usize,
        /// The coordinate within the block.
        coordinate: usize,
        /// The number returned.
        value: f64,
        /// Why it cannot be used.
        why: &'static str,
    },
    /// Values of another shape or element type than the space has.
    #[error("block {block} holds {expected}, got {found}")]
    Shape {
        /// The block.
        block: usize,
        /// What the space expects.
        expected: String,
        /// What was given.
        found: String,
    },
    /// Times that are not one per row.
    #[error("{expected} rows need one time each, got {found} times")]
    Times {
        /// The number of rows.
        expected: usize,
        /// The number of times.
        found: usize,
    },
    /// A clock that has not started where a deterministic sampler begins, so that nothing random would enter.
    #[error(
        "block {block}, coordinate {coordinate}: its clock still reads 0 at the grid's first time {time}; begin the grid later"
    )]
    IdleClock {
        /// The block.
        block: usize,
        /// The coordinate within the block.
        coordinate: usize,
        /// The grid's first time after 0.
        time: f64,
    },
    /// A sampler that cannot move the coordinates it was given.
    #[error("{sampler} moves {moves} coordinates only, but block {block} has unobserved {found} ones")]
    Sampler {
        /// The sampler.
        sampler: &'static str,
        /// The pair that it moves.
        moves: &'static str,
        /// The block.
        block: usize,
        /// The pair found there.
        found: &'static str,
    },
}
