//! The picture of single columns: real and made values over each other.

use super::Picture;
use crate::chart::{Axis, Chart, Figure, Style};
use crate::table::{ColumnData, Frame, FrameColumn, MISSING, quantile, sorted};

const MOST_COLUMNS: usize = 24;
const MOST_LEVELS: usize = 7;
const BINS: usize = 24;

/// A panel for each column, as many to a picture as can be seen at once.
pub(super) fn pictures(real: &Frame, synth: &Frame) -> Vec<Picture> {
    let pairs = real
        .columns
        .iter()
        .filter_map(|column| Some((column, synth.columns.iter().find(|other| other.name == column.name)?)));
    let panels: Vec<Chart> = pairs.filter_map(|(a, b)| panel(a, b)).collect();
    panels.chunks(MOST_COLUMNS).enumerate().map(|(part, panels)| picture(part, panels)).collect()
}

fn picture(part: usize, panels: &[Chart]) -> Picture {
    let caption = "Blue: real rows that the model never saw. Orange: made rows. Heights are percent of rows; the outermost 0.5 % of the real values on either side are cut off.";
    let count = panels.len().min(3);
    let figure = Figure::new().columns(&[1.0, 1.0, 1.0][..count]).size(720.0, 200.0).caption(caption);
    let panels = panels.iter().enumerate().map(|(i, chart)| named(chart.clone(), i % 3 == 0));
    let alt = "Histograms of columns, real and made rows".to_owned();
    let name = if part == 0 { "columns".to_owned() } else { format!("columns-{}", part + 1) };
    Picture { name, alt, figure: panels.fold(figure, Figure::panel) }
}

fn named(chart: Chart, first: bool) -> Chart {
    chart.y(Axis::linear(if first { "% of rows" } else { "" }))
}

fn panel(real: &FrameColumn, synth: &FrameColumn) -> Option<Chart> {
    match (&real.data, &synth.data) {
        (ColumnData::Levels { .. }, ColumnData::Levels { .. }) => levels(real, synth),
        (ColumnData::Numbers(_), ColumnData::Numbers(_)) => numbers(real, synth),
        _ => None,
    }
}

fn real_style() -> Style {
    Style::new(0).opacity(0.55)
}

fn numbers(real: &FrameColumn, synth: &FrameColumn) -> Option<Chart> {
    let (a, b) = (sorted(real.to_numbers()), sorted(synth.to_numbers()));
    let (low, high) = (quantile(&a, 0.005), quantile(&a, 0.995));
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let edges = edges(&a, low, high);
    let heights = |values: &[f64], edges: &[f64]| -> Vec<(f64, f64, f64)> {
        let below = |edge: f64| values.partition_point(|v| *v < edge);
        let bar = |w: &[f64]| (w[0], w[1], 100.0 * (below(w[1]) - below(w[0])) as f64 / values.len() as f64);
        edges.windows(2).map(bar).collect()
    };
    let made = heights(&b, &edges);
    let outline = std::iter::once((edges[0], 0.0))
        .chain(made.iter().map(|bar| (bar.0, bar.2)))
        .chain(made.last().into_iter().flat_map(|bar| [(bar.1, bar.2), (bar.1, 0.0)]))
        .collect::<Vec<_>>();
    let axis = super::value_axis(real, "").range(edges[0], edges[edges.len() - 1]);
    let chart = Chart::new(real.name.clone()).x(axis);
    Some(chart.bars(&heights(&a, &edges), real_style()).step(&outline, Style::new(1).width(1.8)))
}

/// Equal bins; whole numbers are never split unevenly, so their bins are a whole number wide.
fn edges(values: &[f64], low: f64, high: f64) -> Vec<f64> {
    let whole = values.iter().all(|v| v.fract() == 0.0);
    let (start, width) = if whole {
        let width = ((high.ceil() - low.floor() + 1.0) / BINS as f64).ceil().max(1.0);
        (low.floor() - 0.5, width)
    } else if high > low {
        (low, (high - low) / BINS as f64)
    } else {
        (low - 0.5, 1.0)
    };
    let count = (((high - start) / width).ceil() as usize).clamp(1, BINS + 1);
    // The last bin is closed: a value on its upper edge belongs to it.
    let nudge = |i: usize| if i == count && !whole { width * 1e-9 } else { 0.0 };
    (0..=count).map(|i| start + i as f64 * width + nudge(i)).collect()
}

