//! Usefulness: does a predictor trained on synthetic rows work on real ones?

use serde::Serialize;

use super::boost::{Features, Loss, Trees};
use super::frame::{ColumnData, Frame, FrameColumn, MISSING, TableError, aligned, enough};

const TREES: usize = 150;
/// Training rows beyond these are left out.
const MOST_ROWS: usize = 20_000;
/// Rarer classes than the most frequent ones are merged into one.
const MOST_CLASSES: usize = 30;
/// Probabilities are raised to this before their logarithm is taken.
const FLOOR: f64 = 1e-6;

/// How a prediction is scored; more is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UsefulnessMeasure {
    /// 1 − Σ (y − ŷ)²/Σ (y − ȳ)².
    R2,
    /// The mean over classes of 2 TP/(2 TP + FP + FN).
    MacroF1,
}

/// What predictors trained on synthetic and on real rows achieve on the test rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Usefulness {
    /// The column that is predicted from all others.
    pub target: String,
    /// How.
    pub measure: UsefulnessMeasure,
    /// Trained on synthetic rows.
    pub score: f64,
    /// Trained on as many real rows.
    pub baseline: f64,
    /// For classes: the mean of −ln p(true class), trained on synthetic rows; 0 is best.
    pub log_loss: Option<f64>,
    /// For classes: the same, trained on real rows.
    pub log_loss_baseline: Option<f64>,
    /// Rows trained on, of either kind.
    pub rows: usize,
}

/// Trains 150 boosted trees (rate 0.1) to predict `target`, once on synthetic and once on as many
/// training rows (at most 20,000, chosen by `seed`), and scores both on the test rows.
///
/// Classes are learnt one against the rest, the probabilities then divided by their sum; classes beyond the 30 most frequent
/// of the test rows count as one. Rows without the target are left out.
pub fn usefulness(
    test: &Frame,
    synth: &Frame,
    train: &Frame,
    target: &str,
    seed: u64,
) -> Result<Usefulness, TableError> {
    let j = test.position(target)?;
    let [test, synth, train] = aligned([test, synth, train])?;
    let [test, synth, train] = [&test, &synth, &train].map(|frame| with_target(frame, j));
    for (name, frame) in
        [("the test table", &test), ("the synthetic table", &synth), ("the training table", &train)]
    {
        enough(name, frame.rows(), 2)?;
    }
    let rows = synth.rows().min(train.rows()).min(MOST_ROWS);
    let (synth, train) = (synth.sample(rows, seed, 3), train.sample(rows, seed, 1));
    let target = target.to_owned();
    if test.columns[j].is_numeric() {
        let measure = UsefulnessMeasure::R2;
        let (score, baseline) = (r2_of(&synth, &test, j)?, r2_of(&train, &test, j)?);
        return Ok(Usefulness {
            target,
            measure,
            score,
            baseline,
            log_loss: None,
            log_loss_baseline: None,
            rows,
        });
    }
    let kept = frequent(&test.columns[j]);
    let (score, log_loss) = classes_of(&synth, &test, j, &kept)?;
    let (baseline, log_loss_baseline) = classes_of(&train, &test, j, &kept)?;
    let (log_loss, log_loss_baseline) = (Some(log_loss), Some(log_loss_baseline));
    Ok(Usefulness {
        target,
        measure: UsefulnessMeasure::MacroF1,
        score,
        baseline,
        log_loss,
        log_loss_baseline,
        rows,
    })
}

fn with_target(frame: &Frame, j: usize) -> Frame {
    let values = frame.columns[j].to_numbers();
    frame.take(&(0..values.len()).filter(|&i| !values[i].is_nan()).collect::<Vec<_>>())
}

/// Features of both tables, and the rows of the first and of the second.
fn joined(train: &Frame, test: &Frame, j: usize) -> (Features, Vec<usize>, Vec<usize>) {
    let n = train.rows();
    (Features::new(&[train, test], Some(j)), (0..n).collect(), (n..n + test.rows()).collect())
}

fn r2_of(train: &Frame, test: &Frame, j: usize) -> Result<f64, TableError> {
    let (features, learn, held) = joined(train, test, j);
    let trees = Trees::fit(&features, &learn, &train.columns[j].to_numbers(), TREES, Loss::Squared)?;
    Ok(r2(&test.columns[j].to_numbers(), &trees.predict(&features, &held)))
}

