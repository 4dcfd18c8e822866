//! Pictures of pairs: heat maps of all associations, scatters of the strongest.

use super::Picture;
use crate::chart::{Axis, Chart, Figure, Style};
use crate::table::{Dependence, Frame, FrameColumn, quantile, sorted};

const MOST_COLUMNS: usize = 16;
const MOST_PAIRS: usize = 3;
const POINTS: usize = 700;
/// Differences of this size have full colour.
const FULL: f64 = 0.5;

/// Real | made | difference.
pub(super) fn heat_maps(dependence: &Dependence) -> Option<Picture> {
    let kept = strongest(dependence);
    if kept.len() < 2 {
        return None;
    }
    let pick = |matrix: &[Vec<f64>]| -> Vec<Vec<f64>> {
        kept.iter().map(|&i| kept.iter().map(|&j| matrix[i][j]).collect()).collect()
    };
    let (real, made) = (pick(&dependence.test), pick(&dependence.synth));
    let gap = |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(x, y)| (x - y) / FULL).collect();
    let difference: Vec<Vec<f64>> = made.iter().zip(&real).map(gap).collect();
    let names: Vec<String> = kept
        .iter()
        .map(|&i| crate::chart::text::shorten(&dependence.columns[i], 11.5, 84.0).into_owned())
        .collect();
    let cut = if kept.len() < dependence.columns.len() {
        format!(" The {MOST_COLUMNS} columns with the strongest associations are shown.")
    } else {
        String::new()
    };
    let caption = format!(
        "How strongly two columns go together: blue in the same direction, orange in opposite ones, the fuller the stronger (full at 1). \
         In the right panel, made minus real, colour is full at a difference of {FULL}.{cut}"
    );
    let figure = Figure::new().columns(&[1.42, 1.0, 1.0]).size(760.0, 320.0).caption(caption);
    let figure = figure
        .panel(map("Real rows", &real, &names, true))
        .panel(map("Made rows", &made, &names, false))
        .panel(map("Difference", &difference, &names, false));
    let alt = "Association of every pair of columns in real and in made rows, and the difference".to_owned();
    Some(Picture { name: "dependence".into(), alt, figure })
}

/// The columns of a heat map, in the order of the file.
fn strongest(dependence: &Dependence) -> Vec<usize> {
    let total = |i: &usize| dependence.test[*i].iter().map(|v| v.abs()).sum::<f64>();
    let mut order: Vec<usize> = (0..dependence.columns.len()).collect();
    order.sort_by(|a, b| total(b).total_cmp(&total(a)));
    order.truncate(MOST_COLUMNS);
    order.sort_unstable();
    order
}

fn map(title: &str, matrix: &[Vec<f64>], names: &[String], labelled: bool) -> Chart {
    let cells = |sign: f64| -> Vec<(f64, f64, f64)> {
        let row = |(i, row): (usize, &Vec<f64>)| -> Vec<(f64, f64, f64)> {
            let cell =
                |(j, v): (usize, &f64)| (j as f64, i as f64, if i == j { 0.0 } else { (sign * v).max(0.0) });
            row.iter().enumerate().map(cell).collect()
        };
        matrix.iter().enumerate().flat_map(row).collect()
    };
    let y = Axis::categories("", names.iter().cloned());
    let chart = Chart::new(title).x(Axis::categories("", names.iter().cloned())).y(if labelled {
        y
    } else {
        y.bare()
    });
    chart.cells(&cells(1.0), Style::new(0)).cells(&cells(-1.0), Style::new(1))
}

