//! What the scores say, in words.

use super::number::{number, percent};
use super::summary::SummaryRow;
use super::{Prediction, PredictionScore, RuleLine, TableReport};
use crate::table::{Calibration, ClassCalibration, Privacy, TwoSample, Usefulness, UsefulnessMeasure};

fn row(name: impl Into<String>, value: String, baseline: String, meaning: &str) -> SummaryRow {
    SummaryRow { name: name.into(), value, baseline, meaning: meaning.to_owned() }
}

/// The headline figures of a report.
pub(super) fn summary(report: &TableReport) -> Vec<SummaryRow> {
    let scores = &report.scores;
    let mut rows = Vec::new();
    if let Some(test) = &scores.two_sample {
        let meaning = "AUC of a classifier, made against real rows: 0.5 cannot be told apart, 1 always";
        rows.push(row("told apart", number(test.auc), number(test.baseline), meaning));
    }
    if let Some(test) = &scores.two_sample_related {
        let meaning = "the same, when the classifier also sees differences, ratios, sums and parts of dates";
        rows.push(row("told apart by relations", number(test.auc), number(test.baseline), meaning));
    }
    if !scores.marginals.is_empty() {
        let (distance, baseline) = scores.shape();
        rows.push(row(
            "columns",
            number(distance),
            number(baseline),
            "mean distance of single columns; 0 is best",
        ));
    }
    if let Some(pairs) = scores.dependence.as_ref().filter(|pairs| pairs.columns.len() > 1) {
        let meaning = "mean error of the correlation of two columns; 0 is best";
        rows.push(row("pairs", number(pairs.difference), number(pairs.baseline), meaning));
    }
    for useful in &scores.usefulness {
        let meaning = match useful.measure {
            UsefulnessMeasure::R2 => "R² on real rows when trained on made rows; 1 is best",
            UsefulnessMeasure::MacroF1 => "macro-F1 on real rows when trained on made rows; 1 is best",
        };
        rows.push(row(
            format!("usefulness: {}", useful.target),
            number(useful.score),
            number(useful.baseline),
            meaning,
        ));
    }
    if let Some(found) = &scores.privacy {
        let meaning = "made rows equal to a training row; baseline: real rows that are";
        rows.push(row("copies", percent(found.copies), percent(found.copies_baseline), meaning));
        let meaning = "distance to the closest training row, median; baseline: real rows";
        rows.push(row("closest row", number(found.synth.median), number(found.test.median), meaning));
    }
    rows.extend(report.predictions.iter().flat_map(prediction_rows));
    rows
}

fn prediction_rows(prediction: &Prediction) -> Vec<SummaryRow> {
    let target = &prediction.target;
    match &prediction.score {
        PredictionScore::Numbers(score) => vec![
            row(
                format!("predict {target}: CRPS"),
                number(score.crps),
                number(score.crps_baseline),
                "error of the predictive law, in units of the column; baseline: the column's overall law",
            ),
            row(
                format!("predict {target}: 90 % interval"),
                percent(score.coverage90),
                percent(score.perfect_coverage(0.9)),
                "true values inside the 90 % interval; baseline: perfect draws",
            ),
        ],
        PredictionScore::Levels(score) => vec![
            row(
                format!("predict {target}: accuracy"),
                percent(score.accuracy),
                percent(score.accuracy_baseline),
                "rows whose likeliest class is right; baseline: always the commonest class",
            ),
            row(
                format!("predict {target}: log-loss"),
                number(score.log_loss),
                number(score.log_loss_baseline),
                "mean surprise at the true class, in nats; baseline: the overall shares",
            ),
        ],
    }
}

