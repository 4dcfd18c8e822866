//! All scores of a synthetic table together.

use serde::Serialize;

use super::{
    Dependence, Frame, KnownRelations, MarginalScore, Privacy, TableError, TwoSample, Usefulness, dependence,
    marginals, privacy, two_sample, two_sample_related, usefulness,
};

/// The scores of a synthetic table; those that were not made are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TableScores {
    /// Column by column.
    pub marginals: Vec<MarginalScore>,
    /// Pair by pair.
    pub dependence: Option<Dependence>,
    /// Whether a classifier tells the rows apart.
    pub two_sample: Option<TwoSample>,
    /// Whether it does when it also sees how columns are related.
    pub two_sample_related: Option<TwoSample>,
    /// Whether the rows can be learnt from, a target each.
    pub usefulness: Vec<Usefulness>,
    /// Whether rows are copies.
    pub privacy: Option<Privacy>,
}

impl TableScores {
    /// The mean distance over the columns, and the mean baseline; 0 without columns.
    pub fn shape(&self) -> (f64, f64) {
        let n = self.marginals.len().max(1) as f64;
        let sum = |value: fn(&MarginalScore) -> f64| self.marginals.iter().map(value).sum::<f64>() / n;
        (sum(|score| score.distance), sum(|score| score.baseline))
    }
}

/// Makes every score; those for which a table is too small are left out. `targets` are the columns whose usefulness is
/// measured.
pub fn scores(
    test: &Frame,
    synth: &Frame,
    train: &Frame,
    targets: &[&str],
    seed: u64,
) -> Result<TableScores, TableError> {
    scores_with(test, synth, train, targets, &KnownRelations::default(), seed)
}

/// The same, with relations of columns that are known beforehand.
pub fn scores_with(
    test: &Frame,
    synth: &Frame,
    train: &Frame,
    targets: &[&str],
    known: &KnownRelations,
    seed: u64,
) -> Result<TableScores, TableError> {
    let usefulness: Vec<Option<Usefulness>> = targets
        .iter()
        .map(|target| optional(usefulness(test, synth, train, target, seed)))
        .collect::<Result<_, _>>()?;
    Ok(TableScores {
        marginals: marginals(test, synth, train, seed)?,
        dependence: optional(dependence(test, synth, train, seed))?,
        two_sample: optional(two_sample(test, synth, train, seed))?,
        two_sample_related: optional(two_sample_related(test, synth, train, known, seed))?,
        usefulness: usefulness.into_iter().flatten().collect(),
        privacy: optional(privacy(test, synth, train, seed))?,
    })
}

/// A score, or none if a table has too few rows for it.
fn optional<T>(score: Result<T, TableError>) -> Result<Option<T>, TableError> {
    match score {
        Ok(score) => Ok(Some(score)),
        Err(TableError::Rows { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
