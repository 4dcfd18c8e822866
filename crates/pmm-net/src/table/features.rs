//! Features: what the network sees of a cell.

use pmm_data::{Coding, Column, Grid};

use super::coordinates::{CellCoordinates, ClockKind, ColumnPlace};

/// What is seen of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct View {
    /// Whether the cell is observed.
    pub known: bool,
    /// Its token, where it is known.
    pub token: Option<u32>,
    /// The value (or its posterior mean, while the clock runs), in the column's own unit.
    pub value: Option<f64>,
    /// The reading of the value's clock; ∞ once known.
    pub clock: f64,
}

impl View {
    /// A cell that is observed, as far as it is.
    pub fn of(cell: &CellCoordinates) -> Self {
        if cell.is_unknown() {
            return Self::default();
        }
        Self { known: true, token: cell.token, value: cell.value, clock: f64::INFINITY }
    }

    /// What is known of the cell.
    pub(super) fn cell(&self) -> CellCoordinates {
        CellCoordinates { token: self.token, value: self.value }
    }
}

/// Writes a column's features: known?, the code's features, a piecewise-linear encoding of the value's normal score, the score,
/// the standardised value; with running clocks also two functions of the clock. A special value that is a number is seen as one, too.
#[derive(Debug, Clone)]
pub(crate) struct Encoder {
    tokens: Option<TokenTable>,
    value: Option<ValueEncoder>,
    /// The numbers of the codes of special values.
    specials: Vec<Option<f64>>,
    len: usize,
}

/// A row of features for each code.
#[derive(Debug, Clone)]
struct TokenTable {
    width: usize,
    rows: Vec<f32>,
    /// The place of the normal score, where codes are numbers.
    score_at: Option<usize>,
}

#[derive(Debug, Clone)]
struct ValueEncoder {
    grid: Grid,
    /// Edges of the pieces, in normal scores.
    edges: Vec<f32>,
    standard: Standard,
    clocked: bool,
}

/// Centre and spread of the values, of their logarithms where all are positive.
#[derive(Debug, Clone, Copy)]
struct Standard {
    log: bool,
    mean: f64,
    sd: f64,
}

/// Codes up to which each has an input of its own.
const ONE_HOT: usize = 64;

impl Encoder {
    pub(crate) fn new(place: &ColumnPlace, column: &Column, clock: ClockKind, pieces: usize) -> Self {
        let grid = match &column.coding {
            Coding::Numbers(numbers) => Some(&numbers.grid),
            _ => None,
        };
        let value = grid.map(|grid| ValueEncoder::new(grid, pieces, clock == ClockKind::Gradual));
        let tokens = place.tokens.as_ref().map(|tokens| {
            let numeric = value.as_ref().filter(|_| !tokens.values.is_empty());
            TokenTable::new(tokens.codes, &tokens.values, numeric)
        });
        let value = value.filter(|_| place.value.is_some());
        let specials = match &column.coding {
            // The first code says that the value is an ordinary one.
            Coding::Numbers(numbers) => {
                let values = numbers.specials.iter().map(|special| special.value);
                std::iter::once(None).chain(values).collect()
            }
            _ => Vec::new(),
        };
        let len = 1 + tokens.as_ref().map_or(0, |t| t.width) + value.as_ref().map_or(0, ValueEncoder::width);
        Self { tokens, value, specials, len }
    }

    /// Numbers per cell.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The place of a number's normal score among them.
    pub(crate) fn score_at(&self) -> Option<usize> {
        let tokens = self.tokens.as_ref();
        if let Some(value) = &self.value {
            return Some(1 + tokens.map_or(0, |tokens| tokens.width) + value.edges.len() - 1);
        }
        Some(1 + tokens?.score_at?)
    }

    /// Writes the features of a cell; `out` holds zeros.
    pub(crate) fn write(&self, view: &View, out: &mut [f32]) {
        out[0] = f32::from(u8::from(view.known));
        let mut start = 1;
        if let Some(tokens) = &self.tokens {
            if let Some(token) = view.token {
                out[start..start + tokens.width].copy_from_slice(tokens.row(token));
            }
            start += tokens.width;
        }
        let special = || self.specials.get(view.token? as usize).copied().flatten();
        let seen = view.value.map(|value| (value, view.clock)).or_else(|| Some((special()?, f64::INFINITY)));
        if let (Some(encoder), Some((value, clock))) = (&self.value, seen) {
            encoder.write(value, clock, &mut out[start..]);
        }
    }
}

