//! SVG path data in tenths of a pixel, and the thinning of long lines.

use std::fmt::Write;

/// Lines with more points than this are thinned.
const MANY: usize = 2000;

/// Path data under construction: relative commands on an integer grid of 0.1 px, so that rounding never adds
/// up along a line and files stay small.
#[derive(Default)]
pub(super) struct Path {
    data: String,
    at: (i32, i32),
    command: char,
}

impl Path {
    /// Starts a new piece at (`x`, `y`).
    pub(super) fn start(&mut self, x: f64, y: f64) {
        self.at = (tenths(x), tenths(y));
        self.write('M', &[self.at.0, self.at.1]);
    }

    /// Draws on to (`x`, `y`).
    pub(super) fn line(&mut self, x: f64, y: f64) {
        let to = (tenths(x), tenths(y));
        match (to.0 - self.at.0, to.1 - self.at.1) {
            (0, 0) => return,
            (dx, 0) => self.write('h', &[dx]),
            (0, dy) => self.write('v', &[dy]),
            (dx, dy) => self.write('l', &[dx, dy]),
        }
        self.at = to;
    }

    /// Closes the piece.
    pub(super) fn close(&mut self) {
        self.write('z', &[]);
    }

    /// A straight piece.
    pub(super) fn segment(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.start(from.0, from.1);
        self.line(to.0, to.1);
    }

    /// A closed polygon.
    pub(super) fn polygon(&mut self, corners: &[(f64, f64)]) {
        self.polyline(corners);
        self.close();
    }

    /// An open line through `points`.
    pub(super) fn polyline(&mut self, points: &[(f64, f64)]) {
        if let Some((first, rest)) = points.split_first() {
            self.start(first.0, first.1);
            for point in rest {
                self.line(point.0, point.1);
            }
        }
    }

    /// A circle of radius `r` as two arcs.
    pub(super) fn circle(&mut self, (x, y): (f64, f64), r: f64) {
        self.start(x - r, y);
        let (r, across) = (number(r), number(2.0 * r));
        let _ = write!(self.data, "a{r} {r} 0 1 0 {across} 0a{r} {r} 0 1 0-{across} 0");
        self.command = 'a';
    }

    /// The value of the attribute `d`; empty if nothing was drawn.
    pub(super) fn data(&self) -> &str {
        &self.data
    }

    fn write(&mut self, command: char, arguments: &[i32]) {
        let repeated = command == self.command && matches!(command, 'l' | 'h' | 'v');
        if !repeated {
            self.data.push(command);
        }
        for (i, &argument) in arguments.iter().enumerate() {
            if (i > 0 || repeated) && argument >= 0 {
                self.data.push(' ');
            }
            write_tenths(&mut self.data, argument);
        }
        self.command = command;
    }
}

/// `value` on the grid; far outside any picture the grid ends, which keeps renderers' arithmetic exact.
fn tenths(value: f64) -> i32 {
    (value.clamp(-1e5, 1e5) * 10.0).round() as i32
}

fn write_tenths(out: &mut String, value: i32) {
    let (sign, whole, part) = (if value < 0 { "-" } else { "" }, value.abs() / 10, value.abs() % 10);
    let _ = match (whole, part) {
        (_, 0) => write!(out, "{sign}{whole}"),
        (0, _) => write!(out, "{sign}.{part}"),
        _ => write!(out, "{sign}{whole}.{part}"),
    };
}

/// A coordinate or length rounded to 0.1 px, without needless digits.
pub(super) fn number(value: f64) -> String {
    let mut out = String::new();
    write_tenths(&mut out, tenths(value));
    out
}

/// Thins a long line: of every run of points in one pixel column it keeps the first, the lowest, the highest
/// and the last, which cover the same pixels as the whole run.
pub(super) fn thin(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() <= MANY {
        return points;
    }
    points.chunk_by(|a, b| a.0.floor() == b.0.floor()).flat_map(run_outline).collect()
}

fn run_outline(run: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let indices = 0..run.len();
    let lowest = indices.clone().min_by(|&i, &j| run[i].1.total_cmp(&run[j].1));
    let highest = indices.max_by(|&i, &j| run[i].1.total_cmp(&run[j].1));
    let mut keep = [Some(0), lowest, highest, run.len().checked_sub(1)];
    keep.sort_unstable();
    let mut kept: Vec<usize> = keep.into_iter().flatten().collect();
    kept.dedup();
    kept.into_iter().map(|i| run[i]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_relative_short_and_free_of_drift() {
        let mut path = Path::default();
        path.polyline(&[(0.0, 0.0), (10.04, 0.0), (20.08, -5.0), (30.12, 5.0), (30.12, 5.26)]);
        assert_eq!(path.data(), "M0 0h10l10.1-5 10 10v.3");
    }

    #[test]
    fn repeated_points_add_nothing() {
        let mut path = Path::default();
        path.polyline(&[(1.0, 1.0), (1.01, 1.01), (1.02, 0.99), (2.0, 1.0)]);
        assert_eq!(path.data(), "M1 1h1");
    }

    #[test]
    fn numbers_are_rounded_and_bounded() {
        assert_eq!([number(-0.04), number(-0.55), number(12.0), number(3.24)], ["0", "-.6", "12", "3.2"]);
        assert_eq!(number(1e300), "100000");
    }

    /// A thinned line has the same outline: per pixel column the same extremes and end points.
    #[test]
    fn thinning_keeps_the_outline_of_every_column() {
        let wave =
            |i: usize| (i as f64 * 0.01, 50.0 + 40.0 * (i as f64 * 0.37).sin() * (i as f64 * 0.001).cos());
        let points: Vec<_> = (0..20_000).map(wave).collect();
        let thinned = thin(points.clone());
        assert!(thinned.len() <= 4 * 200, "{}", thinned.len());
        let column = |points: &[(f64, f64)], c: f64| {
            let ys: Vec<f64> = points.iter().filter(|p| p.0.floor() == c).map(|p| p.1).collect();
            let min = ys.iter().copied().fold(f64::INFINITY, f64::min);
            let max = ys.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            (ys[0], min, max, ys[ys.len() - 1])
        };
        for c in 0..200 {
            assert_eq!(column(&points, f64::from(c)), column(&thinned, f64::from(c)));
        }
    }

    #[test]
    fn short_lines_are_left_alone() {
        let points: Vec<_> = (0..MANY).map(|i| (i as f64 * 1e-3, i as f64)).collect();
        assert_eq!(thin(points.clone()), points);
    }
}