/// The verdicts, a sentence or two each.
pub(super) fn sentences(report: &TableReport) -> Vec<String> {
    let scores = &report.scores;
    let mut out = Vec::new();
    out.extend(scores.two_sample.as_ref().map(told_apart));
    out.extend(scores.two_sample_related.as_ref().map(|test| by_relations(test, scores.two_sample.as_ref())));
    out.extend(rules(&report.rules));
    if !scores.marginals.is_empty() {
        let (distance, baseline) = scores.shape();
        out.push(columns(distance, baseline));
    }
    out.extend(scores.usefulness.iter().map(usefulness));
    out.extend(scores.privacy.as_ref().map(privacy));
    for prediction in &report.predictions {
        out.push(match &prediction.score {
            PredictionScore::Numbers(score) => numbers(&prediction.target, score),
            PredictionScore::Levels(score) => levels(&prediction.target, score),
        });
    }
    out
}

/// What counts as chance: three standard errors of the difference of two AUCs, which chance passes once in 700 tables.
fn beyond_chance(test: &TwoSample) -> Option<f64> {
    let beyond = test.auc - test.baseline.max(0.5);
    (beyond > 3.0 * std::f64::consts::SQRT_2 * test.standard_error).then_some(beyond)
}

fn told_apart(test: &TwoSample) -> String {
    let verdict = match beyond_chance(test) {
        None => "finds no difference between made and real rows",
        Some(x) if x < 0.1 => "can tell made rows from real ones, but hardly",
        Some(x) if x < 0.25 => "can often tell made rows from real ones",
        Some(_) => "easily tells made rows from real ones",
    };
    let mut text = format!(
        "A strong classifier {verdict}: its AUC is {}; real against real gives {}. Guessing gives 0.5 ± {:.3}, 1 means always right ({} rows a side).",
        number(test.auc),
        number(test.baseline),
        test.standard_error,
        test.rows
    );
    if beyond_chance(test).is_none() {
        let least = 0.5 + 3.0 * std::f64::consts::SQRT_2 * test.standard_error;
        text += &format!(
            " That is no proof that there is none: below an AUC of {} it would not show.",
            number(least)
        );
    }
    text
}

fn by_relations(test: &TwoSample, plain: Option<&TwoSample>) -> String {
    let gained = plain.is_some_and(|plain| test.auc - plain.auc > 3.0 * test.standard_error);
    let verdict = match beyond_chance(test) {
        None => "it still finds none",
        Some(_) if gained => "it tells more of them apart, so made rows break how columns belong together",
        Some(_) => "it does no better",
    };
    format!(
        "Shown how columns are related (differences, ratios, equalities, what is left of sums, parts of dates), {verdict}: \
         its AUC is {}; real against real gives {}.",
        number(test.auc),
        number(test.baseline)
    )
}

/// A rule is broken more often than in real rows if it is by more than one row in a hundred.
fn rules(rules: &[RuleLine]) -> Option<String> {
    let worst = rules.iter().max_by(|a, b| (a.made - a.real).total_cmp(&(b.made - b.real)))?;
    let broken = rules.iter().filter(|line| line.made > line.real + 0.01).count();
    Some(match broken {
        0 => format!(
            "Made rows keep all {} rules that were found in the real rows, as often as real rows do.",
            rules.len()
        ),
        _ => format!(
            "Made rows break {broken} of the {} rules that were found in the real rows more often than real rows do. The worst: {}, \
             which is broken in {} of the made rows and in {} of the real ones.",
            rules.len(),
            worst.rule,
            percent(worst.made),
            percent(worst.real)
        ),
    })
}

fn columns(distance: f64, baseline: f64) -> String {
    let verdict = match distance / baseline.max(1e-3) {
        x if x <= 1.5 => "Single columns look like real ones",
        x if x <= 3.0 => "Single columns come close to real ones",
        _ => "Some columns differ from real ones",
    };
    format!(
        "{verdict}: the mean distance is {}; other real rows are at {}.",
        number(distance),
        number(baseline)
    )
}

