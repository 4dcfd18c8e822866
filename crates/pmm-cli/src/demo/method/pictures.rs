//! The pictures of the demo.

use pmm::core::Streams;
use pmm::method::{Scene, Walk};
use pmm_eval::chart::{Axis, Chart, Figure, Style};

use super::measure::{STEPS, Series};

/// Paths drawn, and steps of each.
const PATHS: usize = 48;
const PATH_STEPS: usize = 400;
/// Samples behind the shares beside the paths.
const SHARE_ROWS: usize = 4000;
/// What a scene costs, in steps of one row.
pub(super) const WORK: usize = PATH_STEPS * SHARE_ROWS;

/// Paths of one scene beside the shares of where many more samples end.
pub(super) fn scene(scene: &Scene, streams: &Streams) -> anyhow::Result<Figure> {
    let paths = scene.walk(PATHS, SHARE_ROWS, PATH_STEPS, streams)?;
    let left = if scene.axis.is_empty() { triangle(scene, &paths) } else { trajectories(scene, &paths) };
    Ok(Figure::new().columns(&[2.6, 1.0]).size(860.0, 380.0).panel(left).panel(shares(scene, &paths)))
}

fn thin(colour: usize) -> Style {
    Style::new(colour).width(0.9).opacity(0.6)
}

/// μ against the clock, one line a sample, coloured by where it ends.
fn trajectories(scene: &Scene, paths: &Walk) -> Chart {
    let mut chart = Chart::new("Posterior means on their way")
        .x(Axis::log("information a").range(paths.readings[1], paths.readings[PATH_STEPS]))
        .y(Axis::linear(scene.axis));
    for &x in scene.target.points().reals(0) {
        chart = chart.rule(f64::from(x), Style::new(3).width(0.7).dashed());
    }
    for row in 0..PATHS {
        let at = |step: usize| (paths.readings[step], f64::from(paths.means[step][row]));
        let line: Vec<(f64, f64)> = (1..=PATH_STEPS).map(at).collect();
        chart = chart.line(&line, thin(paths.ends[row]));
    }
    chart
}

/// The same in the triangle of three probabilities.
fn triangle(scene: &Scene, paths: &Walk) -> Chart {
    let height = 3f64.sqrt() / 2.0;
    let place = |p: &[f32]| (f64::from(p[1]) + 0.5 * f64::from(p[2]), height * f64::from(p[2]));
    let marks: Vec<(f64, f64)> = scene.target.points().reals(0).chunks_exact(3).map(place).collect();
    let corners = [(0.0, 0.0), (1.0, 0.0), (0.5, height), (0.0, 0.0)];
    let mut chart = Chart::new("Posterior means on their way")
        .x(Axis::linear("proportions of A (left), B (right) and C (top)").range(-0.25, 1.25).bare())
        .y(Axis::linear("").range(-0.05, 0.95).bare())
        .line(&corners, Style::new(3).width(0.8))
        .points(&marks, Style::new(3))
        .frameless();
    for row in 0..PATHS {
        let line: Vec<(f64, f64)> = paths.means.iter().map(|means| place(&means[row * 3..][..3])).collect();
        chart = chart.line(&line, thin(paths.ends[row]));
    }
    chart
}

/// Shares of samples at each point of the target, with the target's weights.
fn shares(scene: &Scene, paths: &Walk) -> Chart {
    let mut chart = Chart::new("Where samples end")
        .x(Axis::categories("", scene.labels.iter().map(String::as_str)))
        .y(Axis::linear("share").range(0.0, 0.6));
    for (point, &share) in paths.shares.iter().enumerate() {
        let at = point as f64;
        chart = chart.bars(&[(at - 0.35, at + 0.35, share)], Style::new(point).opacity(0.8));
    }
    let weights = scene.target.weights().iter().enumerate();
    let marks: Vec<(f64, f64)> = weights.map(|(point, &w)| (point as f64, w)).collect();
    chart.points(&marks, Style::new(3).label("target"))
}

/// Total variation against steps, both on logarithmic axes.
pub(super) fn errors(series: &[Series], noise: f64) -> Figure {
    let mut chart = Chart::new("Distance of samples from the target")
        .x(Axis::log("steps"))
        .y(Axis::log("total variation").range(5e-4, 0.5))
        .rule(noise, Style::new(5).dashed().width(0.9).label("exact draws"));
    for (colour, series) in series.iter().enumerate() {
        let at: Vec<(f64, f64, f64)> =
            STEPS.iter().zip(&series.distance).map(|(&n, &(tv, error))| (n as f64, tv, error)).collect();
        let points: Vec<(f64, f64)> = at.iter().map(|&(n, tv, _)| (n, tv)).collect();
        let style = || Style::new(colour).label(series.name.as_str());
        chart = chart.line(&points, style()).error_bars(&at, style().width(1.0)).points(&points, style());
    }
    Figure::new().size(860.0, 400.0).panel(chart)
}
