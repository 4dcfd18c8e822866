//! The picture of training: loss by step.

use serde::Serialize;

use super::Picture;
use crate::chart::{Axis, Chart, Figure, Style};

/// The loss at one step of training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TrainingPoint {
    /// The step.
    pub step: u64,
    /// The loss on training rows.
    pub train: f64,
    /// The loss on held-out rows, where it was measured.
    pub valid: Option<f64>,
}

/// The loss in the course of training, on what `data` calls the data; none without points.
pub(super) fn picture(points: &[TrainingPoint], unit: &str, data: &str) -> Option<Picture> {
    let valid: Vec<(f64, f64)> = points.iter().filter_map(|p| Some((p.step as f64, p.valid?))).collect();
    let train: Vec<(f64, f64)> = points.iter().map(|p| (p.step as f64, p.train)).collect();
    let unit = if unit.is_empty() { "loss".to_owned() } else { format!("loss, {unit}") };
    let mut chart = Chart::new("Loss in training")
        .x(Axis::linear("steps"))
        .y(Axis::linear(unit))
        .line(&train, Style::new(0).width(1.0).opacity(0.6).label(format!("training {data}")));
    if !valid.is_empty() {
        chart = chart.line(&valid, Style::new(1).width(2.0).label(format!("held-out {data}")));
    }
    let figure = Figure::new().panel(chart).caption(
        "Both lines should fall and level off; a held-out line that rises again means that training went on too long.",
    );
    let alt = format!("Loss by training step, for training and held-out {data}");
    (!train.is_empty()).then(|| Picture { name: "training".into(), alt, figure })
}
