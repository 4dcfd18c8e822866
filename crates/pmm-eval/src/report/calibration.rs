//! The picture of one column's predictions: how sure they are, and how sure they may be.

use super::{Picture, Prediction, PredictionScore};
use crate::chart::{Axis, Chart, Figure, Style};
use crate::table::{Calibration, ClassCalibration};

/// A picture for a prediction, numbered so that file names differ.
pub(super) fn picture(number: usize, prediction: &Prediction) -> Picture {
    let target = &prediction.target;
    let figure = match &prediction.score {
        PredictionScore::Numbers(score) => numbers(target, score),
        PredictionScore::Levels(score) => levels(target, score),
    };
    let alt = format!("Calibration of the predictions of {target}");
    Picture { name: format!("calibration-{}", number + 1), alt, figure }
}

fn numbers(target: &str, score: &Calibration) -> Figure {
    let bins = score.pit.len().max(1) as f64;
    let bar =
        |(i, share): (usize, &f64)| (100.0 * i as f64 / bins, 100.0 * (i as f64 + 1.0) / bins, 100.0 * share);
    let bars: Vec<_> = score.pit.iter().enumerate().map(bar).collect();
    let ideal = 100.0 / bins;
    let top = bars.iter().map(|bar| bar.2).fold(2.0 * ideal, f64::max) * 1.05;
    let places = Chart::new(format!("{target}: place among the draws"))
        .x(Axis::linear("share of draws below the true value, %").range(0.0, 100.0))
        .y(Axis::linear("% of rows").range(0.0, top))
        .bars(&bars, Style::new(0).opacity(0.6))
        .rule(ideal, Style::new(4).dashed().label("ideal"));
    let [half, most] = [0.5, 0.9].map(|q| 100.0 * score.perfect_coverage(q));
    let coverage = Chart::new("Intervals")
        .x(Axis::categories("interval", ["50 %", "90 %"]))
        .y(Axis::linear("true values inside, %").range(0.0, 100.0))
        .bars(
            &[(-0.25, 0.25, 100.0 * score.coverage50), (0.75, 1.25, 100.0 * score.coverage90)],
            Style::new(0).opacity(0.6).label("found"),
        )
        .line(&[(-0.35, half), (0.35, half)], Style::new(4).width(2.0).dashed().label("ideal"))
        .line(&[(0.65, most), (1.35, most)], Style::new(4).width(2.0).dashed().label("ideal"));
    Figure::new().columns(&[2.0, 1.0]).size(720.0, 280.0).panel(places).panel(coverage).caption(format!(
        "{} rows, {} draws each. Left: level is right; high at both ends means too sure, high in the middle too cautious. \
         Right: each bar should reach its line, which is a little below the interval's name because draws are finitely many.",
        score.rows, score.draws
    ))
}

fn levels(target: &str, score: &ClassCalibration) -> Figure {
    let point = |bin: &crate::table::ReliabilityBin| (100.0 * bin.predicted, 100.0 * bin.observed);
    let points: Vec<(f64, f64)> = score.reliability.iter().map(point).collect();
    // Two standard errors of a share.
    let spread = |bin: &crate::table::ReliabilityBin| {
        let p = (bin.observed * bin.rows as f64 + 1.0) / (bin.rows as f64 + 2.0);
        (100.0 * bin.predicted, 100.0 * bin.observed, 200.0 * (p * (1.0 - p) / bin.rows as f64).sqrt())
    };
    let bars: Vec<_> = score.reliability.iter().map(spread).collect();
    let curve = Chart::new(format!("{target}: how sure, how often right"))
        .x(Axis::linear("probability of the named class, %").range(0.0, 100.0))
        .y(Axis::linear("named class was right, %").range(0.0, 100.0))
        .line(&[(0.0, 0.0), (100.0, 100.0)], Style::new(4).dashed().label("ideal"))
        .error_bars(&bars, Style::new(0).width(1.0))
        .line(&points, Style::new(0).label("found"))
        .points(&points, Style::new(0).width(2.0).label("found"));
    let share = |bin: &crate::table::ReliabilityBin| {
        let low = (bin.predicted * 10.0).floor().min(9.0) * 10.0;
        (low, low + 10.0, 100.0 * bin.rows as f64 / score.rows.max(1) as f64)
    };
    let counts = Chart::new("How sure")
        .x(Axis::linear("probability, %").range(0.0, 100.0))
        .y(Axis::linear("% of rows"))
        .bars(&score.reliability.iter().map(share).collect::<Vec<_>>(), Style::new(0).opacity(0.6));
    Figure::new().columns(&[2.0, 1.0]).size(720.0, 280.0).panel(curve).panel(counts).caption(format!(
        "{} rows by the probability given to the named class. Points on the dashed line: as often right as promised; below it: too sure. \
         Bars are two standard errors.",
        score.rows
    ))
}