fn levels(real: &FrameColumn, synth: &FrameColumn) -> Option<Chart> {
    let (a, b) = (shares(real), shares(synth));
    let mut names: Vec<&String> = a.iter().chain(&b).map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();
    let share = |table: &[(&String, f64)], name: &String| {
        table.iter().find(|entry| entry.0 == name).map_or(0.0, |entry| entry.1)
    };
    // Frequent levels first, others together; few levels keep their order.
    if names.len() > MOST_LEVELS {
        names.sort_by(|x, y| share(&a, y).total_cmp(&share(&a, x)));
        names.truncate(MOST_LEVELS - 1);
    }
    if names.is_empty() {
        return None;
    }
    let heights = |table: &[(&String, f64)]| {
        let mut heights: Vec<f64> = names.iter().map(|name| share(table, name)).collect();
        let rest = table.iter().map(|entry| entry.1).sum::<f64>() - heights.iter().sum::<f64>();
        if rest > 1e-9 || a.len() > MOST_LEVELS {
            heights.push(rest.max(0.0));
        }
        heights
    };
    let (left, right) = (heights(&a), heights(&b));
    let mut labels: Vec<String> =
        names.iter().map(|name| crate::chart::text::shorten(name, 11.5, 105.0).into_owned()).collect();
    if left.len().max(right.len()) > labels.len() {
        labels.push("others".into());
    }
    let bars = |heights: &[f64], from: f64| -> Vec<(f64, f64, f64)> {
        let bar = |(i, h): (usize, &f64)| (i as f64 + from, i as f64 + from + 0.4, 100.0 * h);
        heights.iter().enumerate().map(bar).collect()
    };
    let chart = Chart::new(real.name.clone()).x(Axis::categories("", labels));
    Some(chart.bars(&bars(&left, -0.4), real_style()).bars(&bars(&right, 0.0), Style::new(1)))
}

/// The levels that occur, with their share of the rows that are not missing.
fn shares(column: &FrameColumn) -> Vec<(&String, f64)> {
    let ColumnData::Levels { codes, levels } = &column.data else { return Vec::new() };
    let mut counts = vec![0_usize; levels.len()];
    let present = codes.iter().filter(|&&code| code != MISSING && (code as usize) < levels.len());
    present.for_each(|&code| counts[code as usize] += 1);
    let total = counts.iter().sum::<usize>().max(1) as f64;
    levels.iter().zip(counts).filter(|(_, n)| *n > 0).map(|(name, n)| (name, n as f64 / total)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Calendar;

    #[test]
    fn bins_of_whole_numbers_hold_equally_many_of_them() {
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let edges = edges(&values, 0.0, 99.0);
        assert!(edges.windows(2).all(|w| w[1] - w[0] == 5.0) && edges[0] == -0.5, "{edges:?}");
        assert!(super::edges(&[2.0, 2.0], 2.0, 2.0).len() >= 2);
    }

    #[test]
    fn a_column_that_is_empty_on_a_side_has_no_panel() {
        let frame = |x: f64| Frame { columns: vec![FrameColumn::numbers("x", vec![x])] };
        assert!(pictures(&frame(f64::NAN), &frame(1.0)).is_empty());
        assert_eq!(pictures(&frame(1.0), &frame(1.0)).len(), 1);
    }

    #[test]
    fn every_column_is_shown() {
        let columns = (0..60).map(|i| FrameColumn::numbers(format!("c{i}."), vec![1.0, 2.0])).collect();
        let frame = Frame { columns };
        let pictures = pictures(&frame, &frame);
        assert_eq!(
            pictures.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(),
            ["columns", "columns-2", "columns-3"]
        );
        let all: String = pictures.iter().map(|picture| picture.figure.svg()).collect();
        assert!((0..60).all(|i| all.contains(&format!(">c{i}.<"))));
    }

    #[test]
    fn dates_are_drawn_as_dates() {
        let frame = Frame {
            columns: vec![FrameColumn::dates("when", vec![14_245.0, 16_000.0, 18_245.0], Calendar::Days)],
        };
        let svg = pictures(&frame, &frame)[0].figure.svg();
        assert!(svg.contains(">2012<") && !svg.contains("16\u{2009}000"), "{svg}");
    }

    #[test]
    fn rare_levels_come_last_as_others() {
        let cells = (0..300).map(|i| format!("level {}", if i < 200 { i % 3 } else { i }));
        let frame = Frame { columns: vec![FrameColumn::named("kind", cells)] };
        let svg = pictures(&frame, &frame)[0].figure.svg();
        let others = svg.find(">others<").expect("others");
        assert!((0..3).all(|i| svg.find(&format!(">level {i}<")).is_some_and(|at| at < others)));
    }
}