impl TokenTable {
    fn new(codes: usize, values: &[f64], encoder: Option<&ValueEncoder>) -> Self {
        let one_hot = if encoder.is_none() || codes <= ONE_HOT { codes } else { 0 };
        let width = one_hot + encoder.map_or(0, |encoder| encoder.edges.len() + 1);
        let mut rows = vec![0.0; codes * width];
        for (code, row) in rows.chunks_exact_mut(width).enumerate() {
            if code < one_hot {
                row[code] = 1.0;
            }
            if let (Some(encoder), Some(&value)) = (encoder, values.get(code)) {
                encoder.write_value(value, &mut row[one_hot..]);
            }
        }
        let score_at = encoder.map(|encoder| one_hot + encoder.edges.len() - 1);
        Self { width, rows, score_at }
    }

    fn row(&self, token: u32) -> &[f32] {
        &self.rows[token as usize * self.width..][..self.width]
    }
}

impl ValueEncoder {
    fn new(grid: &Grid, pieces: usize, clocked: bool) -> Self {
        Self { edges: edges(grid, pieces), standard: Standard::of(grid), grid: grid.clone(), clocked }
    }

    fn width(&self) -> usize {
        self.edges.len() + 1 + if self.clocked { 2 } else { 0 }
    }

    fn write(&self, value: f64, clock: f64, out: &mut [f32]) {
        let rest = self.write_value(value, out);
        if self.clocked {
            // ln(1 + a) up to about 10, and the noise that is left.
            out[rest] = if clock < f64::INFINITY { clock.ln_1p() as f32 / 8.0 } else { 1.25 };
            out[rest + 1] = (1.0 / (1.0 + clock)).sqrt() as f32;
        }
    }

    /// Pieces, score and standardised value; returns how many numbers that is.
    fn write_value(&self, value: f64, out: &mut [f32]) -> usize {
        let z = self.grid.score(value, 0.5) as f32;
        let pieces = self.edges.len() - 1;
        for (out, edge) in out.iter_mut().zip(self.edges.windows(2)) {
            *out = ((z - edge[0]) / (edge[1] - edge[0])).clamp(0.0, 1.0);
        }
        out[pieces] = z;
        out[pieces + 1] = self.standard.of_value(value);
        pieces + 2
    }
}

/// Edges of at most so many pieces, at even ranks of the values' mid-rank scores; at least two, all different.
fn edges(grid: &Grid, pieces: usize) -> Vec<f32> {
    let total = grid.total() as f64;
    let (mut below, mut next) = (0.0, 0.0);
    let mut edges: Vec<f32> = Vec::with_capacity(pieces + 1);
    for (index, (&value, count)) in grid.values().iter().zip(grid.counts()).enumerate() {
        below += count as f64;
        let last = index + 1 == grid.len();
        if below / total >= next || last {
            let z = grid.score(value, 0.5) as f32;
            if edges.last().is_none_or(|&edge| z > edge + 1e-4) {
                edges.push(z);
            }
            next = ((below / total * pieces as f64).floor() + 1.0) / pieces as f64;
        }
    }
    if edges.len() < 2 {
        let z = edges.first().copied().unwrap_or(0.0);
        edges = vec![z - 1.0, z + 1.0];
    }
    edges
}

impl Standard {
    fn of(grid: &Grid) -> Self {
        let log = grid.values()[0] > 0.0;
        let value = |v: f64| if log { v.ln() } else { v };
        let total = grid.total() as f64;
        let mean = |f: &dyn Fn(f64) -> f64| {
            grid.values().iter().zip(grid.counts()).map(|(&v, n)| f(value(v)) * n as f64).sum::<f64>() / total
        };
        let centre = mean(&|v| v);
        let sd = mean(&|v| (v - centre) * (v - centre)).sqrt();
        Self { log, mean: centre, sd: if sd > 0.0 { sd } else { 1.0 } }
    }

    fn of_value(&self, value: f64) -> f32 {
        let value = if self.log { value.max(f64::MIN_POSITIVE).ln() } else { value };
        ((value - self.mean) / self.sd).clamp(-6.0, 6.0) as f32
    }
}