fn r2(truth: &[f64], estimate: &[f64]) -> f64 {
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let left: f64 = truth.iter().zip(estimate).map(|(y, e)| (y - e).powi(2)).sum();
    let total: f64 = truth.iter().map(|y| (y - mean).powi(2)).sum();
    if total > 0.0 { 1.0 - left / total } else { 0.0 }
}

/// The class of each level: its place among the most frequent ones, or the last class of all others.
fn frequent(column: &FrameColumn) -> Vec<usize> {
    let ColumnData::Levels { codes, levels } = &column.data else { return Vec::new() };
    let mut counts = vec![0_usize; levels.len()];
    codes.iter().filter(|&&code| code != MISSING).for_each(|&code| counts[code as usize] += 1);
    let mut order: Vec<usize> = (0..levels.len()).collect();
    order.sort_by_key(|&level| std::cmp::Reverse(counts[level]));
    let mut class = vec![0; levels.len()];
    order.iter().enumerate().for_each(|(place, &level)| class[level] = place.min(MOST_CLASSES));
    class
}

/// Macro-F1 and log-loss of one-against-the-rest trees.
fn classes_of(train: &Frame, test: &Frame, j: usize, class: &[usize]) -> Result<(f64, f64), TableError> {
    let (features, learn, held) = joined(train, test, j);
    let answers = |frame: &Frame| -> Vec<usize> {
        frame.columns[j].to_numbers().iter().map(|&code| class[code as usize]).collect()
    };
    let (learnt, truth) = (answers(train), answers(test));
    let classes = class.iter().max().map_or(0, |last| last + 1);
    let mut probabilities = vec![0.0; truth.len() * classes]; // [rows, classes]
    for c in (0..classes).filter(|c| learnt.contains(c)) {
        let y: Vec<f64> = learnt.iter().map(|&k| if k == c { 1.0 } else { 0.0 }).collect();
        let logits = if y.iter().all(|&y| y == 1.0) {
            vec![f64::INFINITY; truth.len()]
        } else {
            Trees::fit(&features, &learn, &y, TREES, Loss::Log)?.predict(&features, &held)
        };
        logits
            .iter()
            .enumerate()
            .for_each(|(i, z)| probabilities[i * classes + c] = 1.0 / (1.0 + (-z).exp()));
    }
    let mut loss = 0.0;
    let mut guesses = Vec::with_capacity(truth.len());
    for (row, &y) in probabilities.chunks_exact(classes.max(1)).zip(&truth) {
        let total: f64 = row.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        loss -= (row[y] / total).max(FLOOR).ln();
        guesses.push((0..classes).fold(0, |best, c| if row[c] > row[best] { c } else { best }));
    }
    Ok((macro_f1(&truth, &guesses, classes), loss / truth.len() as f64))
}

/// The mean of F1 over the classes that occur in truth or guesses.
fn macro_f1(truth: &[usize], guesses: &[usize], classes: usize) -> f64 {
    let mut counts = vec![(0.0, 0.0); classes]; // (hits, true + guessed)
    for (&t, &g) in truth.iter().zip(guesses) {
        counts[t].1 += 1.0;
        counts[g].1 += 1.0;
        counts[t].0 += if t == g { 1.0 } else { 0.0 };
    }
    counts.retain(|count| count.1 > 0.0);
    counts.iter().map(|(hits, all)| 2.0 * hits / all).sum::<f64>() / counts.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `f1_score([0, 0, 1, 1, 2, 2], [0, 1, 1, 1, 2, 0], average="macro")` of scikit-learn 1.9.1.
    #[test]
    fn macro_f1_is_scikit_learns() {
        let found = macro_f1(&[0, 0, 1, 1, 2, 2], &[0, 1, 1, 1, 2, 0], 4);
        assert!((found - 0.655_555_555_555).abs() < 1e-9, "{found}");
    }

    #[test]
    fn r2_is_one_when_right_and_zero_at_the_mean() {
        assert_eq!(r2(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]), 1.0);
        assert_eq!(r2(&[1.0, 2.0, 3.0], &[2.0; 3]), 0.0);
        assert_eq!(r2(&[2.0; 3], &[1.0; 3]), 0.0);
    }

    #[test]
    fn rare_classes_are_merged() {
        let names: Vec<String> =
            (0..40).flat_map(|i| std::iter::repeat_n(format!("{i:02}"), 40 - i)).collect();
        let class = frequent(&FrameColumn::named("c", names));
        assert_eq!((class[0], class[29], class[30], class[39]), (0, 29, MOST_CLASSES, MOST_CLASSES));
    }
}