fn usefulness(score: &Usefulness) -> String {
    let measure = match score.measure {
        UsefulnessMeasure::R2 => "R²",
        UsefulnessMeasure::MacroF1 => "macro-F1",
    };
    format!(
        "A predictor of “{}” trained on made rows reaches {measure} {} on real rows; trained on as many real rows, {}.",
        score.target,
        number(score.score),
        number(score.baseline)
    )
}

fn privacy(found: &Privacy) -> String {
    let ratio = found.synth.low / found.test.low.max(1e-9);
    let copied = found.copies > found.copies_baseline + 0.01;
    // A twentieth beyond chance, and three standard errors.
    let beyond = found.closer_to_train - 0.55 - 3.0 * (0.25 / found.queries.max(1) as f64).sqrt();
    let verdict = if copied || beyond > 0.0 {
        "Some made rows are copies or near copies of training rows"
    } else if ratio < 0.8 && found.synth.low < found.test.low {
        "Some made rows lie closer to training rows than real rows do"
    } else {
        "Made rows are no copies of training rows"
    };
    format!(
        "{verdict}: {} equal one exactly (real rows: {}), and the median distance to the closest one is {} (real rows: {}). \
         {} are closer to a training row than to an unseen real row; 50 % is what chance gives. This is a check, not a guarantee.",
        percent(found.copies),
        percent(found.copies_baseline),
        number(found.synth.median),
        number(found.test.median),
        percent(found.closer_to_train)
    )
}

fn numbers(target: &str, score: &Calibration) -> String {
    // Three standard errors, and a hundredth that nobody minds.
    let slack = 3.0 * (0.09 / score.rows as f64).sqrt() + 0.01;
    let verdict = match score.coverage90 - score.perfect_coverage(0.9) {
        x if x < -slack => "too sure of themselves",
        x if x > slack => "more cautious than needed",
        _ => "as sure as they may be",
    };
    format!(
        "Predictions of “{target}” are {verdict}: their 90 % intervals hold {} of the true values and their 50 % intervals {}. \
         Their error (CRPS) is {}, against {} without looking at the row.",
        percent(score.coverage90),
        percent(score.coverage50),
        number(score.crps),
        number(score.crps_baseline)
    )
}

fn levels(target: &str, score: &ClassCalibration) -> String {
    format!(
        "Predictions of “{target}” name the right class in {} of the rows (always the commonest: {}); \
         their probabilities are off by {} on average.",
        percent(score.accuracy),
        percent(score.accuracy_baseline),
        percent(score.calibration_error)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classifier_is_quoted_with_its_baseline() {
        let test = |auc| told_apart(&TwoSample { auc, baseline: 0.503, standard_error: 0.008, rows: 1200 });
        assert!(
            test(0.51).contains("finds no difference") && test(0.51).contains("below an AUC of 0.534"),
            "{}",
            test(0.51)
        );
        assert!(
            test(0.56).contains("but hardly")
                && test(0.7).contains("can often")
                && test(0.95).contains("easily")
        );
        assert!(
            test(0.56).contains("AUC is 0.560; real against real gives 0.503. Guessing gives 0.5 ± 0.008"),
            "{}",
            test(0.56)
        );
    }

    #[test]
    fn relations_are_named_where_they_tell() {
        let test = |auc| TwoSample { auc, baseline: 0.503, standard_error: 0.008, rows: 1200 };
        assert!(by_relations(&test(0.51), Some(&test(0.51))).contains("it still finds none"));
        assert!(by_relations(&test(0.8), Some(&test(0.52))).contains("more of them apart"));
        assert!(by_relations(&test(0.8), Some(&test(0.81))).contains("does no better"));
        let line = |made| RuleLine { rule: "a ≤ b".into(), real: 0.0, made };
        assert!(rules(&[line(0.0), line(0.46)]).is_some_and(|text| text.contains("break 1 of the 2 rules")));
        assert!(rules(&[line(0.005)]).is_some_and(|text| text.contains("keep all 1 rules")));
        assert_eq!(rules(&[]), None);
    }
}