/// The pairs of numbers that depend on each other most, each column at most twice: real beside made.
pub(super) fn scatters(dependence: &Dependence, real: &Frame, synth: &Frame) -> Option<Picture> {
    let pairs = strongest_pairs(dependence, real);
    if pairs.is_empty() {
        return None;
    }
    let mut figure = Figure::new().columns(&[1.0, 1.0]).size(720.0, 300.0).caption(
        "The pairs of numbers that depend on each other most, with the same axes on both sides. The clouds should have the same shape.",
    );
    for (a, b) in pairs {
        let columns = |frame: &Frame| -> Option<(Vec<f64>, Vec<f64>)> {
            let values = |name: &str| Some(frame.columns[frame.position(name).ok()?].to_numbers());
            Some((values(&a.name)?, values(&b.name)?))
        };
        let (Some(left), Some(right)) = (columns(real), columns(synth)) else { continue };
        let (x, y) = (axis(a, &left.0), axis(b, &left.1));
        let panel = |title: &str, (xs, ys): &(Vec<f64>, Vec<f64>), colour: usize| {
            Chart::new(title)
                .x(x.clone())
                .y(y.clone())
                .points(&cloud(xs, ys), Style::new(colour).width(0.3).opacity(0.7))
        };
        figure = figure.panel(panel("Real rows", &left, 0)).panel(panel("Made rows", &right, 1));
    }
    let alt = "Scatter plots of the most dependent pairs of numbers, real beside made".to_owned();
    Some(Picture { name: "pairs".into(), alt, figure })
}

fn strongest_pairs<'a>(dependence: &Dependence, real: &'a Frame) -> Vec<(&'a FrameColumn, &'a FrameColumn)> {
    let numeric =
        |name: &String| real.columns.iter().find(|column| &column.name == name && column.is_numeric());
    let n = dependence.columns.len();
    let mut all: Vec<(f64, usize, usize)> = (0..n)
        .flat_map(|i| (0..i).map(move |j| (j, i)))
        .map(|(j, i)| (dependence.test[j][i].abs(), j, i))
        .collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut used, mut out) = (vec![0; n], Vec::new());
    for (_, j, i) in all {
        let (Some(a), Some(b)) = (numeric(&dependence.columns[j]), numeric(&dependence.columns[i])) else {
            continue;
        };
        if used[i] < 2 && used[j] < 2 && out.len() < MOST_PAIRS {
            used[i] += 1;
            used[j] += 1;
            out.push((a, b));
        }
    }
    out
}

/// An axis over nearly all real values.
fn axis(column: &FrameColumn, values: &[f64]) -> Axis {
    let values = sorted(values.iter().copied());
    let (low, high) = (quantile(&values, 0.005), quantile(&values, 0.995));
    let room = (high - low) * 0.08;
    super::value_axis(column, &column.name).range(low - room, high + room)
}

/// Some of the points, evenly taken.
fn cloud(xs: &[f64], ys: &[f64]) -> Vec<(f64, f64)> {
    let stride = xs.len().div_ceil(POINTS).max(1);
    xs.iter().copied().zip(ys.iter().copied()).step_by(stride).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dependence(width: usize) -> Dependence {
        let entry = |i: usize, j: usize| if i == j { 1.0 } else { 1.0 / (1 + i + j) as f64 };
        let matrix: Vec<Vec<f64>> = (0..width).map(|i| (0..width).map(|j| entry(i, j)).collect()).collect();
        let columns = (0..width).map(|i| format!("c{i}")).collect();
        Dependence { columns, test: matrix.clone(), synth: matrix, difference: 0.0, baseline: 0.0 }
    }

    #[test]
    fn wide_tables_are_cut_to_their_strongest_columns() {
        assert_eq!(strongest(&dependence(40)), (0..MOST_COLUMNS).collect::<Vec<_>>());
        assert!(heat_maps(&dependence(1)).is_none());
    }

    #[test]
    fn strong_pairs_come_first_and_no_column_comes_three_times() {
        let column = |i: usize| FrameColumn::numbers(format!("c{i}"), vec![0.0, 1.0]);
        let frame = Frame { columns: (0..5).map(column).collect() };
        let dependence = dependence(5);
        let found = strongest_pairs(&dependence, &frame);
        let names: Vec<_> = found.iter().map(|(a, b)| (a.name.as_str(), b.name.as_str())).collect();
        assert_eq!(names, [("c0", "c1"), ("c0", "c2"), ("c1", "c2")]);
    }
}
