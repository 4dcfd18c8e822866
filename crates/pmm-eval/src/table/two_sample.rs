//! The two-sample test: can a strong classifier tell synthetic rows from real ones?

use pmm_core::{Purpose, Streams};
use serde::Serialize;

use super::boost::{Features, Loss, Trees};
use super::frame::{Frame, TableError, aligned, enough, stacked};
use super::rank::auc;
use super::relations::{KnownRelations, Relations};

const FOLDS: usize = 5;
const TREES: usize = 120;
/// Rows of a side beyond these are left out: the error of the AUC is then below .005.
const MOST_ROWS: usize = 10_000;
/// Fewer rows of a side cannot be told apart or called alike by trees of 20 rows a leaf.
const FEWEST_ROWS: usize = 40;

/// How well boosted trees tell two tables apart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TwoSample {
    /// Area under the ROC curve, synthetic against test rows: ½ cannot be told apart, 1 always.
    pub auc: f64,
    /// The same for training rows in the place of the synthetic ones.
    pub baseline: f64,
    /// The standard error of an AUC of ½ with this many rows: √((2n + 1)/(12 n²)).
    pub standard_error: f64,
    /// Rows a side.
    pub rows: usize,
}

/// Trains 120 boosted trees (rate 0.1; matched to scikit-learn's `HistGradientBoostingClassifier`) to tell synthetic from test rows, in five-fold
/// cross-validation, and gives the AUC over all held-out rows together.
///
/// Both sides give equally many rows, at most 10,000, chosen by `seed`; the baseline uses as many training rows.
/// Levels enter by the place of their name in the alphabet, missing cells as missing.
pub fn two_sample(test: &Frame, synth: &Frame, train: &Frame, seed: u64) -> Result<TwoSample, TableError> {
    compared(test, synth, train, seed, |real, other, _| cross_validated(real, other, seed))
}

/// The same for trees that also see differences, ratios and equalities of related columns, what is left of each number when all
/// others have told what they can linearly, and weekdays, months and hours of dates: at most three more columns for each.
///
/// Which columns are related is learned from rows that do not take part (the training rows, where synthetic rows are judged) or
/// from both sides alike (for the baseline), so that rows of one law stay at an AUC of ½.
///
/// ```
/// use pmm_eval::table::{Frame, FrameColumn, KnownRelations, two_sample_related};
/// // Totals of two parts; in the second table they are off by one.
/// let table = |first: usize, error: f64| {
///     let part = |i: usize, by: usize| ((first + i) * by % 97) as f64;
///     let total = (0..200).map(|i| part(i, 31) + part(i, 57) + if i % 2 == 0 { error } else { -error });
///     Frame::new(vec![
///         FrameColumn::numbers("a", (0..200).map(|i| part(i, 31)).collect()),
///         FrameColumn::numbers("b", (0..200).map(|i| part(i, 57)).collect()),
///         FrameColumn::numbers("total", total.collect()),
///     ])
/// };
/// let found = two_sample_related(&table(0, 0.0)?, &table(1, 1.0)?, &table(2, 0.0)?, &KnownRelations::default(), 0)?;
/// assert!(found.auc > 0.95);
/// # Ok::<(), pmm_eval::table::TableError>(())
/// ```
pub fn two_sample_related(
    test: &Frame,
    synth: &Frame,
    train: &Frame,
    known: &KnownRelations,
    seed: u64,
) -> Result<TwoSample, TableError> {
    let told = Relations::of(train, known);
    let both = Relations::of(&stacked(test, train)?, known);
    compared(test, synth, train, seed, |real, other, side| {
        let relations = if side == Side::Synthetic { &told } else { &both };
        cross_validated(&relations.with(real), &relations.with(other), seed)
    })
}

/// What test rows are held against.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Synthetic,
    Training,
}

fn compared(
    test: &Frame,
    synth: &Frame,
    train: &Frame,
    seed: u64,
    judge: impl Fn(&Frame, &Frame, Side) -> Result<f64, TableError>,
) -> Result<TwoSample, TableError> {
    let rows = test.rows().min(synth.rows()).min(MOST_ROWS);
    let tables = [("the test table", test), ("the synthetic table", synth), ("the training table", train)];
    for (name, frame) in tables {
        enough(name, frame.rows(), FEWEST_ROWS)?;
    }
    let against = |other: &Frame, table: u64, side: Side| {
        let rows = rows.min(other.rows());
        let [real, other] = aligned([&test.sample(rows, seed, 2), &other.sample(rows, seed, table)])?;
        judge(&real, &other, side)
    };
    let n = rows as f64;
    Ok(TwoSample {
        auc: against(synth, 3, Side::Synthetic)?,
        baseline: against(train, 1, Side::Training)?,
        standard_error: ((2.0 * n + 1.0) / (12.0 * n * n)).sqrt(),
        rows,
    })
}

fn cross_validated(real: &Frame, other: &Frame, seed: u64) -> Result<f64, TableError> {
    let features = Features::new(&[real, other], None);
    let (n, total) = (real.rows(), real.rows() + other.rows());
    let folds = folds(n, other.rows(), seed);
    let label = |row: &usize| if *row >= n { 1.0 } else { 0.0 };
    let mut logits = vec![0.0; total];
    for fold in 0..FOLDS {
        let (held, rest): (Vec<usize>, Vec<usize>) = (0..total).partition(|&row| folds[row] == fold);
        let answers: Vec<f64> = rest.iter().map(label).collect();
        let trees = Trees::fit(&features, &rest, &answers, TREES, Loss::Log)?;
        held.iter().zip(trees.predict(&features, &held)).for_each(|(&row, logit)| logits[row] = logit);
    }
    let positive: Vec<bool> = (0..total).map(|row| row >= n).collect();
    Ok(auc(&logits, &positive))
}

/// The fold of each row: each side is shuffled and dealt out in turn.
fn folds(real: usize, other: usize, seed: u64) -> Vec<usize> {
    let deal = |rows: usize, side: u64| {
        let mut deck: Vec<usize> = (0..rows).map(|i| i % FOLDS).collect();
        Streams::new(seed).stream(Purpose::TWO_SAMPLE, 0, side).shuffle(&mut deck);
        deck
    };
    [deal(real, 0), deal(other, 1)].concat()
}
