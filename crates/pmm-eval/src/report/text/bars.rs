//! The picture of a text's figures: samples beside real text.

use super::super::Picture;
use crate::chart::{Axis, Chart, Figure, Style};
use crate::text::{Compared, TextScores};

/// A panel each for distances, words and bits; those without figures are left out.
pub(super) fn picture(scores: &TextScores) -> Option<Picture> {
    let distances = [("single", scores.unigrams), ("pairs", scores.bigrams), ("triples", scores.trigrams)];
    let words = [
        ("real", scores.real_words),
        ("distinct", scores.distinct1),
        ("pairs", scores.distinct2),
        ("triples", scores.distinct3),
        ("repeated", scores.repetition),
    ];
    let bits = [("judge", scores.judge), ("entropy", scores.entropy)];
    let panels = [
        (3.2, panel("Distance of tokens", "% to change", 100.0, &distances)),
        (5.2, panel("Words", "% of words or runs", 100.0, &words)),
        (2.6, panel("Bits per token", "bits", 1.0, &bits)),
    ];
    let (widths, panels): (Vec<f64>, Vec<Chart>) =
        panels.into_iter().filter_map(|(width, chart)| Some((width, chart?))).unzip();
    if panels.is_empty() {
        return None;
    }
    let caption = "Blue: held-out text. Orange: samples, as many and as long. Distances, of single tokens, pairs and triples, \
                   are good if no higher than those of real text. Words: real ones; distinct words, pairs and triples; \
                   repeated runs of four. These and the bits should be as in real text.";
    let figure = Figure::new().columns(&widths).size(760.0, 250.0).caption(caption);
    let figure = panels.into_iter().fold(figure, Figure::panel);
    let alt = "Bars of every figure, samples beside held-out text".to_owned();
    Some(Picture { name: "figures".into(), alt, figure })
}

fn panel(title: &str, unit: &str, scale: f64, figures: &[(&str, Option<Compared>)]) -> Option<Chart> {
    let defined: Vec<(&str, Compared)> =
        figures.iter().filter_map(|(name, figure)| Some((*name, (*figure)?))).collect();
    let bars = |value: fn(&Compared) -> f64, from: f64| -> Vec<(f64, f64, f64)> {
        let bar = |(i, (_, figure)): (usize, &(&str, Compared))| {
            (i as f64 + from, i as f64 + from + 0.4, scale * value(figure))
        };
        defined.iter().enumerate().map(bar).collect()
    };
    let (real, samples) = (bars(|figure| figure.real, -0.4), bars(|figure| figure.samples, 0.0));
    let top = real.iter().chain(&samples).map(|bar| bar.2).fold(0.0, f64::max);
    let chart = Chart::new(title)
        .x(Axis::categories("", defined.iter().map(|(name, _)| *name)))
        .y(Axis::linear(unit).range(0.0, if top > 0.0 { 1.08 * top } else { 1.0 }))
        .bars(&real, Style::new(0).opacity(0.55))
        .bars(&samples, Style::new(1));
    (!defined.is_empty()).then_some(chart)
}

/// Bits per character of n-gram models by order, and the model's bound as a line across.
pub(super) fn orders(bits: &[(usize, f64)], bound: Option<f64>) -> Option<Picture> {
    let points: Vec<(f64, f64)> = bits.iter().map(|&(order, bits)| (order as f64, bits)).collect();
    if points.len() < 2 {
        return None;
    }
    let (first, last) = (points[0].0, points[points.len() - 1].0);
    let values = points.iter().map(|point| point.1).chain(bound);
    let top = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
    let mut chart = Chart::new("Bits per character of held-out text")
        .x(Axis::linear("order of the n-gram model").range(first - 0.3, last + 0.3))
        .y(Axis::linear("bits").range(0.0, if top > 0.0 { 1.08 * top } else { 1.0 }))
        .line(&points, Style::new(0))
        .points(&points, Style::new(0));
    if let Some(bound) = bound {
        chart = chart.rule(bound, Style::new(1).dashed().label("this model"));
    }
    let figure = Figure::new().size(720.0, 260.0).panel(chart).caption(
        "What it takes to write down a character that was not learnt from; lower is better. \
         An n-gram model of order n looks back n − 1 tokens.",
    );
    let alt = "Bits per character of n-gram models by order, beside the model".to_owned();
    Some(Picture { name: "orders".into(), alt, figure })
}
